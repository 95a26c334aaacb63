// How what is old goes of webhooks, events and deliveries.

import { expect, test } from 'bun:test'

import { timestamp } from '../../src/domain/ids.ts'
import { recordAttempt } from '../../src/storage/delivery-queue.ts'
import {
  type Purge,
  deleteDeletedWebhooks,
  deleteFinishedDeliveries,
  heldDeliveriesPurge,
  oldEventsPurge,
} from '../../src/storage/retention.ts'
import type { Change } from '../../src/system/change-feed.ts'
import { settle } from '../support/test-clock.ts'
import { OWNER, startRig, type Rig } from '../support/webhook-rig.ts'

const DAY = 24 * 3_600_000

test('finished deliveries go after 30 days with their attempts, in batches; pending ones never', async () => {
  const rig = await startRig()
  const webhook = await rig.webhook()
  for (let i = 0; i < 3; i += 1) await rig.event(`c${i}`)
  await rig.stop()
  await rig.event('pending')
  await rig.clock.advance(30 * DAY)
  const early = await purge(rig, deleteFinishedDeliveries, 2)

  await rig.clock.advance(1)
  const counts = [
    await purge(rig, deleteFinishedDeliveries, 2),
    await purge(rig, deleteFinishedDeliveries, 2),
    await purge(rig, deleteFinishedDeliveries, 2),
  ]

  expect([early, counts]).toEqual([0, [2, 1, 0]])
  expect(rig.deliveries(webhook.id)).toMatchObject([{ status: 'pending' }])
  expect(count(rig, 'attempts')).toBe(0)
})

test('events go after 30 days, once no delivery needs them, but never the newest', async () => {
  const rig = await startRig()
  await rig.event('unwanted')
  await rig.webhook()
  await rig.event('delivered')
  await rig.event('newest')
  await rig.clock.advance(30 * DAY + 1)

  const deleteOldEvents = oldEventsPurge()
  await purge(rig, deleteOldEvents, 10)
  const needed = count(rig, 'events')
  await purge(rig, deleteFinishedDeliveries, 10)
  await purge(rig, deleteOldEvents, 10)

  expect(needed).toBe(2)
  expect(count(rig, 'events')).toBe(1)
  await rig.stop()
})

test('events that a paused webhook needs are passed by in steps, and looked at again another time', async () => {
  const rig = await startRig()
  await rig.webhook()
  await rig.stop()
  for (let i = 0; i < 5; i += 1) await rig.event(`c${i}`)
  await rig.clock.advance(30 * DAY + 1)
  const deleteOldEvents = oldEventsPurge()
  const round = async () => [
    await purge(rig, deleteOldEvents, 2),
    await purge(rig, deleteOldEvents, 2),
    await purge(rig, deleteOldEvents, 2),
  ]
  const passed = await round()
  const needed = count(rig, 'events')

  rig.db.sqlite.run('DELETE FROM deliveries WHERE event_seq IN (SELECT min(seq) FROM events)')
  const again = await round()

  expect([passed, needed]).toEqual([[2, 2, 1], 5])
  expect([again, count(rig, 'events')]).toEqual([[2, 2, 1], 4])
})

test('a deleted webhook goes with its deliveries and secrets, step by step', async () => {
  const rig = await startRig()
  const [gone, kept] = [await rig.webhook(), await rig.webhook()]
  for (let i = 0; i < 3; i += 1) await rig.event(`c${i}`)
  await rig.subscriptions.remove(gone.id, OWNER)

  const counts = [
    await purge(rig, (tx, _, limit) => deleteDeletedWebhooks(tx, limit), 2),
    await purge(rig, (tx, _, limit) => deleteDeletedWebhooks(tx, limit), 2),
    await purge(rig, (tx, _, limit) => deleteDeletedWebhooks(tx, limit), 2),
  ]

  expect(counts).toEqual([2, 2, 0])
  expect(count(rig, 'webhooks')).toBe(1)
  expect(count(rig, 'webhook_secrets')).toBe(1)
  expect(rig.deliveries(kept.id)).toHaveLength(3)
  await rig.stop()
})

test('an attempt whose delivery went meanwhile is forgotten, and fails nothing', async () => {
  const rig = await startRig()
  const answered = { statusCode: 200, error: null, responseExcerpt: 'ok', isPrivateTarget: false }
  const startedAt = timestamp(rig.clock.now())

  await rig.writer.write((tx) =>
    recordAttempt(tx, 1, {
      deliverySeq: 7,
      attempt: { trigger: 'scheduled', startedAt, durationMs: 3, ...answered },
      status: 'succeeded',
      isOfSchedule: true,
      nextAttemptAt: null,
      completedAt: startedAt,
    }),
  )

  expect([count(rig, 'deliveries'), count(rig, 'attempts')]).toEqual([0, 0])
  await rig.stop()
})

test('what waits for a deactivated webhook is exhausted after 30 days, or beyond the cap', async () => {
  const rig = await startRig({ isRunning: false })
  const held = await rig.webhook()
  const paused = await rig.webhook()
  await rig.event('old')
  await rig.clock.advance(20 * DAY)
  for (let i = 0; i < 5; i += 1) await rig.event(`c${i}`)
  rig.db.sqlite
    .query("UPDATE webhooks SET is_active = 0, disabled_reason = 'gone' WHERE id = $id")
    .run({ id: held.id })
  await rig.subscriptions.update(paused.id, { is_active: false }, OWNER)

  await rig.clock.advance(10 * DAY + 1)
  const byAge = await purge(rig, heldDeliveriesPurge(), 10)
  const byCount = await purge(rig, heldDeliveriesPurge(2), 10)

  const statuses = rig.deliveries(held.id).map(({ status }) => status)
  expect([byAge, byCount]).toEqual([1, 3])
  expect(statuses).toEqual([
    'pending',
    'pending',
    'exhausted',
    'exhausted',
    'exhausted',
    'exhausted',
  ])
  expect(rig.deliveries(paused.id).every(({ status }) => status === 'pending')).toBeTrue()
})

test('a step over deactivated webhooks goes on with the webhook at which the one before it ended', async () => {
  const rig = await startRig({ isRunning: false })
  const first = await rig.webhook()
  const second = await rig.webhook()
  for (let i = 0; i < 2; i += 1) await rig.event(`c${i}`)
  rig.db.sqlite.run("UPDATE webhooks SET is_active = 0, disabled_reason = 'gone'")
  const held = heldDeliveriesPurge(0)
  const steps: string[][] = []
  const step: Purge = (tx, age, limit) => {
    const changes: Change[] = []
    const passed = held({ ...tx, changes }, age, limit)
    steps.push(changes.map(({ id }) => (id === first.id ? 'first' : 'second')))
    return passed
  }

  const counts: number[] = []
  for (let i = 0; i < 6; i += 1) counts.push(await purge(rig, step, 1))

  expect(counts).toEqual([1, 1, 1, 1, 0, 0])
  expect(steps).toEqual([
    ['second'],
    ['second'],
    ['second', 'first'],
    ['first'],
    ['first'],
    ['second', 'first'],
  ])
  expect(rig.deliveries(second.id).every(({ status }) => status === 'exhausted')).toBeTrue()
})

async function purge(rig: Rig, work: Purge, limit: number): Promise<number> {
  const passed = rig.writer.write((tx) => work(tx, rig.age, limit))
  await settle()
  return passed
}

function count(rig: Rig, table: string): number {
  const rows = rig.db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()
  return rows?.n ?? 0
}
