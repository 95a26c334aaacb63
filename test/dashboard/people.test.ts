// Names and colors of people and groups, and reactions in words.

import { expect, test } from 'bun:test'

import type { Reaction } from '../../src/api/messages.ts'
import {
  COLOR_COUNT,
  conversationName,
  counterpart,
  personColor,
} from '../../src/dashboard/people.ts'
import { reactionWords } from '../../src/dashboard/words/conversations.ts'
import { groupRefusal, serviceWords } from '../../src/dashboard/words/message-states.ts'
import { conversation, message, phoneLine } from './samples.ts'

const ANN = { handle: '+12025550147', name: 'Ann Lee' }
const BOB = { handle: '+12025550148', name: null }
const CAT = { handle: '+12025550149', name: null }
const DAN = { handle: 'dan@example.com', name: null }
const AT = '2026-11-21T10:00:00.000Z'

test('a person is called by the name in the contacts, a group by its name or its people', () => {
  const group = { type: 'group', participants: [ANN, BOB] } as const
  const names = [
    conversation(),
    conversation({ contact_name: 'Ann Lee' }),
    conversation({ ...group, name: 'Book club' }),
    conversation({ ...group, name: null }),
    conversation({ ...group, participants: [ANN, BOB, CAT, DAN] }),
    conversation({ type: 'group', participants: [] }),
  ].map(conversationName)

  expect(names).toEqual([
    '+12025550123',
    'Ann Lee',
    'Book club',
    'Ann Lee, +12025550148',
    'Ann Lee, +12025550148, +12025550149 and 1 more',
    'Group',
  ])
})

test('a person has one color, and people have different ones', () => {
  const handles = Array.from({ length: 40 }, (_, index) => `+120255501${10 + index}`)
  const colors = new Set(handles.map(personColor))

  expect(personColor(ANN.handle)).toBe(personColor(ANN.handle))
  expect(colors.size).toBe(COLOR_COUNT)
})

test('the other side of a message in a group is who wrote it', () => {
  const inGroup = message({ conversation_type: 'group', sender: ANN })

  expect(counterpart(message())).toBe('+12025550123')
  expect(counterpart(inGroup)).toBe('Ann Lee')
  expect(counterpart({ ...inGroup, sender: null })).toBe('Group')
})

test('equal reactions are counted, with the people who gave them', () => {
  const reaction: Reaction = {
    type: 'love',
    emoji: null,
    handle: '+12025550147',
    is_from_me: false,
    part: 0,
    created_at: AT,
  }

  const words = reactionWords([
    reaction,
    { ...reaction, type: 'emoji', emoji: '🎉' },
    { ...reaction, is_from_me: true },
  ])

  expect(words).toEqual([
    { sign: '❤️', count: 2, words: 'Love from +12025550147, you' },
    { sign: '🎉', count: 1, words: 'Emoji from +12025550147' },
  ])
})

test('a service is named if it was asked for, or if it turned to SMS', () => {
  expect([
    serviceWords(message()),
    serviceWords(message({ service_requested: 'SMS' })),
    serviceWords(message({ service_requested: 'auto' })),
    serviceWords(message({ service_requested: 'auto', downgraded_at: AT })),
  ]).toEqual([null, 'Requested as SMS', 'Service: automatic', 'Not on iMessage, switched to SMS'])
})

test('a group to which the line cannot send says why; a person is never refused', () => {
  const line = phoneLine()
  const able = phoneLine({ capabilities: { ...line.capabilities, groups: 'reply' } })
  const group = conversation({ type: 'group', state: 'active' })

  expect(groupRefusal(conversation(), line)).toBeNull()
  expect(groupRefusal(group, able)).toBeNull()
  expect(groupRefusal(group, null)).toBeNull()
  expect(groupRefusal(group, phoneLine({ status: 'offline' }))).toBeNull()
  expect(groupRefusal(group, line)).toContain("can't send")
  expect(groupRefusal({ ...group, state: 'left' }, able)).toContain('no longer in the group')
  expect(groupRefusal({ ...group, state: 'unreachable' }, able)).toContain("can't find")
})
