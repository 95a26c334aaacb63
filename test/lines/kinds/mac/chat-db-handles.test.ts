// Reads about a person: their chats, what was exchanged with them, replays, our own aliases.

import { describe, expect, test } from 'bun:test'

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

      const received = { isFromMe: false, error: 0, isSent: false }
      expect(last).toEqual([
        { ...received, service: 'iMessage', isFromMe: true, error: 22, at: AT + SECOND },
        { ...received, service: 'iMessage', at: AT },
        { ...received, service: 'SMS', at: AT - DAY },
      ])
      expect(rig.chatDb.lastWith(ANNA, 1).map(({ error }) => error)).toEqual([22])
      expect(rig.chatDb.lastWith('+15559999', 10)).toEqual([])
    })

    test('an earlier row with the same handle, text and second is a duplicate', () => {
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
        .filter((row) => rig.chatDb.hasDuplicate(row))
        .map(({ rowId }) => rowId)
      expect(duplicates).toEqual([2, 7])
    })

    test('a message without words has no duplicate', () => {
      using rig = new OpenedChatDb(variant)
      const photographs = ['\uFFFC', '\uFFFC', ' \uFFFC', ''].map((text) =>
        rig.file.receive({ from: ANNA, text, at: AT }),
      )

      const rows = rig.chatDb.rowsAt(photographs.map(({ rowId }) => rowId))

      expect(rows.map((row) => rig.chatDb.hasDuplicate(row))).toEqual([false, false, false, false])
    })

    test('our own rows that name no handle are duplicates in one chat only', () => {
      using rig = new OpenedChatDb(variant)
      for (const identifier of [ANNA, BEN, ANNA]) {
        const { rowId } = rig.file.addMessage({ text: 'hello', at: AT, ...OURS })
        rig.file.joinChat(rowId, rig.file.directChat(identifier))
      }

      const rows = rig.chatDb.rowsAfter(0, 10)

      expect(rows.map((row) => rig.chatDb.hasDuplicate(row))).toEqual([false, false, true])
    })

    test('our aliases are counted by what was sent, in the last 200 messages', () => {
      using rig = new OpenedChatDb(variant)
      const sent = (alias: string) => ({ text: 'x', at: AT, ...OURS, destination_caller_id: alias })
      const froms = ['old@example.com', ...Array.from({ length: 197 }, () => '+15550100')]
      const all = [...froms, 'me@example.com', 'me@example.com']
      rig.file.db.transaction(() => all.forEach((alias) => rig.file.addMessage(sent(alias))))()
      const { rowId } = rig.file.addMessage(sent(''))
      const addressed = { identifier: ANNA, lastAddressedHandle: '+15550101' }
      rig.file.joinChat(rowId, rig.file.addChat(addressed))
      rig.file.addMessage({ ...sent('failed@example.com'), error: 22 })
      rig.file.receive({ from: ANNA, text: 'x', at: AT })

      const aliases = [...rig.chatDb.aliases()]

      const said = has('message.destination_caller_id')
        ? [
            ['me@example.com', 2],
            ['+15550100', 197],
          ]
        : []
      const chats = has('chat.last_addressed_handle') ? [['+15550101', 1]] : []
      expect(aliases).toEqual([...chats, ...said] as typeof aliases)
    })

    test('a Mac that never sent is known by what it received on', () => {
      using rig = new OpenedChatDb(variant)
      const values = { destination_caller_id: 'me@example.com' }
      const none = [...rig.chatDb.aliases()]
      rig.file.receive({ from: ANNA, text: 'x', at: AT, values })

      const aliases = [...rig.chatDb.aliases()]

      expect(none).toEqual([])
      expect(aliases).toEqual(has('message.destination_caller_id') ? [['me@example.com', 1]] : [])
    })
  })
}
