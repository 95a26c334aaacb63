// Rows that are more than a text between two, or something else: what a Mac line makes of each.

import { expect, test } from 'bun:test'

import { runLine, changesOf, messagesOf } from '../../../contract/line-rig.ts'
import { makeMacRig, type MacRig } from '../../../contract/mac-rig.ts'
import type { MessageValues } from '../../../support/mac/chat-db-file.ts'

const FRIEND = '+15550001111'
const BEN = '+15550002222'
const FAMILY = { identifier: 'chat831', style: 43, name: 'Family', groupId: 'G-1' } as const

/** Events of rows that `write` adds, a minute later; those of a direct message are left out. */
async function eventsOf(write: (rig: MacRig) => void) {
  using rig = makeMacRig({ schema: 'macos27' })
  await using line = await runLine(rig, rig.driver)
  write(rig)
  await rig.clock.advance(61_000)
  return { messages: messagesOf(line.events), changes: changesOf(line.events), events: line.events }
}

function reacts(type: number, values: MessageValues = {}) {
  return ({ model: { file }, clock }: MacRig) => {
    const about = { associated_message_type: type, associated_message_guid: 'p:0/TARGET' }
    file.receive({
      from: FRIEND,
      text: 'Loved it',
      at: clock.now(),
      values: { ...about, ...values },
    })
  }
}

const REACTIONS: readonly (readonly [name: string, type: number, expected: string])[] = [
  ['a heart', 2_000, 'love added'],
  ['a thumb up', 2_001, 'like added'],
  ['a thumb down', 2_002, 'dislike added'],
  ['a laugh', 2_003, 'laugh added'],
  ['exclamation marks', 2_004, 'emphasize added'],
  ['a question mark', 2_005, 'question added'],
  ['an emoji', 2_006, 'emoji added'],
  ['a sticker as a reaction', 2_007, 'sticker added'],
  ['a heart taken back', 3_000, 'love removed'],
  ['a thumb up taken back', 3_001, 'like removed'],
  ['a thumb down taken back', 3_002, 'dislike removed'],
  ['a laugh taken back', 3_003, 'laugh removed'],
  ['exclamation marks taken back', 3_004, 'emphasize removed'],
  ['a question mark taken back', 3_005, 'question removed'],
  ['an emoji taken back', 3_006, 'emoji removed'],
  ['a sticker taken back', 3_007, 'sticker removed'],
  ['a sticker that was put on', 1_000, 'sticker added'],
]

test.each([...REACTIONS])('%s (%d) is a reaction: %s', async (_name, type, expected) => {
  const { changes, messages } = await eventsOf(reacts(type))

  expect(messages).toEqual([])
  expect(changes).toMatchObject([
    { kind: 'reaction', targetGuid: 'TARGET', part: 0, handle: FRIEND, isFromMe: false },
  ])
  const [change] = changes
  expect(change?.kind === 'reaction' && `${change.type} ${change.action}`).toBe(expected)
})

const TARGETS = [
  ['p:0/GUID', 'GUID', 0],
  ['p:2/GUID', 'GUID', 2],
  ['bp:GUID', 'GUID', 0],
  ['GUID', 'GUID', 0],
] as const

test.each([...TARGETS])(
  'a reaction to %s is about %s, part %d',
  async (about, targetGuid, part) => {
    const { changes } = await eventsOf(reacts(2_000, { associated_message_guid: about }))

    expect(changes).toMatchObject([{ targetGuid, part }])
  },
)

test('an emoji comes with its character, our own reaction as ours', async () => {
  const { changes } = await eventsOf((rig) => {
    reacts(2_006, { associated_message_emoji: '🎉' })(rig)
    reacts(2_001, { is_from_me: 1, is_sent: 1 })(rig)
  })

  expect(changes).toMatchObject([
    { type: 'emoji', emoji: '🎉', isFromMe: false, handle: FRIEND },
    { type: 'like', emoji: null, isFromMe: true, handle: '+15550009999' },
  ])
})

test('a reaction that was never joined to a chat is left out: it may be of a group', async () => {
  const { changes, events } = await eventsOf(({ model: { file }, clock }) => {
    const about = { associated_message_type: 2_000, associated_message_guid: 'p:0/TARGET' }
    const handle_id = file.addHandle(FRIEND)
    file.addMessage({ at: clock.now(), text: 'Loved it', handle_id, ...about })
  })

  expect(changes).toEqual([])
  expect(events).toContainEqual(
    expect.objectContaining({
      type: 'left_out',
      leftOut: expect.objectContaining({ kind: 'unplaced' }),
    }),
  )
})

const REPLIES = [
  ['0:0:5', 0],
  ['2:0:12', 2],
  ['1', 1],
  [null, 0],
  ['x', 0],
] as const

test.each([...REPLIES])('a reply with the part %p is to part %d', async (text, part) => {
  const { messages } = await eventsOf(({ model: { file }, clock }) => {
    const values = { thread_originator_guid: 'FIRST', thread_originator_part: text }
    file.receive({ from: FRIEND, text: 'yes', at: clock.now(), values })
  })

  expect(messages).toMatchObject([{ text: 'yes', replyTo: { guid: 'FIRST', part } }])
})

test('the message before one is no reply, though Messages names it', async () => {
  const { messages } = await eventsOf(({ model: { file }, clock }) => {
    const values = { reply_to_guid: 'BEFORE' }
    file.receive({ from: FRIEND, text: 'yes', at: clock.now(), values })
  })

  expect(messages.map(({ replyTo }) => replyTo)).toEqual([undefined])
})

function inFamily(values: MessageValues & { readonly from?: string } = {}) {
  return ({ model: { file, number }, clock }: MacRig) => {
    const chat = file.addChat({ ...FAMILY, members: [FRIEND, BEN, number] })
    file.receive({ from: values.from ?? FRIEND, text: 'hello all', at: clock.now(), chat, values })
  }
}

test('a message of a group has its sender, and the group without us', async () => {
  const { messages } = await eventsOf(inFamily())

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
  const { messages, events } = await eventsOf(
    inFamily({
      is_from_me: 1,
      is_sent: 1,
      is_delivered: 1,
      is_read: 1,
      date_read: 7e17,
      handle_id: 0,
    }),
  )

  expect(messages).toMatchObject([{ handle: 'G-1', isFromMe: true }])
  expect(events.filter(({ type }) => type === 'receipt')).toEqual([])
})

test('a reaction in a group names the group', async () => {
  const about = { associated_message_type: 2_000, associated_message_guid: 'p:0/TARGET' }
  const { changes } = await eventsOf(inFamily(about))

  expect(changes).toMatchObject([{ kind: 'reaction', group: { identifier: 'G-1' } }])
})

test('a group without an identifier of its own goes by that of its chat', async () => {
  const { messages } = await eventsOf(({ model: { file }, clock }) => {
    const chat = file.addChat({ identifier: 'chat7', style: 43 })
    file.receive({ from: FRIEND, text: 'hello', at: clock.now(), chat })
  })

  expect(messages).toMatchObject([{ group: { identifier: 'chat7', name: null, participants: [] } }])
})

const OTHER = { item_type: 1, text: '' }

const GROUP_ROWS: readonly (readonly [string, MessageValues, object | null])[] = [
  ['somebody comes', { ...OTHER, group_action_type: 0, other_handle: 2 }, added(BEN)],
  ['somebody is removed', { ...OTHER, group_action_type: 1, other_handle: 2 }, removed(BEN)],
  ['a name', { item_type: 2, group_title: 'Trip' }, { change: 'renamed', group: { name: 'Trip' } }],
  ['no name', { item_type: 2, group_title: null }, { change: 'renamed', group: { name: null } }],
  ['somebody leaves', { item_type: 3, group_action_type: 0 }, { change: 'left', target: FRIEND }],
  ['a picture', { item_type: 3, group_action_type: 1 }, { change: 'icon_changed', target: null }],
  ['no picture', { item_type: 3, group_action_type: 2 }, { change: 'icon_changed' }],
  ['a background', { item_type: 3, group_action_type: 4 }, null],
  ['no background', { item_type: 3, group_action_type: 6 }, null],
  ['an unknown action', { item_type: 1, group_action_type: 9 }, null],
]

function added(target: string) {
  return { change: 'participant_added', actor: FRIEND, target }
}

function removed(target: string) {
  return { change: 'participant_removed', actor: FRIEND, target }
}

test.each([...GROUP_ROWS])('in a group: %s', async (_name, values, expected) => {
  const { changes, messages } = await eventsOf(inFamily(values))

  expect(messages).toEqual([])
  expect(changes).toMatchObject(expected === null ? [] : [{ kind: 'group', ...expected }])
  expect(changes).toHaveLength(expected === null ? 0 : 1)
})

test('we leave, and we are added: the owner is nobody of the group', async () => {
  const { changes } = await eventsOf((rig) => {
    inFamily({ item_type: 3, group_action_type: 0, is_from_me: 1, is_sent: 1, handle_id: 0 })(rig)
  })

  expect(changes).toMatchObject([{ change: 'left', actor: null, target: null }])
})

test('changes of a group are none of a person, and a direct chat has none', async () => {
  const { changes, messages } = await eventsOf(({ model: { file }, clock }) => {
    const values = { item_type: 2, group_title: 'Trip' }
    file.receive({ from: FRIEND, text: '', at: clock.now(), values })
  })

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
  })

  expect(messages).toMatchObject([{ text: 'chat831', group: { identifier: 'G-1' } }])
  const leftOut = events.flatMap((event) => (event.type === 'left_out' ? [event.leftOut.kind] : []))
  expect(leftOut).toEqual(['unplaced'])
})

test('a row in a direct chat and in a group is of the group', async () => {
  const { messages } = await eventsOf(({ model: { file }, clock }) => {
    const { rowId } = file.receive({ from: FRIEND, text: 'hello', at: clock.now() })
    file.joinChat(rowId, file.addChat(FAMILY))
  })

  expect(messages).toMatchObject([{ group: { identifier: 'G-1' } }])
})

test('somebody with a direct chat, and a row that was never joined: nobody is told', async () => {
  const { messages } = await eventsOf(({ model: { file }, clock }) => {
    file.directChat(FRIEND)
    file.addMessage({ at: clock.now(), text: 'hello', handle_id: file.addHandle(FRIEND) })
  })

  expect(messages).toMatchObject([{ text: 'hello', withheld: 'unplaced' }])
})
