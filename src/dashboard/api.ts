// The relay's API as the page sees it: `/dashboard/api/…` is `/api/v1/…` with a dashboard session.
// `api.get('phone-lines')`, `api.post('keys', { name })`. A session that ended leads to the log-in by
// itself, and a call that needs the password again asks for it and is repeated. A path that begins with
// a slash is one of the dashboard's own: `api.get('/dashboard/about')`.

import { request, type Answer, type Failure, type Order } from './request.ts'

const ROOT = '/dashboard/api/'

export type CallOptions = {
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
}

export type Api = {
  get<T>(path: string, signal?: AbortSignal): Promise<Answer<T>>
  post<T>(path: string, body?: unknown, options?: CallOptions): Promise<Answer<T>>
  patch<T>(path: string, body: unknown): Promise<Answer<T>>
  put<T>(path: string, body: unknown): Promise<Answer<T>>
  remove<T>(path: string): Promise<Answer<T>>
}

type Tools = {
  readonly onSignedOut: () => void
  /** Whether the owner gave the password. */
  readonly askPassword: () => Promise<boolean>
}

/** The envelope of every list. */
export type List<T> = {
  readonly data: readonly T[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

export function createApi(tools: Tools): Api {
  async function call<T>(order: Order): Promise<Answer<T>> {
    const answer = await callOnce<T>(order)
    if (answer.ok || answer.failure.code !== 'password_needed') return answer
    return (await tools.askPassword()) ? callOnce<T>(order) : answer
  }
  async function callOnce<T>(order: Order): Promise<Answer<T>> {
    const path = order.path.startsWith('/') ? order.path : ROOT + order.path
    const answer = await request<T>({ ...order, path })
    if (!answer.ok && answer.failure.status === 401) tools.onSignedOut()
    return answer
  }
  return {
    get: (path, signal) => call({ method: 'GET', path, signal }),
    post: (path, body, options = {}) => call({ method: 'POST', path, body, ...options }),
    patch: (path, body) => call({ method: 'PATCH', path, body }),
    put: (path, body) => call({ method: 'PUT', path, body }),
    remove: (path) => call({ method: 'DELETE', path }),
  }
}

/** Whether the owner closed the question for the password: nothing that one has to be told. */
export function isDeclined(failure: Failure): boolean {
  return failure.code === 'password_needed'
}
