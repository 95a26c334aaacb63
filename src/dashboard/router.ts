// Where the page is. `href(...)` of `address.ts` makes links, `router.go(...)` follows one.

import { signal, type ReadonlySignal } from '@preact/signals'

import { parseHash, type Route } from './address.ts'

export type Router = {
  readonly route: ReadonlySignal<Route>
  /** The token of a setup link, which is taken out of the address at once. */
  readonly setupToken: ReadonlySignal<string | null>
  /** It is used up, or of no use. */
  forgetSetupToken(): void
  go(href: string): void
  /** As `go`, but the place before cannot be gone back to: for filters. */
  replace(href: string): void
}

/** A setup link ends in 43 characters: 256 bits in base64url. */
const SETUP_TOKEN = /^#\/setup\/([A-Za-z0-9_-]{43})$/

export function createRouter(window: Window): Router {
  const { location, history } = window
  const setupToken = signal<string | null>(null)
  const route = signal(read())

  function read(): Route {
    const token = SETUP_TOKEN.exec(location.hash)?.[1]
    if (token !== undefined) {
      setupToken.value = token
      // Whoever looks at the address bar or the history must not find it.
      history.replaceState(null, '', '#/setup')
    }
    return parseHash(location.hash)
  }
  function follow() {
    route.value = read()
  }
  window.addEventListener('hashchange', follow)
  return {
    route,
    setupToken,
    forgetSetupToken() {
      setupToken.value = null
    },
    go(href) {
      location.hash = href
    },
    replace(href) {
      history.replaceState(null, '', href)
      follow()
    },
  }
}
