// What only real sockets show.

import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import {
  CannotListenError,
  listen,
  listenOnSocket,
  type Listener,
} from '../../src/http/listener.ts'
import type { Http } from '../../src/http/server.ts'
import { silentLog } from '../../src/system/log.ts'
import { eventually } from '../support/eventually.ts'
import { startHttp } from './http-relay.ts'

const folder = mkdtempSync(join(tmpdir(), 'hookline-listener-'))
afterAll(() => rmSync(folder, { recursive: true }))

const relay = await startHttp()
const CREDENTIALS = relay.credentials
afterAll(() => relay[Symbol.asyncDispose]())

function listening(http: Http = relay.http): Listener {
  return listen(http, { host: '127.0.0.1', port: 0, log: silentLog })
}

/** What the relay has answered so far, by status. */
async function answered(status: number): Promise<number> {
  const line = new RegExp(`hookline_http_responses_total\\{status="${status}"\\} (\\d+)`)
  return Number(line.exec(await relay.metrics())?.[1] ?? 0)
}

/** What comes back for `text`, until the other side closes or a status line is there. */
async function rawAnswer(port: number, text: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const socket = connect(port, '127.0.0.1', () => socket.write(text))
  let answer = ''
  socket.on('data', (data) => {
    answer += data.toString()
    if (answer.includes('\r\n\r\n')) socket.end()
  })
  socket.on('close', () => resolve(answer))
  socket.on('error', () => resolve(answer))
  return promise
}

const JSON_HEAD = 'host: localhost\r\ncontent-type: application/json'
const KEY_HEAD = `x-api-key: ${CREDENTIALS['x-api-key']}\r\nx-api-secret: ${CREDENTIALS['x-api-secret']}`
const KEYS_HEAD = `POST /api/v1/keys HTTP/1.1\r\n${JSON_HEAD}\r\n${KEY_HEAD}`
const CUT_OFF = {
  'a log-in': `POST /dashboard/session HTTP/1.1\r\n${JSON_HEAD}\r\nsec-fetch-site: same-origin\r\ncontent-length: 50\r\n\r\n{"pas`,
  'a call with a key': `${KEYS_HEAD}\r\ncontent-length: 50\r\n\r\n{"na`,
  'a chunk': `${KEYS_HEAD}\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"n`,
  'an odd chunk': `${KEYS_HEAD}\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{"\r\nzz\r\n`,
}

test('a client that hangs up in the middle of a body is no fault of the relay', async () => {
  const begun: (() => void)[] = []
  const listener = listening({
    endStreams: () => relay.http.endStreams(),
    fetch(request, peer) {
      begun.shift()?.()
      return relay.http.fetch(request, peer)
    },
  })

  for (const [what, request] of Object.entries(CUT_OFF)) {
    const before = await answered(499)
    const { promise, resolve } = Promise.withResolvers<void>()
    begun.push(resolve)
    const socket = connect(listener.port, '127.0.0.1', () => socket.write(request))
    socket.on('error', () => {})
    await promise
    socket.destroy()
    await eventually(`${what} has ended`, async () =>
      (await answered(499)) > before ? true : null,
    )
  }

  expect(await relay.metrics()).not.toContain('status="5')
  expect(relay.logged('request failed')).toEqual([])
  await listener.stop(0)
})

test('a body without an announced length that is far too long is no fault of the relay', async () => {
  const listener = listening()
  const size = 2 * 1_024 * 1_024

  const answer = await rawAnswer(
    listener.port,
    `${KEYS_HEAD}\r\ntransfer-encoding: chunked\r\n\r\n` +
      `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n0\r\n\r\n`,
  )

  expect(answer).toStartWith('HTTP/1.1 413 ')
  expect(relay.logged('request failed')).toEqual([])
  await listener.stop(0)
})

test('two relays cannot share a port', async () => {
  const first = listening()

  const second = () => listen(relay.http, { host: '127.0.0.1', port: first.port, log: silentLog })

  expect(second).toThrow(CannotListenError)
  expect(second).toThrow('something else listens there already')
  await first.stop(0)
})

test('requests that run are answered at a stop, and later ones find nobody', async () => {
  const answer = Promise.withResolvers<void>()
  const slow: Http = {
    endStreams: () => relay.http.endStreams(),
    async fetch(request, peer) {
      if (request.url.endsWith('/keys')) await answer.promise
      return relay.http.fetch(request, peer)
    },
  }
  const listener = listening(slow)
  const running = fetch(`${listener.url}/api/v1/keys`, { headers: CREDENTIALS })
  await fetch(`${listener.url}/healthz`)

  const stopped = listener.stop(5_000)
  answer.resolve()

  expect((await running).status).toBe(200)
  await stopped
  const later = await fetch(`${listener.url}/healthz`).catch(() => 'nobody')
  expect(later).toBe('nobody')
})

test('a client that hangs up ends its request', async () => {
  const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const waiting: Http = {
    async fetch({ signal }) {
      begun.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      over.resolve()
      return new Response()
    },
    endStreams() {},
  }
  const listener = listening(waiting)
  const controller = new AbortController()

  const call = fetch(listener.url, { signal: controller.signal })
  await begun.promise
  controller.abort()
  const failed = await call.catch((error: unknown) => error instanceof Error && error.name)
  await over.promise

  expect(failed).toBe('AbortError')
  await listener.stop(0)
})

test('a request that hangs is cut at the end of the grace', async () => {
  const http: Http = { fetch: () => new Promise(() => {}), endStreams() {} }
  const listener = listening(http)
  const hanging = fetch(listener.url).catch(() => 'cut')

  await listener.stop(20)

  expect(await hanging).toBe('cut')
})

test('what no route catches is 500 in the one shape', async () => {
  const listener = listening({ fetch: () => Promise.reject(undefined), endStreams() {} })

  const response = await fetch(listener.url)

  expect(response.status).toBe(500)
  expect(await response.json()).toMatchObject({ error: { code: 'internal_error' } })
  await listener.stop(0)
})

const ODD = {
  'GET /healthz HTTP/1.0\r\n\r\n': 421,
  'GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n': 421,
  'GET /healthz HTTP/1.1\r\nHost: localhost/x\r\n\r\n': 421,
  'GET /api/v1/keys HTTP/1.0\r\n\r\n': 401,
  'GET /x/../api/v1/keys HTTP/1.1\r\nHost: a\r\n\r\n': 401,
  'CONNECT localhost:1 HTTP/1.1\r\nHost: localhost\r\n\r\n': 400,
}

test('a request whose Host or path is odd gets no further than any other', async () => {
  const listener = listening()

  for (const [text, status] of Object.entries(ODD)) {
    const answer = await rawAnswer(listener.port, text)

    expect([text, answer.slice(0, 12)]).toEqual([text, `HTTP/1.1 ${status}`])
  }
  await listener.stop(0)
})

test('the control socket is for its owner only, needs no key, and goes away at the stop', async () => {
  const path = join(folder, 'control.sock')
  writeFileSync(path, 'left behind by a crash')
  const listener = listenOnSocket(relay.http, { path, log: silentLog })

  const response = await fetch('http://localhost/api/v1/keys', { unix: path })
  const mode = statSync(path).mode & 0o777
  await listener.stop(0)

  expect([response.status, mode]).toEqual([200, 0o600])
  expect(() => statSync(path)).toThrow()
})
