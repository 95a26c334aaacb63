import { expect, test } from 'bun:test'

import type { LineEvent } from '../../../../src/lines/driver.ts'
import { MessageFiles } from '../../../../src/lines/kinds/mac/message-files.ts'
import { Owner } from '../../../../src/lines/kinds/mac/own-addresses.ts'
import { OwnMessages } from '../../../../src/lines/kinds/mac/own-messages.ts'
import { BackFillWatch, IncompleteRows, Reading } from '../../../../src/lines/kinds/mac/reading.ts'
import { RowEvents } from '../../../../src/lines/kinds/mac/row-events.ts'
import { NEVER } from '../../../../src/system/clock.ts'
import { messagesOf } from '../../../contract/line-rig.ts'
import { OpenedChatDb } from '../../../support/mac/opened-chat-db.ts'
import { TEST_START, TestClock } from '../../../support/test-clock.ts'

test('a row that was deleted while it waited is not looked for any more', () => {
  using db = new OpenedChatDb()
  const rowIds = [1, 2].map(() => db.file.addMessage({ at: TEST_START, text: 'hello' }).rowId)
  const waiting = new IncompleteRows(new TestClock(), rowIds)

  db.file.db.run('DELETE FROM message WHERE ROWID = 1')
  waiting.releaseAllBut(db.chatDb.rowsAt(waiting.rowIds))

  expect([waiting.rowIds, waiting.urgentCount]).toEqual([[2], 1])
})

test('a row that is not complete yet waits since it was seen first', async () => {
  using db = new OpenedChatDb()
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

/** A reading that looks when the test says so. */
class ReadingRig extends OpenedChatDb {
  readonly clock = new TestClock()
  readonly texts: string[] = []
  readonly reading: Reading

  constructor() {
    super()
    const now = this.clock.now()
    const start = { rowId: 0, incomplete: [], sequence: 0, lastRows: [], lastAt: now }
    const files = new MessageFiles(this.clock, '/nowhere')
    const owner = new Owner('+15550009999')
    const rowEvents = new RowEvents(this.clock, new OwnMessages(), owner, files)
    const publish = async (events: readonly LineEvent[]) => {
      this.texts.push(...messagesOf(events).map(({ text }) => text))
    }
    const checkpoint = { ...start, since: now, healthyAt: now }
    this.reading = new Reading(this.clock, rowEvents, publish, checkpoint)
  }

  /** A row of each person that is joined to no chat, the text is who wrote it; joins them. */
  write(people: readonly string[]): () => void {
    const { file } = this
    const at = this.clock.now()
    const write = file.db.transaction(() =>
      people.map((from) => file.addMessage({ at, text: from, handle_id: file.addHandle(from) })),
    )
    const rows = write()
    return file.db.transaction(() => {
      for (const [index, { rowId }] of rows.entries()) {
        file.joinChat(rowId, file.directChat(people[index] ?? ''))
      }
    })
  }

  /** Looks `ms` later; how many rows it waits for then. */
  async look(ms: number): Promise<number> {
    await this.clock.advance(ms)
    await this.reading.tick(this.chatDb, NEVER)
    return this.reading.checkpoint.incomplete.length
  }
}

function people(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `+1555100${1_000 + index}`)
}

test('of rows without a chat two hundred are held at once, and none is passed over', async () => {
  using rig = new ReadingRig()
  const join = rig.write(people(310))

  const held = await rig.look(0)
  join()
  await rig.look(1_000)

  expect([held, await rig.look(50)]).toEqual([200, 0])
  expect(rig.texts).toEqual([...people(310)])
})

test('where two hundred rows wait for their chats, further ones wait ten seconds only, and none keeps others back', async () => {
  using rig = new ReadingRig()
  rig.write(people(250))
  const held = [await rig.look(0), await rig.look(10_000), await rig.look(50)]
  const join = rig.write(['with a chat'])
  join()

  await rig.look(50)
  const texts = [[...rig.texts]]
  for (const ms of [10_000, 40_000]) {
    await rig.look(ms)
    texts.push([...rig.texts])
  }

  expect(held).toEqual([200, 250, 250])
  expect(texts.map(({ length }) => length)).toEqual([1, 51, 251])
  expect(texts[0]).toEqual(['with a chat'])
})

const MINUTE_MS = 60_000
const OLD_MS = 10 * MINUTE_MS + 1
const YOUNG_MS = 10 * MINUTE_MS

/** `count` rows that are `ageMs` old, as they come in at once. */
function rowsOf(count: number, ageMs: number) {
  using db = new OpenedChatDb()
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
