import { expect, test } from 'bun:test'

import type { DeliveryId, WebhookId } from '../../src/domain/ids.ts'
import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { findDelivery, listAttempts } from '../../src/storage/deliveries.ts'
import { dueDeliveries } from '../../src/storage/delivery-queue.ts'
import { MIGRATIONS, UnusableDatabaseError } from '../../src/storage/migrations.ts'
import { findWebhook } from '../../src/storage/webhooks.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'

const BEFORE = MIGRATIONS.findIndex(({ sql }) => sql.includes('__new_deliveries'))

const EARLIER = `
  INSERT INTO webhooks (seq, id, url, events, is_active, created_by, created_at, updated_at)
  VALUES (3, 'wh_a', 'http://localhost', '[]', 1, 'cli', 0, 0), (7, 'wh_b', 'http://localhost', '[]', 1, 'cli', 0, 0);
  INSERT INTO events (seq, id, name, message_id, conversation_id, body, created_at)
  VALUES (5, 'evt_a', 'message.sent', 'msg_a', 'conv_a', '{}', 10);
  INSERT INTO deliveries (seq, id, webhook_id, event_seq, event, conversation_id, status, attempt_count, scheduled_count,
    next_attempt_at, requested_at, replayed_at, created_at, completed_at)
  VALUES (11, 'dlv_a', 'wh_a', 5, 'message.sent', 'conv_a', 'pending', 2, 1, 40, NULL, 20, 20, NULL),
    (12, 'dlv_b', 'wh_b', 5, 'message.sent', 'conv_a', 'succeeded', 1, 1, NULL, NULL, NULL, 20, 30);
  INSERT INTO attempts (delivery_seq, number, "trigger", started_at, duration_ms, status_code, is_private_target)
  VALUES (11, 1, 'scheduled', 21, 5, 500, 0), (11, 2, 'manual', 25, 5, 503, 0), (12, 1, 'scheduled', 22, 5, 200, 0)`

test('deliveries from before they had numbers keep what they had, with their attempts, and go on', () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  const before = openDatabase(path, { version: 'old', migrations: MIGRATIONS.slice(0, BEFORE) })
  before.db.sqlite.run(EARLIER)
  closeDatabase(before.db)

  const { db } = openDatabase(path, { version: 'new' })
  const pending = findDelivery(db, 'dlv_a' as DeliveryId)
  const delivered = findDelivery(db, 'dlv_b' as DeliveryId)
  const attempts = listAttempts(db, 11).map(({ statusCode }) => statusCode)
  const due = dueDeliveries(db, findWebhook(db, 'wh_a' as WebhookId)?.seq ?? 0, 40, 10)
  closeDatabase(db)

  expect(pending).toMatchObject({
    seq: 11,
    webhookId: 'wh_a',
    eventId: 'evt_a',
    event: 'message.sent',
    messageId: 'msg_a',
    status: 'pending',
    attemptCount: 2,
    scheduledCount: 1,
    nextAttemptAt: 40,
    createdAt: 20,
    completedAt: null,
    lastStatusCode: 503,
  })
  expect(delivered).toMatchObject({ webhookId: 'wh_b', status: 'succeeded', completedAt: 30 })
  expect(attempts).toEqual([500, 503])
  expect(due).toEqual([
    { seq: 11, eventSeq: 5, scheduledCount: 1, nextAttemptAt: 40, conversationId: 'conv_a' },
  ] as never)
})

test('an executable from before deliveries had numbers refuses the database, and says so', () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  closeDatabase(openDatabase(path, { version: 'new' }).db)

  const open = () => openDatabase(path, { version: 'old', migrations: MIGRATIONS.slice(0, BEFORE) })

  expect(open).toThrow(UnusableDatabaseError)
  expect(open).toThrow(`this executable knows schema ${BEFORE}.`)
})
