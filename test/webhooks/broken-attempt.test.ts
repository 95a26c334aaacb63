// Attempts that break off before anything is sent.

import { expect, test } from 'bun:test'

import type { WebhookId } from '../../src/domain/ids.ts'
import { startRig } from '../support/webhook-rig.ts'

test('an attempt that can send nothing is written down, and its delivery goes on by its schedule', async () => {
  await using rig = await startRig({ scheduleMs: [1_000, 1_000] })
  const webhook = await rig.webhook()
  rig.disk.isLow = true
  await rig.event('a')
  rig.db.sqlite.run('PRAGMA foreign_keys = OFF')
  rig.db.sqlite.run('DELETE FROM events')
  rig.disk.isLow = false

  await rig.clock.advance(12_000)

  const read = (sql: string) => rig.db.sqlite.query(sql).values()
  expect(read('SELECT status_code, error FROM attempts ORDER BY number')).toEqual([
    [null, 'network_error'],
    [null, 'network_error'],
    [null, 'network_error'],
  ])
  expect(read('SELECT status FROM deliveries')).toEqual([['exhausted']])
  expect(rig.queues.inFlight(webhook.id as WebhookId)).toEqual(new Set())
  expect(rig.sink.posts).toHaveLength(0)
})
