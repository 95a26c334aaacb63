// The client of a relay: over the control socket on this machine, or by URL and key.

import { existsSync } from 'node:fs'
import { dirname } from 'node:path'

import type { Attachment } from '../api/attachments.ts'
import {
  RefusedError,
  UnreachedError,
  callOperation,
  parsed,
  refusal,
  requestOf,
  type Answered,
  type CallArguments,
} from '../api/client.ts'
import type { ErrorAnswer } from '../api/errors.ts'
import type { Answer, Call, OperationId } from '../api/operations.ts'
import type { AnyEvent } from '../api/webhooks.ts'
import { deadline, systemClock } from '../system/clock.ts'
import { proxyVariable } from '../system/network-address.ts'
import { NoRelayError } from './command.ts'

/** The answer of `/healthz` or `/readyz`, also in safe mode and while the relay starts or stops. */
type ProbeAnswer = {
  readonly http: number
  readonly status?: string
  readonly reason?: string
  readonly next_step?: string
  readonly error?: ErrorAnswer['error']
}

/** An event, and the id to resume after it. */
export type EventPlace = { readonly id: string | null; readonly event: AnyEvent | null }

/** The relay answers a send within 60 s; anything slower is stuck. */
const TIMEOUT_MS = 90_000
const PROBE_TIMEOUT_MS = 5_000

/** The path of a control socket on this machine, or the URL of any relay with the headers of a key. */
type RelayPlace =
  | string
  | {
      readonly url: string
      readonly headers: Readonly<Record<string, string>>
      /** May name a proxy, which then receives the headers too. */
      readonly environment: Readonly<Record<string, string | undefined>>
    }

export class ControlClient {
  readonly #place: RelayPlace
  readonly #headers: Readonly<Record<string, string>>

  /** `headers` go with every request. */
  constructor(place: RelayPlace, headers: Readonly<Record<string, string>> = {}) {
    this.#place = place
    this.#headers = headers
  }

  /** True if a relay answers, or is too busy to answer in time. */
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
      // Anything but an object has no fields.
      return { ...(parsed(await response.text()) as object), http: response.status }
    } finally {
      limit.clear()
    }
  }

  /** Throws a RefusedError if the relay refuses. */
  async ask<Id extends OperationId>(id: Id, ...given: CallArguments<Id>): Promise<Answer<Id>> {
    return (await this.call(id, ...given)).body
  }

  async call<Id extends OperationId>(id: Id, ...given: CallArguments<Id>): Promise<Answered<Id>> {
    const [call] = given
    const limit = deadline(systemClock, call?.timeoutMs ?? TIMEOUT_MS)
    try {
      return await callOperation(
        (path, init) => this.#fetch(path, { ...init, signal: limit.signal }),
        id,
        call ?? {},
      )
    } finally {
      limit.clear()
    }
  }

  /** Like `ask`, but null if the relay refuses: one of an earlier version may not have the operation. */
  async find<Id extends OperationId>(
    id: Id,
    ...given: CallArguments<Id>
  ): Promise<Answer<Id> | null> {
    try {
      return await this.ask(id, ...given)
    } catch (error) {
      if (error instanceof RefusedError) return null
      throw error
    }
  }

  async upload(filename: string, bytes: ReadableStream<Uint8Array>): Promise<Attachment> {
    const { method, path } = requestOf('uploadAttachment', {}, { filename })
    const response = await this.#fetch(path, { method, body: bytes })
    const body = parsed(await response.text())
    if (!response.ok) throw refusal(response, body)
    return body as Attachment // The relay checks every answer against its schema.
  }

  file<Id extends OperationId>(id: Id, { params, query = {} }: Call<Id>): Promise<Response> {
    return this.#fetch(requestOf(id, params ?? {}, query).path, {})
  }

  /** Throws a RefusedError if the relay refuses. */
  async *download<Id extends OperationId>(id: Id, call: Call<Id>): AsyncGenerator<Uint8Array> {
    const response = await this.file(id, call)
    if (!response.ok) throw refusal(response, parsed(await response.text()))
    yield* response.body ?? []
  }

  /**
   * Events after the event `after`, or from now on if it is null, until the relay stops or `signal` aborts. A place
   * without an event is the relay's sign of life.
   */
  async *events(
    signal: AbortSignal,
    { after, siteId }: { readonly after: string | null; readonly siteId?: string | undefined },
  ): AsyncGenerator<EventPlace> {
    const headers = after === null ? undefined : { 'last-event-id': after }
    const { path } = requestOf('streamEvents', {}, { site_id: siteId })
    const response = await this.#fetch(path, { signal, headers })
    if (!response.ok) throw refusal(response, parsed(await response.text()))
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
    const headers = new Headers([...new Headers(init.headers), ...Object.entries(this.#headers)])
    if (typeof place !== 'string') return fetchElsewhere(place, path, { ...init, headers })
    try {
      return await fetch(`http://localhost${path}`, { ...init, headers, unix: place, proxy: false })
    } catch (error) {
      if (!hasNoListener(error)) throw error
      throw new NoRelayError(dirname(place))
    }
  }
}

async function fetchElsewhere(place: Exclude<RelayPlace, string>, path: string, init: RequestInit) {
  const url = new URL(place.url.replace(/\/+$/, '') + path)
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
    throw new UnreachedError(`No relay answers at ${place.url}.${through}`, { cause: error })
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

/** Parses one block of server-sent events. */
function placeIn(block: string): EventPlace {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
  const data = field('data')
  return { id: field('id') ?? null, event: data === undefined ? null : JSON.parse(data) }
}

function hasNoListener(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return ['ENOENT', 'ECONNREFUSED', 'FailedToOpenSocket', 'ConnectionRefused'].includes(code)
}
