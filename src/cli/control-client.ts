// Client of a relay: the API over the Unix socket of the one on this machine, or by address and key.

import { existsSync } from 'node:fs'
import { dirname } from 'node:path'

import type { Attachment } from '../api/attachments.ts'
import {
  RefusedError,
  callRoute,
  parsed,
  refusal,
  type RelayFetch,
  type RouteAnswer,
  type RouteRequest,
} from '../api/client.ts'
import type { ErrorAnswer } from '../api/errors.ts'
import type { Answers, Route } from '../api/routes.ts'
import type { AnyEvent } from '../api/webhooks.ts'
import { deadline, systemClock } from '../system/clock.ts'
import { proxyVariable } from '../system/network-address.ts'
import { NoRelayError } from './command.ts'

/** Answer of `/healthz` or `/readyz`, also in safe mode and while the relay starts or stops. */
export type ProbeAnswer = {
  readonly http: number
  readonly status?: string
  readonly reason?: string
  readonly next_step?: string
  readonly error?: ErrorAnswer['error']
}

/** An event, and the id from which a reader resumes behind it. */
export type EventPlace = { readonly id: string | null; readonly event: AnyEvent | null }

/** A send is answered within 60 s; anything slower is stuck. */
const TIMEOUT_MS = 90_000
/** Probes are answered at once. */
const PROBE_TIMEOUT_MS = 5_000

/** Path of the control socket of a relay on this machine, or the address of any relay with the headers of a key. */
type RelayPlace =
  | string
  | {
      readonly url: string
      readonly headers: Readonly<Record<string, string>>
      /** It may name a proxy, which then is given the headers too. */
      readonly environment: Readonly<Record<string, string | undefined>>
    }

export class ControlClient {
  readonly #place: RelayPlace

  constructor(place: RelayPlace) {
    this.#place = place
  }

  /** True where a relay answers, or is too busy to answer in time. */
  async isThere(): Promise<boolean> {
    if (typeof this.#place === 'string' && !existsSync(this.#place)) return false
    const limit = deadline(systemClock, PROBE_TIMEOUT_MS)
    try {
      const response = await this.#fetch('/healthz', { signal: limit.signal })
      await response.body?.cancel()
      return true
    } catch (error) {
      if (error instanceof NoRelayError) return false
      if (limit.signal.aborted) return true
      throw error
    } finally {
      limit.clear()
    }
  }

  async probe(path: '/healthz' | '/readyz'): Promise<ProbeAnswer> {
    const limit = deadline(systemClock, PROBE_TIMEOUT_MS)
    try {
      const response = await this.#fetch(path, { signal: limit.signal })
      return { ...(parsed(await response.text()) as object), http: response.status } // Anything but an object has no fields.
    } finally {
      limit.clear()
    }
  }

  /** Answer of a route; throws a RefusedError where the relay refuses. */
  async ask<R extends Route>(route: R, request: RouteRequest = {}): Promise<Answers[R]> {
    return (await this.call(route, request)).body
  }

  async call<R extends Route>(route: R, request: RouteRequest): Promise<RouteAnswer<R>> {
    const limit = deadline(systemClock, request.timeoutMs ?? TIMEOUT_MS)
    const fetch: RelayFetch = (path, init) =>
      this.#fetch(`/api/v1${path}`, { ...init, signal: limit.signal })
    try {
      return await callRoute(fetch, route, request)
    } finally {
      limit.clear()
    }
  }

  /** The same; null where the relay has no such answer, as one of an earlier version. */
  async find<R extends Route>(route: R, request?: RouteRequest): Promise<Answers[R] | null> {
    try {
      return await this.ask(route, request)
    } catch (error) {
      if (error instanceof RefusedError) return null
      throw error
    }
  }

  /** Uploads the bytes of a file as they are read. */
  async upload(filename: string, bytes: ReadableStream<Uint8Array>): Promise<Attachment> {
    const query = new URLSearchParams({ filename })
    const response = await this.#fetch(`/api/v1/attachments?${query.toString()}`, {
      method: 'POST',
      body: bytes,
    })
    const body = parsed(await response.text())
    if (!response.ok) throw refusal(response.status, body)
    return body as Attachment // The relay checks every answer against its schema.
  }

  /** Answer with the bytes of a file, by its path below `/api/v1`. */
  file(path: string): Promise<Response> {
    return this.#fetch(`/api/v1${path}`, {})
  }

  /** The bytes themselves; throws a RefusedError where the relay refuses. */
  async *download(path: string): AsyncGenerator<Uint8Array> {
    const response = await this.file(path)
    if (!response.ok) throw refusal(response.status, parsed(await response.text()))
    yield* response.body ?? []
  }

  /**
   * Events behind the one with the id `after`, or as they happen, until the relay stops or `signal` aborts. In a
   * silence there is a place without an event.
   */
  async *events(signal: AbortSignal, after: string | null): AsyncGenerator<EventPlace> {
    const headers = after === null ? undefined : { 'last-event-id': after }
    const response = await this.#fetch('/api/v1/events/stream', { signal, headers })
    if (!response.ok) throw refusal(response.status, parsed(await response.text()))
    let rest = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
      rest = blocks.pop() ?? ''
      yield* blocks.map(placeIn)
    }
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    const place = this.#place
    if (typeof place !== 'string') return fetchElsewhere(place, path, init)
    try {
      return await fetch(`http://localhost${path}`, { ...init, unix: place, proxy: false })
    } catch (error) {
      if (!hasNoListener(error)) throw error
      throw new NoRelayError(dirname(place))
    }
  }
}

async function fetchElsewhere(
  place: Exclude<RelayPlace, string>,
  path: string,
  init: RequestInit,
): Promise<Response> {
  const url = new URL(path, place.url)
  const variable = await proxyVariable(url, place.environment)
  const through =
    variable === null
      ? ''
      : ` The request went through the proxy that ${variable} names. If ${url.hostname} can be reached without it, add ${url.hostname} to NO_PROXY.`
  const headers = new Headers([...new Headers(init.headers), ...Object.entries(place.headers)])
  const response = await fetch(url, {
    ...init,
    headers,
    redirect: 'manual',
    ...(variable === null && { proxy: false }),
  }).catch((error: unknown) => {
    if (!hasNoListener(error)) throw error
    throw new Error(`No relay answers at ${place.url}.${through}`, { cause: error })
  })
  const to = response.headers.get('location')
  if (to !== null)
    throw new Error(`${place.url} redirects to ${to}, which is given no key. Is --url right?`)
  const isOfRelay = response.headers.get('content-type')?.startsWith('application/json') === true
  if (response.ok || isOfRelay || variable === null) return response
  await response.body?.cancel()
  const what = `The answer with status ${response.status} is not one of the relay.`
  throw new Error(`${what}${through}`)
}

/** A block of server-sent events. */
function placeIn(block: string): EventPlace {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
  const data = field('data')
  return { id: field('id') ?? null, event: data === undefined ? null : JSON.parse(data) }
}

function hasNoListener(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return ['ENOENT', 'ECONNREFUSED', 'FailedToOpenSocket', 'ConnectionRefused'].includes(code)
}
