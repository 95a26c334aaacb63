// Calls of the API's routes, typed by their answers, for every program that makes them by a `fetch` of its own.

import { filledPage } from '../domain/pages.ts'
import type { ErrorAnswer } from './errors.ts'
import type { Answers, Route } from './routes.ts'

export type RouteRequest = {
  /** Takes the place of `:id` in the route. */
  readonly id?: string
  readonly query?: Readonly<Record<string, string>> | undefined
  readonly body?: object | undefined
  /** A body that is no JSON. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
}

/** Error answered by the relay. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  readonly status: number
  readonly code: string
  readonly details: unknown

  constructor(status: number, { code, message, details }: ErrorAnswer['error']) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
  }
}

/** An answer, and true where it is that of an earlier request with the same `Idempotency-Key`. */
export type RouteAnswer<R extends Route> = { readonly body: Answers[R]; readonly isReplay: boolean }

/** Takes a path below `/api/v1`. */
export type RelayFetch = (path: string, init: RequestInit) => Promise<Response>

/** The answer of a route, with a page as full as it may be; throws a RefusedError where the relay refuses. */
export async function callRoute<R extends Route>(
  fetch: RelayFetch,
  route: R,
  request: RouteRequest,
): Promise<RouteAnswer<R>> {
  const { body, isReplay } = await callOnce(fetch, route, request)
  // A page of events goes on by `after`, and is read by who keeps that place.
  const limit = route === 'GET /events' ? 0 : Number(request.query?.['limit'] ?? 0)
  const next = async (cursor: string, left: number) => {
    const query = { ...request.query, cursor, limit: String(left) }
    return (await callOnce(fetch, route, { ...request, query })).body
  }
  return { body: await filledPage(body, limit, next), isReplay }
}

async function callOnce<R extends Route>(
  fetch: RelayFetch,
  route: R,
  { id = '', query, body, text, headers }: RouteRequest,
): Promise<RouteAnswer<R>> {
  const [method = '', template = ''] = route.split(' ')
  const search = new URLSearchParams(query)
  const path = template.replace(':id', encodeURIComponent(id))
  const response = await fetch(search.size === 0 ? path : `${path}?${search.toString()}`, {
    method,
    headers: { 'content-type': text === undefined ? 'application/json' : 'text/plain', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(text === undefined ? {} : { body: text }),
  })
  const answer = parsed(await response.text())
  if (response.status >= 300) throw refusal(response.status, answer)
  const isReplay = response.headers.has('idempotency-replayed')
  return { body: answer as Answers[R], isReplay } // The relay checks every answer against its schema.
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export function refusal(status: number, body: unknown): RefusedError {
  const { error } = body as Partial<ErrorAnswer> // Anything else has no such field.
  const message = `The relay answered with status ${status}.`
  return new RefusedError(status, error ?? { code: 'unknown', message })
}
