import { expect, test } from 'bun:test'

import { nextRunAfter } from '../../src/system/iso-time.ts'

/** In Berlin, the clock goes from 2:00 to 3:00 on March 29, 2026, and from 3:00 to 2:00 on October 25. */
const NIGHTS = [
  ['17 3 * * *', '2026-03-28T12:00:00Z', '2026-03-29T01:17:00.000Z'],
  ['30 2 * * *', '2026-03-28T12:00:00Z', '2026-03-29T01:00:00.000Z'],
  ['17 3 * * *', '2026-10-24T12:00:00Z', '2026-10-25T02:17:00.000Z'],
  ['17 3 * * *', '2026-10-25T02:17:00Z', '2026-10-26T02:17:00.000Z'],
  ['23 * * * *', '2026-10-25T00:23:00Z', '2026-10-25T01:23:00.000Z'],
] as const

test('a pattern is of the local time, also in the nights in which the clock is changed', () => {
  const before = process.env['TZ']
  process.env['TZ'] = 'Europe/Berlin'
  try {
    const found = NIGHTS.map(([pattern, after]) => nextRunAfter(pattern, Date.parse(after)))

    expect(found.map((ms) => new Date(ms).toISOString())).toEqual(NIGHTS.map(([, , at]) => at))
  } finally {
    process.env['TZ'] = before ?? 'UTC'
  }
})
