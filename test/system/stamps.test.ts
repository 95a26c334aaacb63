import { expect, test } from 'bun:test'

import { LogicalClock } from '../../src/system/logical-clock.ts'
import { systemRandom } from '../../src/system/random.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'

test('a clock that steps back, or is behind what is stored, reorders nothing, and time goes on', async () => {
  const clock = new TestClock()
  const stamps = new LogicalClock(clock, systemRandom, 0)
  const before = stamps.now()
  const stored = new LogicalClock(clock, systemRandom, TEST_START + 5_000).now()

  clock.step(-3_600_000)
  const atOnce = stamps.now()
  await clock.advance(60_000)
  const aMinuteLater = stamps.now()
  await clock.advance(3 * 3_600_000)

  expect(before).toBe(TEST_START as never)
  expect(stored).toBe((TEST_START + 5_000) as never)
  expect(atOnce).toBe(before)
  expect(aMinuteLater).toBe((before + 30_000) as never)
  expect(stamps.now()).toBe(clock.now() as never)
})

test('ten thousand ids of one millisecond are distinct and in order', () => {
  const stamps = new LogicalClock(new TestClock(), systemRandom, 0)

  const ids = Array.from({ length: 10_000 }, () => stamps.id('msg'))

  expect(new Set(ids).size).toBe(10_000)
  expect(ids.toSorted()).toEqual(ids)
})
