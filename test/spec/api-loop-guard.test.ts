// The loop guard: two programs that answer each other are stopped on lines that are real.

import { expect, test } from 'bun:test'

import { ScriptedDriver } from '../support/scripted-driver.ts'
import { startRelay, type Json, type TestRelay } from '../support/test-relay.ts'
import { READER, startSpecRelay } from './spec-relay.ts'

async function startReal() {
  const driver = new ScriptedDriver('mac')
  const device = driver.add('+12025550801')
  const relay = await startRelay({ drivers: [driver] })
  const [line] = await relay.lines()
  return { relay, device, line }
}

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

for (const isPinned of [false, true]) {
  const how = isPinned ? 'with its phone_line_id' : 'without a phone_line_id'
  test(`api, loop guard: the 31st send to a handle in a minute ${how} is 429`, async () => {
    const { relay: started, device, line } = await startReal()
    await using relay = started
    const pin = isPinned ? { phone_line_id: line?.id } : {}

    const statuses = await sendMany(relay, 30, pin)
    const { status, headers, body } = await relay.send({ to: READER, text: 'hello', ...pin })

    expect(statuses).toEqual(Array(30).fill(200))
    expect([status, body.error.code]).toEqual([429, 'rate_limit_exceeded'])
    expect(body.error.details).toEqual({ limit: 'per_contact_minute', phone_line_id: line?.id })
    expect(headers.get('Retry-After')).toBe('60')
    expect(device.sent).toHaveLength(30)
  })
}

test('api, loop guard: pinned and unpinned sends to a handle are counted together', async () => {
  const { relay: started, line } = await startReal()
  await using relay = started

  const statuses = [
    ...(await sendMany(relay, 15)),
    ...(await sendMany(relay, 15, { phone_line_id: line?.id })),
    ...(await sendMany(relay, 1)),
    ...(await sendMany(relay, 1, { phone_line_id: line?.id })),
  ]

  expect(statuses).toEqual([...Array(30).fill(200), 429, 429])
})

test('api, loop guard: health shows possible_loop for the line, and not before', async () => {
  const { relay: started, line } = await startReal()
  await using relay = started
  const loops = async () => {
    const { data } = await relay.get('/api/v1/health')
    return data.filter(({ code }: Json) => code === 'possible_loop')
  }

  await sendMany(relay, 30)
  const before = await loops()
  await sendMany(relay, 1)

  expect(before).toEqual([])
  expect(await loops()).toEqual([
    {
      code: 'possible_loop',
      severity: 'warning',
      title: expect.any(String),
      why: expect.any(String),
      fix: expect.any(String),
      line_id: line?.id,
      about: { kind: 'line', id: line?.id },
      since: '2026-11-21T10:00:00.000Z',
      depends_on: null,
    },
  ])
})

test('api, loop guard: after the minute it goes on, and other recipients were never held up', async () => {
  const { relay: started } = await startReal()
  await using relay = started

  await sendMany(relay, 31)
  const other = await relay.send({ to: '+15550002222', text: 'hello' })
  await relay.clock.advance(59_000)
  const tooEarly = await sendMany(relay, 1)
  await relay.clock.advance(1_000)
  const later = await sendMany(relay, 1)

  expect(other.status).toBe(200)
  expect([tooEarly, later]).toEqual([[429], [200]])
})

test('api, loop guard: 31 sends over more than a minute are no loop', async () => {
  const { relay: started } = await startReal()
  await using relay = started

  const statuses = await sendMany(relay, 30)
  await relay.clock.advance(60_000)
  statuses.push(...(await sendMany(relay, 30)))

  expect(statuses).toEqual(Array(60).fill(200))
})

test('api, loop guard: what a person types on the device does not count', async () => {
  const { relay: started, device } = await startReal()
  await using relay = started
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
  const driver = new ScriptedDriver('mac')
  driver.add('+12025550801')
  driver.add('+12025550802')
  await using relay = await startRelay({ drivers: [driver] })
  const [first, second] = await relay.lines()

  const statuses = [
    ...(await sendMany(relay, 15, { phone_line_id: first?.id })),
    ...(await sendMany(relay, 16, { phone_line_id: second?.id })),
  ]

  expect(statuses).toEqual([...Array(30).fill(200), 429])
})
