// What the browser keeps for pages of this port, and for no others. It may be blocked, and then throws.

/** False in some private windows, and where a setting of the browser forbids it. */
export function keepsAnything(): boolean {
  const name = 'hookline-probe'
  return keep(name, 'x') && keep(name, null)
}

export function readKept(name: string): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

/** Null takes it away. False where the browser keeps nothing. */
export function keep(name: string, value: string | null): boolean {
  try {
    if (value === null) localStorage.removeItem(name)
    else localStorage.setItem(name, value)
    return true
  } catch {
    return false
  }
}
