// The address of the page. An open dialog is an entry of the history, too: Back closes it, as on a phone.

import { signal, type ReadonlySignal } from '@preact/signals'

import { parseHash, type Route } from './address.ts'

export type Router = {
  readonly route: ReadonlySignal<Route>
  /** The token of a setup link, removed from the address at once. */
  readonly setupToken: ReadonlySignal<string | null>
  forgetSetupToken(): void
  go(href: string): void
  /** Same as `go`, without an entry in the history: for filters. */
  replace(href: string): void
  /** Adds the entry of a dialog, which `onBack` closes. Returns the function to call once it is closed. */
  addDialog(onBack: () => void): () => void
}

/** A setup link has 43 characters, 256 bits in base64url, and behind them the name of a member. */
const SETUP_TOKEN = /^#\/setup\/([\w-]{43})(\?.*)?$/

export function createRouter(window: Window): Router {
  const { location, history } = window
  const setupToken = signal<string | null>(null)
  let hash = ''
  const route = signal(read())
  const dialogs = createDialogEntries(history)
  /** The address to show once the entries of dialogs are left. */
  let next: string | null = null

  function read(): Route {
    const [, token, whose = ''] = SETUP_TOKEN.exec(location.hash) ?? []
    if (token !== undefined) {
      setupToken.value = token
      // Neither the address bar nor the history may show it.
      history.replaceState(null, '', `#/setup${whose}`)
    }
    hash = location.hash
    return parseHash(hash)
  }
  function follow() {
    route.value = read()
  }
  function show(href: string) {
    history.replaceState(null, '', href)
    follow()
  }
  window.addEventListener('hashchange', follow)
  window.addEventListener('popstate', () => {
    const isSame = location.hash === hash
    if (next !== null) show(next)
    next = null
    dialogs.onStep(isSame)
  })
  return {
    route,
    setupToken,
    forgetSetupToken() {
      setupToken.value = null
    },
    go(href) {
      if (dialogs.depth() > 0) show(href)
      else location.hash = href
    },
    replace(href) {
      if (dialogs.depth() === 0) return show(href)
      next = href
      route.value = parseHash(href)
      dialogs.leave(dialogs.depth())
    },
    addDialog: (onBack) => dialogs.add(onBack),
  }
}

/** One entry of the history for each open dialog. */
function createDialogEntries(history: History) {
  const open = new Set<() => void>()
  /** True from a step back of our own until it is made. */
  let isLeaving = false
  /** Number of dialogs that the current entry stands for. */
  const depth = () => Number(history.state?.dialogs ?? 0)
  function leave(steps: number) {
    isLeaving = true
    history.go(-steps)
  }
  function settle() {
    if (isLeaving) return
    const surplus = depth() - open.size
    if (surplus > 0) leave(surplus)
    for (let at = depth() + 1; at <= open.size; at += 1) history.pushState({ dialogs: at }, '')
  }
  return {
    depth,
    leave,
    add(onBack: () => void) {
      open.add(onBack)
      // One dialog may take the place of another, whose entry it keeps.
      queueMicrotask(settle)
      return () => {
        open.delete(onBack)
        queueMicrotask(settle)
      }
    },
    /** Follows a step in the history, which is the back button where the address stays the same. */
    onStep(isSame: boolean) {
      const isBack = !isLeaving && isSame
      isLeaving = false
      if (isBack) for (const close of [...open].slice(depth()).toReversed()) close()
      queueMicrotask(settle)
    },
  }
}
