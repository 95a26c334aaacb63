import { expect, test } from 'bun:test'

import { BackFillWatch, IncompleteRows } from '../../../../src/lines/kinds/mac/reading.ts'
import { OpenedChatDb } from '../../../support/mac/opened-chat-db.ts'
import { TEST_START, TestClock } from '../../../support/test-clock.ts'

test('a row that was deleted while it waited is not looked for any more', () => {
  using db = new OpenedChatDb({ schema: 'macos26a', options: {} })
  const rowIds = [1, 2].map(() => db.file.addMessage({ at: TEST_START, text: 'hello' }).rowId)
  const waiting = new IncompleteRows(new TestClock(), rowIds)

  db.file.db.run('DELETE FROM message WHERE ROWID = 1')
  waiting.releaseAllBut(db.chatDb.rowsAt(waiting.rowIds))

  expect([waiting.rowIds, waiting.urgentCount]).toEqual([[2], 1])
})

test('a row that is not complete yet waits since it was seen first', async () => {
  using db = new OpenedChatDb({ schema: 'macos26a', options: {} })
  const clock = new TestClock()
  const waiting = new IncompleteRows(clock, [])
  const { rowId } = db.file.addMessage({ at: TEST_START, text: 'hello' })
  const rows = db.chatDb.rowsAt([rowId])

  for (const row of rows) {
    waiting.add(row, false)
    await clock.advance(1_000)
    waiting.add(row, false)
    await clock.advance(1_000)
  }

  expect(rows.map((row) => waiting.waitedMs(row))).toEqual([2_000])
})

const MINUTE_MS = 60_000
const OLD_MS = 10 * MINUTE_MS + 1
const YOUNG_MS = 10 * MINUTE_MS

/** `count` rows that are `ageMs` old, as they come in at once. */
function rowsOf(count: number, ageMs: number) {
  using db = new OpenedChatDb({ schema: 'macos26a', options: {} })
  db.file.db.transaction(() => {
    for (let i = 0; i < count; i += 1) db.file.addMessage({ at: TEST_START - ageMs, text: 'hello' })
  })()
  return db.chatDb.rowsAfter(0, count)
}

test('fifty old rows are none, one more is a back-fill, and so is what comes with it', () => {
  const watch = new BackFillWatch(new TestClock())

  const is = [rowsOf(50, OLD_MS), rowsOf(1, OLD_MS), rowsOf(1, YOUNG_MS)].map((rows) =>
    watch.isBackFill(rows, TEST_START),
  )

  expect(is).toEqual([false, true, true])
})

test('rows of the last ten minutes are no back-fill, however many they are', () => {
  const watch = new BackFillWatch(new TestClock())

  expect(watch.isBackFill(rowsOf(100, YOUNG_MS), TEST_START)).toBe(false)
})

test('a back-fill is over ten minutes after its last row', async () => {
  const clock = new TestClock()
  const watch = new BackFillWatch(clock)
  const is = [watch.isBackFill(rowsOf(60, OLD_MS), TEST_START)]

  for (const ms of [10 * MINUTE_MS - 1, 1]) {
    await clock.advance(ms)
    is.push(watch.isBackFill([], TEST_START))
  }

  expect(is).toEqual([true, true, false])
})
