// Reads of a chat.db, on each that macOS makes and on each that may be. Single columns
// are in chat-db-schemas.test.ts, handles in chat-db-handles.test.ts, opening in chat-db-open.test.ts.

import { describe, expect, test } from 'bun:test'

import type { MessageRow } from '../../../../src/lines/kinds/mac/chat-db-rows.ts'
import { MAIN_VARIANTS } from '../../../support/mac/chat-db-mutations.ts'
import { OpenedChatDb } from '../../../support/mac/opened-chat-db.ts'
import { TEST_START as AT } from '../../../support/test-clock.ts'

const ANNA = '+15550001'
const BEN = '+15550002'
const SECOND = 1_000
const DAY = 86_400_000
const OURS = { is_from_me: 1, is_sent: 1 }

for (const variant of MAIN_VARIANTS) {
  const has = (column: string) => !variant.lacks.includes(column)

  describe(variant.name, () => {
    test('rows after a position come in their order, from others and from us', () => {
      using rig = new OpenedChatDb(variant)
      const first = rig.file.receive({ from: ANNA, text: 'one', at: AT })
      const own = rig.file.addMessage({ text: 'two', at: AT - DAY, ...OURS })
      const last = rig.file.receive({ from: BEN, text: 'three', at: AT })

      const rows = rig.chatDb.rowsAfter(first.rowId, 10)

      expect(rows.map(({ text, isFromMe, handle }) => ({ text, isFromMe, handle }))).toEqual([
        { text: 'two', isFromMe: true, handle: null },
        { text: 'three', isFromMe: false, handle: BEN },
      ])
      expect(textsOf(rig.chatDb.rowsAfter(0, 2))).toEqual(['one', 'two'])
      expect(textsOf(rig.chatDb.ownRowsAfter(0, 10))).toEqual(['two'])
      expect(textsOf(rig.chatDb.rowsAt([last.rowId, 99, first.rowId]))).toEqual(['one', 'three'])
      expect(rig.chatDb.rowsAfter(last.rowId, 10)).toEqual([])
      expect(rig.chatDb.ownRowsAfter(own.rowId, 10)).toEqual([])
    })

    test('a message that is joined to two chats comes once, in the group where one is a group', () => {
      using rig = new OpenedChatDb(variant)
      const lower = rig.file.addChat({ identifier: ANNA })
      const higher = rig.file.addChat({ identifier: 'chat77', style: 43 })
      const { rowId } = rig.file.receive({ from: ANNA, text: 'one', at: AT, chat: higher })
      rig.file.joinChat(rowId, lower)
      rig.file.receive({ from: ANNA, text: 'two', at: AT, chat: higher })

      const rows = rig.chatDb.rowsAfter(0, 2)

      expect(rows.map(({ text, chat }) => [text, chat?.identifier, chat?.isDirect])).toEqual([
        ['one', 'chat77', false],
        ['two', 'chat77', false],
      ])
    })

    test('a row is there before its chat and its text are', () => {
      using rig = new OpenedChatDb(variant)
      const { rowId } = rig.file.addMessage({ at: AT, handle_id: rig.file.addHandle(ANNA) })
      const early = rig.chatDb.rowsAt([rowId])

      rig.file.set(rowId, { text: 'late' })
      rig.file.joinChat(rowId, rig.file.addChat({ identifier: ANNA, guid: 'any;-;late' }))
      const late = rig.chatDb.rowsAt([rowId])

      expect(early.map(({ chat, text, handle }) => [chat, text, handle])).toEqual([
        [null, null, ANNA],
      ])
      expect(late.map(({ chat, text }) => [chat, text])).toEqual([
        [
          {
            rowId: 1,
            guid: 'any;-;late',
            isDirect: true,
            identifier: ANNA,
            groupId: null,
            name: null,
          },
          'late',
        ],
      ])
    })

    test('the body comes before the column text, which stands in for one that is damaged', () => {
      using rig = new OpenedChatDb(variant)
      const damaged = Uint8Array.of(4, 11, 115, 116)
      rig.file.addMessage({ at: AT, text: 'body', textColumn: 'column' })
      rig.file.addMessage({ at: AT, textColumn: 'column' })
      rig.file.addMessage({ at: AT, textColumn: 'column', attributedBody: damaged })
      rig.file.addMessage({ at: AT, text: '', textColumn: 'column' })
      rig.file.addMessage({ at: AT, attributedBody: new Uint8Array() })

      const rows = rig.chatDb.rowsAfter(0, 10)

      const column = has('message.text') ? 'column' : null
      expect(textsOf(rows)).toEqual(['body', column, column, column ?? '', null])
      const problem = expect.stringMatching(/./)
      expect(rows.map((row) => row.bodyProblem)).toEqual([null, null, problem, null, null])
    })

    test('rows since a date are found by it, oldest first, whatever their place', () => {
      using rig = new OpenedChatDb(variant)
      rig.file.receive({ from: ANNA, text: 'third', at: AT + 2 * SECOND })
      rig.file.receive({ from: ANNA, text: 'too old', at: AT - SECOND })
      rig.file.addMessage({ text: 'second', at: AT + SECOND, ...OURS })
      rig.file.receive({ from: BEN, text: 'first', at: AT })
      rig.file.addMessage({ text: 'absurd', at: AT, date: 2n ** 63n - 1n })

      const rows = rig.chatDb.rowsSince(AT, 10)
      const some = rig.chatDb.rowsSince(AT, 2)

      expect(textsOf(rows)).toEqual(['first', 'second', 'third'])
      expect(textsOf(some)).toEqual(['first', 'second'])
    })

    test('more ROWIDs than one read takes are all looked up', () => {
      using rig = new OpenedChatDb(variant)
      const first = rig.file.receive({ from: ANNA, text: 'one', at: AT })
      const last = rig.file.addMessage({ text: 'two', at: AT, ...OURS, error: 22 })
      const absent = Array.from({ length: 600 }, (_, index) => index + 1_000)
      const asked = [first.rowId, ...absent, last.rowId]

      expect(rig.chatDb.statesAt(asked).map(({ guid, error }) => [guid, error])).toEqual([
        [first.guid, 0],
        [last.guid, 22],
      ])
      expect([...rig.chatDb.guidsAt(asked)]).toEqual([
        [first.rowId, first.guid],
        [last.rowId, last.guid],
      ])
      expect(rig.chatDb.statesAt([])).toEqual([])
    })

    test('our own errors since a date come latest first', () => {
      using rig = new OpenedChatDb(variant)
      rig.file.addMessage({ text: 'late', at: AT + SECOND, ...OURS, error: 22 })
      rig.file.addMessage({ text: 'good', at: AT + SECOND, ...OURS })
      rig.file.addMessage({ text: 'early', at: AT, ...OURS, error: 3 })
      rig.file.addMessage({ text: 'too early', at: AT - SECOND, ...OURS, error: 4 })
      rig.file.addMessage({ text: 'theirs', at: AT, error: 5 })

      expect(rig.chatDb.ownErrorsSince(AT)).toEqual([
        { error: 22, at: AT + SECOND },
        { error: 3, at: AT },
      ])
    })

    test('the position outlives a message that is deleted, and the last rows are those still there', () => {
      using rig = new OpenedChatDb(variant)
      expect([rig.chatDb.maxRowId(), rig.chatDb.sequence()]).toEqual([0, 0])
      const sent = Array.from({ length: 10 }, (_, index) =>
        rig.file.addMessage({ text: String(index), at: AT }),
      )
      rig.file.db.run('DELETE FROM message WHERE ROWID = 10')

      const newest = sent.slice(1, 9).toReversed()

      expect([rig.chatDb.maxRowId(), rig.chatDb.sequence()]).toEqual([9, 10])
      expect(rig.chatDb.lastRows()).toEqual(newest)
      expect(newest.map(({ guid }) => rig.chatDb.rowIdOf(guid))).toEqual([9, 8, 7, 6, 5, 4, 3, 2])
      expect(rig.chatDb.rowIdOf(sent[9]?.guid ?? '')).toBe(null)
    })
  })
}

function textsOf(rows: readonly MessageRow[]): readonly (string | null)[] {
  return rows.map(({ text }) => text)
}
