// Client of the running relay: the same API, over its Unix socket.

import { existsSync } from 'node:fs'
import { dirname } from 'node:path'

import type { Attachment } from '../api/attachments.ts'
import type { ErrorAnswer } from '../api/errors.ts'
import type { Answers, Route } from '../api/routes.ts'
import type { AnyEvent } from '../api/webhooks.ts'
import { deadline, systemClock } from '../system/clock.ts'
import { NoRelayError } from './command.ts'

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

/** Answer of `/healthz` or `/readyz`, also in safe mode and while the relay starts or stops. */
export type ProbeAnswer = {
  readonly http: number
  readonly status?: string
  readonly reason?: string
  readonly next_step?: string
  readonly error?: ErrorAnswer['error']
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

/** A send is answered within 60 s; anything slower is stuck. */
const TIMEOUT_MS = 90_000
/** Probes are answered at once. */
const PROBE_TIMEOUT_MS = 5_000

export class ControlClient {
  readonly #socket: string

  constructor(socket: string) {
    this.#socket = socket
  }

  /** True where a relay answers. */
  async isThere(): Promise<boolean> {
    if (!existsSync(this.#socket)) return false
    try {
      const response = await this.#fetch('/healthz', {})
      await response.body?.cancel()
      return true
    } catch (error) {
      if (error instanceof NoRelayError) return false
      throw error
    }
  }

  async probe(path: '/healthz' | '/readyz'): Promise<ProbeAnswer> {
    const { status: http, body } = await this.#request(path, {}, PROBE_TIMEOUT_MS)
    return { ...(body as object), http } // Anything but an object has no fields.
  }

  /** Answer of a route; throws a RefusedError where the relay refuses. */
  async ask<R extends Route>(route: R, request: RouteRequest = {}): Promise<Answers[R]> {
    const [method = '', template = ''] = route.split(' ')
    const path = template.replace(':id', encodeURIComponent(request.id ?? ''))
    const query = new URLSearchParams(request.query)
    const init = {
      method,
      headers: {
        'content-type': request.text === undefined ? 'application/json' : 'text/plain',
        ...request.headers,
      },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      ...(request.text === undefined ? {} : { body: request.text }),
    }
    const { status, body } = await this.#request(
      `/api/v1${path}${query.size === 0 ? '' : `?${query.toString()}`}`,
      init,
      request.timeoutMs ?? TIMEOUT_MS,
    )
    if (status >= 300) throw refusal(status, body)
    return body as Answers[R] // The relay checks every answer against its schema.
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

  /** The bytes of a file, by its path below `/api/v1`. */
  async *download(path: string): AsyncGenerator<Uint8Array> {
    const response = await this.#fetch(`/api/v1${path}`, {})
    if (!response.ok) throw refusal(response.status, parsed(await response.text()))
    yield* response.body ?? []
  }

  /** Events as they happen, until the relay stops or `signal` aborts; null for the empty lines between. */
  async *events(signal: AbortSignal): AsyncGenerator<AnyEvent | null> {
    const response = await this.#fetch('/api/v1/events', { signal })
    if (!response.ok) throw refusal(response.status, parsed(await response.text()))
    let rest = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield line === '' ? null : JSON.parse(line)
    }
  }

  async #request(
    path: string,
    init: RequestInit,
    timeoutMs: number,
  ): Promise<{ readonly status: number; readonly body: unknown }> {
    const limit = deadline(systemClock, timeoutMs)
    try {
      const response = await this.#fetch(path, { ...init, signal: limit.signal })
      return { status: response.status, body: parsed(await response.text()) }
    } finally {
      limit.clear()
    }
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(`http://localhost${path}`, { ...init, unix: this.#socket, proxy: false })
    } catch (error) {
      if (hasNoListener(error)) throw new NoRelayError(dirname(this.#socket))
      throw error
    }
  }
}

function hasNoListener(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return ['ENOENT', 'ECONNREFUSED', 'FailedToOpenSocket', 'ConnectionRefused'].includes(code)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function refusal(status: number, body: unknown): RefusedError {
  const { error } = body as Partial<ErrorAnswer> // Anything else has no such field.
  const message = `The relay answered with status ${status}.`
  return new RefusedError(status, error ?? { code: 'unknown', message })
}
