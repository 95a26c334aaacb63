// The relay's API as the page uses it: `/dashboard/api/…` is `/api/v1/…` with a dashboard session.
// `api.get('phone-lines')`, `api.post('keys', { name })`. A path with a leading slash is one of the
// dashboard's own: `api.get('/dashboard/about')`.

import { filledPage } from '../domain/pages.ts'
import { pageKey } from './browser-storage.ts'
import { COMMON } from './words/common.ts'

export type Failure = {
  /** The API's error code; `unreachable` where no answer came. */
  readonly code: string
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
  /** The bytes at `path`, for the page to show or to save. */
  bytes(path: string, signal?: AbortSignal): Promise<Answer<Blob>>
  /** Posts the bytes of a file. */
  upload<T>(path: string, file: Blob, options: UploadOptions): Promise<Answer<T>>
}

export type UploadOptions = {
  readonly signal: AbortSignal
  /** Called with the share of the bytes that has left, from 0 to 1. */
  readonly onProgress: (share: number) => void
}

export type SendFile = <T>(path: string, file: Blob, options: UploadOptions) => Promise<Answer<T>>

type Call = CallOptions & {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** From the relay's root: `/dashboard/session`. */
  readonly path: string
  readonly body?: unknown
  readonly timeoutMs?: number | undefined
}

type Tools = {
  readonly onSignedOut: () => void
  readonly askPassword: () => Promise<boolean>
  /** One upload, which never rejects. */
  readonly sendFile: SendFile
}

const ROOT = '/dashboard/api/'

/** The calls of a session: its end leads to sign-in, and a call that needs the password asks for it. */
export function createApi(tools: Tools): Api {
  async function inSession<T>(attempt: () => Promise<Answer<T>>): Promise<Answer<T>> {
    const answer = await once(attempt)
    if (answer.ok || answer.failure.code !== 'password_needed') return answer
    return (await tools.askPassword()) ? once(attempt) : answer
  }
  async function once<T>(attempt: () => Promise<Answer<T>>): Promise<Answer<T>> {
    const answer = await attempt()
    if (!answer.ok && answer.failure.status === 401) tools.onSignedOut()
    return answer
  }
  function call<T>(asked: Call): Promise<Answer<T>> {
    return inSession(() => request<T>({ ...asked, path: rooted(asked.path) }))
  }
  return {
    get: <T>(path: string, signal?: AbortSignal) =>
      filled<T>(path, (asked) => call({ method: 'GET', path: asked, signal })),
    post: (path, body, options = {}) => call({ method: 'POST', path, body, ...options }),
    patch: (path, body) => call({ method: 'PATCH', path, body }),
    put: (path, body) => call({ method: 'PUT', path, body }),
    remove: (path) => call({ method: 'DELETE', path }),
    bytes: (path, signal) =>
      inSession(() => {
        const asked = { path: rooted(path), signal, timeoutMs: BYTES_TIMEOUT_MS }
        return answerTo({ method: 'GET', ...asked }, (response) => response.blob())
      }),
    upload: (path, file, options) => inSession(() => tools.sendFile(rooted(path), file, options)),
  }
}

/** The answer at `path`, a page of a list with as many entries as it may have. */
async function filled<T>(
  path: string,
  ask: (path: string) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  const first = await ask(path)
  if (!first.ok) return first
  const [list = '', search] = path.split('?')
  const query = new URLSearchParams(search)
  const next = async (cursor: string, limit: number) => {
    query.set('cursor', cursor)
    query.set('limit', String(limit))
    const answer = await ask(`${list}?${query.toString()}`)
    return answer.ok ? answer.value : null
  }
  return { ok: true, value: await filledPage(first.value, Number(query.get('limit')), next) }
}

function rooted(path: string): string {
  return path.startsWith('/') ? path : ROOT + path
}

/** Longer than the relay's longest wait for a line, 60 seconds. */
const TIMEOUT_MS = 75_000
/** A file of 100 MB by a slow connection. */
const BYTES_TIMEOUT_MS = 1_800_000

export const UNREACHABLE: Failure = {
  code: 'unreachable',
  message: COMMON.unreachable,
  status: 0,
  details: {},
  retryAfterSeconds: null,
}

/** One call; `T` is the documented answer of the route. Never rejects. */
export function request<T>(asked: Call): Promise<Answer<T>> {
  // The relay answers what its schemas say.
  return answerTo(asked, async (response) => (await response.json()) as T)
}

async function answerTo<T>(
  { method, path, body, headers = {}, signal, timeoutMs = TIMEOUT_MS }: Call,
  read: (response: Response) => Promise<T>,
): Promise<Answer<T>> {
  const timeout = AbortSignal.timeout(timeoutMs)
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
    if (!response.ok) return { ok: false, failure: failureIn(response, await response.json()) }
    return { ok: true, value: await read(response) }
  } catch {
    return { ok: false, failure: UNREACHABLE }
  }
}

/** Headers of every request to the relay: the cookie alone is not accepted. */
export function pageHeaders(): Readonly<Record<string, string>> {
  const key = pageKey()
  return key === null ? {} : { 'x-hookline-page-key': key }
}

type Head = {
  readonly status: number
  readonly headers: { readonly get: (name: string) => string | null }
}

export function failureIn(response: Head, body: unknown): Failure {
  // An answer from elsewhere, a proxy for instance, has none of these fields.
  const { error } = (body ?? {}) as { readonly error?: Partial<Failure> }
  const retryAfter = Number.parseInt(response.headers.get('retry-after') ?? '', 10)
  return {
    code: error?.code ?? 'unknown',
    message: error?.message ?? COMMON.foreignAnswer(response.status),
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
  return found === undefined ? null : COMMON.wrongField(found.message)
}

type Issue = { readonly path: string; readonly message: string }
