import { expect, test } from 'bun:test'

import { openDatabase } from '../../src/storage/database.ts'
import { heldUntil } from '../../src/storage/message-queue.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'
import { TEST_START } from '../support/test-clock.ts'

const HOUR = 3_600_000

test('a message that its device has held for a day is found behind one that was accepted earlier and left just now', () => {
  const { db } = openDatabase(':memory:', { version: 'test' })
  storeLine(db.sqlite)
  storeMessages(db.sqlite, [
    { id: 'scheduled', status: 'sending', createdAt: TEST_START - 40 * HOUR },
    { id: 'silent', status: 'sending', createdAt: TEST_START - 30 * HOUR },
    { id: 'young', status: 'sending', createdAt: TEST_START - 20 * HOUR },
  ])
  const pass = db.sqlite.query('UPDATE messages SET passed_at = $at WHERE id = $id')
  pass.run({ id: 'scheduled', at: TEST_START })
  pass.run({ id: 'silent', at: TEST_START - 30 * HOUR })
  pass.run({ id: 'young', at: TEST_START - 20 * HOUR })

  const held = heldUntil(db, { until: TEST_START - 24 * HOUR, limit: 10 })

  expect(held.map(String)).toEqual(['silent'])
})
