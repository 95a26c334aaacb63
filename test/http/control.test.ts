import { expect, test } from 'bun:test'

import { eventStream, type EventFeed } from '../../src/http/control.ts'
import { settle, TestClock } from '../support/test-clock.ts'
import { startHttp } from './http-relay.ts'

const OWNERS_ONLY: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['POST', '/api/v1/phone-lines/line_y/adopt', { from: 'line_x' }],
  ['GET', '/api/v1/events'],
  ['GET', '/api/v1/settings'],
  ['PUT', '/api/v1/settings/open_metrics', { value: 'on' }],
  ['POST', '/api/v1/backup', {}],
]

for (const [method, path, body] of OWNERS_ONLY) {
  test(`${method} ${path} exists on the control socket only`, async () => {
    await using rig = await startHttp()

    const response = await rig.call(method, path, body === undefined ? {} : { body })

    expect(response.status).toBe(404)
  })
}

test('a setting is set, a backup made, a line adopted', async () => {
  await using rig = await startHttp()
  const ask = async (method: string, path: string, body: object) =>
    (await rig.control(method, `/api/v1${path}`, { body })).json()

  const answers = [
    await ask('PUT', '/settings/open_metrics', { value: 'on' }),
    await ask('POST', '/backup', { to: '/b.db', without_attachments: true }),
    await ask('POST', '/phone-lines/line_y/adopt', { from: 'line_x' }),
  ]

  expect(answers).toMatchObject([
    { name: 'open_metrics', value: 'true', from: 'database', is_locked: false },
    { path: '/b.db', size_bytes: 0 },
    { error: { code: 'not_found' } },
  ])
})

test('bad input on the control socket is refused as everywhere', async () => {
  await using rig = await startHttp()

  const answers = [
    await rig.control('PUT', '/api/v1/settings/x', { body: { value: 5 } }),
    await rig.control('GET', '/api/v1/settings?x=1'),
    await rig.control('POST', '/api/v1/backup', { body: { file: 'x' } }),
  ]

  expect(answers.map((answer) => answer.status)).toEqual([400, 400, 400])
})

/** A stream of events with the clock and the feed behind it. */
function openStream() {
  const listeners = new Set<(event: string) => void>()
  const feed: EventFeed = {
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const clock = new TestClock()
  const end = new AbortController()
  const stream = eventStream(feed, clock, end.signal)
  return {
    stream,
    clock,
    end: () => end.abort(),
    tell: (event: string) => listeners.forEach((listener) => listener(event)),
    count: () => listeners.size,
  }
}

test('events come one line each, with an empty line after 15 seconds of silence', async () => {
  const { stream, clock, tell } = openStream()
  const reader = stream.getReader()
  const next = async () => (await reader.read()).value

  const opening = await next()
  await settle()
  tell('{"event":"message.sent"}')
  const told = await next()
  const silence = next()
  await settle()
  await clock.advance(14_999)
  const early = await Promise.race([silence, Promise.resolve('nothing yet')])
  await clock.advance(1)

  expect([opening, told, early, await silence]).toEqual([
    '\n',
    '{"event":"message.sent"}\n',
    'nothing yet',
    '\n',
  ])
})

test('a reader that goes away is forgotten', async () => {
  const { stream, count } = openStream()
  const reader = stream.getReader()
  await reader.read()
  await settle()
  const before = count()

  await reader.cancel()
  await settle()

  expect([before, count()]).toEqual([1, 0])
})

test('a reader that falls 1,000 events behind is cut off', async () => {
  const { stream, tell, count } = openStream()
  await settle()

  for (let i = 0; i < 5_000; i += 1) tell('{}')
  const text = await new Response(stream as ReadableStream).text()
  await settle()

  expect(text.length).toBeLessThan(5_000)
  expect(count()).toBe(0)
})

test('the stream of events is kept open by its route, and ends when the relay stops', async () => {
  const rig = await startHttp()
  const response = await rig.control('GET', '/api/v1/events')
  const text = response.text()
  await settle()

  rig.http.endStreams()

  expect(response.headers.get('content-type')).toBe('application/x-ndjson')
  expect(rig.lifted).toEqual([0])
  expect(await text).toStartWith('\n')
  await rig[Symbol.asyncDispose]()
})

const STARTUP_CHECK = '/api/v1/judgement'

test('the word that it may serve comes by the control socket only', async () => {
  const words: string[] = []
  const confirmHealthy = () => void words.push('may serve')
  await using rig = await startHttp({ phase: 'checking', parts: { confirmHealthy } })

  const outside = await rig.call('POST', STARTUP_CHECK)
  const before = words.length
  const inside = await rig.control('POST', STARTUP_CHECK)
  const other = await rig.control('GET', '/api/v1/settings')

  expect([outside.status, before]).toEqual([404, 0])
  expect([inside.status, words]).toEqual([200, ['may serve']])
  expect(other.status).toBe(503)
})
