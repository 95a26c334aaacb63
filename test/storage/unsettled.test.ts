import { expect, test } from 'bun:test'

import type { LineId } from '../../src/domain/ids.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { unfinishedOf } from '../../src/storage/message-queue.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'
import { TEST_START } from '../support/test-clock.ts'

const CLOCK = { now: () => TEST_START, ago: (ms: number) => TEST_START - ms, ageOf: () => 0 }

test('of more unsettled messages than a driver is given, it gets the newest, oldest first', () => {
  const { db } = openDatabase(':memory:', { version: 'test' })
  storeLine(db.sqlite)
  const ids = Array.from({ length: 1_100 }, (_, n) => `msg_${String(n).padStart(4, '0')}`)
  storeMessages(
    db.sqlite,
    ids.map((id, n) => ({ id, status: n % 500 === 499 ? 'sending' : 'uncertain' })),
  )

  const { unsettled } = unfinishedOf(db, 'line_a' as LineId, {
    age: CLOCK,
    files: { pathOf: (sha256) => sha256 },
  })

  const given: readonly string[] = unsettled.map(({ message }) => message.id)
  expect(given).toEqual(ids.slice(100))
})
