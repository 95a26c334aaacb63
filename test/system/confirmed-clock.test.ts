// The corners of the rule; what the relay makes of it is in `test/story/clock-*.test.ts`.

import { expect, test } from 'bun:test'

import { ConfirmedClock, type ClockMemory } from '../../src/system/confirmed-clock.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'

const SECOND = 1_000
const HOUR = 3_600_000
const DAY = 24 * HOUR
const nothing = async () => {}

test('a clock that is made faster or slower bit by bit is followed, and never jumps', async () => {
  const wall = new TestClock()
  const clock = new ConfirmedClock(wall, null)

  for (let minutes = 0; minutes < 300; minutes += 1) {
    await wall.advance(60 * SECOND)
    wall.step(minutes % 3 === 0 ? -200 : 500)
    clock.now()
  }

  expect(clock.now()).toBe(wall.now())
  expect(clock.doubt()).toBeNull()
})

test('what was slept through and what was jumped over are distinguished', async () => {
  const wall = new TestClock()
  const clock = new ConfirmedClock(wall, null)

  wall.doze(8 * HOUR)
  wall.step(DAY)

  expect(clock.now()).toBe(TEST_START + 8 * HOUR)
  expect(clock.doubt()).toMatchObject({ doubt: 'jumped', ms: DAY })
})

const RETURNS = [
  { name: 'to where it was', back: -HOUR, afterMs: HOUR - SECOND, forth: HOUR, isTrusted: true },
  { name: 'beyond where it was', back: -HOUR, afterMs: SECOND, forth: 2 * HOUR, isTrusted: false },
  { name: 'after an hour', back: -HOUR, afterMs: HOUR, forth: HOUR, isTrusted: false },
  { name: 'on half of the way', back: -DAY, afterMs: SECOND, forth: DAY / 2, isTrusted: false },
]

for (const { name, back, afterMs, forth, isTrusted } of RETURNS) {
  test(`a clock that was set back and returns ${name} is ${isTrusted ? 'followed' : 'in doubt'}`, async () => {
    const wall = new TestClock()
    const clock = new ConfirmedClock(wall, null)
    wall.step(back)
    clock.now()
    await wall.advance(afterMs)
    clock.now()

    wall.step(forth)

    expect(clock.now()).toBe(isTrusted ? wall.now() : wall.now() - forth)
    expect(clock.doubt()?.doubt ?? null).toBe(isTrusted ? null : 'jumped')
  })
}

test('ages are right across jumps that were believed, each on its own', async () => {
  const wall = new TestClock()
  const clock = new ConfirmedClock(wall, null)
  const ages = [TEST_START, TEST_START + 2 * HOUR + 5 * DAY]
  for (const jump of [5 * DAY, 7 * DAY]) {
    wall.step(jump)
    clock.now()
    await wall.advance(2 * HOUR)
    await clock.settle(nothing)
  }

  expect(clock.now()).toBe(TEST_START + 4 * HOUR + 12 * DAY)
  expect(ages.map((at) => clock.ageOf(at))).toEqual([4 * HOUR, 2 * HOUR])
  expect(clock.ago(4 * HOUR)).toBe(TEST_START)
  expect(clock.ageOf(clock.ago(3 * HOUR))).toBe(3 * HOUR)
})

test('what could not be written down, or was set again meanwhile, is not believed', async () => {
  const wall = new TestClock()
  const clock = new ConfirmedClock(wall, null)
  wall.step(DAY)
  clock.now()
  await wall.advance(2 * HOUR)

  const settling = clock.settle(() => Promise.reject(new Error('The disk is full.')))
  await expect(settling).rejects.toThrow('full')
  const unwritten = clock.now()
  await clock.settle(async () => wall.step(-DAY))

  expect([unwritten, clock.now()]).toEqual([TEST_START + 2 * HOUR, TEST_START + 2 * HOUR])
  expect(clock.ageOf(TEST_START)).toBe(2 * HOUR)
})

test('a start knows what was written down at the very moment of an end', async () => {
  const wall = new TestClock()
  const clock = new ConfirmedClock(wall, null)
  const written: ClockMemory[] = []
  wall.step(DAY)
  clock.now()
  await wall.advance(HOUR)
  await clock.settle(async (memory) => void written.push(memory))

  const again = new ConfirmedClock(new TestClock(wall.now()), written[0] ?? null)

  expect(again.now()).toBe(wall.now())
  expect(again.ageOf(TEST_START)).toBe(HOUR)
  expect(again.doubt()).toBeNull()
})
