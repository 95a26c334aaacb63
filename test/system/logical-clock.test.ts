import { expect, test } from 'bun:test'

import { LogicalClock } from '../../src/system/logical-clock.ts'
import { systemRandom } from '../../src/system/random.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'

test('a clock that steps back, or is behind what is stored, reorders nothing, and time goes on', async () => {
  const clock = new TestClock()
  const ids = new LogicalClock(clock, systemRandom, 0)
  const before = ids.now()
  const stored = new LogicalClock(clock, systemRandom, TEST_START + 5_000).now()

  clock.step(-3_600_000)
  const atOnce = ids.now()
  await clock.advance(60_000)
  const aMinuteLater = ids.now()
  await clock.advance(3 * 3_600_000)

  expect(before).toBe(TEST_START as never)
  expect(stored).toBe((TEST_START + 5_000) as never)
  expect(atOnce).toBe(before)
  expect(aMinuteLater).toBe((before + 30_000) as never)
  expect(ids.now()).toBe(clock.now() as never)
})

test('ten thousand ids of one millisecond are distinct and in order', () => {
  const ids = new LogicalClock(new TestClock(), systemRandom, 0)

  const made = Array.from({ length: 10_000 }, () => ids.id('msg'))

  expect(new Set(made).size).toBe(10_000)
  expect(made.toSorted()).toEqual(made)
})
