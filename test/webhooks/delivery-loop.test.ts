// Places, order, outages and bad days of the loop; what a receiver that is back gets, and one that refuses a
// single event. What becomes of a single delivery is in delivery-schedule.test.ts, what the breaker does in
// delivery-breaker.test.ts.

import { expect, test } from 'bun:test'

import { SEED } from '../support/scale.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { TEST_START } from '../support/test-clock.ts'
import { startRig } from '../support/webhook-rig.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

test('192 are in flight at most in all, and 64 to one webhook, however well they answer', async () => {
  await using rig = await startRig()
  for (let i = 0; i < 4; i += 1) await rig.webhook(`https://slow.example/${i}`)
  rig.sink.answer = () => ({ afterMs: 100 })

  for (let i = 0; i < 200; i += 1) await rig.event(`c${i}`)
  await rig.clock.advance(5 * SECOND)

  expect(rig.sink.posts).toHaveLength(800)
  const each = [0, 1, 2, 3].map((i) => rig.sink.most.get(`https://slow.example/${i}`) ?? 0)
  expect(each.every((most) => most > 32 && most <= 64)).toBeTrue()
  expect(rig.sink.most.get('all')).toBeLessThanOrEqual(192)
})

test('receivers that never answered have one place each, and 128 in all', async () => {
  await using rig = await startRig()
  for (let i = 0; i < 140; i += 1) await rig.webhook(`https://slow.example/${i}`)
  rig.sink.answer = () => 'hang'

  for (let i = 0; i < 3; i += 1) await rig.event(`c${i}`)

  expect(rig.sink.most.get('https://slow.example/139')).toBe(1)
  expect(rig.sink.most.get('all')).toBe(128)
})

test('beside 140 receivers that hang, one that answered hears of every event at once', async () => {
  await using rig = await startRig()
  await rig.webhook('https://answers.example/')
  await rig.event('first')
  for (let i = 0; i < 140; i += 1) await rig.webhook(`https://hangs.example/${i}`)
  rig.sink.answer = ({ url }) => (url.startsWith('https://hangs') ? 'hang' : 200)
  const began = rig.clock.monotonic()

  for (let i = 0; i < 24; i += 1) {
    await rig.event(`c${i}`)
    await rig.clock.advance(SECOND)
  }

  const heard = rig.sink.to('https://answers.example/').slice(1)
  expect(heard.map(({ at }) => at - began)).toEqual(
    Array.from({ length: 24 }, (_, i) => i * SECOND),
  )
})

test('beside 200 receivers that answered and then hang at once, another one hears of every event at once', async () => {
  await using rig = await startRig()
  await rig.webhook('https://answers.example/')
  for (let i = 0; i < 200; i += 1) await rig.webhook(`https://hangs.example/${i}`)
  const eventsIn = async (seconds: number) => {
    for (let i = 0; i < seconds * 10; i += 1) {
      await rig.event(`c${i}`)
      await rig.clock.advance(SECOND / 10)
    }
  }
  await eventsIn(0.5)
  rig.sink.answer = ({ url }) => (url.startsWith('https://hangs') ? 'hang' : 200)
  const began = rig.clock.monotonic()

  await eventsIn(12)

  const heard = rig.sink.to('https://answers.example/').slice(5)
  expect(heard.map(({ at }) => at - began)).toEqual(
    Array.from({ length: 120 }, (_, i) => (i * SECOND) / 10),
  )
})

test('beside 300 receivers that begin to hang, one that still answers has slots of its own', async () => {
  await using rig = await startRig()
  for (let i = 0; i < 300; i += 1) await rig.webhook(`https://hangs.example/${i}`)
  await rig.webhook('https://answers.example/')
  await rig.event('first')
  await rig.clock.advance(SECOND / 10)
  rig.sink.answer = ({ url }) => (url.startsWith('https://hangs') ? 'hang' : 200)
  const began = rig.clock.monotonic()

  for (let i = 0; i < 20; i += 1) {
    await rig.event(`c${i}`)
    await rig.clock.advance(SECOND / 10)
  }

  const heard = rig.sink.to('https://answers.example/').slice(1)
  expect(heard.map(({ at }) => at - began)).toEqual(
    Array.from({ length: 20 }, (_, i) => (i * SECOND) / 10),
  )
})

test('an attempt that takes much longer than usual leaves its receiver as few places as an untried one', async () => {
  await using rig = await startRig()
  for (let i = 0; i < 140; i += 1) await rig.webhook(`https://late.example/${i}`)
  await rig.event('first')
  rig.sink.answer = () => 'hang'
  await rig.event('a')
  const early = rig.sink.posts.length
  await rig.clock.advance(251)

  await rig.event('b')

  expect(early).toBe(280)
  expect(rig.sink.posts).toHaveLength(280)
})

test('never two of a conversation are in flight to one webhook', async () => {
  await using rig = await startRig()
  await rig.webhook()
  await rig.event('first')
  rig.sink.answer = () => 'hang'

  for (const conversation of ['a', 'a', 'b', 'b', 'c', 'd', 'e']) await rig.event(conversation)

  expect(rig.sink.posts.slice(1).map(({ body }) => JSON.parse(body).message.text)).toEqual([
    'Message 2',
    'Message 4',
    'Message 6',
    'Message 7',
  ])
})

test('an event of a conversation waits for the one before it, not for its retries', async () => {
  await using rig = await startRig()
  await rig.webhook()
  await rig.event('first')
  rig.sink.answer = (_, index) => (index === 1 ? 'hang' : 200)
  await rig.event('a')
  await rig.event('a')
  await rig.event('b')

  const early = rig.sink.posts.map(({ body }) => JSON.parse(body).message.text)
  await rig.clock.advance(10 * SECOND)

  expect(early).toEqual(['Message 1', 'Message 2', 'Message 4'])
  const late = rig.sink.posts.slice(3)
  expect(late.map(({ body, at }) => [JSON.parse(body).message.text, at])).toContainEqual([
    'Message 3',
    10 * SECOND,
  ])
})

test('whatever a receiver answers, and however long it takes, no delivery is forgotten', async () => {
  const forgotten: number[] = []

  for (let seed = SEED; seed < SEED + 20; seed += 1) {
    await using rig = await startRig({ scheduleMs: Array.from({ length: 12 }, () => 100) })
    const webhook = await rig.webhook()
    await rig.event('first')
    const random = new SeededRandom(seed)
    rig.sink.answer = () => (random.chance() < 0.3 ? 500 : { afterMs: random.below(40) })
    for (let i = 0; i < 30; i += 1) await rig.event(`c${i}`)
    await rig.clock.advance(10 * SECOND)
    if (rig.deliveries(webhook.id).some(({ status }) => status === 'pending')) forgotten.push(seed)
  }

  expect(forgotten).toEqual([])
})

test('a delivery that becomes due while the loop looks for work goes out at once', async () => {
  await using rig = await startRig({ scheduleMs: [SECOND, HOUR] })
  const webhook = await rig.webhook()
  rig.clock.slowDown(1)
  const late: number[] = []

  for (let aheadMs = 1; aheadMs <= 150; aheadMs += 1) {
    rig.sink.answer = () => 500
    await rig.event()
    const [{ next_attempt_at: dueAt } = { next_attempt_at: null }] = rig.deliveries(webhook.id)
    rig.sink.answer = () => 200
    await rig.clock.advance(Date.parse(dueAt ?? '') - rig.clock.now() - aheadMs)
    await rig.event('b')
    await rig.clock.advance(SECOND)
    if (rig.deliveries(webhook.id).some(({ status }) => status === 'pending')) late.push(aheadMs)
    await rig.clock.advance(2 * HOUR)
  }

  expect(late).toEqual([])
})

test('the outage of the box itself is no attempt: tried again every minute', async () => {
  await using rig = await startRig()
  const webhook = await rig.webhook()
  rig.sink.answer = () => ({ result: 'unreachable' })
  await rig.event()

  await rig.clock.advance(10 * MINUTE - 1)
  const findings = rig.queues.findings()
  const during = rig.deliveries(webhook.id)
  rig.sink.answer = () => 200
  await rig.clock.advance(1)

  expect(during).toMatchObject([{ status: 'pending', attempt_count: 0 }])
  expect(findings).toMatchObject([{ code: 'webhook_out_of_reach', key: webhook.id }])
  expect(rig.sink.posts.map(({ at }) => at / MINUTE)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  expect(rig.deliveries(webhook.id)).toMatchObject([{ status: 'succeeded', attempt_count: 1 }])
  expect(rig.queues.findings()).toEqual([])
})

test('a wall clock that steps back by a day strands nothing', async () => {
  await using rig = await startRig()
  await rig.webhook()
  rig.sink.answer = ({ at }) => (at <= 155 * SECOND ? 500 : 200)
  await rig.event()
  await rig.clock.advance(155 * SECOND)
  const before = rig.sink.posts.length

  rig.clock.step(-DAY)
  await rig.clock.advance(MINUTE)

  const [probe, ...more] = rig.sink.posts.slice(before)
  expect(more).toEqual([])
  expect(probe?.at).toBeLessThan(175 * SECOND)
  expect(probe?.timestamp).toBe(Math.floor((TEST_START - DAY + (probe?.at ?? 0)) / SECOND))
})

test('at the start nothing is further away than 29 hours', async () => {
  const first = await startRig()
  const webhook = await first.webhook()
  first.sink.answer = () => 500
  await first.event()
  await first.stop()
  first.db.sqlite.run('UPDATE deliveries SET next_attempt_at = next_attempt_at + 400000000000')

  await using second = await startRig({ db: first.db, clock: first.clock })

  expect(second.deliveries(webhook.id)).toMatchObject([
    { next_attempt_at: new Date(TEST_START + 29 * HOUR).toISOString() },
  ])
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

  await using second = await startRig({ db: first.db, clock: first.clock })

  expect(second.sink.posts.map(({ id }) => id)).toEqual(first.sink.posts.map(({ id }) => id))
  expect(second.deliveries(webhook.id)).toMatchObject([{ status: 'succeeded', attempt_count: 1 }])
})

test('an attempt that cannot be written is kept and written later, and not made again', async () => {
  await using rig = await startRig()
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
})

test('while the disk is too full nothing goes out; after that it does', async () => {
  await using rig = await startRig()
  await rig.webhook()
  rig.disk.isLow = true
  await rig.event()

  await rig.clock.advance(HOUR)
  const during = rig.sink.posts.length
  rig.disk.isLow = false
  await rig.clock.advance(10 * SECOND)

  expect([during, rig.sink.posts.length]).toEqual([0, 1])
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

test('what failed while a receiver was away goes out as soon as it takes something new', async () => {
  await using rig = await startRig()
  const webhook = await rig.webhook()
  rig.sink.answer = () => 500
  await rig.event('a')
  await rig.clock.advance(61 * SECOND)

  rig.sink.answer = () => 200
  await rig.event('b')

  expect(rig.deliveries(webhook.id).every(({ status }) => status === 'succeeded')).toBeTrue()
})

test('a delivery whose time comes during an attempt ahead of it is tried again when that fails', async () => {
  await using rig = await startRig()
  const webhook = await rig.webhook()
  // The first event fails, the second one succeeds; so the first is tried again a second ahead of its time.
  rig.sink.answer = (_, index) => [500, 200, 'hang' as const][index] ?? 200
  await rig.event('a')
  await rig.clock.advance(4 * SECOND)
  await rig.event('b')

  await rig.clock.advance(11 * SECOND)

  expect(rig.sink.posts.map(({ at }) => at / SECOND)).toEqual([0, 4, 4, 14])
  expect(rig.deliveries(webhook.id).every(({ status }) => status === 'succeeded')).toBeTrue()
})

test('an event that is refused for its own sake holds up no other, and is not tried more for it', async () => {
  await using rig = await startRig()
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
})
