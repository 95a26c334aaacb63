import { expect, test } from 'bun:test'

import { HealthCatalogue, ofRelay, ofWebhook } from '../../src/health/catalogue.ts'
import type { HealthFinding } from '../../src/health/catalogue.ts'
import { LogicalClock } from '../../src/system/logical-clock.ts'
import { systemRandom } from '../../src/system/random.ts'
import { TestClock } from '../support/test-clock.ts'

function found(code: string, key: string | null = null) {
  const words = { title: 'Title', why: 'Why.', fix: 'Fix.' }
  return { code, severity: 'warning', ...words, key, depends_on: null } as const
}

/** A catalogue whose findings are what `now` holds. */
function catalogue() {
  const clock = new TestClock()
  const health = new HealthCatalogue(new LogicalClock(clock, systemRandom, 0))
  const now: HealthFinding[] = []
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

test('one that is gone and comes again begins anew, and the others keep their age', async () => {
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

test('a finding that says nothing else is about its line, and without one about the relay', async () => {
  const { health, now } = catalogue()
  const { key: _, ...ofLine } = found('line_offline')
  now.push(ofRelay(found('storage_low')), { ...ofLine, lineId: 'line_a' })

  const list = await health.list()

  expect(list.map(({ line_id, about }) => ({ line_id, about }))).toEqual([
    { line_id: null, about: { kind: 'relay', id: null } },
    { line_id: 'line_a', about: { kind: 'line', id: 'line_a' } },
  ])
})
