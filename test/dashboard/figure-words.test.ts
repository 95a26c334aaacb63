import { expect, test } from 'bun:test'

import {
  dayAt,
  durationWords,
  endOfDay,
  shareWords,
  startOfDay,
} from '../../src/dashboard/figure-words.ts'

test('a day begins at midnight of its time zone, and is as long as it is there', () => {
  const days = [
    ['2026-11-21', 'UTC'],
    ['2026-11-21', 'Asia/Kolkata'],
    ['2026-03-29', 'Europe/Berlin'],
    ['2026-10-25', 'Europe/Berlin'],
    ['2026-11-01', 'America/New_York'],
    ['2026-09-06', 'America/Santiago'],
    ['2026-04-05', 'America/Santiago'],
    ['2026-03-29', 'Asia/Beirut'],
  ] as const

  const found = days.map(([day, zone]) => {
    const [start, end] = [startOfDay(day, zone), endOfDay(day, zone)]
    const isSame = dayAt(start, zone) === day && dayAt(start - 1, zone) !== day
    return [new Date(start).toISOString(), (end - start) / 3_600_000, isSame]
  })

  expect(found).toEqual([
    ['2026-11-21T00:00:00.000Z', 24, true],
    ['2026-11-20T18:30:00.000Z', 24, true],
    ['2026-03-28T23:00:00.000Z', 23, true],
    ['2026-10-24T22:00:00.000Z', 25, true],
    ['2026-11-01T04:00:00.000Z', 25, true],
    ['2026-09-06T04:00:00.000Z', 23, true],
    ['2026-04-05T04:00:00.000Z', 24, true],
    ['2026-03-28T22:00:00.000Z', 23, true],
  ])
})

test('only all is 100 percent, and a time has the unit that fits it', () => {
  expect([1, 0.99999, 0.5].map(shareWords)).toEqual(['100%', '99.9%', '50%'])
  expect([450, 1_240, 90_000, 7_200_000].map(durationWords)).toEqual([
    '450 ms',
    '1.2 sec',
    '1.5 min',
    '2 hr',
  ])
})
