// The browser's storage for pages of this port only. If the browser blocks it, access throws.

/** False in some private windows, and if a browser setting forbids storage. */
export function isStorageAvailable(): boolean {
  const name = 'hookline-probe'
  return store(name, 'x') && store(name, null)
}

export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

/** Null removes the value. Returns false if the browser stores nothing. */
export function store(name: string, value: string | null): boolean {
  try {
    if (value === null) localStorage.removeItem(name)
    else localStorage.setItem(name, value)
    return true
  } catch {
    return false
  }
}

const PAGE_KEY = 'hookline-page-key'

/** The page key if the browser stores nothing: only this tab is signed in, until it is reloaded. */
let tabPageKey: string | null = null

/**
 * Null while nobody is signed in. Browsers send the session cookie to every port of the host, so the relay accepts
 * it only with this key, which is stored for one port.
 */
export function pageKey(): string | null {
  return readStored(PAGE_KEY) ?? tabPageKey
}

export function storePageKey(key: string | null): void {
  tabPageKey = store(PAGE_KEY, key) ? null : key
}
