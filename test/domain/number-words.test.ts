import { expect, test } from 'bun:test'

import { durationWords } from '../../src/domain/number-words.ts'

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000]

test('a duration is reported in seconds, in minutes, in hours and minutes, or in days', () => {
  const spans = [
    0,
    20 * SECOND,
    MINUTE,
    4 * MINUTE + 20 * SECOND,
    HOUR,
    3 * HOUR + 20 * MINUTE,
    47 * HOUR,
    2 * DAY,
    3 * DAY - HOUR,
  ]

  expect(spans.map(durationWords)).toEqual([
    '1 second',
    '20 seconds',
    '1 minute',
    '4 minutes',
    '1 hour',
    '3 hours 20 minutes',
    '47 hours',
    '2 days',
    '3 days',
  ])
})
