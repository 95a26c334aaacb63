// Calls of operations, typed by their rows. Each client passes its own `fetch`.

import { filledPage } from '../domain/pages.ts'
import { filledPath } from '../domain/paths.ts'
import type { OperationRights } from '../domain/permissions.ts'
import type { ErrorAnswer } from './errors.ts'
import {
  operationRights,
  operationRoutes,
} from './operation-routes.macro.ts' with { type: 'macro' }
import type { Answer, ArgumentsOf, Call, OperationId } from './operations.ts'

const ROUTES = operationRoutes()
const RIGHTS = operationRights()

/** The rights that an operation asks of a key. Throws for an operation that isn't for keys. */
export function rightsFor(id: OperationId): OperationRights {
  const asked = RIGHTS[id]
  if (asked === undefined) throw new Error(`${id} is not for keys.`)
  return asked
}

export type Sending = {
  /** A body that isn't JSON. */
  readonly text?: string
  readonly timeoutMs?: number
}

/** An error that the relay answered. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  readonly status: number
  readonly code: string
  readonly details: unknown
  readonly retryAfter: string | null

  constructor(
    status: number,
    { code, message, details }: ErrorAnswer['error'],
    retryAfter: string | null = null,
  ) {
    super(message)
    this.status = status
    this.retryAfter = retryAfter
    this.code = code
    this.details = details
  }
}

/** No relay listens at the address, so nothing of the request arrived. */
export class UnreachedError extends Error {
  override readonly name = 'UnreachedError'
}

export type Answered<Id extends OperationId> = {
  readonly body: Answer<Id>
  /** True if the relay repeated its answer to an earlier request with the same `Idempotency-Key`. */
  readonly isReplay: boolean
}

/** Sends a request; `path` starts at the relay's root. */
export type RelayFetch = (path: string, init: RequestInit) => Promise<Response>

export type CallArguments<Id extends OperationId> = ArgumentsOf<Call<Id> & Sending>

type AnyCall = Sending & {
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly query?: Readonly<Record<string, string | undefined>> | undefined
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Calls an operation; fetches more pages until a list has as many entries as `limit`. Throws a RefusedError. */
export async function callOperation<Id extends OperationId>(
  fetch: RelayFetch,
  id: Id,
  call: AnyCall,
): Promise<Answered<Id>> {
  const { body, isReplay } = await callOnce(fetch, id, call)
  // The reader of events continues by itself, with `after`.
  const limit = id === 'listEvents' ? 0 : Number(call.query?.['limit'] ?? 0)
  const next = async (cursor: string, left: number) => {
    const query = { ...call.query, cursor, limit: String(left) }
    return (await callOnce(fetch, id, { ...call, query })).body
  }
  return { body: await filledPage(body, limit, next), isReplay }
}

async function callOnce<Id extends OperationId>(
  fetch: RelayFetch,
  id: Id,
  { params = {}, query = {}, body, text, headers }: AnyCall,
): Promise<Answered<Id>> {
  const { method, path } = requestOf(id, params, query)
  const response = await fetch(path, {
    method,
    headers: { 'content-type': text === undefined ? 'application/json' : 'text/plain', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(text === undefined ? {} : { body: text }),
  })
  const answer = parsed(await response.text())
  if (response.status >= 300) throw refusal(response, answer)
  const isReplay = response.headers.has('idempotency-replayed')
  return { body: answer as Answer<Id>, isReplay } // The relay checks its answers against their schemas.
}

/** The method of a call, and its path and query from the relay's root. */
export function requestOf(
  id: OperationId,
  params: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string | undefined>>,
): { readonly method: string; readonly path: string } {
  const [method = '', route = ''] = (ROUTES[id] ?? '').split(' ')
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) search.set(name, value)
  const path = filledPath(route, params)
  return { method, path: search.size === 0 ? path : `${path}?${search.toString()}` }
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export function refusal({ status, headers }: Pick<Response, 'status' | 'headers'>, body: unknown) {
  const { error } = body as Partial<ErrorAnswer> // Other bodies don't have this field.
  const message = `The relay answered with status ${status}.`
  const known = error ?? { code: 'unknown', message }
  return new RefusedError(status, known, headers.get('retry-after'))
}
