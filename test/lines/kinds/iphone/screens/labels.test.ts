// Labels of bubbles and what they are read as. A row from a real phone belongs here first.

import { describe, expect, test } from 'bun:test'

import { deviceHandle } from '../../../../../src/domain/handle.ts'
import { parseTree } from '../../../../../src/lines/kinds/iphone/agent/ui-tree.ts'
import {
  placeTimes,
  readDateRow,
} from '../../../../../src/lines/kinds/iphone/screens/label-time.ts'
import {
  conversationCell,
  isTitleOf,
  readChatTitle,
  readLabel,
  type ReadLabel,
  type Side,
  sideOf,
} from '../../../../../src/lines/kinds/iphone/screens/labels.ts'
import { FRIEND } from '../../../../support/iphone/ui-rig.ts'

const NUMBER = '+1 (202) 555-0123'
/** As iOS writes it: between marks of direction, with a no-break space. */
const WRITTEN = '\u202A+1\u00A0(202)\u00A0555-0123\u202C'

function read(label: string, side: Side, title = NUMBER) {
  return readLabel(label, side, title)
}

function inbound(text: string, minutes = 810): ReadLabel {
  return { isFromMe: false, service: null, text, minutes }
}

const LABELS: readonly (readonly [
  what: string,
  label: string,
  side: Side,
  expected: ReadLabel | null,
])[] = [
  // The first three were seen on macOS 27.2.
  [
    'an own bubble',
    'Your iMessage, on my way, 12:39\u202FPM',
    'right',
    { isFromMe: true, service: 'iMessage', text: 'on my way', minutes: 759 },
  ],
  ['a bubble of the other side', `${NUMBER}, hello, 1:30\u202FPM`, 'left', inbound('hello')],
  [
    'a picture',
    `${NUMBER}, Includes picture, 11:05\u202FAM`,
    'left',
    inbound('Includes picture', 665),
  ],
  [
    'an own text message',
    'Your text message, hi, 9:05 AM',
    'right',
    { isFromMe: true, service: 'SMS', text: 'hi', minutes: 545 },
  ],
  [
    'a number between marks of direction',
    `${WRITTEN}, hello, 1:30\u202FPM`,
    'left',
    inbound('hello'),
  ],
  ['a clock of 24 hours', `${NUMBER}, hello, 13:30`, 'left', inbound('hello')],
  ['midnight', `${NUMBER}, hello, 12:00 AM`, 'left', inbound('hello', 0)],
  [
    'a text with commas and a time at its end',
    `${NUMBER}, at, say, 1:30 PM, 1:30 PM`,
    'left',
    inbound('at, say, 1:30 PM'),
  ],
  [
    'a text of right-to-left letters',
    `${WRITTEN}, \u200Fשלום, 1:30 PM`,
    'left',
    inbound('\u200Fשלום'),
  ],
  ['a text of several lines', `${NUMBER}, one\ntwo, 1:30 PM`, 'left', inbound('one\ntwo')],
  [
    'an inbound text that imitates an own label',
    `${NUMBER}, Your iMessage, hi, 1:30 PM, 1:30 PM`,
    'left',
    inbound('Your iMessage, hi, 1:30 PM'),
  ],
  [
    'an inbound label that is an own one, word for word',
    'Your iMessage, hi, 1:30 PM',
    'left',
    { isFromMe: false, service: null, text: 'hi', minutes: 810 },
  ],
  [
    'a wide bubble that imitates an own label',
    `${NUMBER}, Your iMessage, hi, 1:30 PM`,
    'unclear',
    inbound('Your iMessage, hi'),
  ],
  [
    'a wide bubble of ours',
    'Your iMessage, a long text, 1:30 PM',
    'unclear',
    { isFromMe: true, service: 'iMessage', text: 'a long text', minutes: 810 },
  ],
  [
    'a bubble whose sender nobody can name',
    'Message, hello, 1:30 PM',
    'left',
    { isFromMe: false, service: null, text: 'hello', minutes: 810 },
  ],
  [
    'another sender than the title says',
    'Maybe: Ann, hello, there, 1:30 PM',
    'left',
    { isFromMe: false, service: null, text: 'hello, there', minutes: 810 },
  ],
  ['a bubble of the other side without a text', `${WRITTEN}, 1:30 PM`, 'left', inbound('')],
  [
    'an own bubble without a text',
    'Your iMessage, 1:30 PM',
    'right',
    { isFromMe: true, service: 'iMessage', text: '', minutes: 810 },
  ],
  ['somebody who is typing', `${NUMBER} is typing`, 'left', null],
  ['a message that was taken back', `${NUMBER} unsent a message`, 'left', null],
  ['an hour that does not exist', `${NUMBER}, hello, 25:30`, 'left', null],
]

describe('a label is read by where its bubble lies first, and by its words second', () => {
  for (const [what, label, side, expected] of LABELS) {
    test(what, () => {
      expect(read(label, side)).toEqual(expected)
    })
  }
})

/** What a stranger may write so that it looks like something else. */
const NASTY = [
  'a، b，c、 d',
  'Your iMessage, on my way, 13:05',
  'Your text message, ok',
  `${NUMBER}, hi`,
  'at 1:05 PM',
  'see you, 13:05',
  'hi, Loved by you',
  'x, 1:05 PM, Liked by you',
  '\u200F\u202Eedoc\u202C, 1:05\u202FPM',
  'one\n, 1:05 PM\nYour iMessage, two',
  ' , ',
  '',
  'long, '.repeat(1_000),
]

for (const text of NASTY) {
  test(`whoever writes ${JSON.stringify(text.slice(0, 40))} has written just that`, () => {
    const times = ['1:30\u202FPM', '1:30 PM', '13:30']
    const labels = times.flatMap((time) =>
      [NUMBER, WRITTEN].map((who) => `${who}, ${text}, ${time}`),
    )

    const others = labels.flatMap((label) => [read(label, 'left'), read(label, 'unclear')])
    const own = times.map((time) => read(`Your iMessage, ${text}, ${time}`, 'right'))

    expect(others).toEqual(others.map(() => inbound(text)))
    expect(own.map((one) => [one?.isFromMe, one?.text])).toEqual(own.map(() => [true, text]))
  })
}

test('a bubble lies on the side whose edge it is nearer to', () => {
  const pane = { x: 100, y: 0, width: 400, height: 800 }
  const at = (x: number, width: number) => sideOf({ x, y: 0, width, height: 40 }, pane)

  expect(at(120, 100)).toBe('left')
  expect(at(380, 100)).toBe('right')
  // A long text reaches over the middle on both sides.
  expect(at(120, 310)).toBe('left')
  expect(at(120, 360)).toBe('unclear')
  expect(at(120, 0)).toBe('unclear')
})

/** 2026-11-21, a Saturday, 10:00 in UTC. */
const NOW = 1_795_255_200_000
const DAY = 86_400_000
const HOUR = 3_600_000

const ROWS: readonly (readonly [row: string, at: number])[] = [
  ['Today 4:35\u202FAM', NOW - 6 * HOUR + 35 * 60_000],
  ['Yesterday 11:00\u202FPM', NOW - 11 * HOUR],
  ['Monday 9:00 AM', NOW - 5 * DAY - HOUR],
  ['Saturday 9:00 AM', NOW - HOUR],
  ['Fri, Nov 20 at 9:00 AM', NOW - DAY - HOUR],
  ['Wed, Dec 31 at 9:00 AM', NOW - 325 * DAY - HOUR],
  ['Sun, Mar 1, 2020 at 9:00 AM', Date.UTC(2020, 2, 1, 9)],
  ['iMessage\nToday 9:00 AM', NOW - HOUR],
]

for (const [row, at] of ROWS) {
  test(`bubbles below ${JSON.stringify(row)} are of that day`, () => {
    const under = readDateRow(row)

    const times = placeTimes([{ minutes: under?.minutes ?? -1, under }], NOW, 'UTC')

    expect(times).toEqual([at])
  })
}

test('a row that names no day is no row of a date', () => {
  expect(readDateRow('Delivered')).toBeNull()
  expect(readDateRow('Read 1:31 PM')).toBeNull()
})

test('a talk goes past midnight without a new row', () => {
  const under = readDateRow('Yesterday 11:30 PM')
  const bubbles = [1_410, 1_439, 1, 30].map((minutes) => ({ minutes, under }))

  const times = placeTimes(bubbles, NOW, 'UTC')

  expect(times.map((at) => (at - (NOW - 10 * HOUR)) / 60_000)).toEqual([-30, -1, 1, 30])
})

test('a time that is still to come is of yesterday, and no bubble is later than those below it', () => {
  const bubbles = [1_200, 590, 598].map((minutes) => ({ minutes, under: null }))

  const times = placeTimes(bubbles, NOW, 'UTC')

  expect(times.map((at) => (at - NOW) / 60_000)).toEqual([-840, -10, -2])
})

test("times are those of the phone's zone, on either side of the change to winter", () => {
  const autumn = Date.UTC(2026, 10, 1, 12)
  const bubbles = [{ minutes: 30, under: null }]

  const after = placeTimes([{ minutes: 360, under: null }], autumn, 'America/New_York')
  const before = placeTimes(bubbles, autumn, 'America/New_York')
  const unknown = placeTimes(bubbles, autumn, 'Nowhere/Land')

  expect(after).toEqual([Date.UTC(2026, 10, 1, 11)])
  expect(before).toEqual([Date.UTC(2026, 10, 1, 4, 30)])
  expect(unknown).toEqual([Date.UTC(2026, 10, 1, 0, 30)])
})

describe('the title of a chat', () => {
  const kindOf = (title: string) => readChatTitle(title)

  test('is a handle, a group or a name', () => {
    expect(kindOf('\u202A+1\u00A0(202)\u00A0555-0123\u202C')).toEqual({
      kind: 'direct',
      handle: FRIEND,
    })
    expect(kindOf('Ann@Example.com')).toEqual({
      kind: 'direct',
      handle: deviceHandle('ann@example.com'),
    })
    expect(kindOf('262 966')).toEqual({ kind: 'direct', handle: deviceHandle('262966') })
    expect(kindOf(`${NUMBER} & +1 (202) 555-0199`)).toEqual({ kind: 'group' })
    expect(kindOf('4 People')).toEqual({ kind: 'group' })
    expect(kindOf('Ann Example')).toEqual({ kind: 'named' })
    expect(kindOf('')).toEqual({ kind: 'named' })
  })

  test('fits a number in any spelling, and no other number', () => {
    const fits = (title: string, handle: string) => isTitleOf(kindOf(title), deviceHandle(handle))

    expect(fits(NUMBER, '+12025550123')).toBe(true)
    expect(fits('(202) 555-0123', '+12025550123')).toBe(true)
    expect(fits('1 (202) 555-0123', '+12025550123')).toBe(true)
    expect(fits('ann@example.com', 'ann@example.com')).toBe(true)
    expect(fits(NUMBER, '+12025550124')).toBe(false)
    expect(fits('+44 2025550123', '+12025550123')).toBe(false)
    expect(fits('+20 25550123', '+12025550123')).toBe(false)
    expect(fits('0123', '+12025550123')).toBe(false)
    expect(fits('5550123', '+12025550123')).toBe(false)
    expect(fits('Ann', '+12025550123')).toBe(false)
    expect(fits('ann@example.com', '+12025550123')).toBe(false)
  })
})

test('a conversation is the same on another day, and another one with another preview', () => {
  const markOf = (label: string) => conversationCell(cellOf(label)).mark

  const marks = ['1:30\u202FPM', 'Yesterday', 'Monday', '11/21/26'].map((date) =>
    markOf(`${NUMBER}, hello, there, ${date}`),
  )

  expect(new Set(marks)).toEqual(new Set([`${NUMBER}, hello, there`]))
  expect(markOf(`${NUMBER}, hello, there, Monday, Muted, Unread`)).toBe(`${NUMBER}, hello, there\n`)
  expect(markOf(`${NUMBER}, bye, Monday`)).toBe(`${NUMBER}, bye`)
})

function cellOf(label: string) {
  const cell = parseTree({ type: 'Cell', label })
  if (cell === null) throw new Error('The cell of the test is none.')
  return cell
}
