import { expect, test } from 'bun:test'

import { deadline } from '../../src/system/clock.ts'
import { TestClock } from '../support/test-clock.ts'

test('a deadline ends alone when its time has come, and all that are not over with their signal', async () => {
  const clock = new TestClock()
  const outer = new AbortController()
  const over = deadline(clock, 1_000, outer.signal)
  const [short, long] = [deadline(clock, 1_000, outer.signal), deadline(clock, 3_000, outer.signal)]
  const states = () => [over, short, long, outer].map(({ signal }) => signal.aborted)

  over.clear()
  await clock.advance(2_000)
  const before = states()
  outer.abort()
  const late = deadline(clock, 1_000, outer.signal)

  expect(before).toEqual([false, true, false, false])
  expect(states()).toEqual([false, true, true, true])
  expect(late.signal.aborted).toBeTrue()
})
