// Rows that are more than a text between two, or something else: what a Mac line makes of each.

import { expect, test } from 'bun:test'

import type { LineEvent } from '../../../../src/lines/driver.ts'
import { changesOf, messagesOf } from '../../../contract/line-rig.ts'
import { attendedMac, type MacRig } from '../../../contract/mac-rig.ts'
import type { MessageValues } from '../../../support/mac/chat-db-file.ts'

const FRIEND = '+15550001111'
const BEN = '+15550002222'
const FAMILY = { identifier: 'chat831', style: 43, name: 'Family', groupId: 'G-1' } as const

/** Events of rows that `write` adds, `ms` later. */
async function eventsOf(write: (rig: MacRig) => void, ms = 3_000) {
  await using rig = await attendedMac({ schema: 'macos27' })
  write(rig)
  await rig.clock.advance(ms)
  return {
    messages: messagesOf(rig.line.events),
    changes: changesOf(rig.line.events),
    events: rig.line.events,
  }
}

/** Rows from FRIEND in the direct chat, each a millisecond after the one before it. */
function direct(...all: readonly MessageValues[]) {
  return ({ model, clock }: MacRig) => {
    for (const [index, values] of all.entries()) {
      const at = clock.now() + index
      model.file.receive({ from: FRIEND, text: 'Loved it', at, values })
    }
  }
}

function reaction(type: number, about = 'p:0/TARGET') {
  return { associated_message_type: type, associated_message_guid: about }
}

const TYPES: Readonly<Record<string, number>> = {
  love: 0,
  like: 1,
  dislike: 2,
  laugh: 3,
  emphasize: 4,
  question: 5,
  emoji: 6,
  sticker: 7,
}

test('each number of a reaction has its type, and says whether it was added or removed', async () => {
  const numbers = Object.entries(TYPES)
  // A sticker that was put onto a message is older than reactions with stickers.
  const all: readonly (readonly [number, string])[] = [
    ...numbers.map(([type, number]) => [2_000 + number, `added ${type}`] as const),
    ...numbers.map(([type, number]) => [3_000 + number, `removed ${type}`] as const),
    [1_000, 'added sticker'],
  ]

  const { changes, messages } = await eventsOf(direct(...all.map(([number]) => reaction(number))))

  const base = { kind: 'reaction', targetGuid: 'TARGET', part: 0, handle: FRIEND, isFromMe: false }
  expect(messages).toEqual([])
  expect(changes).toMatchObject(
    all.map(([, words]) => {
      const [action, type] = words.split(' ')
      return { ...base, action, type }
    }),
  )
})

test('a reaction is about a message, or about a part of it', async () => {
  const abouts = ['p:0/GUID', 'p:2/GUID', 'bp:GUID', 'GUID']

  const { changes } = await eventsOf(direct(...abouts.map((about) => reaction(2_000, about))))

  const parts = [0, 2, 0, 0].map((part) => ({ targetGuid: 'GUID', part }))
  expect(changes).toMatchObject(parts)
})

test('an emoji comes with its character, our own reaction as ours', async () => {
  const { changes } = await eventsOf(
    direct(
      { ...reaction(2_006), associated_message_emoji: '🎉' },
      { ...reaction(2_001), is_from_me: 1, is_sent: 1 },
    ),
  )

  expect(changes).toMatchObject([
    { type: 'emoji', emoji: '🎉', isFromMe: false, handle: FRIEND },
    { type: 'like', emoji: null, isFromMe: true, handle: '+15550009999' },
  ])
})

test('a reaction that was never joined to a chat is left out: it may be of a group', async () => {
  const { changes, events } = await eventsOf(({ model: { file }, clock }) => {
    const handle_id = file.addHandle(FRIEND)
    file.addMessage({ at: clock.now(), text: 'Loved it', handle_id, ...reaction(2_000) })
  }, 61_000)

  expect(changes).toEqual([])
  expect(leftOutOf(events)).toEqual(['unplaced'])
})

function leftOutOf(events: readonly LineEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'left_out' ? [event.leftOut.kind] : []))
}

test('a reply is to a part of a message, and the message before one is no reply', async () => {
  const parts = ['0:0:5', '2:0:12', '1', null, 'x']
  const replies = parts.map((part) => {
    return { thread_originator_guid: 'FIRST', thread_originator_part: part }
  })

  const { messages } = await eventsOf(direct(...replies, { reply_to_guid: 'BEFORE' }))

  const found = [0, 2, 1, 0, 0].map((part) => ({ guid: 'FIRST', part }))
  expect(messages.map(({ replyTo }) => replyTo)).toEqual([...found, undefined])
})

/** Rows in a group, from FRIEND unless the values say otherwise. */
function inFamily(...all: readonly MessageValues[]) {
  return ({ model: { file, number }, clock }: MacRig) => {
    const chat = file.addChat({ ...FAMILY, members: [FRIEND, BEN, number] })
    const at = clock.now()
    for (const values of all) file.receive({ from: FRIEND, text: 'hello all', at, chat, values })
  }
}

test('a message of a group has its sender, and the group without us', async () => {
  const { messages } = await eventsOf(inFamily({}))

  expect(messages).toMatchObject([
    {
      handle: FRIEND,
      text: 'hello all',
      group: {
        chatGuid: 'any;+;chat831',
        identifier: 'G-1',
        name: 'Family',
        participants: [FRIEND, BEN],
      },
    },
  ])
})

test('our own message of a group is under the identifier of the group, and only ever sent', async () => {
  const read = { is_delivered: 1, is_read: 1, date_read: 7e17 }
  const own = { is_from_me: 1, is_sent: 1, handle_id: 0, ...read }

  const { messages, events } = await eventsOf(inFamily(own))

  expect(messages).toMatchObject([{ handle: 'G-1', isFromMe: true }])
  expect(events.filter(({ type }) => type === 'receipt')).toEqual([])
})

test('a reaction in a group names the group', async () => {
  const { changes } = await eventsOf(inFamily(reaction(2_000)))

  expect(changes).toMatchObject([{ kind: 'reaction', group: { identifier: 'G-1' } }])
})

test('a group without an identifier of its own goes by that of its chat', async () => {
  const { messages } = await eventsOf(({ model: { file }, clock }) => {
    const chat = file.addChat({ identifier: 'chat7', style: 43 })
    file.receive({ from: FRIEND, text: 'hello', at: clock.now(), chat })
  })

  expect(messages).toMatchObject([{ group: { identifier: 'chat7', name: null, participants: [] } }])
})

/** Rows of a group, and the change that each makes; BEN is the second handle. */
const GROUP_ROWS: readonly (readonly [MessageValues, object | null])[] = [
  [
    { item_type: 1, group_action_type: 0, other_handle: 2 },
    { change: 'participant_added', actor: FRIEND, target: BEN },
  ],
  [
    { item_type: 1, group_action_type: 1, other_handle: 2 },
    { change: 'participant_removed', actor: FRIEND, target: BEN },
  ],
  [{ item_type: 1, group_action_type: 9 }, null],
  [
    { item_type: 2, group_title: 'Trip' },
    { change: 'renamed', group: { name: 'Trip' } },
  ],
  [
    { item_type: 2, group_title: null },
    { change: 'renamed', group: { name: null } },
  ],
  [
    { item_type: 3, group_action_type: 0 },
    { change: 'left', actor: FRIEND, target: FRIEND },
  ],
  [
    { item_type: 3, group_action_type: 1 },
    { change: 'icon_changed', target: null },
  ],
  [
    { item_type: 3, group_action_type: 2 },
    { change: 'icon_changed', target: null },
  ],
  // Backgrounds.
  [{ item_type: 3, group_action_type: 4 }, null],
  [{ item_type: 3, group_action_type: 6 }, null],
  // We leave: the owner is nobody of the group.
  [
    { item_type: 3, group_action_type: 0, is_from_me: 1, is_sent: 1, handle_id: 0 },
    { change: 'left', actor: null, target: null },
  ],
]

test('people, names and pictures of a group change, and none of it is a message', async () => {
  const rows = inFamily(...GROUP_ROWS.map(([values]) => values))
  const { changes, messages } = await eventsOf(rows, 10_000)

  const expected = GROUP_ROWS.flatMap(([, change]) => (change === null ? [] : [change]))
  expect(messages).toEqual([])
  expect(changes).toMatchObject(expected.map((change) => ({ kind: 'group', ...change })))
})

test('changes of a group are none of a person, and a direct chat has none', async () => {
  const { changes, messages } = await eventsOf(direct({ item_type: 2, group_title: 'Trip' }))

  expect([changes, messages]).toEqual([[], []])
})

test('a row that names a group and is joined to no chat is placed by that name, or counted', async () => {
  const { messages, events } = await eventsOf(({ model: { file }, clock }) => {
    file.directChat(FRIEND)
    file.addChat(FAMILY)
    for (const cache_roomnames of ['chat831', 'chat999']) {
      const handle_id = file.addHandle(FRIEND)
      file.addMessage({ at: clock.now(), text: cache_roomnames, handle_id, cache_roomnames })
    }
  }, 61_000)

  expect(messages).toMatchObject([{ text: 'chat831', group: { identifier: 'G-1' } }])
  expect(leftOutOf(events)).toEqual(['unplaced'])
})

test('a row in a direct chat and in a group is of the group', async () => {
  const { messages } = await eventsOf(({ model: { file }, clock }) => {
    const { rowId } = file.receive({ from: FRIEND, text: 'hello', at: clock.now() })
    file.joinChat(rowId, file.addChat(FAMILY))
  })

  expect(messages).toMatchObject([{ group: { identifier: 'G-1' } }])
})
