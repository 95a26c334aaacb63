// Untold events of one commit share a row, where each had its own before.

import { expect, test } from 'bun:test'

import type { WebhookId } from '../../src/domain/ids.ts'
import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { insertEvent, listReplayableEvents } from '../../src/storage/events.ts'
import { MIGRATIONS } from '../../src/storage/migrations.ts'
import { Writer } from '../../src/storage/writer.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'

const BEFORE = MIGRATIONS.findIndex(({ name }) => name.includes('leaner_commits'))
const OLDER = MIGRATIONS.slice(0, BEFORE)

test('what nobody was told before is told in its place and with its time, and places go on', async () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  const older = openDatabase(path, { version: '1', migrations: OLDER }).db
  older.sqlite.run(
    `INSERT INTO untold_events (seq, name, message_id, created_at)
     VALUES (3, 'message.sent', 'msg_a', 1000), (5, 'message.read', 'msg_b', 2000)`,
  )
  closeDatabase(older)

  const { db, migratedFrom } = openDatabase(path, { version: '2' })

  expect(migratedFrom).toBe(BEFORE)
  const events: readonly object[] = listReplayableEvents(db, 'wh_any' as WebhookId, 1, 9)
  expect(events).toMatchObject([
    { seq: 3, name: 'message.sent', messageId: 'msg_a', createdAt: 1_000, isUntold: true },
    { seq: 5, name: 'message.read', messageId: 'msg_b', createdAt: 2_000, isUntold: true },
  ])
  const next = await new Writer(db, () => {}).write((tx) =>
    insertEvent(tx, {
      id: 'evt_c' as never,
      name: 'message.sent',
      messageId: null,
      conversationId: null,
      body: '{}',
      createdAt: 3_000 as never,
    }),
  )
  expect(next).toBe(6)
  closeDatabase(db)
})

test('an executable from before would miss them, so it refuses', () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  closeDatabase(openDatabase(path, { version: '2' }).db)

  const open = () => openDatabase(path, { version: '1', migrations: OLDER })

  expect(open).toThrow('was written by Hookline 2 and needs schema')
})
