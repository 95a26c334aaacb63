import { expect, test } from 'bun:test'

import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { MIGRATIONS } from '../../src/storage/migrations.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'

const HOUR_MS = 3_600_000

test('messages that were canceled or denied before the counts knew of it are taken out of them', () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  const before = openDatabase(path, { version: 'old', migrations: MIGRATIONS.slice(0, 17) })
  const { sqlite } = before.db
  sqlite.run(
    `INSERT INTO lines (seq, id, driver, device_key, phone_number, daily_contact_limit, is_enabled, relay_sms, created_at)
     VALUES (1, 'line_1', 'simulated', 'one', '+1', 50, 1, 0, 0)`,
  )
  sqlite.run(
    `INSERT INTO conversations (seq, id, line_id, phone_number, handle, service, message_count, last_seq, created_at, updated_at)
     VALUES (1, 'conv_1', 'line_1', '+1', '+2', 'iMessage', 4, 4, 0, 0)`,
  )
  for (const [seq, code] of ['canceled', 'denied', 'resolved_by_hand', 'not_on_imessage'].entries())
    sqlite.run(
      `INSERT INTO messages (id, line_seq, conversation_seq, phone_number, handle, direction, status, service,
         text, guid, source, waits_from, error_code, revision, created_at, updated_at)
       VALUES (?, 1, 1, '+1', '+2', 'outbound', 'failed', 'iMessage', 'x', ?, 'api', 0, ?, 0, ?, ?)`,
      [`msg_${seq}`, `guid-${seq}`, code, HOUR_MS, 2 * HOUR_MS],
    )
  const failed = (table: string) =>
    sqlite.query<{ failed: number }, []>(`SELECT failed FROM ${table}`).get()?.failed
  const counted = [failed('message_quarters'), failed('timeline_hours')]
  closeDatabase(before.db)

  const { db } = openDatabase(path, { version: 'new' })
  const counts = [
    db.row('SELECT failed, canceled FROM message_quarters'),
    db.row('SELECT failed FROM timeline_hours'),
  ]
  closeDatabase(db)

  expect(counted).toEqual([4, 4])
  expect(counts).toEqual([{ failed: 4, canceled: 2 }, { failed: 1 }])
})
