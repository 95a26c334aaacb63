// Markdown that is compiled in: `import text from './mac.md' with { type: 'text' }`.
declare module '*.md' {
  const text: string
  export default text
}

// Templates of clients.
declare module '*.txt' {
  const text: string
  export default text
}
declare module '*.py' {
  const text: string
  export default text
}
