import { expect, test } from 'bun:test'

import { openDatabase } from '../../src/storage/database.ts'
import { firstSeqSince } from '../../src/storage/seq-by-time.ts'

const NONE = Number.MAX_SAFE_INTEGER

test('the first row of a moment is found, whatever was deleted before and after', async () => {
  const { db } = openDatabase(':memory:', { version: 'test' })
  const stored = [3, 4, 9, 10, 11, 40, 41, 1_000]
  const insert = db.sqlite.prepare(
    "INSERT INTO events (seq, id, name, created_at) VALUES (?, ?, 'message.sent', ?)",
  )
  // Two events of each moment.
  const timeOf = (seq: number) => Math.floor(stored.indexOf(seq) / 2) * 10
  for (const seq of stored) insert.run(seq, `evt_${seq}`, timeOf(seq))

  const found = [-5, 0, 1, 10, 11, 25, 30, 31].map((since) => firstSeqSince(db, 'events', since))

  expect(found).toEqual([3, 3, 9, 9, 11, 41, 41, NONE])
})

test('in a table without rows no moment is found', () => {
  const { db } = openDatabase(':memory:', { version: 'test' })

  expect(firstSeqSince(db, 'messages', 0)).toBe(NONE)
})
