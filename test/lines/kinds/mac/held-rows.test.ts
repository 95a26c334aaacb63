import { expect, test } from 'bun:test'

import { HeldRows } from '../../../../src/lines/kinds/mac/held-rows.ts'
import { OpenedChatDb } from '../../../support/mac/opened-chat-db.ts'
import { TEST_START, TestClock } from '../../../support/test-clock.ts'

test('a row that was deleted while it waited is not looked for any more', () => {
  using db = new OpenedChatDb({ schema: 'macos26a', options: {} })
  const rowIds = [1, 2].map(() => db.file.addMessage({ at: TEST_START, text: 'hello' }).rowId)
  const held = new HeldRows(new TestClock(), rowIds)

  db.file.db.run('DELETE FROM message WHERE ROWID = 1')
  held.releaseAllBut(db.chatDb.rowsAt(held.rowIds))

  expect([held.rowIds, held.urgentCount]).toEqual([[2], 1])
})

test('a row that is held again waits since it was held first', async () => {
  using db = new OpenedChatDb({ schema: 'macos26a', options: {} })
  const clock = new TestClock()
  const held = new HeldRows(clock, [])
  const { rowId } = db.file.addMessage({ at: TEST_START, text: 'hello' })
  const rows = db.chatDb.rowsAt([rowId])

  for (const row of rows) {
    held.hold(row, false)
    await clock.advance(1_000)
    held.hold(row, false)
    await clock.advance(1_000)
  }

  expect(rows.map((row) => held.waitedMs(row))).toEqual([2_000])
})
