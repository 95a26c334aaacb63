// HTTP with WebDriverAgent over connections to the phone. Its server reads bodies by Content-Length only, answers
// one request at a time, and keeps connections open (WebDriverAgent 16.7.0, FBHTTPServer.m).

import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

import { isRecord } from './ui-tree.ts'

export type AgentErrorCode =
  | 'no_such_element'
  /** The element was on the screen and is gone. */
  | 'stale'
  /** The agent has lost the session: it restarted, or another controller took it. */
  | 'invalid_session'
  /** The agent gave up waiting for the phone. */
  | 'timeout'
  | 'not_visible'
  | 'alert'
  /** No answer: the agent has ended, or the cable is out. */
  | 'down'
  /** No answer for a minute: the test daemon of the phone has crashed. */
  | 'stuck'
  /** Another controller keeps taking the session. */
  | 'shared'
  | 'aborted'
  | 'other'

/** A failed command of the agent. The error's message never contains a text or a handle. */
export class AgentError extends Error {
  override readonly name = 'AgentError'
  readonly code: AgentErrorCode

  constructor(code: AgentErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** Connects to a TCP port of the phone; rejects if nothing listens there. */
type ConnectPhone = (port: number, signal: AbortSignal) => Promise<Duplex>

export type WdaRequest = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body: object | null
}

export type WdaAnswer = { readonly status: number; readonly body: string }

/** Rejects with an `AgentError`: `down` if no whole answer came, `aborted` with the signal. */
export type WdaExchange = (request: WdaRequest, signal: AbortSignal) => Promise<WdaAnswer>

/** A screen with a long chat has a few hundred kilobytes. */
const BODY_BYTES_MAX = 32 * 1024 * 1024

/** Codes by the errors of FBCommandStatus.m; every other error is `other`. */
const CODES: Readonly<Record<string, AgentErrorCode>> = {
  'no such element': 'no_such_element',
  // The answer to a question about an alert when there is none.
  'no such alert': 'no_such_element',
  'stale element reference': 'stale',
  'invalid session id': 'invalid_session',
  timeout: 'timeout',
  'element not visible': 'not_visible',
  'unexpected alert open': 'alert',
}

/** The value in an answer. Leaves out the text of an error, because it describes elements, which quote messages. */
export function valueOf(request: WdaRequest, { status, body }: WdaAnswer): unknown {
  const answer = jsonOf(body)
  if (!isRecord(answer) || !('value' in answer)) {
    throw new AgentError('other', `${routeOf(request)} has no JSON answer (HTTP ${status}).`)
  }
  const { value } = answer
  const error = isRecord(value) && typeof value['error'] === 'string' ? value['error'] : null
  if (status === 200 && error === null) return value
  const code = CODES[error ?? ''] ?? 'other'
  throw new AgentError(code, `${routeOf(request)} failed: ${code} (HTTP ${status}).`)
}

/** The route without its ids and its query. */
function routeOf({ method, path }: WdaRequest): string {
  const route = path
    .replace(/\?.*$/, '')
    .replace(/\/session\/[^/]+/, '')
    .replace(/\/element\/[^/]+/, '/element')
  return `${method} ${route}`
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Uses a new connection for each request, because the cable may have been out since the last one. */
export function httpExchange(connect: ConnectPhone, port: number): WdaExchange {
  return async (request, signal) => {
    const socket = await connect(port, signal).catch(() => {
      if (signal.aborted) throw new AgentError('aborted', 'Aborted while connecting.')
      throw new AgentError('down', 'Nothing listens on the port of the agent.')
    })
    const abort = () => socket.destroy()
    signal.addEventListener('abort', abort)
    try {
      return await exchange(socket, port, request)
    } catch (error) {
      if (signal.aborted) throw new AgentError('aborted', `${request.method} was aborted.`)
      throw error
    } finally {
      signal.removeEventListener('abort', abort)
      socket.destroy()
    }
  }
}

function exchange(socket: Duplex, port: number, request: WdaRequest): Promise<WdaAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<WdaAnswer>()
  const fail = () => reject(new AgentError('down', 'The connection to the agent broke.'))
  socket.on('error', fail)
  socket.on('close', fail)
  const sent = send(socket, port, request)
  sent.on('error', fail)
  sent.on('response', (response) => {
    readBody(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject)
  })
  return promise
}

function send(socket: Duplex, port: number, { method, path, body }: WdaRequest): ClientRequest {
  const bytes = body === null ? null : Buffer.from(JSON.stringify(body))
  const sent = httpRequest({
    // An address, because Bun looks up a name even if the connection is given. With `agent: false` Bun ignores
    // `createConnection` and connects by itself.
    host: '127.0.0.1',
    port,
    method,
    path,
    createConnection: () => socket,
    headers: {
      'Content-Length': bytes?.length ?? 0,
      ...(bytes === null ? {} : { 'Content-Type': 'application/json' }),
    },
  })
  sent.end(bytes ?? undefined)
  return sent
}

async function readBody(response: IncomingMessage): Promise<string> {
  const parts: Uint8Array[] = []
  let length = 0
  try {
    for await (const part of response) {
      const bytes = part as Uint8Array // A response without an encoding gives bytes.
      length += bytes.length
      if (length > BODY_BYTES_MAX) throw new AgentError('other', 'The answer is too large.')
      parts.push(bytes)
    }
  } catch (error) {
    if (error instanceof AgentError) throw error
    throw new AgentError('down', 'The answer of the agent broke off.')
  }
  return Buffer.concat(parts).toString()
}
