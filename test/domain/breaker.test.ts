import { expect, test } from 'bun:test'

import {
  afterFailure,
  afterSuccess,
  clamped,
  CLOSED,
  forNewUrl,
  isOpen,
  isProbeDue,
  movedBack,
  wasAway,
  type Breaker,
  type Failure,
} from '../../src/domain/breaker.ts'
import { timestamp } from '../../src/domain/ids.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

/** How long a receiver was away, and how long after the beginning of a failed attempt the next probe is. */
const PROBES: readonly (readonly [awayMs: number, probeMs: number])[] = [
  [0, 2_000],
  [20_000, 2_000],
  [21_000, 2_100],
  [MINUTE, 6_000],
  [10 * MINUTE, MINUTE],
  [50 * MINUTE, 5 * MINUTE],
  [DAY, 5 * MINUTE],
]

test('a receiver is probed after a tenth of its absence, two seconds at least and five minutes at most', () => {
  for (const [awayMs, probeMs] of PROBES) {
    const away = failed(failed(CLOSED, { at: 0 }).breaker, { at: awayMs }).breaker
    const opened = failed(failedTimes(5), { at: awayMs, isProbe: true }).breaker

    for (const { probeAt } of [away, opened]) expect(probeAt).toBe(timestamp(awayMs + probeMs))
    expect(isProbeDue(away, awayMs + probeMs - 1)).toBeFalse()
    expect(isProbeDue(away, awayMs + probeMs)).toBeTrue()
  }
  expect(isProbeDue(failedTimes(1), DAY)).toBeFalse()
})

test('a probe that hung for ten seconds is followed by the next one as if it had failed at once', () => {
  const { probeAt } = failed(failedTimes(1), { startedAt: 0, at: 10_000 }).breaker

  expect(probeAt).toBe(timestamp(2_000))
})

test('the fifth failure opens it; probes count while it is open, and all others while it is not', () => {
  const counts = Array.from({ length: 6 }, (_, i) => failedTimes(i))

  expect(counts.map(isOpen)).toEqual([false, false, false, false, false, true])
  expect(failed(failedTimes(4), { isProbe: true }).breaker.failuresInRow).toBe(4)
  expect(failed(failedTimes(5), { isProbe: true }).breaker.failuresInRow).toBe(6)
})

test('what was in flight when it opened says nothing new', () => {
  const opened = failedTimes(5)

  const stray = failed(opened, { at: MINUTE, isProbe: false })

  expect(stray.breaker).toEqual(opened)
})

test('an event that is refused for its own sake says nothing about the receiver', () => {
  const failing = failed(CLOSED, { at: 0 }).breaker
  const probeAt = timestamp(MINUTE + 6_000)

  expect(failed(CLOSED, { at: MINUTE, isOfEvent: true }).breaker).toEqual(CLOSED)
  expect(failed(failing, { at: MINUTE, isOfEvent: true }).breaker).toEqual({ ...failing, probeAt })
})

test('a receiver was away if nothing succeeded for two seconds', () => {
  const failing = failed(CLOSED, { at: 0 }).breaker

  expect([wasAway(CLOSED, DAY), wasAway(failing, 1_999), wasAway(failing, 2_000)]).toEqual([
    false,
    false,
    true,
  ])
})

test('a success forgives everything, but only that of a probe ends a rest that was asked for', () => {
  const resting = failed(failedTimes(4), { statusCode: 429, askedMs: MINUTE }).breaker

  expect(afterSuccess(failedTimes(7), false)).toEqual(CLOSED)
  expect(afterSuccess(resting, false)).toEqual({ ...CLOSED, restUntil: timestamp(MINUTE) })
  expect(afterSuccess(resting, true)).toEqual(CLOSED)
  expect(afterSuccess(CLOSED, false)).toBe(CLOSED)
})

test('a receiver rests from the first time that it asks for it, and never for less than before', () => {
  const rest = (breaker: Breaker, askedMs: number | null) =>
    failed(breaker, { statusCode: 429, askedMs }).breaker.restUntil
  const resting = failed(failedTimes(1), { askedMs: MINUTE }).breaker

  expect(rest(CLOSED, MINUTE)).toBe(timestamp(MINUTE))
  expect(rest(failedTimes(1), null)).toBeNull()
  expect(rest(failedTimes(1), MINUTE)).toBe(timestamp(MINUTE))
  expect(rest(resting, 1_000)).toBe(timestamp(MINUTE))
})

test('no rest and no probe is further away than it can be, wherever the clock was set', () => {
  const far = { ...failedTimes(5), restUntil: timestamp(9 * DAY), probeAt: timestamp(9 * DAY) }

  expect(clamped(far, 0)).toEqual({
    ...far,
    restUntil: timestamp(DAY),
    probeAt: timestamp(5 * MINUTE),
  })
  expect(clamped(failedTimes(5), 0)).toEqual(failedTimes(5))
})

test('410 deactivates when it is said twice, a minute apart, with no other answer in between', () => {
  const first = failed(CLOSED, { statusCode: 410 }).breaker
  const early = failed(first, { statusCode: 410, at: 59_999 })
  const late = failed(early.breaker, { statusCode: 410, at: MINUTE })
  const silent = failed(first, { statusCode: null, at: 30_000 }).breaker
  const other = failed(first, { statusCode: 500, at: 30_000 }).breaker

  expect([early.disable, late.disable]).toEqual([null, 'gone'])
  expect(failed(silent, { statusCode: 410, at: MINUTE }).disable).toBe('gone')
  expect(failed(other, { statusCode: 410, at: MINUTE }).disable).toBeNull()
})

test('five days of failures deactivate, if there were ten of them', () => {
  expect(failed(failedTimes(9), { at: 5 * DAY, isProbe: true }).disable).toBe('failing')
  expect(failed(failedTimes(9), { at: 5 * DAY - 1, isProbe: true }).disable).toBeNull()
  expect(failed(failedTimes(8), { at: 6 * DAY, isProbe: true }).disable).toBeNull()
})

test('a new url is probed at once, and has its own five days', () => {
  const moved = forNewUrl(failedTimes(30))

  expect(moved).toEqual({ ...CLOSED, failuresInRow: 5 })
  expect(isProbeDue(moved, 0)).toBeTrue()
})

test('a clock that steps back takes every time along', () => {
  const gone = failed(failedTimes(6), { statusCode: 410, at: 1_000, isProbe: true }).breaker

  expect(movedBack(gone, 500)).toEqual({
    failuresInRow: 7,
    failingSince: timestamp(-500),
    restUntil: null,
    probeAt: timestamp(2_500),
    goneAt: timestamp(500),
  })
})

function failed(breaker: Breaker, given: Partial<Record<keyof Failure, unknown>>) {
  const at = given.at ?? 0
  const plain = {
    startedAt: at,
    at,
    statusCode: 500,
    askedMs: null,
    isProbe: false,
    isOfEvent: false,
    ageOf: (since: number) => Number(at) - since,
  }
  return afterFailure(breaker, { ...plain, ...given } as Failure) // What a test leaves out is there.
}

function failedTimes(count: number): Breaker {
  let breaker = CLOSED
  for (let i = 0; i < count; i += 1) {
    breaker = failed(breaker, { isProbe: isOpen(breaker) }).breaker
  }
  return breaker
}
