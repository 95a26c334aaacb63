// One call to the relay. What it answers, a refusal and a relay that is out of reach are values alike.

import { pageKey } from './page-key.ts'

/** Why a call brought nothing. */
export type Failure = {
  /** As the API has it; `unreachable` where no answer came. */
  readonly code: string
  /** A sentence for people. */
  readonly message: string
  /** The HTTP status, 0 where no answer came. */
  readonly status: number
  readonly details: Readonly<Record<string, unknown>>
  /** How many seconds later the same call may do better, where the relay says so. */
  readonly retryAfterSeconds: number | null
}

export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure }

export type Order = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** From the root of the relay on: `/dashboard/session`. */
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
}

/** Longer than the longest that the relay waits for a line, 60 seconds. */
const TIMEOUT_MS = 75_000

const UNREACHABLE: Failure = {
  code: 'unreachable',
  message: 'The relay does not answer. Is it running, and this device still on its network?',
  status: 0,
  details: {},
  retryAfterSeconds: null,
}

/** Asks the relay; `T` is what the route is documented to answer. Never rejects. */
export async function request<T>(order: Order): Promise<Answer<T>> {
  const { method, path, body, headers = {}, signal } = order
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
    const told: unknown = await response.json()
    if (!response.ok) return { ok: false, failure: failureIn(response, told) }
    return { ok: true, value: told as T } // The relay answers what its schemas say.
  } catch {
    return { ok: false, failure: UNREACHABLE }
  }
}

/** Goes with whatever is asked of the relay: the cookie alone opens nothing. */
export function pageHeaders(): Readonly<Record<string, string>> {
  const key = pageKey()
  return key === null ? {} : { 'x-hookline-page-key': key }
}

function failureIn(response: Response, told: unknown): Failure {
  // An answer that is not ours, of a proxy for instance, has none of these fields.
  const { error } = (told ?? {}) as { readonly error?: Partial<Failure> }
  const retryAfter = Number.parseInt(response.headers.get('retry-after') ?? '', 10)
  return {
    code: error?.code ?? 'unknown',
    message: error?.message ?? `Something between here and the relay answered ${response.status}.`,
    status: response.status,
    details: error?.details ?? {},
    retryAfterSeconds: Number.isNaN(retryAfter) ? null : retryAfter,
  }
}
