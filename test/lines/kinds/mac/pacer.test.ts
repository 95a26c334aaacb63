import { expect, test } from 'bun:test'

import { Pacer } from '../../../../src/lines/kinds/mac/pacer.ts'
import { TestClock } from '../../../support/test-clock.ts'
import { seededRandom } from '../../../support/test-relay.ts'

function makePacer() {
  const clock = new TestClock()
  return { clock, pacer: new Pacer({ clock, random: seededRandom(1) }) }
}

test('the first message goes at once, the next one after a second or a little more', () => {
  const { pacer } = makePacer()

  const first = pacer.delayMs(false)
  pacer.spend(false)
  const second = pacer.delayMs(false)

  expect(first).toBe(0)
  expect(second).toBeGreaterThanOrEqual(1_000)
  expect(second).toBeLessThan(1_500)
})

test('somebody new is written to two to six seconds after the last one who was', () => {
  const { pacer } = makePacer()

  pacer.spend(true)

  expect(pacer.delayMs(true)).toBeGreaterThanOrEqual(2_000)
  expect(pacer.delayMs(true)).toBeLessThan(6_000)
  expect(pacer.delayMs(false)).toBeLessThan(1_500)
})

test('over an hour no more than thirty a minute go', async () => {
  const { clock, pacer } = makePacer()
  const HOUR_MS = 3_600_000
  let count = 0

  while (clock.monotonic() < HOUR_MS) {
    pacer.spend(false)
    count += 1
    await clock.advance(pacer.delayMs(false))
  }

  expect(count).toBeGreaterThan(30 * 60)
  expect(count).toBeLessThanOrEqual(30 * 60 + 31)
})

test('after a pause nothing goes until it is over, and a shorter one does not end it', async () => {
  const { clock, pacer } = makePacer()

  pacer.pause(5_000)
  pacer.pause(1_000)
  await clock.advance(2_000)
  const during = pacer.delayMs(false)
  await clock.advance(3_000)

  expect([during, pacer.delayMs(false)]).toEqual([3_000, 0])
})

test('thirty may go at once, also after hours without any, and the next one waits for two seconds', async () => {
  const { clock, pacer } = makePacer()
  await clock.advance(3_600_000)

  for (let i = 0; i < 30; i += 1) pacer.spend(false)

  expect(pacer.delayMs(false)).toBe(2_000)
})
