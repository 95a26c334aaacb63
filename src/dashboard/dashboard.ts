// The services that all parts of the page share, created once in `main.tsx`:
//
//   const { api, notices, router } = useDashboard()

import { useSignal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext, useEffect, useMemo } from 'preact/hooks'

import type { Answer as ValueOf } from '../api/operations.ts'
import {
  createApi,
  failureIn,
  pageHeaders,
  requestOf,
  UNREACHABLE,
  type Answer,
  type CallOf,
  type OperationId,
  type SendFile,
  type UploadOptions,
  isDeclined,
  type Failure,
} from './api.ts'
import { createClock } from './clock.ts'
import { Live } from './live.ts'
import { Notices } from './notices.ts'
import { createRouter } from './router.ts'
import { SessionStore } from './session.ts'
import { readOf, Store, type Read } from './store.ts'

export type Dashboard = Readonly<ReturnType<typeof createDashboard>>

export function createDashboard(window: Window) {
  const clock = createClock()
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
      sendFile,
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
  if (dashboard === null) throw new Error('A component is outside of the dashboard.')
  return dashboard
}

/**
 * Reads an operation's answer, and again after each change whose kind or id is in `on`, while the component is
 * mounted. Stays `loading` while `call` is null.
 */
export function useRead<Id extends OperationId>(
  id: Id,
  call: CallOf<Id> | null,
  ...on: readonly string[]
): Read<ValueOf<Id>> {
  const { api, store } = useDashboard()
  const key = call === null ? null : requestOf(id, call).path
  const entry = useMemo(() => {
    if (call === null || key === null) return null
    return store.use({ key, load: (signal) => api.call(id, { ...call, signal }), on })
  }, [api, store, key])
  useEffect(() => () => entry?.release(), [entry])
  return entry === null ? NOTHING : readOf(entry.now.value, entry.refresh)
}

const NOTHING = { now: { state: 'loading' }, value: null, refresh: () => {} } as const

export type Action<Wanted extends readonly unknown[]> = {
  readonly isBusy: boolean
  /** Null unless the action failed; also null if the owner dismissed the password dialog. */
  readonly failure: Failure | null
  readonly start: (...wanted: Wanted) => void
}

/**
 * Runs an action of the relay for a button or form, one at a time:
 *
 *   const remove = useAction(
 *     () => api.call('deleteWebhook', { params: { id } }),
 *     () => notices.done('Deleted.'),
 *   )
 *   <Button isBusy={remove.isBusy} onClick={remove.start}>…  <FailureNote failure={remove.failure} />
 *
 * `onFailed` is for callers that don't show `failure`.
 */
export function useAction<T, Wanted extends readonly unknown[] = []>(
  call: (...wanted: Wanted) => Promise<Answer<T>>,
  onDone: (value: T) => void = () => {},
  onFailed: (failure: Failure) => void = () => {},
): Action<Wanted> {
  const isBusy = useSignal(false)
  const failure = useSignal<Failure | null>(null)
  async function run(wanted: Wanted) {
    if (isBusy.value) return
    isBusy.value = true
    const answer = await call(...wanted)
    isBusy.value = false
    failure.value = answer.ok || isDeclined(answer.failure) ? null : answer.failure
    if (answer.ok) onDone(answer.value)
    else if (failure.value !== null) onFailed(failure.value)
  }
  return {
    isBusy: isBusy.value,
    failure: failure.value,
    start: (...wanted) => void run(wanted),
  }
}

/** An action without a place for its failure, which becomes a notice. */
export function useQuickAction<T, Wanted extends readonly unknown[] = []>(
  call: (...wanted: Wanted) => Promise<Answer<T>>,
  onDone?: (value: T) => void,
): Action<Wanted> {
  const { notices } = useDashboard()
  return useAction(call, onDone, ({ message }) => notices.failed(message))
}

/** Uses XMLHttpRequest because `fetch` does not report upload progress. */
const sendFile: SendFile = <T>(path: string, file: Blob, options: UploadOptions) => {
  const { signal, onProgress } = options
  const { promise, resolve } = Promise.withResolvers<Answer<T>>()
  const sent = new XMLHttpRequest()
  const fail = () => resolve({ ok: false, failure: UNREACHABLE })
  const abort = () => sent.abort()
  sent.open('POST', path)
  sent.setRequestHeader('accept', 'application/json')
  for (const [name, value] of Object.entries(pageHeaders())) sent.setRequestHeader(name, value)
  sent.upload.addEventListener('progress', ({ loaded, total }) => onProgress(loaded / total))
  sent.addEventListener('error', fail)
  sent.addEventListener('abort', fail)
  sent.addEventListener('load', () => resolve(answerIn<T>(sent)))
  signal.addEventListener('abort', abort)
  sent.send(file)
  return promise.finally(() => signal.removeEventListener('abort', abort))
}

function answerIn<T>(sent: XMLHttpRequest): Answer<T> {
  const headers = { get: (name: string) => sent.getResponseHeader(name) }
  const body = parsed(sent.responseText)
  if (sent.status < 300) return { ok: true, value: body as T } // The relay checks answers against its schemas.
  return { ok: false, failure: failureIn({ status: sent.status, headers }, body) }
}

/** Returns null if a proxy answered with something other than JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
