// Reads of a chat.db, on each that macOS makes and on each that may be. Single columns
// are in chat-db-schemas.test.ts, opening in chat-db-open.test.ts.

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

    test('a message that is joined to two chats comes once, and in the group if one of them is a group', () => {
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

    // A person: their chats, what was exchanged with them, replays, our own aliases.

    test('the direct iMessage chats with a handle come latest first, and no other', () => {
      using rig = new OpenedChatDb(variant)
      const sign = has('chat.service_name') ? 'any' : 'iMessage'
      const chats = ['1', '2', '3']
        .map((end) => `${sign};-;${end}`)
        .map((guid) => rig.file.addChat({ identifier: ANNA, guid }))
      rig.file.addChat({ identifier: ANNA, guid: 'any;+;1', style: 43 })
      rig.file.addChat({ identifier: ANNA, guid: 'SMS;-;1', service: 'SMS' })
      rig.file.addChat({ identifier: BEN, guid: 'iMessage;-;ben' })
      const [old = 0, latest = 0] = chats
      rig.file.receive({ from: ANNA, text: 'old', at: AT - DAY, chat: old })
      rig.file.receive({ from: ANNA, text: 'latest', at: AT, chat: latest })

      const found = rig.chatDb.directChats(ANNA)

      // Where the dates are not known, the newest chat is taken for the latest.
      const order = has('chat_message_join.message_date') ? ['2', '1', '3'] : ['3', '2', '1']
      expect(found.map(({ guid }) => guid)).toEqual(order.map((end) => `${sign};-;${end}`))
      expect(rig.chatDb.directChats(BEN)).toEqual([
        {
          rowId: 6,
          guid: 'iMessage;-;ben',
          isDirect: true,
          identifier: BEN,
          groupId: null,
          name: null,
        },
      ])
      expect(rig.chatDb.directChats('+15559999')).toEqual([])
    })

    test('a handle is known by a message from it, and by one to it that names no handle', () => {
      using rig = new OpenedChatDb(variant)
      rig.file.receive({ from: ANNA, text: 'hello', at: AT })
      const own = rig.file.addMessage({ text: 'hello', at: AT, ...OURS })
      rig.file.joinChat(own.rowId, rig.file.addChat({ identifier: BEN }))
      rig.file.addChat({ identifier: 'written@example.com' })
      rig.file.addHandle('seen@example.com')

      const handles = [ANNA, BEN, 'written@example.com', 'seen@example.com', '+15559999']

      expect(handles.map((handle) => rig.chatDb.knowsHandle(handle))).toEqual([
        true,
        true,
        false,
        false,
        false,
      ])
    })

    test('what was last exchanged with a handle comes latest first, by chat and by handle', () => {
      using rig = new OpenedChatDb(variant)
      const sms = rig.file.addHandle(ANNA, 'SMS')
      rig.file.addMessage({ text: 'alone', at: AT - DAY, handle_id: sms, service: 'SMS' })
      const { chatRowId } = rig.file.receive({ from: ANNA, text: 'hello', at: AT })
      const own = rig.file.addMessage({
        text: 'hi',
        at: AT + SECOND,
        ...OURS,
        error: 22,
        is_sent: 0,
      })
      rig.file.joinChat(own.rowId, chatRowId)
      rig.file.receive({ from: BEN, text: 'hello', at: AT })

      const last = rig.chatDb.lastWith(ANNA, 10)

      const received = { isFromMe: false, error: 0, isSent: false, handle: ANNA }
      const ours = { isFromMe: true, isSent: false, handle: null }
      expect(last).toEqual([
        { ...ours, service: 'iMessage', error: 22, at: AT + SECOND },
        { ...received, service: 'iMessage', at: AT },
        { ...received, service: 'SMS', at: AT - DAY },
      ])
      expect(rig.chatDb.lastWith(ANNA, 1).map(({ error }) => error)).toEqual([22])
      expect(rig.chatDb.lastWith('+15559999', 10)).toEqual([])
    })

    test('an earlier row with the same handle, text and second is equal', () => {
      using rig = new OpenedChatDb(variant)
      const of = (values: object) => ({ from: ANNA, text: 'hello', at: AT, ...values })
      rig.file.receive(of({}))
      const later = [
        of({ at: AT + SECOND }),
        of({ at: AT + 3 * SECOND }),
        of({ text: 'other' }),
        of({ from: BEN }),
        of({ values: OURS }),
        of({ at: AT - SECOND }),
      ].map((message) => rig.file.receive(message).rowId)

      const rows = rig.chatDb.rowsAt([1, ...later])

      // The first has no earlier one; a row with a later date may be the earlier one.
      const duplicates = rows
        .filter((row) => rig.chatDb.equalsOf(row).length > 0)
        .map(({ rowId }) => rowId)
      expect(duplicates).toEqual([2, 7])
    })

    test('a message without words has no equal', () => {
      using rig = new OpenedChatDb(variant)
      const photographs = ['\uFFFC', '\uFFFC', ' \uFFFC', ''].map((text) =>
        rig.file.receive({ from: ANNA, text, at: AT }),
      )

      const rows = rig.chatDb.rowsAt(photographs.map(({ rowId }) => rowId))

      expect(rows.map((row) => rig.chatDb.equalsOf(row))).toEqual([[], [], [], []])
    })

    test('our own rows that name no handle are equal in one chat only', () => {
      using rig = new OpenedChatDb(variant)
      for (const identifier of [ANNA, BEN, ANNA]) {
        const { rowId } = rig.file.addMessage({ text: 'hello', at: AT, ...OURS })
        rig.file.joinChat(rowId, rig.file.directChat(identifier))
      }

      const rows = rig.chatDb.rowsAfter(0, 10)

      expect(rows.map((row) => rig.chatDb.equalsOf(row).length)).toEqual([0, 0, 1])
    })

    test('an own address comes with everybody whom its row names', () => {
      using rig = new OpenedChatDb(variant)
      const { file } = rig
      const values = { destination_caller_id: 'me@example.com', account: 'E:me@example.com' }
      file.receive({ from: ANNA, text: 'x', at: AT, values })
      const sent = file.addMessage({ text: 'x', at: AT + SECOND, ...OURS, ...values })
      file.joinChat(sent.rowId, file.addChat({ identifier: 'chat7', style: 43, members: [BEN] }))
      file.joinChat(sent.rowId, file.directChat(ANNA))
      file.addMessage({ text: 'failed', at: AT, ...OURS, ...values, error: 22 })

      const address = has('message.destination_caller_id') ? 'me@example.com' : null
      const account = has('message.account') ? 'E:me@example.com' : null
      const use = { address, account }
      // Rows without any address are none.
      const sentUse = { ...use, isFromMe: true, at: AT + SECOND, peers: [ANNA, BEN] }
      const receivedUse = { ...use, isFromMe: false, at: AT, peers: [ANNA, ANNA] }
      expect(rig.chatDb.ownUses()).toEqual([
        ...(address === null && account === null ? [] : [sentUse]),
        ...(address === null ? [] : [receivedUse]),
      ])
    })
  })
}

function textsOf(rows: readonly MessageRow[]): readonly (string | null)[] {
  return rows.map(({ text }) => text)
}
