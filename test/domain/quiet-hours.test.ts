import { expect, test } from 'bun:test'

import { quietUntil } from '../../src/domain/quiet-hours.ts'

const MINUTE = 60_000
const FROM = Date.UTC(2026, 0, 1)
const TO = Date.UTC(2029, 0, 1)
/** Minutes before and after a change. */
const AROUND = [-90, -60, -45, -30, -15, -1, 0, 1, 15, 30, 45, 60, 90]
const ENDS = ['00:00', '00:30', '01:00', '01:30', '01:45', '02:00', '02:30', '03:00', '23:30']

test('quiet hours that end in the hour that autumn repeats end at its second pass', () => {
  const hours = { from: '21:00', to: '02:30' }
  const secondFiveAfterTwo = Date.parse('2026-10-25T01:05:00Z')

  expect(quietUntil(hours, secondFiveAfterTwo, 'Europe/Berlin')).toBe(
    Date.parse('2026-10-25T01:30:00Z'),
  )
})

test('in every time zone, around each change of its clocks in three years, quiet hours end later than now', () => {
  const moments = Intl.supportedValuesOf('timeZone').flatMap((zone) =>
    changesOf(zone).flatMap((at) => AROUND.map((offset) => ({ zone, ms: at + offset * MINUTE }))),
  )
  const ends = moments.flatMap(({ zone, ms }) =>
    ENDS.map((to) => ({ zone, ms, to, until: quietUntil({ from: '21:00', to }, ms, zone) })),
  )

  expect(ends.filter(({ until, ms }) => until !== null && until <= ms)).toEqual([])
})

/** The moments at which the clocks of a zone change, in milliseconds since 1970. */
function changesOf(zone: string): readonly number[] {
  const changes: number[] = []
  let at = Temporal.Instant.fromEpochMilliseconds(FROM).toZonedDateTimeISO(zone)
  for (;;) {
    const next = at.getTimeZoneTransition('next')
    if (next === null || next.epochMilliseconds > TO) return changes
    changes.push(next.epochMilliseconds)
    at = next
  }
}
