import { expect, test } from 'bun:test'

import {
  afterFailure,
  afterSuccess,
  CLOSED,
  forNewUrl,
  isOpen,
  movedBack,
  type Breaker,
  type Failure,
} from '../../src/domain/breaker.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { DEFAULT_RETRY_SCHEDULE_MS } from '../../src/domain/retry.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

test('the fifth failure opens it; each failed probe rests longer, five minutes at most', () => {
  let breaker = CLOSED
  const rests: (number | null)[] = []

  for (let i = 0; i < 9; i += 1) {
    breaker = failed(breaker, { isProbe: isOpen(breaker) }).breaker
    rests.push(breaker.restUntil)
  }

  expect(rests).toEqual([null, null, null, null, 5_000, 30_000, 120_000, 300_000, 300_000])
})

test('what was in flight when it opened tells nothing new', () => {
  const opened = failedTimes(5)

  const stray = failed(opened, { isProbe: false })

  expect(stray.breaker).toEqual(opened)
})

test('a success forgives everything, but a closed one keeps the rest that was asked for', () => {
  const resting = failed(CLOSED, { statusCode: 429, retryAfterMs: MINUTE }).breaker

  expect(afterSuccess(failedTimes(7))).toEqual(CLOSED)
  expect(afterSuccess(resting)).toEqual({ ...CLOSED, restUntil: timestamp(MINUTE) })
  expect(afterSuccess(CLOSED)).toBe(CLOSED)
})

test('Retry-After counts with 429 and 503 only, never shortens a rest, and ends after a day', () => {
  const rest = (statusCode: number, retryAfterMs: number, breaker = CLOSED) =>
    failed(breaker, { statusCode, retryAfterMs, isProbe: true }).breaker.restUntil

  expect(rest(429, MINUTE)).toBe(timestamp(MINUTE))
  expect(rest(503, 10 * DAY)).toBe(timestamp(DAY))
  expect(rest(500, MINUTE)).toBeNull()
  expect(rest(429, 1, failedTimes(7))).toBe(timestamp(300_000))
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

  expect(moved).toEqual({ failuresInRow: 5, failingSince: null, restUntil: null, goneAt: null })
})

test('a clock that steps back takes every time along', () => {
  const gone = failed(failedTimes(6), { statusCode: 410, at: 1_000, isProbe: true }).breaker

  expect(movedBack(gone, 500)).toEqual({
    failuresInRow: 7,
    failingSince: timestamp(-500),
    restUntil: timestamp(120_500),
    goneAt: timestamp(500),
  })
})

function failed(breaker: Breaker, given: Partial<Record<keyof Failure, unknown>>) {
  const failure = { at: 0, statusCode: 500, retryAfterMs: null, isProbe: false, ...given }
  const ageOf = (since: number) => Number(failure.at) - since
  return afterFailure(breaker, { ...failure, ageOf } as Failure, DEFAULT_RETRY_SCHEDULE_MS)
}

function failedTimes(count: number): Breaker {
  let breaker = CLOSED
  for (let i = 0; i < count; i += 1) {
    breaker = failed(breaker, { isProbe: isOpen(breaker) }).breaker
  }
  return breaker
}
