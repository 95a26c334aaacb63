// All that the parts of the page share, made once in `main.tsx`. A component takes what it needs:
//
//   const { api, notices, router } = useDashboard()

import { createContext } from 'preact'
import { useContext, useEffect, useMemo } from 'preact/hooks'

import { createApi, type Api } from './api.ts'
import { createClock, type Clock } from './clock.ts'
import { Live } from './live.ts'
import { Notices } from './notices.ts'
import { createRouter, type Router } from './router.ts'
import { SessionStore } from './session.ts'
import { readOf, Store, type Read, type Source } from './store.ts'

export type Dashboard = {
  readonly api: Api
  readonly clock: Clock
  readonly live: Live
  readonly notices: Notices
  readonly router: Router
  readonly session: SessionStore
  readonly store: Store
}

/** Lives until `end` aborts. */
export function createDashboard(window: Window, end: AbortSignal): Dashboard {
  const clock = createClock(end)
  const session = new SessionStore()
  const live = new Live({
    clock,
    document: window.document,
    onBreak: () => session.refresh(),
  })
  return {
    api: createApi({
      onSignedOut: () => session.end(),
      askPassword: () => session.askPassword(),
    }),
    clock,
    live,
    notices: new Notices(clock),
    router: createRouter(window),
    session,
    store: new Store({ live, clock }),
  }
}

export const DashboardContext = createContext<Dashboard | null>(null)

export function useDashboard(): Dashboard {
  const dashboard = useContext(DashboardContext)
  if (dashboard === null) throw new Error('A component stands outside of the dashboard.')
  return dashboard
}

/** What a source has now, kept fresh while the component lives; see `store.ts`. */
export function useLive<T>(source: Source<T>): Read<T> {
  const { store } = useDashboard()
  // A source is what its key says: the functions beside it are new each time and mean the same.
  const kept = useMemo(() => store.use(source), [store, source.key])
  useEffect(() => () => kept.release(), [kept])
  return readOf(kept.now.value, kept.refresh)
}

/** What the API has at `path`; old by changes of these kinds, or of the things with these ids. */
export function useRead<T>(path: string, ...on: readonly string[]): Read<T> {
  const { api } = useDashboard()
  return useLive({ key: path, load: (signal) => api.get<T>(path, signal), on })
}
