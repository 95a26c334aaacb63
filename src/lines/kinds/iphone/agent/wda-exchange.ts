// One HTTP exchange with WebDriverAgent over a connection to the phone. Its server reads a body by
// Content-Length only, answers one request at a time, and keeps connections open
// (WebDriverAgent 16.7.0, FBHTTPServer.m).

import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

import { AgentError } from './agent.ts'

/** A connection to a TCP port of the phone; rejects where nothing listens there. */
export type ConnectPhone = (port: number, signal: AbortSignal) => Promise<Duplex>

export type WdaRequest = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body: object | null
}

export type WdaAnswer = { readonly status: number; readonly body: string }

/** Rejects with `AgentError`: `down` where no whole answer came, `aborted` with the signal. */
export type Exchange = (request: WdaRequest, signal: AbortSignal) => Promise<WdaAnswer>

/** A screen with a long chat is some hundred kilobytes, a screenshot some megabytes. */
const BODY_BYTES_MAX = 32 * 1024 * 1024

/** Exchanges over a new connection each: the cable may have been out since the last one. */
export function httpExchange(connect: ConnectPhone, port: number): Exchange {
  return async (request, signal) => {
    const socket = await connectTo(connect, port, signal)
    const letGo = () => socket.destroy()
    signal.addEventListener('abort', letGo)
    try {
      return await exchange(socket, port, request)
    } catch (error) {
      if (signal.aborted) throw new AgentError('aborted', `${request.method} was aborted.`)
      throw error
    } finally {
      signal.removeEventListener('abort', letGo)
      socket.destroy()
    }
  }
}

async function connectTo(
  connect: ConnectPhone,
  port: number,
  signal: AbortSignal,
): Promise<Duplex> {
  try {
    return await connect(port, signal)
  } catch {
    if (signal.aborted) throw new AgentError('aborted', 'Aborted while connecting.')
    throw new AgentError('down', 'Nothing listens on the port of the agent.')
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
    // An address, because Bun looks up a name even where the connection is given. With `agent: false`
    // it ignores `createConnection` and connects by itself.
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
