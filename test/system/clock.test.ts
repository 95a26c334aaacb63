import { expect, test } from 'bun:test'

import { deadline } from '../../src/system/clock.ts'
import { TestClock } from '../support/test-clock.ts'

test('deadlines under one signal end with it, but for those that were over', () => {
  const clock = new TestClock()
  const outer = new AbortController()
  const [over, open, other] = [1, 2, 3].map(() => deadline(clock, 1_000, outer.signal))

  over?.clear()
  const before = [over, open, other].map((limit) => limit?.signal.aborted)
  outer.abort()
  const after = [over, open, other].map((limit) => limit?.signal.aborted)
  const late = deadline(clock, 1_000, outer.signal)

  expect(before).toEqual([false, false, false])
  expect(after).toEqual([false, true, true])
  expect(late.signal.aborted).toBeTrue()
})

test('a deadline ends alone when its time has come', async () => {
  const clock = new TestClock()
  const outer = new AbortController()
  const [short, long] = [deadline(clock, 1_000, outer.signal), deadline(clock, 3_000, outer.signal)]

  await clock.advance(2_000)

  expect([short.signal.aborted, long.signal.aborted, outer.signal.aborted]).toEqual([
    true,
    false,
    false,
  ])
})
