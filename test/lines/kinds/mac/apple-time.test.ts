import { expect, test } from 'bun:test'

import {
  appleRanges,
  fromAppleTime,
  toAppleNanoseconds,
  toAppleSeconds,
} from '../../../../src/lines/kinds/mac/apple-time.ts'

/** 2026-11-21T10:00:00.000Z. */
const AT = 1_795_255_200_000
const AT_SECONDS = 816_948_000n
const AT_NANOSECONDS = 816_948_000_000_000_000n
const YEAR_2100 = 4_102_444_800_000

test('a date is read whether it counts nanoseconds or seconds since 2001', () => {
  const dates = [AT_NANOSECONDS, AT_SECONDS, Number(AT_NANOSECONDS), Number(AT_SECONDS)]

  expect(dates.map(fromAppleTime)).toEqual([AT, AT, AT, AT])
})

test('a present date in nanoseconds keeps its millisecond', () => {
  const dates = [AT_NANOSECONDS + 789_000_000n, AT_NANOSECONDS + 789_999_999n]

  expect(dates.map(fromAppleTime)).toEqual([AT + 789, AT + 789])
})

test('fractions are of no account', () => {
  expect([816_948_000.5, 100_000_000_000.5].map(fromAppleTime)).toEqual([AT + 500, 978_307_300_000])
})

test('the first value of nanoseconds is the second minute of 2001, the last of seconds is absurd', () => {
  const dates = [100_000_000_000n, 99_999_999_999n]

  expect(dates.map(fromAppleTime)).toEqual([978_307_300_000, null])
})

test('no date is none, and neither is one that cannot be meant', () => {
  const none = [null, 0, 0n, -1n, -816_948_000, Number.NaN, Number.POSITIVE_INFINITY]
  const absurd = [2n ** 63n - 1n, 2n ** 63n - 1_000_000n, toAppleNanoseconds(YEAR_2100)]

  expect([...none, ...absurd].map(fromAppleTime)).toEqual([...none, ...absurd].map(() => null))
  expect(fromAppleTime(toAppleNanoseconds(YEAR_2100 - 1))).toBe(YEAR_2100 - 1)
})

test('a date that is written is read as the same millisecond', () => {
  const dates = [AT, AT + 1, AT + 999, AT + 0.5, 978_307_301_000]

  expect(dates.map(toAppleNanoseconds).map(fromAppleTime)).toEqual(dates.map(Math.floor))
  expect([AT, AT + 999].map(toAppleSeconds)).toEqual([AT_SECONDS, AT_SECONDS])
})

test('a range holds the dates from its first millisecond to its last, of both kinds', () => {
  const ranges = appleRanges(AT + 1, AT + 2_000)

  expect(ranges).toEqual([
    { from: AT_SECONDS + 1n, until: AT_SECONDS + 2n },
    { from: AT_NANOSECONDS + 1_000_000n, until: AT_NANOSECONDS + 2_000_999_999n },
  ])
})

test('a range without an end holds no absurd date, and none of all time holds one of the other kind', () => {
  const last = toAppleNanoseconds(YEAR_2100) - 1n

  expect(appleRanges(0)).toEqual([
    { from: 1n, until: 3_124_137_599n },
    { from: 100_000_000_000n, until: last },
  ])
})
