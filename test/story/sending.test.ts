// The way out on the test clock: lines that come and go, refuse, postpone, answer late or never. Which line a
// message takes is in test/spec, what becomes of it in test/messages.

import { expect, test } from 'bun:test'

import type { SendOutcome } from '../../src/lines/driver.ts'
import { asOwner } from '../support/control-socket.ts'
import { type SendScript, accepts, refuses } from '../support/scripted-driver.ts'
import { startScripted } from '../support/scripted-relay.ts'

const TO = '+12025550700'
const MINUTE = 60_000
const HOUR = 60 * MINUTE

test('two lines that both refuse are each offered the message once a round, four rounds long', async () => {
  await using relay = await startScripted({ lines: ['online', 'online'] })
  const offers: [number, string][] = []
  for (const device of relay.devices) {
    device.script = async (...send) => {
      offers.push([relay.elapsedMs(), device.number])
      return refuses(...send)
    }
  }

  const answer = await relay.send({ to: TO, text: 'hello' })
  await relay.clock.advance(120_000)

  expect([answer.status, answer.body.queued_reason]).toEqual([202, 'retry'])
  expect(offers).toEqual([
    [0, '+12025550801'],
    [0, '+12025550802'],
    [1_000, '+12025550801'],
    [1_000, '+12025550802'],
    [6_000, '+12025550801'],
    [6_000, '+12025550802'],
    [36_000, '+12025550801'],
    [36_000, '+12025550802'],
  ])
  expect(await relay.message(answer.body.id)).toMatchObject({
    status: 'failed',
    error: { code: 'line_refused' },
  })
  expect(await relay.eventNames()).toEqual(['message.failed'])
})

test('messages to one recipient leave in order, and one that waits holds back those behind it', async () => {
  let refusals = 1
  const script: SendScript = (...send) => {
    if (send[0].text !== 'one' || refusals === 0) return accepts(...send)
    refusals -= 1
    return refuses(...send)
  }
  await using relay = await startScripted({ capacity: 8, script })

  const first = await relay.send({ to: TO, text: 'one' })
  const second = await relay.send({ to: TO, text: 'two' }, { Prefer: 'respond-async' })
  const other = await relay.send({ to: '+12025550701', text: 'elsewhere' })
  await relay.clock.advance(5_000)

  expect(first.body.queued_reason).toBe('retry')
  expect(second.body.queued_reason).toBe('earlier_message')
  expect(other.status).toBe(200)
  expect(relay.texts()).toEqual(['elsewhere', 'one', 'two'])
})

test('whatever waited for a day expires within seconds, however much that is', async () => {
  await using relay = await startScripted({ lines: ['offline'] })
  const orders = Array.from({ length: 150 }, (_, number) => ({
    to: `+120255507${10 + (number % 10)}`,
    text: `message ${number}`,
  }))

  await relay.clock.advance(15_000)
  const answers = await Promise.all(orders.map((order) => relay.send(order)))
  relay.clock.doze(24 * HOUR - MINUTE)
  await relay.clock.advance(MINUTE + 500)
  const messages = await Promise.all(answers.map(({ body }) => relay.message(body.id)))

  expect(messages.filter(({ status }) => status === 'expired')).toHaveLength(orders.length)
})

test('a message that expires while its driver prepares is not sent', async () => {
  await using relay = await startScripted({ lines: ['offline'] })
  const { promise: prepared, resolve: prepare } = Promise.withResolvers<void>()
  const granted: boolean[] = []
  relay.device.script = async (_message, pointOfNoReturn) => {
    await prepared
    granted.push(await pointOfNoReturn(null))
    return { outcome: 'not_sent', reason: 'withdrawn', blame: 'line' }
  }

  const answer = await relay.send({ to: TO, text: 'hello' })
  relay.clock.doze(24 * HOUR - 1_000)
  await relay.device.goOnline()
  await relay.clock.advance(2_000)
  prepare()
  await relay.clock.advance(1_000)

  expect(granted).toEqual([false])
  expect(await relay.message(answer.body.id)).toMatchObject({
    status: 'expired',
    error: { code: 'expired' },
  })
  expect(await relay.eventNames()).toEqual(['message.failed'])
})

test('a clock that steps back neither reorders messages nor stops what waits', async () => {
  await using relay = await startScripted()
  let refusals = 1
  relay.device.script = (...send) => {
    refusals -= 1
    return refusals >= 0 ? refuses(...send) : accepts(...send)
  }
  const before = await relay.send({ to: TO, text: 'before' })

  relay.clock.step(-HOUR)
  const after = await relay.send({ to: TO, text: 'after' }, { Prefer: 'respond-async' })
  await relay.clock.advance(10_000)

  expect(after.body.created_at >= before.body.created_at).toBe(true)
  expect(relay.texts()).toEqual(['before', 'after'])
})

test('a caller whose line goes offline while its driver prepares is answered at once', async () => {
  await using relay = await startScripted()
  relay.device.script = async (_message, _pointOfNoReturn, signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return { outcome: 'not_sent', reason: 'withdrawn', blame: 'line' }
  }

  const sending = relay.send({ to: TO, text: 'hello' })
  await relay.clock.advance(1_000)
  await relay.device.goOffline()
  await relay.clock.advance(10)
  const answer = await Promise.race([sending, null])

  expect([answer?.status, answer?.body.queued_reason]).toEqual([202, 'line_offline'])
})

test('a repeat gets its first answer also when the message was deleted since', async () => {
  await using relay = await startScripted()
  const setting = { body: { value: '1' } }
  await asOwner(relay, 'PUT', '/settings/message_retention_days', setting)
  const body = { to: TO, text: 'hello' }
  const first = await relay.send(body, { 'Idempotency-Key': 'once' })
  relay.clock.doze(48 * HOUR)
  await relay.clock.advance(2 * HOUR)

  const repeated = await relay.send(body, { 'Idempotency-Key': 'once' })

  expect((await relay.message(first.body.id)).error.code).toBe('not_found')
  expect([repeated.status, repeated.body]).toEqual([200, first.body])
  expect(repeated.headers.get('Idempotency-Replayed')).toBe('true')
})

function later(delayMs: number): () => Promise<SendOutcome> {
  return async () => ({ outcome: 'postponed', reason: 'pacing', delayMs })
}

test('a line that must not be hurried keeps its message and says pacing at once', async () => {
  await using relay = await startScripted({ script: later(60_000) })

  const answer = await relay.send({ to: TO, text: 'hello' })
  relay.device.script = accepts
  await relay.clock.advance(59_000)
  const before = await relay.message(answer.body.id)
  await relay.clock.advance(2_000)
  const after = await relay.message(answer.body.id)

  expect([answer.status, answer.body.queued_reason]).toEqual([202, 'pacing'])
  expect(before).toMatchObject({ status: 'queued', queued_reason: 'pacing' })
  expect(after.status).toBe('sent')
})

test('a message that is postponed again and again is never refused for it', async () => {
  await using relay = await startScripted({ script: later(30_000) })

  const answer = await relay.send({ to: TO, text: 'hello' })
  await relay.clock.advance(3_600_000)
  relay.device.script = accepts
  await relay.clock.advance(30_000)

  expect((await relay.message(answer.body.id)).status).toBe('sent')
})

test('two lines that both postpone are asked once each, then the message waits', async () => {
  const script: SendScript = later(60_000)
  await using relay = await startScripted({ lines: ['online', 'online'], script })

  const answer = await relay.send({ to: TO, text: 'hello' })
  await relay.clock.advance(30_000)

  expect(relay.devices.map(({ given }) => given.length)).toEqual([1, 1])
  expect(answer.body.queued_reason).toBe('pacing')
})

test('a message that becomes due while the loop looks for work leaves at once', async () => {
  await using relay = await startScripted()
  const { clock, device, db } = relay
  clock.slowDown(1)
  const late: number[] = []

  for (let aheadMs = 1; aheadMs <= 150; aheadMs += 1) {
    device.script = later(3_000)
    const { body } = await relay.send({ to: TO, text: `${aheadMs}` })
    device.script = accepts
    const [row] = db.rows<{ dueAt: number }>(
      'SELECT due_at AS dueAt FROM messages WHERE id = $id',
      { id: body.id },
    )
    await clock.advance((row?.dueAt ?? 0) - clock.now() - aheadMs)
    await relay.send({ to: '+12025550701', text: 'wakes the loop' })
    await clock.advance(1_000)
    if (!relay.texts().includes(`${aheadMs}`)) late.push(aheadMs)
    await clock.advance(10_000)
  }

  expect(late).toEqual([])
})
