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
  markWithoutTime,
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

function inbound(text: string, minutes = 810, sender: string | null = NUMBER): ReadLabel {
  return { isFromMe: false, sender, service: null, text, minutes }
}

function own(text: string, minutes = 810, service: 'iMessage' | 'SMS' = 'iMessage'): ReadLabel {
  return { isFromMe: true, sender: null, service, text, minutes }
}

const WHO = `${NUMBER}, `

const LABELS: readonly (readonly [label: string, side: Side, expected: ReadLabel | null])[] = [
  // The first three were seen on macOS 27.2.
  ['Your iMessage, on my way, 12:39\u202FPM', 'right', own('on my way', 759)],
  [`${WHO}hello, 1:30\u202FPM`, 'left', inbound('hello')],
  [`${WHO}Includes picture, 11:05\u202FAM`, 'left', inbound('Includes picture', 665)],
  ['Your text message, hi, 9:05 AM', 'right', own('hi', 545, 'SMS')],
  [`${WRITTEN}, hello, 1:30\u202FPM`, 'left', inbound('hello')],
  [`${WHO}hello, 13:30`, 'left', inbound('hello')],
  [`${WHO}hello, 12:00 AM`, 'left', inbound('hello', 0)],
  [`${WHO}at, say, 1:30 PM, 1:30 PM`, 'left', inbound('at, say, 1:30 PM')],
  [`${WRITTEN}, \u200Fשלום, 1:30 PM`, 'left', inbound('\u200Fשלום')],
  [`${WHO}one\ntwo, 1:30 PM`, 'left', inbound('one\ntwo')],
  // Inbound texts that imitate an own label, and an inbound label that is one, word for word.
  [`${WHO}Your iMessage, hi, 1:30 PM, 1:30 PM`, 'left', inbound('Your iMessage, hi, 1:30 PM')],
  ['Your iMessage, hi, 1:30 PM', 'left', inbound('hi', 810, 'Your iMessage')],
  [`${WHO}Your iMessage, hi, 1:30 PM`, 'unclear', inbound('Your iMessage, hi')],
  ['Your iMessage, a long text, 1:30 PM', 'unclear', own('a long text')],
  // A sender whom nobody can name, and another one than the title says.
  ['Message, hello, 1:30 PM', 'left', inbound('hello', 810, null)],
  ['Maybe: Ann, hello, there, 1:30 PM', 'left', inbound('hello, there', 810, 'Maybe: Ann')],
  // Without a text.
  [`${WRITTEN}, 1:30 PM`, 'left', inbound('')],
  ['Your iMessage, 1:30 PM', 'right', own('')],
  // No messages.
  [`${NUMBER} is typing`, 'left', null],
  [`${NUMBER} unsent a message`, 'left', null],
  [`${WHO}hello, 25:30`, 'left', null],
]

test.each(LABELS)(
  'a label is read by where its bubble lies, and then by its words: %j, %s',
  (label, side, expected) => {
    expect(read(label, side)).toEqual(expected)
  },
)

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
  test(`a person who writes ${JSON.stringify(text.slice(0, 40))} has written just that`, () => {
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
  test.each([
    ['\u202A+1\u00A0(202)\u00A0555-0123\u202C', { kind: 'direct', handle: FRIEND }],
    ['Ann@Example.com', { kind: 'direct', handle: deviceHandle('ann@example.com') }],
    ['262 966', { kind: 'direct', handle: deviceHandle('262966') }],
    [`${NUMBER} & +1 (202) 555-0199`, { kind: 'group' }],
    ['4 People', { kind: 'group' }],
    ['Maybe: Ann Example', { kind: 'suggested' }],
    ['Ann Example', { kind: 'named' }],
    ['', { kind: 'named' }],
  ] as const)('%j is a handle, a group or a name', (title, expected) => {
    expect(readChatTitle(title)).toEqual(expected)
  })
})

test('a conversation is the same on another day, and another one at another time or with another preview', () => {
  const markOf = (label: string) => conversationCell(cellOf(label)).mark

  const marks = ['Yesterday', 'Monday', '11/21/26'].map((date) =>
    markOf(`${NUMBER}, hello, there, ${date}`),
  )

  expect(new Set(marks)).toEqual(new Set([`${NUMBER}, hello, there`]))
  expect(markOf(`${NUMBER}, hello, there, Monday, Muted, Unread`)).toBe(`${NUMBER}, hello, there\n`)
  expect(markOf(`${NUMBER}, bye, Monday`)).toBe(`${NUMBER}, bye`)
  expect(conversationCell(cellOf(`${NUMBER}, x, Unread, Muted, 1:30 PM`))).toMatchObject({
    isUnread: false,
    mark: `${NUMBER}, x, Unread, Muted\t1:30 PM`,
  })
  const timed = ['1:30\u202FPM', '1:31 PM', '13:30'].map((time) =>
    markOf(`${NUMBER}, hello, there, ${time}`),
  )
  expect(new Set(timed).size).toBe(3)
  expect(timed.map(markWithoutTime)).toEqual(timed.map(() => `${NUMBER}, hello, there`))
})

function cellOf(label: string) {
  const cell = parseTree({ type: 'Cell', label })
  if (cell === null) throw new Error('The cell of the test is none.')
  return cell
}
