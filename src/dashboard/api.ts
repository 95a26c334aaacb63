// The relay's API as the page uses it: `/dashboard/api/…` is `/api/v1/…` with a dashboard session.
// `api.get('phone-lines')`, `api.post('keys', { name })`. A path with a leading slash is one of the
// dashboard's own: `api.get('/dashboard/about')`.

import { pageKey } from './browser-storage.ts'

/** The reason why a call failed. */
export type Failure = {
  /** The API's error code; `unreachable` where no answer came. */
  readonly code: string
  /** A sentence for people. */
  readonly message: string
  /** The HTTP status, 0 where no answer came. */
  readonly status: number
  readonly details: Readonly<Record<string, unknown>>
  /** Seconds after which the same call may succeed, where the relay says so. */
  readonly retryAfterSeconds: number | null
}

export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure }

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

type Call = CallOptions & {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** From the relay's root: `/dashboard/session`. */
  readonly path: string
  readonly body?: unknown
}

type Tools = {
  readonly onSignedOut: () => void
  /** Resolves to true once the owner entered the password. */
  readonly askPassword: () => Promise<boolean>
}

const ROOT = '/dashboard/api/'

/** The calls of a session: its end leads to sign-in, and a call that needs the password asks for it. */
export function createApi(tools: Tools): Api {
  async function call<T>(asked: Call): Promise<Answer<T>> {
    const answer = await callOnce<T>(asked)
    if (answer.ok || answer.failure.code !== 'password_needed') return answer
    return (await tools.askPassword()) ? callOnce<T>(asked) : answer
  }
  async function callOnce<T>(asked: Call): Promise<Answer<T>> {
    const path = asked.path.startsWith('/') ? asked.path : ROOT + asked.path
    const answer = await request<T>({ ...asked, path })
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

/** Longer than the relay's longest wait for a line, 60 seconds. */
const TIMEOUT_MS = 75_000

const UNREACHABLE: Failure = {
  code: 'unreachable',
  message: "The relay isn't responding. Check that it's running and this device is on its network.",
  status: 0,
  details: {},
  retryAfterSeconds: null,
}

/** One call; `T` is the documented answer of the route. Never rejects. */
export async function request<T>(asked: Call): Promise<Answer<T>> {
  const { method, path, body, headers = {}, signal } = asked
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  const content = body === undefined ? {} : { 'content-type': 'application/json' }
  try {
    const response = await fetch(path, {
      method,
      headers: { accept: 'application/json', ...content, ...pageHeaders(), ...headers },
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      cache: 'no-store',
      redirect: 'error',
    })
    const value: unknown = await response.json()
    if (!response.ok) return { ok: false, failure: failureIn(response, value) }
    return { ok: true, value: value as T } // The relay answers what its schemas say.
  } catch {
    return { ok: false, failure: UNREACHABLE }
  }
}

/** Headers of every request to the relay: the cookie alone is not accepted. */
export function pageHeaders(): Readonly<Record<string, string>> {
  const key = pageKey()
  return key === null ? {} : { 'x-hookline-page-key': key }
}

function failureIn(response: Response, body: unknown): Failure {
  // An answer from elsewhere, a proxy for instance, has none of these fields.
  const { error } = (body ?? {}) as { readonly error?: Partial<Failure> }
  const retryAfter = Number.parseInt(response.headers.get('retry-after') ?? '', 10)
  return {
    code: error?.code ?? 'unknown',
    message:
      error?.message ?? `Something between this page and the relay returned ${response.status}.`,
    status: response.status,
    details: error?.details ?? {},
    retryAfterSeconds: Number.isNaN(retryAfter) ? null : retryAfter,
  }
}

/** True where the owner dismissed the password dialog, which needs no message. */
export function isDeclined(failure: Failure): boolean {
  return failure.code === 'password_needed'
}

/** The error codes about the current password. */
export const OF_PASSWORD = ['wrong_password', 'rate_limit_exceeded'] as const

/**
 * The error of a field, as a sentence beside it; null where the failure is not about that field. `names`
 * are its path in the API, and the error codes that are about this field only.
 */
export function fieldError(failure: Failure | null, ...names: readonly string[]): string | null {
  if (failure === null) return null
  if (names.includes(failure.code)) return failure.message
  const issues = failure.details['issues']
  const known = Array.isArray(issues) ? (issues as Issue[]) : [] // As `invalid_request` is documented.
  const found = known.find(({ path }) => names.includes(path))
  return found === undefined ? null : `It ${found.message}.`
}

type Issue = { readonly path: string; readonly message: string }
