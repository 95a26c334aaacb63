import { expect, test } from 'bun:test'

import type { FindingCode } from '../../src/domain/finding-codes.ts'
import { lineScope, scoped, type ScopedFinding } from '../../src/domain/finding.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { HealthCatalogue, healthWatch, ofRelay, ofWebhook } from '../../src/health/catalogue.ts'
import { LogicalClock } from '../../src/system/logical-clock.ts'
import { systemRandom } from '../../src/system/random.ts'
import { Signal } from '../../src/system/signal.ts'
import { TestClock } from '../support/test-clock.ts'
import { openTestStorage } from '../support/test-storage.ts'

function found(code: FindingCode, key: string | null = null) {
  const words = { title: 'Title', why: 'Why.', fix: 'Fix.' }
  return { code, severity: 'warning', ...words, key, depends_on: null } as const
}

/** A catalogue whose findings are what `now` holds. */
function catalogue() {
  const clock = new TestClock()
  const health = new HealthCatalogue(new LogicalClock(clock, systemRandom, 0), () => new Map())
  const now: ScopedFinding[] = []
  health.include(async () => [...now])
  return { clock, health, now }
}

test('each webhook that fails has an age of its own', async () => {
  const { clock, health, now } = catalogue()
  now.push(ofWebhook(found('webhook_failing', 'wh_a')))
  const [first] = await health.list()
  await clock.advance(7 * 60_000)
  now.push(ofWebhook(found('webhook_failing', 'wh_b')))

  const list = await health.list()

  const [a, b] = list
  expect(list.map(({ about }) => about)).toEqual([
    { kind: 'webhook', id: 'wh_a' },
    { kind: 'webhook', id: 'wh_b' },
  ])
  expect(a?.since).toBe(first?.since ?? '')
  expect(Date.parse(b?.since ?? '') - Date.parse(a?.since ?? '')).toBeGreaterThanOrEqual(7 * 60_000)
})

test('a finding that is gone and comes back counts as new, and the others keep their age', async () => {
  const { clock, health, now } = catalogue()
  const [a, b] = ['wh_a', 'wh_b'].map((id) => ofWebhook(found('webhook_failing', id)))
  now.push(...[a, b].filter((one) => one !== undefined))
  const before = await health.list()
  const gone = now.splice(0, 1)
  await health.list()
  await clock.advance(60_000)
  now.push(...gone)

  const after = await health.list()

  const sinceOf = (list: typeof before, id: string) =>
    list.find(({ about }) => about.id === id)?.since ?? ''
  expect(sinceOf(after, 'wh_b')).toBe(sinceOf(before, 'wh_b'))
  expect(sinceOf(after, 'wh_a') > sinceOf(before, 'wh_a')).toBe(true)
})

test('a snoozed finding shows again once it is worse, or the time has come', async () => {
  const clock = new TestClock()
  const until = timestamp(clock.now() + 60_000)
  const snooze = { finding: 'storage_full relay ', severity: 'warning', until } as const
  const ids = new LogicalClock(clock, systemRandom, 0)
  const health = new HealthCatalogue(ids, () => new Map([[snooze.finding, snooze]]))
  let severity: ScopedFinding['severity'] = 'info'
  health.include(async () => [{ ...ofRelay(found('storage_full')), severity }])
  const isSnoozed = async () => (await health.list())[0]?.snoozed_until !== undefined
  const seen: boolean[] = []

  for (severity of ['info', 'warning', 'error'] as const) seen.push(await isSnoozed())
  severity = 'warning'
  await clock.advance(60_000)
  seen.push(await isSnoozed())

  expect(seen).toEqual([true, true, false, false])
})

test('a finding that says nothing else is about its line, and without one about the relay', async () => {
  const { health, now } = catalogue()
  const scope = lineScope('line_a')
  now.push(ofRelay(found('log_held')), scoped(found('line_offline'), scope))

  const list = await health.list()

  expect(list.map(({ line_id, about }) => ({ line_id, about }))).toEqual([
    { line_id: null, about: { kind: 'relay', id: null } },
    { line_id: 'line_a', about: { kind: 'line', id: 'line_a' } },
  ])
})

const FINDING = ofRelay(found('storage_full'))

/** A watch that runs, over a catalogue that says what `findings` holds. */
function running(isWatched: boolean) {
  const { core, clock } = openTestStorage()
  const { changes } = core
  const health = new HealthCatalogue(core.ids, () => new Map())
  const findings: (typeof FINDING)[] = []
  const seen = { asked: 0, told: 0 }
  health.include(async () => {
    seen.asked += 1
    return [...findings]
  })
  if (isWatched) changes.watch(new Signal())
  changes.publish = () => void (seen.told += 1)
  const healthSignal = new Signal()
  const end = new AbortController()
  const watch = healthWatch(core, { health, healthSignal })
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

test('while a page watches it is read every fifteen seconds, and reports only what is new', async () => {
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

test('a module that knows of a change makes the catalogue read at once', async () => {
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
  const health = new HealthCatalogue(
    new LogicalClock(new TestClock(), systemRandom, 0),
    () => new Map(),
  )
  let asked = 0
  health.include(async () => {
    asked += 1
    return [FINDING]
  })

  const [first, second] = await Promise.all([health.list(), health.list()])
  await health.list()

  expect(first).toEqual(second)
  expect(first.map(({ code }) => code)).toEqual(['storage_full'])
  expect(asked).toBe(2)
})
