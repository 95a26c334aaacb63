// Idempotency records move to a table that is their index too.

import { expect, test } from 'bun:test'

import type { MessageId } from '../../src/domain/ids.ts'
import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { findIdempotency } from '../../src/storage/idempotency.ts'
import { MIGRATIONS } from '../../src/storage/migrations.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'

const BEFORE = MIGRATIONS.findIndex(({ name }) => name.includes('untold_events'))
const OLDER = MIGRATIONS.slice(0, BEFORE)

test('what was accepted under a key before is still known, with its answer', () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  const older = openDatabase(path, { version: '1', migrations: OLDER }).db
  older.sqlite.run(
    `INSERT INTO idempotency (key, fingerprint, message_id, answer, body, created_at)
     VALUES ('z', 'print-z', 'msg_z', 'sent', '{"id":"msg_z"}', 2), ('a', 'print-a', 'msg_a', NULL, NULL, 1)`,
  )
  closeDatabase(older)

  const { db, migratedFrom } = openDatabase(path, { version: '2' })

  expect(migratedFrom).toBe(BEFORE)
  expect(['a', 'z', 'b'].map((key) => findIdempotency(db, key))).toEqual([
    { fingerprint: 'print-a', messageId: 'msg_a' as MessageId, answer: null, body: null },
    {
      fingerprint: 'print-z',
      messageId: 'msg_z' as MessageId,
      answer: 'sent',
      body: '{"id":"msg_z"}',
    },
    null,
  ])
  closeDatabase(db)
})
