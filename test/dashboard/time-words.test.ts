import { expect, test } from 'bun:test'

import {
  dayWords,
  pickedTime,
  pickerTime,
  relativeTime,
  shortTime,
} from '../../src/dashboard/time-words.ts'
import { TEST_START } from '../support/test-clock.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

test('the time since something is rough, and beyond a week its day', () => {
  const distances = [0, 44_000, MINUTE, 59 * MINUTE, HOUR, 23 * HOUR, DAY, 6 * DAY]

  expect(distances.map((ms) => relativeTime(at(-ms), TEST_START))).toEqual([
    'now',
    'now',
    '1 min. ago',
    '59 min. ago',
    '1 hr. ago',
    '23 hr. ago',
    'yesterday',
    '6 days ago',
  ])
  expect(relativeTime(at(-10 * DAY), TEST_START)).toBe('Nov 11')
  expect(relativeTime(at(-400 * DAY), TEST_START)).toBe('Oct 17, 2025')
})

test('a time that is still to come reads so', () => {
  expect(relativeTime(at(5 * MINUTE), TEST_START)).toBe('in 5 min.')
})

test('a day is today, yesterday, a weekday, or a date with its year', () => {
  const days = [0, -DAY, -3 * DAY, -400 * DAY]

  expect(days.map((ms) => dayWords(at(ms), TEST_START))).toEqual([
    'Today',
    'Yesterday',
    'Wednesday, November 18',
    'Oct 17, 2025',
  ])
})

test('in a narrow column today is a clock time and every other day a date', () => {
  expect(shortTime(at(0), TEST_START)).toMatch(/^\d{1,2}:\d\d [AP]M$/)
  expect(shortTime(at(-2 * DAY), TEST_START)).toBe('Nov 19')
})

function at(ms: number): string {
  return new Date(TEST_START + ms).toISOString()
}

const NOON = Date.parse('2026-11-21T12:00:00.000Z')

test('what an input for a time shows is read back as the same minute, in whatever zone', () => {
  const shown = pickerTime(NOON + 59_999)

  expect(shown).toMatch(/^2026-11-2[0-2]T\d\d:\d\d$/)
  expect(pickedTime(shown)).toBe(NOON)
})

test('a time that is not whole yet is none', () => {
  expect(pickedTime('')).toBeNull()
})
