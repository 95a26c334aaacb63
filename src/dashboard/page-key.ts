// The page key. The cookie of the session goes to every port of the host, so the relay takes it only
// together with this key, which the browser keeps for the pages of one port.

import { keep, readKept } from './browser-storage.ts'

const NAME = 'hookline-page-key'

/** Where the browser keeps nothing: this tab alone is signed in, until it is loaded anew. */
let heldByTab: string | null = null

/** Null where nobody signed in by this page. */
export function pageKey(): string | null {
  return readKept(NAME) ?? heldByTab
}

export function keepPageKey(key: string | null): void {
  heldByTab = keep(NAME, key) ? null : key
}
