// The log of what the relay and its lines were doing. The clock starts at 10:00 UTC.

import { expect, test } from 'bun:test'

import { timestamp } from '../../src/domain/ids.ts'
import type { Tx } from '../../src/storage/database.ts'
import { FIGURE_PURGES, stateChanges } from '../../src/storage/stats.ts'
import { isoTime } from '../../src/system/iso-time.ts'
import { startDashboard } from '../http/dashboard-rig.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { TEST_START } from '../support/test-clock.ts'
import type { Json } from '../support/test-relay.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

async function oneLine(more: Parameters<typeof startDashboard>[0] = {}) {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  const relay = await startDashboard({ drivers: [driver], ...more })
  const browser = relay.database === more.database ? await relay.logIn() : await relay.claim()
  const [{ id }] = (await relay.lines()) as readonly [Json]
  const cells = async (): Promise<readonly Json[]> =>
    (await browser.get(`/dashboard/pictures/line/${id}`)).body.uptime
  /** Shares and reasons from the hour of the start on. */
  const known = async () => {
    const from = (await cells()).filter((cell) => cell.from >= isoTime(timestamp(TEST_START)))
    return from.map(({ online_share, reasons }) => [
      Math.round(online_share * 100),
      ...reasons.map(({ reason, seconds }: Json) => `${reason} ${seconds}`),
    ])
  }
  return { relay, device, browser, id, cells, known }
}

test('each hour says for how long a line was online, and why it was not; before the line nothing is known', async () => {
  const { relay, device, cells, known } = await oneLine()
  await using _ = relay
  await relay.clock.advance(HOUR + 15 * MINUTE)
  await device.goOffline()
  await relay.clock.advance(30 * MINUTE)
  await device.goOnline()
  await relay.clock.advance(30 * MINUTE)

  const all = await cells()
  expect(await known()).toEqual([[100], [50, 'unplugged 1800'], [100]])
  expect(all).toHaveLength(168)
  expect(all[0]).toMatchObject({
    from: '2026-11-14T13:00:00.000Z',
    online_share: null,
    reasons: [],
  })
})

test('time in which the relay did not run, or its machine slept, is no time online', async () => {
  const first = await oneLine()
  await first.relay.clock.advance(30 * MINUTE)
  await first.relay[Symbol.asyncDispose]()
  const { clock, database, key } = first.relay
  await clock.advance(TEST_START + HOUR - clock.now())
  const { relay, known } = await oneLine({ clock, database, key })
  await using _ = relay
  await clock.advance(HOUR)
  clock.doze(HOUR)
  await clock.advance(HOUR)

  const [started, running, asleep, awake] = await known()
  expect(started?.[1]).toBe('relay_stopped 1800')
  expect(running?.[0]).toBeGreaterThanOrEqual(99)
  expect(asleep?.[1]).toMatch(/^relay_interrupted 3[56]\d\d$/)
  expect(awake?.[0]).toBeGreaterThanOrEqual(98)
})

test('a line that comes and goes leaves one change in ten seconds, and the state that it ends with', async () => {
  const { relay, device, id } = await oneLine()
  await using _ = relay
  await relay.clock.advance(MINUTE)
  for (let n = 0; n < 200; n += 1) {
    await (n % 2 === 0 ? device.goOffline() : device.goOnline())
    await relay.clock.advance(150)
  }
  await device.goOffline('locked')
  await relay.clock.advance(MINUTE)

  const changes = stateChanges(relay.db, id, TEST_START + MINUTE - 1)
  const gaps = changes.slice(1).map(({ at }, place) => at - (changes[place]?.at ?? 0))
  expect(changes.length).toBeLessThanOrEqual(7)
  expect(Math.min(...gaps.slice(1))).toBeGreaterThan(0)
  expect(changes.at(-1)?.reason).toBe('locked')
})

test('Home has 90 cells of each line, 24 hours of what waited, and 404 hides a line that is not there', async () => {
  const { relay, device, browser, id } = await oneLine()
  await using _ = relay
  await device.goOffline()
  await relay.send({ to: '+12025550701', text: 'hello' }, { Prefer: 'respond-async' })
  await relay.clock.advance(HOUR)

  const { body: home } = await browser.get('/dashboard/pictures/home')
  const missing = await browser.get('/dashboard/pictures/line/line_none')
  const noHook = await browser.get('/dashboard/pictures/webhook/wh_none')

  expect(home.uptime).toMatchObject([{ phone_line_id: id }])
  expect(home.uptime[0].cells).toHaveLength(90)
  expect(home.uptime[0].cells.at(-1)).toMatchObject({
    from: '2026-11-21T08:00:00.000Z',
    to: '2026-11-21T16:00:00.000Z',
    reasons: [{ reason: 'unplugged' }],
  })
  expect(home.queue).toHaveLength(13)
  expect(home.queue.at(-1)).toMatchObject({ messages: 1, deliveries: 0 })
  expect([missing.status, noHook.status]).toEqual([404, 404])
})

test('figures are kept for 400 days, what waited for 30, and the state of a line for as long as it lasts', async () => {
  const { relay, device, id } = await oneLine()
  await using _ = relay
  await relay.send({ to: '+12025550701', text: 'hello' })
  await relay.clock.advance(HOUR)
  await device.goOffline()
  await relay.clock.advance(HOUR)
  const counts = (days: number) => {
    const ago = (ms: number) => relay.clock.now() + days * DAY - ms
    const age = { now: () => ago(0), ago, ageOf: () => 0 }
    for (const purge of FIGURE_PURGES) purge({ ...relay.db, changes: null } as Tx, age, 1_000)
    return ['message_quarters', 'queue_samples', 'relay_runs', 'line_states'].map(
      (table) =>
        relay.db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n,
    )
  }

  const before = stateChanges(relay.db, id, 0).length
  expect(counts(29)).toEqual([1, 25, 1, before])
  expect(counts(31)).toEqual([1, 0, 1, before])
  expect(counts(401)).toEqual([0, 0, 0, 1])
  expect(stateChanges(relay.db, id, Infinity)).toMatchObject([{ reason: 'unplugged' }])
})
