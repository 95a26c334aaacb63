import { expect, test } from 'bun:test'

import { HealthCatalogue, HealthWatch, ofRelay } from '../../src/health/catalogue.ts'
import { LogicalClock } from '../../src/system/logical-clock.ts'
import { systemRandom } from '../../src/system/random.ts'
import { Signal } from '../../src/system/signal.ts'
import { TestClock } from '../support/test-clock.ts'

const FINDING = ofRelay({
  code: 'disk_low',
  severity: 'error',
  title: 'The disk is almost full',
  why: 'It is.',
  fix: 'Make room.',
  key: null,
  depends_on: null,
})

/** A watch that runs, over a catalogue that says what `findings` holds. */
function running(isWatched: boolean) {
  const clock = new TestClock()
  const health = new HealthCatalogue(new LogicalClock(clock, systemRandom, 0))
  const findings: (typeof FINDING)[] = []
  const seen = { asked: 0, told: 0 }
  health.include(async () => {
    seen.asked += 1
    return [...findings]
  })
  const changes = { isWatched, publish: () => void (seen.told += 1) }
  const healthSignal = new Signal()
  const end = new AbortController()
  const watch = new HealthWatch({ clock, changes, health, healthSignal })
  const ended = watch.run(end.signal)
  return {
    clock,
    findings,
    seen,
    healthSignal,
    stop: async () => {
      end.abort()
      await ended
    },
  }
}

test('while somebody watches it looks every fifteen seconds, and tells only what is new', async () => {
  const { clock, findings, seen, stop } = running(true)

  await clock.advance(15_000)
  const first = { ...seen }
  await clock.advance(30_000)
  const same = { ...seen }
  findings.push(FINDING)
  await clock.advance(15_000)
  const worse = { ...seen }
  await stop()

  expect(first).toEqual({ asked: 1, told: 1 })
  expect(same).toEqual({ asked: 3, told: 1 })
  expect(worse).toEqual({ asked: 4, told: 2 })
})

test('whoever knows that something changed has it looked at once', async () => {
  const { clock, seen, healthSignal, stop } = running(true)

  healthSignal.notify()
  await clock.advance(0)
  const { asked } = seen
  await stop()

  expect(asked).toBe(1)
})

test('while nobody watches it asks nobody', async () => {
  const { clock, seen, stop } = running(false)

  await clock.advance(3_600_000)
  await stop()

  expect(seen).toEqual({ asked: 0, told: 0 })
})

test('two who ask the catalogue at once put one question to the drivers', async () => {
  const health = new HealthCatalogue(new LogicalClock(new TestClock(), systemRandom, 0))
  let asked = 0
  health.include(async () => {
    asked += 1
    return [FINDING]
  })

  const [first, second] = await Promise.all([health.list(), health.list()])
  await health.list()

  expect(first).toEqual(second)
  expect(first.map(({ code }) => code)).toEqual(['disk_low'])
  expect(asked).toBe(2)
})
