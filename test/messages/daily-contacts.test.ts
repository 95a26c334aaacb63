// A message's steps through the day's new contacts of its line, each from every history that a line can
// have with a person: the hold of the message, and the place that the person takes then.

import { expect, test } from 'bun:test'

import type { ContactHold } from '../../src/domain/contact-limit.ts'
import { deviceHandle } from '../../src/domain/handle.ts'
import { timestamp, type LineId } from '../../src/domain/ids.ts'
import type { Outbound } from '../../src/domain/message.ts'
import { DAY_MS } from '../../src/domain/time.ts'
import {
  confirmContact,
  consumeSlot,
  hasBudget,
  markKnown,
  newContacts,
  readContact,
  releaseSlot,
  reserveAgain,
  reserveSlot,
  type History,
} from '../../src/storage/daily-contacts.ts'
import {
  DAYS,
  NOW,
  openStage,
  passMessage,
  PERSON,
  placeOn,
  queueMessage,
  type MessageStage,
} from './message-stage.ts'

const OTHER = deviceHandle('+12025550148')
const TODAY = DAYS.of(NOW, 'line_a' as LineId)
const TOMORROW = timestamp(NOW + DAY_MS)

type Prepare = (stage: MessageStage) => unknown

/** The person, as the line knows them before the step. */
const PEOPLE = {
  'a stranger': () => {},
  'one to whom a message waits': queueMessage,
  'one to whom a message left today': (stage) => passMessage(stage, queueMessage(stage)),
  'one whom the line knows': ({ tx, line }) =>
    markKnown(tx, { lineId: line.id, handle: PERSON }, NOW),
} satisfies Record<string, Prepare>

/** The limit of every stage is one new contact a day. */
function openDay(person: keyof typeof PEOPLE): MessageStage {
  const stage = openStage(['+12025550801'], 1)
  PEOPLE[person](stage)
  return stage
}

function fill({ tx, line }: MessageStage): void {
  reserveSlot(tx, line, OTHER, { history: false, findDay: () => TODAY })
}

type Accepted = readonly [
  person: keyof typeof PEOPLE,
  history: History,
  day: 'free' | 'full',
  hold: ContactHold | 'full',
]

const ACCEPTED: readonly Accepted[] = [
  ['a stranger', false, 'free', 'reserved'],
  ['a stranger', false, 'full', 'full'],
  ['a stranger', null, 'free', 'undecided'],
  ['a stranger', null, 'full', 'undecided'],
  ['one to whom a message waits', false, 'free', 'reserved'],
  ['one to whom a message waits', null, 'free', 'undecided'],
  ['one to whom a message left today', false, 'free', 'undecided'],
  ['one whom the line knows', false, 'free', 'none'],
  ['one whom the line knows', false, 'full', 'none'],
  ['one whom the line knows', null, 'free', 'none'],
]

for (const [person, history, day, hold] of ACCEPTED) {
  const device = history === null ? 'cannot be asked' : 'has no history'
  test(`accepted to ${person}, while the device ${device} and the day is ${day}: ${hold}`, () => {
    const stage = openDay(person)
    if (day === 'full') fill(stage)
    const { tx, line } = stage

    expect(reserveSlot(tx, line, PERSON, { history, findDay: () => TODAY })).toBe(hold)
  })
}

test('a line has room for a person who has a place already, and for nobody else when its day is full', () => {
  const stage = openDay('one to whom a message waits')
  const { tx, line } = stage

  expect([PERSON, OTHER].map((handle) => hasBudget(tx, line, handle, () => TODAY))).toEqual([
    true,
    false,
  ])
  expect(newContacts(tx, line.id, TODAY)).toBe(1)
})

/** A message as it waits at its point of no return. */
const WAITING = {
  'one with a place': (stage) => queueMessage(stage),
  'one that is undecided': (stage) => queueMessage(stage, { history: null }),
  'one whose person became known': (stage) => {
    const message = queueMessage(stage)
    PEOPLE['one whom the line knows'](stage)
    return message
  },
  'one whose person was known': (stage) => {
    PEOPLE['one whom the line knows'](stage)
    return queueMessage(stage)
  },
  'one that is undecided, behind one that left,': (stage) => {
    PEOPLE['one to whom a message left today'](stage)
    return queueMessage(stage, { history: null })
  },
  'one that is undecided, behind one with a place,': (stage) => {
    queueMessage(stage)
    return queueMessage(stage, { history: null })
  },
} satisfies Record<string, (stage: MessageStage) => Outbound>

type Passed = readonly [
  message: keyof typeof WAITING,
  day: 'free' | 'full',
  hold: ContactHold | null,
  place: 'spent' | 'known' | 'free',
]

const PASSED: readonly Passed[] = [
  ['one with a place', 'free', 'spent', 'spent'],
  ['one that is undecided', 'free', 'spent', 'spent'],
  ['one that is undecided', 'full', null, 'free'],
  ['one whose person became known', 'free', 'none', 'known'],
  ['one whose person became known', 'full', 'none', 'known'],
  ['one whose person was known', 'full', 'none', 'known'],
  ['one that is undecided, behind one that left,', 'free', 'spent', 'spent'],
  ['one that is undecided, behind one with a place,', 'free', 'spent', 'spent'],
]

for (const [waiting, day, hold, place] of PASSED) {
  const result = hold === null ? 'must wait' : `passes with its hold ${hold}`
  test(`${waiting} ${result} while the day is ${day}`, () => {
    const stage = openDay('a stranger')
    const message = WAITING[waiting](stage)
    const { tx, line } = stage

    if (day === 'full') {
      const full = { ...line, dailyContactLimit: 0 }
      expect(consumeSlot(tx, full, message, () => TODAY)).toBe(hold)
    } else expect(consumeSlot(tx, line, message, () => TODAY)).toBe(hold)

    expect(placeOn(stage, line)).toBe(place)
  })
}

test('a message whose person became known waits for no place any more as it leaves', () => {
  const stage = openDay('a stranger')
  const { tx, line } = stage
  const message = WAITING['one whose person became known'](stage)
  const before = readContact(tx, line.id, PERSON)

  consumeSlot(tx, line, message, () => TODAY)

  expect([before.queued, readContact(tx, line.id, PERSON).queued]).toEqual([1, 0])
})

test('a reserved place counts over midnight, and is spent on the day on which the message leaves', () => {
  const stage = openDay('a stranger')
  const { tx, line } = stage
  const message = queueMessage(stage)

  const before = placeOn(stage, line, TOMORROW)
  const hold = consumeSlot(tx, line, message, () => TODAY + 1)

  expect([before, hold, placeOn(stage, line), placeOn(stage, line, TOMORROW)]).toEqual([
    'reserved',
    'spent',
    'free',
    'spent',
  ])
})

test('a place that was reserved yesterday must wait where the new day is spent on others', () => {
  const stage = openStage(['+12025550801'], 2)
  const { tx, line } = stage
  const message = queueMessage(stage)
  const other = { ...message, handle: OTHER, contactHold: 'undecided' } as const
  consumeSlot(tx, line, other, () => TODAY + 1)

  const lowered = { ...line, dailyContactLimit: 1 }

  expect(consumeSlot(tx, lowered, message, () => TODAY + 1)).toBeNull()
  expect(consumeSlot(tx, line, message, () => TODAY + 1)).toBe('spent')
})

/** Messages that end, or go back to the queue, by what they hold. */
const HOLDING = {
  reserved: (stage) => queueMessage(stage),
  spent: (stage) => passMessage(stage, queueMessage(stage)),
  undecided: (stage) => queueMessage(stage, { history: null }),
  none: WAITING['one whose person was known'],
} satisfies Record<ContactHold, (stage: MessageStage) => Outbound>

const ENDS: readonly (readonly [
  hold: ContactHold,
  released: string,
  again: readonly [ContactHold, string],
  confirmed: string,
])[] = [
  ['reserved', 'free', ['reserved', 'reserved'], 'known'],
  ['spent', 'free', ['reserved', 'reserved'], 'spent'],
  ['undecided', 'free', ['undecided', 'free'], 'known'],
  ['none', 'known', ['none', 'known'], 'known'],
]

for (const [hold, released, [holdAgain, placeAgain], confirmed] of ENDS) {
  test(`one that holds ${hold} is proven unsent: its place is ${released}`, () => {
    const stage = openDay('a stranger')

    releaseSlot(stage.tx, HOLDING[hold](stage), TODAY)

    expect(placeOn(stage, stage.line)).toBe(released)
  })

  test(`one that holds ${hold} goes back to the queue: it holds ${holdAgain}`, () => {
    const stage = openDay('a stranger')

    const held = reserveAgain(stage.tx, HOLDING[hold](stage), TODAY)

    expect([held, placeOn(stage, stage.line)]).toEqual([holdAgain, placeAgain])
  })

  test(`one that holds ${hold} is sent: its place is ${confirmed}, and its person is known tomorrow`, () => {
    const stage = openDay('a stranger')
    const { tx, line } = stage

    confirmContact(tx, HOLDING[hold](stage), NOW)

    expect([placeOn(stage, line), placeOn(stage, line, TOMORROW)]).toEqual([confirmed, 'known'])
  })
}

test('a place stays spent while another message to the person may have left', () => {
  const stage = openDay('a stranger')
  const [one, two] = [queueMessage(stage), queueMessage(stage)]
  const passed = [passMessage(stage, one), passMessage(stage, two)]
  const places: string[] = []

  for (const message of passed) {
    releaseSlot(stage.tx, message, TODAY)
    places.push(placeOn(stage, stage.line))
  }

  expect(places).toEqual(['spent', 'free'])
})
