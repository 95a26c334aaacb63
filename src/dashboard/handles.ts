// Handles as people type them: numbers with blanks and dashes, addresses with capitals.

const E164 = /^\+[1-9][0-9]{6,14}$/
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/

/** As the relay takes it, as far as that can be said. */
export function tidyHandle(typed: string): string {
  const text = typed.trim()
  if (text.includes('@')) return text.toLowerCase()
  return text.replaceAll(/[\s().\-/]/g, '').replace(/^00/, '+')
}

/** Whether a tidy handle is whole, so that asking the relay for it makes sense. */
export function isWhole(handle: string): boolean {
  return E164.test(handle) || EMAIL.test(handle)
}
