// The columns of chat.db, one by one: what each says, and what is said without it.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'

import type { MessageRow, OwnState } from '../../../../src/lines/kinds/mac/chat-db-rows.ts'
import { ChatDb } from '../../../../src/lines/kinds/mac/chat-db.ts'
import { ChatDbFile, type MessageValues } from '../../../support/mac/chat-db-file.ts'
import { MAIN_VARIANTS, VARIANTS } from '../../../support/mac/chat-db-mutations.ts'
import { OpenedChatDb } from '../../../support/mac/opened-chat-db.ts'
import { ScratchFolder } from '../../../support/scratch-folder.ts'
import { TEST_START as AT } from '../../../support/test-clock.ts'

const SECOND = 1_000
const ABSURD = 2n ** 63n - 1n

const WHOLE_CHAT = {
  rowId: 1,
  guid: 'any;+;chat7',
  isDirect: false,
  identifier: 'chat7',
  groupId: 'G-7',
  name: 'Family',
}

/** What of the row below is another without a column; columns that it does not need are not named. */
const ROW_WITHOUT: Readonly<Record<string, Partial<MessageRow>>> = {
  'message.date_edited': { editedAt: null, summary: null },
  'message.is_empty': { isEmpty: false },
  'message.is_system_message': { isSystem: false },
  'message.is_spam': { isSpam: false },
  'message.is_corrupt': { isCorrupt: false },
  'message.cache_has_attachments': { hasAttachments: false },
  'message.balloon_bundle_id': { balloon: null },
  'message.schedule_type': { scheduleType: 0 },
  'message.subject': { subject: null },
  'message.cache_roomnames': { room: null },
  'message.associated_message_guid': { about: null },
  'message.associated_message_emoji': { emoji: null },
  'message.thread_originator_guid': { replyTo: null },
  'message.thread_originator_part': { replyToPart: null },
  'message.message_summary_info': { summary: null },
  'message.group_action_type': { groupAction: 0 },
  'message.group_title': { groupTitle: null },
  'message.other_handle': { otherHandle: null },
}
const STATE_WITHOUT: Readonly<Record<string, Partial<OwnState>>> = {
  'message.date_read': { isRead: false, readAt: null },
  'message.date_delivered': { isDelivered: false, deliveredAt: null },
}

const ESSENTIAL = [
  'message.guid',
  'message.attributedBody',
  'message.handle_id',
  'message.service',
  'message.error',
  'message.date',
  'message.is_from_me',
  'message.is_sent',
  'message.is_delivered',
  'message.is_finished',
  'message.item_type',
  'message.associated_message_type',
  'handle.id',
  'chat.guid',
  'chat.style',
  'chat.chat_identifier',
  'chat_message_join.chat_id',
  'chat_message_join.message_id',
]

for (const variant of VARIANTS) {
  test(`${variant.name}: a row says what its columns say`, () => {
    using rig = new OpenedChatDb(variant)
    const { file, chatDb } = rig
    const chatRowId = file.addChat({
      identifier: 'chat7',
      style: 43,
      guid: 'any;+;chat7',
      groupId: 'G-7',
      name: 'Family',
    })
    const { rowId, guid } = file.addMessage({
      text: 'hello',
      at: AT,
      handle_id: file.addHandle('anna@example.com'),
      is_from_me: 1,
      service: 'SMS',
      associated_message_emoji: '🎉',
      thread_originator_guid: 'first',
      thread_originator_part: '1:0:5',
      message_summary_info: Uint8Array.of(1, 2),
      group_action_type: 1,
      group_title: 'Family',
      other_handle: file.addHandle('ben@example.com'),
      error: 4,
      is_sent: 0,
      is_delivered: 0,
      is_finished: 1,
      date_delivered: file.date(AT + SECOND),
      date_read: file.date(AT + 2 * SECOND),
      date_edited: file.date(AT + 3 * SECOND),
      is_empty: 1,
      is_system_message: 1,
      is_spam: 1,
      is_corrupt: 1,
      cache_has_attachments: 1,
      balloon_bundle_id: 'com.apple.messages.URLBalloonProvider',
      item_type: 2,
      associated_message_type: 2_006,
      associated_message_guid: 'p:0/another',
      subject: 'Lunch',
      schedule_type: 1,
      destination_caller_id: 'me@example.com',
    })
    file.joinChat(rowId, chatRowId)

    const rows = chatDb.rowsAfter(0, 10)

    const state = {
      rowId,
      guid,
      service: 'SMS',
      error: 4,
      isSent: false,
      isDelivered: true,
      isFinished: true,
      isRead: true,
      isWaiting: false,
      isInGroup: true,
      deliveredAt: AT + SECOND,
      readAt: AT + 2 * SECOND,
      ...mergeOf(variant.lacks.map((name) => STATE_WITHOUT[name])),
    }
    const row = {
      rowId,
      guid,
      isFromMe: true,
      at: AT,
      handle: 'anna@example.com',
      room: 'chat7',
      text: 'hello',
      inlineEmoji: [],
      attachmentGuids: [],
      files: [],
      about: 'p:0/another',
      emoji: '🎉',
      replyTo: 'first',
      replyToPart: '1:0:5',
      groupAction: 1,
      groupTitle: 'Family',
      otherHandle: 'ben@example.com',
      summary: Uint8Array.of(1, 2),
      subject: 'Lunch',
      bodyProblem: null,
      hasAttachments: true,
      isEmpty: true,
      isSystem: true,
      isSpam: true,
      isCorrupt: true,
      editedAt: AT + 3 * SECOND,
      balloon: 'com.apple.messages.URLBalloonProvider',
      itemType: 2,
      associatedType: 2_006,
      scheduleType: 1,
      chat: {
        ...WHOLE_CHAT,
        ...(variant.lacks.includes('chat.group_id') ? { groupId: null } : {}),
        ...(variant.lacks.includes('chat.display_name') ? { name: null } : {}),
      },
      chats: [{ guid: 'any;+;chat7', isDirect: false, identifier: 'chat7' }],
      people: [],
      ...mergeOf(variant.lacks.map((name) => ROW_WITHOUT[name])),
      state,
    }
    expect(rows).toEqual([row])
    expect(chatDb.statesAt([rowId])).toEqual([state])
  })
}

for (const variant of MAIN_VARIANTS) {
  test(`${variant.name}: a row of which nearly everything is NULL is read`, () => {
    using rig = new OpenedChatDb(variant)
    const { rowId, guid } = rig.file.addMessage({ at: AT })
    const names = rig.file.db
      .query<{ name: string }, []>(
        `SELECT name FROM pragma_table_info('message') WHERE "notnull" = 0 AND pk = 0`,
      )
      .all()
    rig.file.db.run(
      `UPDATE message SET ${names.map(({ name }) => `${name} = NULL`).join()} WHERE ROWID = ${rowId}`,
    )

    const rows = rig.chatDb.rowsAfter(0, 10)

    expect(rows).toEqual([emptyRow(rowId, guid)])
    expect(rig.chatDb.equalsOf(emptyRow(rowId, guid))).toEqual([])
  })
}

for (const name of ESSENTIAL) {
  test(`a chat.db without ${name} is refused, and the column is named`, () => {
    using folder = new ScratchFolder()
    using file = ChatDbFile.create(folder.file('chat.db'), 'macos26a')
    const [table, column] = name.split('.')
    file.db.run(`ALTER TABLE ${table} RENAME COLUMN ${column} TO renamed`)

    const message = expect.stringContaining(`It lacks ${name}.`)

    expect(() => ChatDb.open(file.path)).toThrow(
      expect.objectContaining({ code: 'unreadable', message }),
    )
  })
}

test('a database that is no chat.db is refused', () => {
  using folder = new ScratchFolder()
  using other = new Database(folder.file('chat.db'))
  other.run('CREATE TABLE message (guid)')

  expect(() => ChatDb.open(folder.file('chat.db'))).toThrow(
    expect.objectContaining({ code: 'unreadable' }),
  )
})

const STATES: readonly (readonly [sentence: string, MessageValues, Partial<OwnState>])[] = [
  [
    'a message is delivered by its flag alone',
    { is_delivered: 1, date_delivered: 0 },
    { isDelivered: true, deliveredAt: null },
  ],
  [
    'a date of reading that cannot be is none',
    { date_read: ABSURD },
    { isRead: false, readAt: null },
  ],
  ['a date of reading before 2001 is none', { date_read: -5n }, { isRead: false, readAt: null }],
  ['that we read a message is not that it was read', { is_read: 1 }, { isRead: false }],
  ['a message that is being prepared waits', { is_prepared: 1 }, { isWaiting: true }],
  ['a message that is delayed waits', { is_delayed: 1 }, { isWaiting: true }],
  ['a message for a satellite waits', { is_pending_satellite_send: 1 }, { isWaiting: true }],
  ['a scheduled message waits', { schedule_type: 2 }, { isWaiting: true }],
  ['a message of another schedule does not wait', { schedule_type: 1 }, { isWaiting: false }],
  [
    'a prepared message that was sent waits no more',
    { is_prepared: 1, is_sent: 1 },
    { isWaiting: false },
  ],
  [
    'a delayed message that arrived waits no more',
    { is_delayed: 1, is_delivered: 1 },
    { isWaiting: false },
  ],
  ['imessage is iMessage', { service: 'imessage' }, { service: 'iMessage' }],
  ['rcs is RCS', { service: 'rcs' }, { service: 'RCS' }],
  ['sms is SMS', { service: 'sms' }, { service: 'SMS' }],
  [
    'a service that nobody knows stays as it is',
    { service: 'iMessageLite' },
    { service: 'iMessageLite' },
  ],
  ['any service stays any', { service: 'any' }, { service: 'any' }],
  ['no service is an empty one', { service: null }, { service: '' }],
  ['a flag above one is one', { is_sent: 7, error: '22' }, { isSent: true, error: 22 }],
]

for (const [sentence, values, expected] of STATES) {
  test(sentence, () => {
    using rig = new OpenedChatDb('macos27')
    const { rowId } = rig.file.addMessage({ is_from_me: 1, is_delivered: 0, ...values, at: AT })

    const [state] = rig.chatDb.statesAt([rowId])

    expect(state).toMatchObject(expected)
  })
}

test('a date keeps its millisecond', () => {
  using rig = new OpenedChatDb('macos27')
  const dates = Array.from({ length: 50 }, (_, index) => AT + index)
  rig.file.db.transaction(() => dates.forEach((at) => rig.file.addMessage({ text: 'x', at })))()

  expect(rig.chatDb.rowsAfter(0, 50).map(({ at }) => at)).toEqual(dates)
})

test('a body above the limit is not read', () => {
  using rig = new OpenedChatDb('macos15')
  const body = new Uint8Array(3_000_000).fill(0x41)
  rig.file.addMessage({ at: AT, attributedBody: body, textColumn: 'column' })

  const [row] = rig.chatDb.rowsAfter(0, 1)

  expect(row).toMatchObject({ text: 'column', bodyProblem: expect.any(String) })
})

function mergeOf<T>(parts: readonly (T | undefined)[]): Partial<T> {
  return Object.assign({}, ...parts)
}

function emptyRow(rowId: number, guid: string): MessageRow {
  return {
    rowId,
    guid,
    isFromMe: false,
    at: null,
    handle: null,
    chat: null,
    chats: [],
    people: [],
    room: null,
    text: null,
    inlineEmoji: [],
    attachmentGuids: [],
    files: [],
    about: null,
    emoji: null,
    replyTo: null,
    replyToPart: null,
    groupAction: 0,
    groupTitle: null,
    otherHandle: null,
    summary: null,
    subject: null,
    bodyProblem: null,
    hasAttachments: false,
    isEmpty: false,
    balloon: null,
    itemType: 0,
    associatedType: 0,
    scheduleType: 0,
    isSystem: false,
    isSpam: false,
    isCorrupt: false,
    editedAt: null,
    state: {
      rowId,
      guid,
      service: '',
      error: 0,
      isSent: false,
      isDelivered: false,
      isFinished: false,
      isRead: false,
      deliveredAt: null,
      readAt: null,
      isWaiting: false,
      isInGroup: false,
    },
  }
}
