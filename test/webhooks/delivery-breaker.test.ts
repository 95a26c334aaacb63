// The life of the breaker as a receiver and its owner see it.

import { expect, test } from 'bun:test'

import { retryAfterMs } from '../../src/webhooks/attempt.ts'
import { OWNER, startRig, type Rig } from '../support/webhook-rig.ts'
import { answered } from '../support/webhook-sink.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

test('after five failures in a row probes alone go out, each after a tenth of the time away', async () => {
  await using rig = await startRig()
  const webhook = await rig.webhook()
  rig.sink.answer = () => 500
  for (let i = 0; i < 5; i += 1) await rig.event(`c${i}`)
  for (let i = 5; i < 12; i += 1) await rig.event(`c${i}`)
  const opened = rig.sink.posts.length

  await rig.clock.advance(2 * HOUR)

  expect(opened).toBe(5)
  const probes = rig.sink.posts.slice(5).map(({ at }) => at / SECOND)
  expect(probes.slice(0, 14)).toEqual([2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24.2, 26.62, 29.282])
  expect(gapsOf(probes).slice(-13)).toEqual(Array.from({ length: 13 }, () => 5 * 60))
  expect(rig.queues.findings()).toMatchObject([
    { code: 'webhook_failing', severity: 'warning', key: webhook.id },
  ])
})

test('a probe is a delivery that was never tried, and with none left each one in turn', async () => {
  await using rig = await startRig()
  await rig.webhook()
  rig.sink.answer = () => 500
  for (let i = 0; i < 7; i += 1) await rig.event(`c${i}`)

  await rig.clock.advance(20 * SECOND)

  const probes = [6, 7, 1, 2, 3, 4, 5, 6, 7, 1].map((number) => `Message ${number}`)
  expect(textsOf(rig).slice(5)).toEqual(probes)
})

test('a probe outside the schedule of its delivery is recorded and uses none of it up', async () => {
  await using rig = await startRig()
  const webhook = await rig.webhook()
  rig.sink.answer = () => 500
  await rig.event()

  await rig.clock.advance(800 * SECOND)

  const [delivery] = rig.deliveries(webhook.id)
  const { attempts } = rig.delivery(delivery?.id)
  const tried = attempts.map(({ trigger, started_at }) => ({
    trigger,
    seconds: (Date.parse(started_at) - Date.parse(delivery?.created_at ?? '')) / SECOND,
  }))
  const scheduled = tried.filter(({ trigger }) => trigger === 'scheduled')
  expect(scheduled.map(({ seconds }) => Math.floor(seconds))).toEqual([0, 5, 35, 155, 755])
  expect(tried.filter(({ trigger }) => trigger === 'probe').length).toBeGreaterThan(40)
  expect(delivery?.next_attempt_at).toBe('2026-11-21T10:57:35.000Z')
})

test('the first success closes it and makes all that is pending due, oldest first', async () => {
  await using rig = await startRig()
  const webhook = await rig.webhook()
  rig.sink.answer = (_, index) => (index < 5 ? 500 : 200)
  for (let i = 0; i < 9; i += 1) await rig.event(`c${i}`)

  await rig.clock.advance(2 * SECOND)

  expect(textsOf(rig).slice(5)).toEqual([6, 1, 2, 3, 4, 5, 7, 8, 9].map((n) => `Message ${n}`))
  expect(rig.sink.posts.slice(5).every(({ at }) => at === 2 * SECOND)).toBeTrue()
  expect(rig.deliveries(webhook.id).every(({ status }) => status === 'succeeded')).toBeTrue()
  expect(rig.queues.findings()).toEqual([])
})

test('a changed url, a test and a redelivery each probe at once', async () => {
  await using rig = await startRig()
  const webhook = await rig.webhook()
  rig.sink.answer = () => 500
  for (let i = 0; i < 6; i += 1) await rig.event(`c${i}`)
  await rig.clock.advance(4 * MINUTE)
  const before = rig.sink.posts.length

  await rig.subscriptions.update(webhook.id, { url: 'https://receiver.example/b' }, OWNER)
  await rig.clock.advance(1)
  await rig.subscriptions.sendTest(webhook.id)
  await rig.clock.advance(1)
  const [, oldest] = rig.deliveries(webhook.id)
  await rig.subscriptions.redeliver(oldest?.id ?? '')
  await rig.clock.advance(1)

  const [moved, tested, again, ...more] = rig.sink.posts.slice(before)
  expect(more).toEqual([])
  expect(moved?.url).toBe('https://receiver.example/b')
  expect(tested?.id).toStartWith('evt_test_')
  expect(again?.id).toBe(oldest?.event_id ?? '')
  expect(rig.delivery(oldest?.id).attempts.at(-1)?.trigger).toBe('manual')
})

test('the breaker outlives a restart', async () => {
  const first = await startRig()
  await first.webhook()
  first.sink.answer = () => 500
  for (let i = 0; i < 8; i += 1) await first.event(`c${i}`)
  await first.clock.advance(61 * SECOND)
  await first.stop()

  await using second = await startRig({ db: first.db, clock: first.clock })
  second.sink.answer = () => 500
  await second.clock.advance(SECOND)
  const early = second.sink.posts.length
  await second.clock.advance(SECOND)

  expect([early, second.sink.posts.length]).toEqual([0, 1])
})

for (const [status, asked, heldMs] of [
  [429, 3_600, HOUR],
  [503, 60, MINUTE],
  [503, 1e8, DAY],
] as const) {
  test(`${status} with Retry-After ${asked} holds back every event from the first time, until it is over`, async () => {
    await using rig = await startRig()
    await rig.webhook()
    await rig.event('before')
    const asks = answered(status, { retryAfterSeconds: asked })
    rig.sink.answer = (_, index) => (index === 1 ? asks : 200)
    await rig.event('a')
    await rig.event('a')
    await rig.event('b')

    await rig.clock.advance(heldMs - 1)
    const early = textsOf(rig)
    await rig.clock.advance(1)

    expect(early).toEqual(['Message 1', 'Message 2'])
    expect(textsOf(rig).slice(2).toSorted()).toEqual([2, 3, 4].map((n) => `Message ${n}`))
  })
}

test('a rest that a receiver asked for outlives a restart, and holds nothing that its owner sends again', async () => {
  const first = await startRig()
  const webhook = await first.webhook()
  first.sink.answer = () => answered(429, { retryAfterSeconds: 3_600 })
  await first.event('a')
  await first.event('b')
  const [, oldest] = first.deliveries(webhook.id)
  await first.stop()

  await using second = await startRig({ db: first.db, clock: first.clock })
  await second.clock.advance(HOUR / 2)
  const early = second.sink.posts.length
  await second.subscriptions.redeliver(oldest?.id ?? '')
  await second.clock.advance(1)

  expect([first.sink.posts.length, early, textsOf(second)]).toEqual([1, 0, ['Message 1']])
})

test('what a receiver that asks for rest takes meanwhile does not end the rest', async () => {
  await using rig = await startRig()
  await rig.webhook()
  await rig.event('first')
  const asks = answered(503, { retryAfterSeconds: 60 })
  rig.sink.answer = (_, index) => [{ afterMs: 100 }, asks][index - 1] ?? 200
  await rig.event('a')
  await rig.event('b')
  await rig.event('c')

  await rig.clock.advance(MINUTE - 1)
  const early = rig.sink.posts.length
  await rig.clock.advance(1)

  expect([early, rig.sink.posts.length]).toEqual([3, 5])
})

test('410 twice a minute apart deactivates; its events are kept and go out when it is active', async () => {
  await using rig = await startRig()
  const webhook = await rig.webhook()
  rig.sink.answer = () => 410
  await rig.event('a')
  await rig.clock.advance(59 * SECOND)
  const early = rig.subscriptions.get(webhook.id)
  await rig.clock.advance(7 * SECOND)
  const gone = rig.subscriptions.get(webhook.id)
  const findings = rig.queues.findings()
  const tried = rig.sink.posts.length
  await rig.event('b')
  await rig.clock.advance(DAY)
  const whileGone = rig.sink.posts.length

  rig.sink.answer = () => 200
  await rig.subscriptions.update(webhook.id, { is_active: true }, OWNER)
  await rig.clock.advance(1)

  expect(early).toMatchObject({ is_active: true, disabled_reason: null })
  expect(gone).toMatchObject({ is_active: false, disabled_reason: 'gone' })
  expect(findings).toMatchObject([{ code: 'webhook_gone', key: webhook.id }])
  expect(whileGone).toBe(tried)
  expect(textsOf(rig).slice(tried).toSorted()).toEqual(['Message 1', 'Message 2'])
  expect(rig.subscriptions.get(webhook.id)).toMatchObject({
    is_active: true,
    disabled_reason: null,
  })
})

test('what its user pauses after the relay deactivated it is paused: nothing new is kept', async () => {
  await using rig = await startRig()
  const webhook = await rig.webhook()
  rig.sink.answer = () => 410
  await rig.event('a')
  await rig.clock.advance(155 * SECOND)
  await rig.event('b')

  await rig.subscriptions.update(webhook.id, { is_active: false }, OWNER)
  await rig.event('c')

  expect(rig.subscriptions.get(webhook.id)).toMatchObject({
    is_active: false,
    disabled_reason: null,
  })
  expect(rig.deliveries(webhook.id)).toHaveLength(2)
})

const ANSWERS: readonly (readonly [status: number, seconds: number | null, ms: number | null])[] = [
  [429, 60, 60_000],
  [503, 0, 0],
  [503, 1e8, 24 * 3_600_000],
  [429, null, null],
  [500, 60, null],
  [200, 60, null],
]

for (const [status, seconds, ms] of ANSWERS) {
  test(`${status} with Retry-After ${seconds} asks for ${ms} ms`, () => {
    expect(retryAfterMs(status, seconds)).toBe(ms)
  })
}

function gapsOf(times: readonly number[]): number[] {
  return times.slice(1).map((time, i) => time - (times[i] ?? 0))
}

function textsOf(rig: Rig): string[] {
  return rig.sink.posts.map(({ body }) => JSON.parse(body).message.text)
}
