import { expect, test } from 'bun:test'

import { dayName, dayOf, daysIn, startOfDay, timeZoneNamed } from '../../src/domain/days.ts'
import type { LineId } from '../../src/domain/ids.ts'

const at = (time: string) => Date.parse(time)

test('days begin at midnight of the zone, with 23 and 25 hours where its clocks are moved', () => {
  const lengths = ['2026-03-28', '2026-03-29', '2026-10-25'].map((name) => {
    const day = dayOf(at(`${name}T12:00:00Z`), 'Europe/Berlin')
    return (startOfDay(day + 1, 'Europe/Berlin') - startOfDay(day, 'Europe/Berlin')) / 3_600_000
  })

  expect(lengths).toEqual([24, 23, 25])
  expect(startOfDay(dayOf(at('2026-11-21T18:30:00Z'), 'Asia/Kolkata'), 'Asia/Kolkata')).toBe(
    at('2026-11-21T18:30:00Z'),
  )
  // No clock there shows midnight on this day: summer time begins with it.
  expect(
    startOfDay(dayOf(at('2026-09-06T12:00:00Z'), 'America/Santiago'), 'America/Santiago'),
  ).toBe(at('2026-09-06T04:00:00Z'))
})

test('in every zone each day of ten years starts at a quarter hour and belongs to itself', () => {
  const first = dayOf(at('2024-01-01T00:00:00Z'), 'UTC')
  const wrong = Intl.supportedValuesOf('timeZone').flatMap((zone) =>
    Array.from({ length: 400 }, (_, place) => first + place * 9).filter((day) => {
      const start = startOfDay(day, zone)
      const isOwn = dayOf(start, zone) === day && dayOf(start - 1, zone) === day - 1
      return !isOwn || start % 900_000 !== 0
    }),
  )

  expect(wrong).toEqual([])
})

test('a zone goes by the name that its data give it; offsets and unknown names are none', () => {
  const names = [
    'UTC',
    'asia/kolkata',
    'Europe/Berlin',
    '+05:30',
    'Nowhere/City',
    '',
    'a'.repeat(99),
  ]

  expect(names.map(timeZoneNamed)).toEqual([
    'UTC',
    'Asia/Kolkata',
    'Europe/Berlin',
    null,
    null,
    null,
    null,
  ])
  expect(dayName(dayOf(at('2026-11-21T18:29:59Z'), 'Asia/Kolkata'))).toBe('2026-11-21')
  expect(
    daysIn(() => ({ zone: 'UTC', held: null })).endOf(
      at('2026-11-21T23:59:59.999Z'),
      'line_a' as LineId,
    ),
  ).toBe(at('2026-11-22T00:00:00Z'))
})
