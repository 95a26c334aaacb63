import { expect, test } from 'bun:test'

import { COMMAND_LINE } from '../../src/domain/audit.ts'
import type { EventFeed } from '../../src/http/control.ts'
import { settle } from '../support/test-clock.ts'
import { DELIVERY, LINE, LINE_ID, createRig, type Rig } from './http-rig.ts'

const OWNERS_ONLY: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['POST', `/api/v1/phone-lines/${LINE_ID}/adopt`, { from: 'line_x' }],
  ['GET', '/api/v1/events'],
  ['GET', '/api/v1/settings'],
  ['PUT', '/api/v1/settings/open_metrics', { value: 'on' }],
  ['POST', '/api/v1/backup', {}],
]

for (const [method, path, body] of OWNERS_ONLY) {
  test(`${method} ${path} exists on the control socket only`, async () => {
    const rig = createRig()

    const response = await rig.call(method, path, body === undefined ? {} : { body })

    expect(response.status).toBe(404)
    expect(rig.asked).toEqual([])
  })
}

const OWNER = { ...COMMAND_LINE, requestId: expect.stringMatching(/^req_/) }

test('a line is adopted, a setting set, a back-up made', async () => {
  const rig = createRig()

  const answers = [
    await rig.control('POST', `/api/v1/phone-lines/${LINE_ID}/adopt`, { body: { from: 'line_x' } }),
    await rig.control('PUT', '/api/v1/settings/open_metrics', { body: { value: 'on' } }),
    await rig.control('POST', '/api/v1/backup', { body: { to: '/b.db' } }),
    await rig.control('POST', '/api/v1/backup'),
  ]

  const bodies = await Promise.all(answers.map((answer) => answer.json()))
  expect(bodies[0]).toEqual(LINE)
  expect(bodies[2]).toEqual({ path: '/b.db', size_bytes: 1 })
  expect(rig.asked).toEqual([
    ['lines.adopt', LINE_ID, 'line_x', OWNER],
    ['settings.set', 'open_metrics', 'on', OWNER],
    ['backUp', '/b.db', OWNER],
    ['backUp', null, OWNER],
  ])
})

test('the owner sees what a private target answered', async () => {
  const rig = createRig()

  await rig.control('GET', `/api/v1/webhook-deliveries/${DELIVERY.id}`)

  expect(rig.asked).toEqual([['webhooks.getDelivery', DELIVERY.id, { isTrusted: true }]])
})

test('bad input on the control socket is refused as everywhere', async () => {
  const rig = createRig()

  const answers = [
    await rig.control('PUT', '/api/v1/settings/x', { body: { value: 5 } }),
    await rig.control('GET', '/api/v1/settings?x=1'),
    await rig.control('POST', '/api/v1/backup', { body: { file: 'x' } }),
  ]

  expect(answers.map((answer) => answer.status)).toEqual([400, 400, 400])
  expect(rig.asked).toEqual([])
})

function feedRig(): {
  readonly rig: Rig
  readonly tell: (event: string) => void
  readonly count: () => number
} {
  const listeners = new Set<(event: string) => void>()
  const events: EventFeed = {
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const settings = { list: () => [], set: () => Promise.reject(new Error('not asked')) }
  const backUp = () => Promise.resolve({ path: '', size_bytes: 0 })
  const phones = () => []
  const scriptCalls = () => []
  const noteDownload = () => Promise.resolve()
  const control = { events, phones, scriptCalls, settings, backUp, noteDownload, options: [] }
  const rig = createRig({ control })
  return {
    rig,
    tell: (event) => listeners.forEach((listener) => listener(event)),
    count: () => listeners.size,
  }
}

test('events come one line each, with an empty line after 15 seconds of silence', async () => {
  const { rig, tell } = feedRig()
  const response = await rig.control('GET', '/api/v1/events')
  const reader = response.body?.getReader()
  const next = async () => (await reader?.read())?.value as unknown

  const opening = await next()
  await settle()
  tell('{"event":"message.sent"}')
  const told = await next()
  const silence = next()
  await settle()
  await rig.clock.advance(14_999)
  const early = await Promise.race([silence, Promise.resolve('nothing yet')])
  await rig.clock.advance(1)

  expect(response.headers.get('content-type')).toBe('application/x-ndjson')
  expect([opening, told, early, await silence].map(asText)).toEqual([
    '\n',
    '{"event":"message.sent"}\n',
    'nothing yet',
    '\n',
  ])
  expect(rig.lifted).toEqual([0])
})

test('a reader that goes away is forgotten', async () => {
  const { rig, count } = feedRig()
  const response = await rig.control('GET', '/api/v1/events')
  const reader = response.body?.getReader()
  await reader?.read()
  await settle()
  const before = count()

  await reader?.cancel()
  await settle()

  expect([before, count()]).toEqual([1, 0])
})

test('a reader that falls 1,000 events behind is cut off', async () => {
  const { rig, tell, count } = feedRig()
  const response = await rig.control('GET', '/api/v1/events')
  await settle()

  for (let i = 0; i < 5_000; i += 1) tell('{}')
  const text = await response.text()
  await settle()

  expect(text.length).toBeLessThan(5_000)
  expect(count()).toBe(0)
})

test('the streams end when the relay stops', async () => {
  const { rig, count } = feedRig()
  const response = await rig.control('GET', '/api/v1/events')
  const text = response.text()
  await settle()

  rig.http.endStreams()

  expect(await text).toBe('\n\n')
  expect(count()).toBe(0)
})

function asText(chunk: unknown): string {
  return typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk as Uint8Array)
}
