// A receiver that was away is back; and one that was never away, but refuses a single event.

import { expect, test } from 'bun:test'

import { startRig } from '../support/webhook-rig.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const REFUSED = { result: 'failed', error: 'connection_refused', isPrivateTarget: true } as const

test('a receiver that is back after a minute has everything within ten seconds', async () => {
  for (const eventsPerSecond of [0.02, 1]) {
    const rig = await startRig()
    const webhook = await rig.webhook()
    rig.sink.answer = ({ at }) => (at < MINUTE ? REFUSED : 200)
    for (let i = 0; i * (1 / eventsPerSecond) < 60; i += 1) {
      await rig.event(`c${i}`)
      await rig.clock.advance(SECOND / eventsPerSecond)
    }
    await rig.clock.advance(MINUTE + 10 * SECOND - rig.clock.monotonic())

    expect(rig.deliveries(webhook.id).every(({ status }) => status === 'succeeded')).toBeTrue()
    await rig.stop()
  }
})

test('a receiver that is back after an hour has everything within five minutes', async () => {
  const rig = await startRig()
  const webhook = await rig.webhook()
  rig.sink.answer = ({ at }) => (at < HOUR ? 'hang' : 200)
  for (let i = 0; i < 20; i += 1) {
    await rig.event(`c${i}`)
    await rig.clock.advance(3 * MINUTE)
  }

  await rig.clock.advance(5 * MINUTE)

  expect(rig.deliveries(webhook.id).every(({ status }) => status === 'succeeded')).toBeTrue()
  await rig.stop()
})

test('what failed while a receiver was away goes out as soon as it takes something new', async () => {
  const rig = await startRig()
  const webhook = await rig.webhook()
  rig.sink.answer = () => 500
  await rig.event('a')
  await rig.clock.advance(61 * SECOND)

  rig.sink.answer = () => 200
  await rig.event('b')

  expect(rig.deliveries(webhook.id).every(({ status }) => status === 'succeeded')).toBeTrue()
  await rig.stop()
})

test('a delivery whose time comes during an attempt ahead of it is tried again when that fails', async () => {
  const rig = await startRig()
  const webhook = await rig.webhook()
  // The first event fails, the second one succeeds; so the first is tried again a second ahead of its time.
  rig.sink.answer = (_, index) => [500, 200, 'hang' as const][index] ?? 200
  await rig.event('a')
  await rig.clock.advance(4 * SECOND)
  await rig.event('b')

  await rig.clock.advance(11 * SECOND)

  expect(rig.sink.posts.map(({ at }) => at / SECOND)).toEqual([0, 4, 4, 14])
  expect(rig.deliveries(webhook.id).every(({ status }) => status === 'succeeded')).toBeTrue()
  await rig.stop()
})

test('an event that is refused for its own sake holds up no other, and is not tried more for it', async () => {
  const rig = await startRig()
  await rig.webhook()
  await rig.event('good')
  rig.sink.answer = ({ body }) => (body.includes('Message 2"') ? 500 : 200)
  const begun = rig.clock.monotonic()
  await rig.event('bad')
  await rig.event('good')
  const lateness: number[] = []

  for (let i = 0; i < 60; i += 1) {
    const before = rig.sink.posts.length
    await rig.event('good')
    lateness.push(rig.sink.posts.length - before)
    await rig.clock.advance(MINUTE)
  }

  expect(lateness).toEqual(Array.from({ length: 60 }, () => 1))
  const bad = rig.sink.posts.filter(({ body }) => body.includes('Message 2"'))
  expect(bad.map(({ at }) => (at - begun) / SECOND)).toEqual([0, 5, 35, 155, 755, 3_455])
  await rig.stop()
})
