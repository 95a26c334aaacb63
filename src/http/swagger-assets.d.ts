// Imported with `type: 'file'`, these are paths: of the files in development, of their embedded
// copies in the executable.
declare module 'swagger-ui-dist/swagger-ui-bundle.js' {
  const path: string
  export default path
}
declare module 'swagger-ui-dist/swagger-ui.css' {
  const path: string
  export default path
}
