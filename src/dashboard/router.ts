// The page's address. An open dialog is a history entry, too: Back closes it, as on a phone.

import { signal, type ReadonlySignal } from '@preact/signals'

import { parseHash, type Route } from './address.ts'

export type Router = {
  readonly route: ReadonlySignal<Route>
  /** The token of a setup link, which `createRouter` removes from the address at once. */
  readonly setupToken: ReadonlySignal<string | null>
  forgetSetupToken(): void
  go(href: string): void
  /** Like `go`, without a history entry: for filters. */
  replace(href: string): void
  /** Adds a dialog's history entry; Back calls `onBack`. The caller calls the result once the dialog is closed. */
  addDialog(onBack: () => void): () => void
}

/** The token has 43 characters (256 bits in base64url); a member's name may follow. */
const SETUP_TOKEN = /^#\/setup\/([\w-]{43})(\?.*)?$/

export function createRouter(window: Window): Router {
  const { location, history } = window
  const setupToken = signal<string | null>(null)
  let hash = ''
  const route = signal(read())
  const dialogs = createDialogEntries(history)
  /** The address to show after leaving the dialogs' history entries. */
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

/** Keeps one history entry for each open dialog. */
function createDialogEntries(history: History) {
  const open = new Set<() => void>()
  /** True from a call of `history.go` until its event arrives. */
  let isLeaving = false
  /** The number of dialogs that the current history entry stands for. */
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
      // If one dialog replaces another, it keeps the other's entry.
      queueMicrotask(settle)
      return () => {
        open.delete(onBack)
        queueMicrotask(settle)
      }
    },
    /** Called after each history step. If the address is the same, the Back button was pressed. */
    onStep(isSame: boolean) {
      const isBack = !isLeaving && isSame
      isLeaving = false
      if (isBack) for (const close of [...open].slice(depth()).toReversed()) close()
      queueMicrotask(settle)
    },
  }
}
