import { expect, test } from 'bun:test'

import { askedDelay } from '../../src/webhooks/attempt.ts'

const ANSWERS: readonly (readonly [status: number, seconds: number | null, ms: number | null])[] = [
  [429, 60, 60_000],
  [503, 0, 0],
  [503, 1e8, 24 * 3_600_000],
  [429, null, null],
  [500, 60, null],
  [200, 60, null],
]

for (const [status, seconds, ms] of ANSWERS) {
  test(`${status} with Retry-After ${seconds} asks for ${ms} ms`, () => {
    expect(askedDelay(status, seconds)).toBe(ms)
  })
}
