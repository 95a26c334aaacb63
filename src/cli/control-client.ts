// Client of the running relay: the same API, over its Unix socket.

import { existsSync } from 'node:fs'
import { dirname } from 'node:path'

import { deadline, systemClock } from '../system/clock.ts'
import { rowOf, textOf } from './answers.ts'
import { NoRelayError } from './command.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export type Answer = { readonly status: number; readonly body: unknown }

/** Error answered by the relay. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** A send is answered within 60 s; anything slower is stuck. */
const TIMEOUT_MS = 90_000
/** Liveness is answered at once. */
const LOOK_TIMEOUT_MS = 5_000

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

  /** Answer of a path such as `/readyz`, whatever its status. */
  async look(path: string): Promise<Answer> {
    const limit = deadline(systemClock, LOOK_TIMEOUT_MS)
    try {
      const response = await this.#fetch(path, { signal: limit.signal })
      return { status: response.status, body: parsed(await response.text()) }
    } finally {
      limit.clear()
    }
  }

  /** Requests `/api/v1` + `path`; throws a RefusedError where the relay refuses. */
  async ask(
    method: Method,
    path: string,
    more: {
      readonly body?: unknown
      readonly headers?: Record<string, string>
      readonly timeoutMs?: number
    } = {},
  ): Promise<Answer> {
    const limit = deadline(systemClock, more.timeoutMs ?? TIMEOUT_MS)
    try {
      const response = await this.#fetch(`/api/v1${path}`, {
        method,
        signal: limit.signal,
        headers: { 'content-type': 'application/json', ...more.headers },
        ...(more.body === undefined ? {} : { body: JSON.stringify(more.body) }),
      })
      const body = parsed(await response.text())
      if (response.ok) return { status: response.status, body }
      throw refusal(response.status, body)
    } finally {
      limit.clear()
    }
  }

  /** Objects of a stream of JSON lines, until it ends. Empty lines keep it open. */
  async *stream(path: string): AsyncGenerator {
    const response = await this.#fetch(`/api/v1${path}`, {})
    if (!response.ok) throw refusal(response.status, parsed(await response.text()))
    let rest = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line !== '') yield JSON.parse(line)
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
  const error = rowOf(rowOf(body)['error'])
  const message = textOf(error, 'message') || `The relay answered with status ${status}.`
  return new RefusedError(status, textOf(error, 'code') || 'unknown', message)
}
