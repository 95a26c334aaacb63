// The loop guard: two programs that answer each other are stopped on lines that are real.

import { expect, test } from 'bun:test'

import { startScripted } from '../support/scripted-relay.ts'
import { type TestRelay } from '../support/test-relay.ts'
import { READER, startSpecRelay } from './spec-relay.ts'

/** Sends so many messages to one handle; answers with their statuses. */
async function sendMany(
  relay: Pick<TestRelay, 'send'>,
  count: number,
  more: Record<string, unknown> = {},
): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < count; i += 1) {
    statuses.push((await relay.send({ to: READER, text: 'hello', ...more })).status)
  }
  return statuses
}

test('api, loop guard: the 31st send to a handle in a minute is 429', async () => {
  await using relay = await startScripted()

  const statuses = await sendMany(relay, 30)
  const { status, headers, body } = await relay.send({ to: READER, text: 'hello' })

  expect(statuses).toEqual(Array(30).fill(200))
  expect([status, body.error.code]).toEqual([429, 'rate_limit_exceeded'])
  expect(body.error.details).toEqual({ limit: 'per_contact_minute', phone_line_id: relay.line.id })
  expect(headers.get('Retry-After')).toBe('60')
  expect(relay.device.sent).toHaveLength(30)
})

test('api, loop guard: pinned and unpinned sends to a handle are counted together', async () => {
  await using relay = await startScripted()
  const { line } = relay

  const statuses = [
    ...(await sendMany(relay, 15)),
    ...(await sendMany(relay, 15, { phone_line_id: line.id })),
    ...(await sendMany(relay, 1)),
    ...(await sendMany(relay, 1, { phone_line_id: line.id })),
  ]

  expect(statuses).toEqual([...Array(30).fill(200), 429, 429])
})

test('api, loop guard: health shows possible_loop for the line, and not before', async () => {
  await using relay = await startScripted()
  const { line } = relay

  await sendMany(relay, 30)
  const before = await relay.findings('possible_loop')
  await sendMany(relay, 1)

  expect(before).toEqual([])
  expect(await relay.findings('possible_loop')).toEqual([
    {
      code: 'possible_loop',
      severity: 'warning',
      title: expect.any(String),
      why: expect.any(String),
      fix: expect.any(String),
      line_id: line.id,
      about: { kind: 'line', id: line.id },
      since: '2026-11-21T10:00:00.000Z',
      depends_on: null,
    },
  ])
})

test('api, loop guard: after the minute it goes on, and other recipients were never held up', async () => {
  await using relay = await startScripted()

  await sendMany(relay, 31)
  const other = await relay.send({ to: '+15550002222', text: 'hello' })
  await relay.clock.advance(59_000)
  const tooEarly = await sendMany(relay, 1)
  await relay.clock.advance(1_000)
  const later = await sendMany(relay, 31)

  expect(other.status).toBe(200)
  expect([tooEarly, later]).toEqual([[429], [...Array(30).fill(200), 429]])
})

test('api, loop guard: what a person types on the device does not count', async () => {
  await using relay = await startScripted()
  const { device } = relay
  for (let i = 0; i < 40; i += 1) {
    await device.receive({ guid: `typed-${i}`, handle: READER as never, isFromMe: true })
  }

  expect(await sendMany(relay, 30)).toEqual(Array(30).fill(200))
  expect(await sendMany(relay, 1)).toEqual([429])
})

test('api, loop guard: a simulated line has none', async () => {
  await using relay = await startSpecRelay()

  expect(await sendMany(relay, 40)).toEqual(Array(40).fill(200))
})

test('api, loop guard: sends to one handle over two real lines are counted together', async () => {
  await using relay = await startScripted({ lines: ['online', 'online'] })
  const [first, second] = await relay.lines()

  const statuses = [
    ...(await sendMany(relay, 15, { phone_line_id: first?.id })),
    ...(await sendMany(relay, 16, { phone_line_id: second?.id })),
  ]

  expect(statuses).toEqual([...Array(30).fill(200), 429])
})
