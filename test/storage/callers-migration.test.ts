import { expect, test } from 'bun:test'

import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { findIdempotency } from '../../src/storage/idempotency.ts'
import { MIGRATIONS } from '../../src/storage/migrations.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'

test('a request that was accepted before callers were kept is of an unknown caller, with its answer', () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  const before = openDatabase(path, { version: 'old', migrations: MIGRATIONS.slice(0, 1) })
  before.db.sqlite.run(
    `INSERT INTO idempotency (key, fingerprint, message_id, answer, body, created_at)
     VALUES ('order-12', 'print', 'msg_old', 'sent', '{}', 7)`,
  )
  closeDatabase(before.db)

  const { db } = openDatabase(path, { version: 'new' })
  const found = findIdempotency(db, { caller: 'owner', key: 'order-12' })
  closeDatabase(db)

  expect(found).toMatchObject({
    caller: '',
    fingerprint: 'print',
    messageId: 'msg_old',
    answer: { kind: 'sent', body: '{}' },
  })
})
