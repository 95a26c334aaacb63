import { expect, test } from 'bun:test'

import { pickedTime, pickerTime } from '../../src/dashboard/time-words.ts'

const NOON = Date.parse('2026-11-21T12:00:00.000Z')

test('what an input for a time shows is read back as the same minute, in whatever zone', () => {
  const shown = pickerTime(NOON + 59_999)

  expect(shown).toMatch(/^2026-11-2[0-2]T\d\d:\d\d$/)
  expect(pickedTime(shown)).toBe(NOON)
})

test('a time that is not whole yet is none', () => {
  expect(pickedTime('')).toBeNull()
})
