// Places, order, outages and bad days of the loop. What becomes of a single delivery is in
// delivery-schedule.test.ts, what the breaker does in delivery-breaker.test.ts.

import { expect, test } from 'bun:test'

import { TEST_START } from '../support/test-clock.ts'
import { startRig, type Rig } from '../support/webhook-rig.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

test('half of the receivers hang, and the others hear of every event at once', async () => {
  const rig = await startRig()
  for (let i = 0; i < 20; i += 1) {
    await rig.webhook(`https://hangs.example/${i}`)
    await rig.webhook(`https://answers.example/${i}`)
  }
  rig.sink.answer = ({ url }) => (url.startsWith('https://hangs') ? 'hang' : 200)
  const lateness: number[] = []

  for (let i = 0; i < 60; i += 1) {
    const begun = rig.sink.posts.length
    const at = i * 500
    await rig.event(`c${i}`)
    const heard = rig.sink.posts.slice(begun).filter(({ url }) => url.startsWith('https://answers'))
    lateness.push(...heard.map((posted) => posted.at - at))
    await rig.clock.advance(500)
  }

  expect(lateness).toEqual(Array.from({ length: 60 * 20 }, () => 0))
  await stopSlowly(rig)
})

test('64 are in flight at most in all', async () => {
  const rig = await startRig()
  for (let i = 0; i < 70; i += 1) await rig.webhook(`https://slow.example/${i}`)
  rig.sink.answer = () => 'hang'

  for (let i = 0; i < 3; i += 1) await rig.event(`c${i}`)

  expect(rig.sink.most.get('all')).toBe(64)
  await stopSlowly(rig)
})

test('4 are in flight at most to one webhook, and never two of a conversation', async () => {
  const rig = await startRig()
  await rig.webhook()
  rig.sink.answer = () => 'hang'

  for (const conversation of ['a', 'a', 'b', 'b', 'c', 'd', 'e']) await rig.event(conversation)

  expect(rig.sink.posts.map(({ body }) => JSON.parse(body).message.text)).toEqual([
    'Message 1',
    'Message 3',
    'Message 5',
    'Message 6',
  ])
  await stopSlowly(rig)
})

test('an event of a conversation waits for the one before it, not for its retries', async () => {
  const rig = await startRig()
  await rig.webhook()
  rig.sink.answer = (_, index) => (index === 0 ? 'hang' : 200)
  await rig.event('a')
  await rig.event('a')
  await rig.event('b')

  const early = rig.sink.posts.map(({ body }) => JSON.parse(body).message.text)
  await rig.clock.advance(10 * SECOND)

  expect(early).toEqual(['Message 1', 'Message 3'])
  expect(rig.sink.posts.map(({ body, at }) => [JSON.parse(body).message.text, at])).toEqual([
    ['Message 1', 0],
    ['Message 3', 0],
    ['Message 2', 10 * SECOND],
  ])
  await rig.stop()
})

test('the outage of the box itself is no attempt: tried again every minute', async () => {
  const rig = await startRig()
  const webhook = await rig.webhook()
  rig.sink.answer = () => ({ result: 'unreachable' })
  await rig.event()

  await rig.clock.advance(10 * MINUTE - 1)
  const findings = rig.loop.findings()
  const during = rig.deliveries(webhook.id)
  rig.sink.answer = () => 200
  await rig.clock.advance(1)

  expect(during).toMatchObject([{ status: 'pending', attempt_count: 0 }])
  expect(findings).toMatchObject([{ code: 'webhook_out_of_reach', key: webhook.id }])
  expect(rig.sink.posts.map(({ at }) => at / MINUTE)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  expect(rig.deliveries(webhook.id)).toMatchObject([{ status: 'succeeded', attempt_count: 1 }])
  expect(rig.loop.findings()).toEqual([])
  await rig.stop()
})

test('a wall clock that steps back by a day strands nothing', async () => {
  const rig = await startRig()
  await rig.webhook()
  rig.sink.answer = (_, index) => (index < 4 ? 500 : 200)
  await rig.event()
  await rig.clock.advance(155 * SECOND)

  rig.clock.step(-DAY)
  await rig.clock.advance(10 * MINUTE)

  expect(rig.sink.posts.map(({ at }) => at / SECOND)).toEqual([0, 5, 35, 155, 755])
  expect(rig.sink.posts.at(-1)?.timestamp).toBe((TEST_START - DAY) / SECOND + 755)
  await rig.stop()
})

test('at the start nothing is further away than 29 hours', async () => {
  const first = await startRig()
  const webhook = await first.webhook()
  first.sink.answer = () => 500
  await first.event()
  await first.stop()
  first.db.sqlite.run('UPDATE deliveries SET next_attempt_at = next_attempt_at + 400000000000')

  const second = await startRig({ db: first.db, clock: first.clock })

  expect(second.deliveries(webhook.id)).toMatchObject([
    { next_attempt_at: new Date(TEST_START + 29 * HOUR).toISOString() },
  ])
  await second.stop()
})

test('what was posted and not recorded goes out again after a crash, under the same id', async () => {
  const first = await startRig()
  const webhook = await first.webhook()
  first.sink.answer = () => 'hang'
  await first.event()
  first.stopSignal.abort()
  await first.clock.advance(10 * SECOND)
  await first.running
  first.db.sqlite.run('DELETE FROM attempts')
  first.db.sqlite.run('UPDATE deliveries SET attempt_count = 0, next_attempt_at = created_at')

  const second = await startRig({ db: first.db, clock: first.clock })

  expect(second.sink.posts.map(({ id }) => id)).toEqual(first.sink.posts.map(({ id }) => id))
  expect(second.deliveries(webhook.id)).toMatchObject([{ status: 'succeeded', attempt_count: 1 }])
  await second.stop()
})

test('an attempt that cannot be written is kept and written later, and not made again', async () => {
  const rig = await startRig()
  const webhook = await rig.webhook()
  rig.sink.answer = () => 'hang'
  await rig.event()
  rig.db.sqlite.run('ALTER TABLE attempts RENAME TO attempts_away')

  await rig.clock.advance(HOUR)
  const during = rig.sink.posts.length
  rig.db.sqlite.run('ALTER TABLE attempts_away RENAME TO attempts')
  await rig.clock.advance(2 * SECOND)

  expect(during).toBe(1)
  expect(rig.deliveries(webhook.id)).toMatchObject([{ status: 'pending', attempt_count: 1 }])
  await stopSlowly(rig)
})

test('while the disk is too full nothing goes out; after that it does', async () => {
  const rig = await startRig()
  await rig.webhook()
  rig.switches.canDeliver = false
  await rig.event()

  await rig.clock.advance(HOUR)
  const during = rig.sink.posts.length
  rig.switches.canDeliver = true
  await rig.clock.advance(10 * SECOND)

  expect([during, rig.sink.posts.length]).toEqual([0, 1])
  await rig.stop()
})

test('at a stop what is in flight gets ten seconds, nothing new begins, and then nothing runs', async () => {
  const rig = await startRig()
  const webhook = await rig.webhook()
  rig.sink.answer = () => 'hang'
  await rig.event('a')
  let hasStopped = false
  rig.stopSignal.abort()
  void rig.running.finally(() => {
    hasStopped = true
  })

  await rig.clock.advance(9 * SECOND)
  await rig.event('b')
  const early = hasStopped
  await rig.clock.advance(SECOND)

  expect([early, hasStopped]).toEqual([false, true])
  expect(rig.sink.posts).toHaveLength(1)
  await rig.event('c')
  await rig.clock.advance(DAY)
  expect(rig.sink.posts).toHaveLength(1)
  expect(rig.deliveries(webhook.id).every(({ status }) => status === 'pending')).toBeTrue()
})

/** Lets receivers that hang run into their time-outs. */
async function stopSlowly(rig: Rig): Promise<void> {
  rig.stopSignal.abort()
  await rig.clock.advance(10 * SECOND)
  await rig.running
}
