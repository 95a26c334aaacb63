// Typed calls of the relay's operations: `api.call('createKey', { body: { name } })`. A signed-in browser reaches
// them below `/dashboard/api/`.

import {
  dashboardRoutes,
  methodMarks,
} from '../api/operation-routes.macro.ts' with { type: 'macro' }
import type { ArgumentsOf, Call, IdFor, Answer as ValueOf } from '../api/operations.ts'
import type { PhoneLine } from '../api/phone-lines.ts'
import { filledPage } from '../domain/pages.ts'
import { filledPath } from '../domain/paths.ts'
import { withQuery } from './address.ts'
import { pageKey } from './browser-storage.ts'

const ROUTES = dashboardRoutes()
const METHODS: Readonly<Record<string, string>> = methodMarks()

/** Operations that a browser may call. */
export type OperationId = IdFor<'keys' | 'owner' | 'browsers'>

export type Failure = {
  /** The API's error code; `unreachable` if no answer came. */
  readonly code: string
  readonly message: string
  /** HTTP status; 0 if no answer came. */
  readonly status: number
  readonly details: Readonly<Record<string, unknown>>
  /** Seconds until the same call may succeed, if the relay says so. */
  readonly retryAfterSeconds: number | null
}

export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure }

type Value = string | number | null | undefined

/** Empty values of a query are left out. */
export type CallOf<Id extends OperationId> = Call<Id, Value> & {
  readonly signal?: AbortSignal | undefined
}

export type AnyCall = {
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly query?: Readonly<Record<string, Value>> | undefined
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
}

export type Api = {
  /** The relay may return a shorter page of a list than `limit`; then this reads on until the page is full. */
  call<Id extends OperationId>(
    id: Id,
    ...call: ArgumentsOf<CallOf<Id>>
  ): Promise<Answer<ValueOf<Id>>>
  bytes<Id extends OperationId>(id: Id, ...call: ArgumentsOf<CallOf<Id>>): Promise<Answer<Blob>>
  upload<Id extends OperationId>(
    id: Id,
    call: CallOf<Id>,
    file: Blob,
    options: UploadOptions,
  ): Promise<Answer<ValueOf<Id>>>
  /** Calls a route that only this kind of line has. */
  actOnLine(line: PhoneLine, action: string, body: unknown): Promise<Answer<unknown>>
}

export type UploadOptions = {
  readonly signal: AbortSignal
  /** Called with the share of the bytes sent, from 0 to 1. */
  readonly onProgress: (share: number) => void
}

export type SendFile = <T>(path: string, file: Blob, options: UploadOptions) => Promise<Answer<T>>

/** If the session has ended, calls `onSignedOut`. If a call needs the password, asks for it and repeats the call. */
export function createApi({
  onSignedOut,
  askPassword,
  sendFile,
}: {
  readonly onSignedOut: () => void
  readonly askPassword: () => Promise<boolean>
  /** Never rejects. */
  readonly sendFile: SendFile
}): Api {
  async function inSession<T>(attempt: () => Promise<Answer<T>>): Promise<Answer<T>> {
    const answer = await once(attempt)
    if (answer.ok || answer.failure.code !== 'password_needed') return answer
    return (await askPassword()) ? once(attempt) : answer
  }
  async function once<T>(attempt: () => Promise<Answer<T>>): Promise<Answer<T>> {
    const answer = await attempt()
    // A wrong code leaves the session as it is.
    const isOut = !answer.ok && answer.failure.status === 401
    if (isOut && answer.failure.code !== 'wrong_code') onSignedOut()
    return answer
  }
  async function call<Id extends OperationId>(id: Id, asked: AnyCall = {}) {
    const ask = (more: AnyCall) => inSession(() => requested<Id>(id, { ...asked, ...more }))
    const first = await ask({})
    if (!first.ok) return first
    const next = async (cursor: string, limit: number) => {
      const answer = await ask({ query: { ...asked.query, cursor, limit } })
      return answer.ok ? answer.value : null
    }
    const value = await filledPage(first.value, Number(asked.query?.['limit'] ?? 0), next)
    return { ok: true, value } as const
  }
  return {
    call,
    bytes: (id, asked: AnyCall = {}) =>
      inSession(() => {
        const sent = { ...requestOf(id, asked), ...asked, timeoutMs: BYTES_TIMEOUT_MS }
        return answerTo(sent, (response) => response.blob())
      }),
    upload: (id, asked, file, options) =>
      inSession(() => sendFile(requestOf(id, asked).path, file, options)),
    actOnLine: ({ id, driver }, action, body) =>
      inSession(() => {
        const path = `/dashboard/api/${driver}/lines/${id}/${action}`
        return answerTo({ method: 'POST', path, body }, (response) => response.json())
      }),
  }
}

export function requestOf(id: OperationId, { params = {}, query = {} }: AnyCall) {
  const marked = ROUTES[id] ?? ''
  const method = METHODS[marked.charAt(0)] ?? 'GET'
  const route = method === 'GET' ? marked : marked.slice(1)
  const path = `/dashboard${route.startsWith('/') ? '' : '/api/'}${route}`
  return { method, path: withQuery(filledPath(path, params), query) }
}

/** Longer than the relay's longest wait for a line, 60 seconds. */
const TIMEOUT_MS = 75_000
/** Enough for 100 MB over a slow connection. */
const BYTES_TIMEOUT_MS = 1_800_000

export const UNREACHABLE: Failure = {
  code: 'unreachable',
  message: "The relay isn't responding. Check that it's running and this device is on its network.",
  status: 0,
  details: {},
  retryAfterSeconds: null,
}

/** A call without the session handling of `createApi`. Never rejects. */
export function request<Id extends OperationId>(id: Id, ...[call]: ArgumentsOf<CallOf<Id>>) {
  return requested<Id>(id, call ?? {})
}

function requested<Id extends OperationId>(id: Id, call: AnyCall): Promise<Answer<ValueOf<Id>>> {
  const sent = { ...requestOf(id, call), ...call }
  // The relay checks every answer against its schema.
  return answerTo(sent, async (response) => (await response.json()) as ValueOf<Id>)
}

type Sent = Pick<AnyCall, 'body' | 'headers' | 'signal'> & {
  readonly method: string
  readonly path: string
  readonly timeoutMs?: number
}

async function answerTo<T>(
  { method, path, body, headers = {}, signal, timeoutMs = TIMEOUT_MS }: Sent,
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

type Head = Pick<Response, 'status'> & { readonly headers: Pick<Headers, 'get'> }

export function failureIn(response: Head, body: unknown): Failure {
  // The answer of a proxy has none of these fields.
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

/** Returns whether the owner dismissed the password dialog, which needs no message. */
export function isDeclined(failure: Failure): boolean {
  return failure.code === 'password_needed'
}

/** The error codes about the current password. */
export const OF_PASSWORD = ['wrong_password', 'rate_limit_exceeded'] as const
export const OF_CODE = ['wrong_code', 'code', 'rate_limit_exceeded'] as const

/**
 * The sentence to show beside a field; null if the failure is not about it. `names` are its path in the API, and
 * the error codes that concern only this field.
 */
export function fieldError(failure: Failure | null, ...names: readonly string[]): string | null {
  if (failure === null) return null
  if (names.includes(failure.code)) return failure.message
  const issues = failure.details['issues']
  // As `invalid_request` is documented.
  const known = Array.isArray(issues) ? (issues as { path: string; message: string }[]) : []
  const found = known.find(({ path }) => names.includes(path))
  return found === undefined ? null : `It ${found.message}.`
}
