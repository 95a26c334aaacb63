// Alerts over restarts, restores and clocks that are set.

import { expect, test } from 'bun:test'

import { timestamp } from '../../src/domain/ids.ts'
import { wholeBackup } from '../../src/storage/backup.ts'
import { restoreBackup } from '../../src/storage/restore.ts'
import { takeSnapshot } from '../../src/storage/snapshot.ts'
import { openDataDirectory } from '../../src/system/data-directory.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { ends } from '../support/scripted-driver.ts'
import { noBackups, type Json } from '../support/test-relay.ts'
import { MINUTE, startAlerts, type AlertStage } from './alerts-stage.ts'

const HOUR = 60 * MINUTE

type Lines = readonly ('online' | 'offline')[]

/** Ends a relay in order, and starts it again on its files with these lines. */
async function startAgain(before: AlertStage, path: string, lines: Lines) {
  await before[Symbol.asyncDispose]()
  return startAlerts({ path, lines, clock: before.clock, key: before.key })
}

test('a restart in the middle of a cause raises no second alert and loses no all-clear', async () => {
  using folder = new ScratchFolder()
  const path = folder.file('a.db')
  const first = await startAlerts({ path })
  await first.ntfy()
  await first.hook()
  await first.device.goOffline()
  await first.passes(6 * MINUTE)
  const told = [first.posts().length, first.heard().length]

  const second = await startAgain(first, path, ['offline', 'online'])
  await second.passes(20 * MINUTE)
  const meanwhile = second.posts().length
  await using third = await startAgain(second, path, ['online', 'online'])
  await third.passes(5 * MINUTE)

  expect([told, meanwhile]).toEqual([[1, 1], 0])
  expect(third.posts()).toMatchObject([{ title: 'Hookline: 1 over' }])
  expect(third.heard().map(({ event }) => event)).toEqual(['alert.resolved'])
  expect(await third.alerts()).toHaveLength(1)
})

test('a failed backup that a restart forgets is not said to be over', async () => {
  using folder = new ScratchFolder()
  const path = folder.file('a.db')
  const take = () => Promise.reject(new Error('The disk says no.'))
  const parts = { backupWorker: { ...noBackups, take } }
  const first = await startAlerts({ path, parts })
  await first.ntfy()
  // A busy machine takes its time for the first look.
  for (let n = 0; n < 12 && first.posts().length === 0; n += 1) await first.passes(30 * MINUTE)
  const told = first.posts().map(({ title }) => title)
  await first[Symbol.asyncDispose]()

  await using second = await startAlerts({ path, parts, clock: first.clock, key: first.key })
  await second.passes(10 * MINUTE)

  expect(told).toEqual(['Hookline: 1 problem'])
  expect(second.posts()).toEqual([])
})

test('a text whose outcome is unknown for two days is followed no longer', async () => {
  using folder = new ScratchFolder()
  const path = folder.file('a.db')
  const first = await startAlerts({ path })
  await first.phone()
  first.second.script = ends({ outcome: 'unknown', reason: 'timed_out' })
  await first.device.goOffline()
  await first.passes(6 * MINUTE)
  const outcomes = async (at: AlertStage) =>
    (await at.alerts())[0]?.notices.map(({ status, error }: Json) => `${status} ${error}`)
  const before = await outcomes(first)
  await first[Symbol.asyncDispose]()
  await first.clock.advance(48 * HOUR)

  await using second = await startAlerts({ path, clock: first.clock, key: first.key })
  const started = await outcomes(second)
  // The time off counts once the clock has been steady for an hour.
  await second.passes(61 * MINUTE)

  expect([before, started]).toEqual([['handed_over uncertain'], ['handed_over uncertain']])
  expect(await outcomes(second)).toEqual(['done null', 'failed uncertain'])
})

test('a cause that lasts over a restart is raised by its whole time', async () => {
  using folder = new ScratchFolder()
  const path = folder.file('a.db')
  const first = await startAlerts({ path })
  await first.ntfy()
  await first.device.goOffline()
  await first.passes(3 * MINUTE)

  await using second = await startAgain(first, path, ['offline', 'online'])
  await second.passes(2 * MINUTE)

  expect(second.posts()).toHaveLength(1)
})

test('a start of all lines is no cause, however often the relay restarts', async () => {
  using folder = new ScratchFolder()
  const path = folder.file('a.db')
  let at = await startAlerts({ path })
  await at.ntfy()
  for (let restart = 0; restart < 10; restart += 1) {
    await at.passes(MINUTE)
    at = await startAgain(at, path, ['online', 'online'])
  }

  expect(await at.alerts()).toEqual([])
  await at[Symbol.asyncDispose]()
})

for (const [jump, ms] of [
  ['back by an hour', -HOUR],
  ['forward by an hour', HOUR],
  ['back by a day', -24 * HOUR],
] as const) {
  test(`a clock that is set ${jump} neither raises an alert early nor holds one back`, async () => {
    await using at = await startAlerts()
    await at.ntfy()
    await at.device.goOffline()
    await at.passes(MINUTE)

    at.clock.step(ms)
    await at.passes(3 * MINUTE)
    const early = at.posts().length
    await at.passes(2 * MINUTE)
    const raised = at.posts().length
    await at.device.goOnline()
    await at.passes(MINUTE)

    expect([early, raised]).toEqual([0, 1])
    expect(at.posts()[1].message).toMatch(/\(after 6 minutes\)/)
  })
}

test('a clock that is set back by a day does not use up the notices of an hour', async () => {
  await using at = await startAlerts()
  await at.rule('line_off', { after_minutes: 1 })
  await at.ntfy()
  for (let round = 0; round < 2; round += 1) {
    await at.device.goOffline()
    await at.passes(3 * MINUTE)
    await at.device.goOnline()
    await at.passes(3 * MINUTE)
  }
  at.clock.step(-24 * HOUR)
  await at.passes(HOUR)
  await at.device.goOffline()
  await at.passes(3 * MINUTE)

  expect(at.posts()).toHaveLength(5)
})

test('after a restore no old notice is sent, and what is still wrong is an alert again', async () => {
  using folder = new ScratchFolder()
  const directory = openDataDirectory(folder.path)
  const before = await startAlerts({ path: directory.database })
  await before.phone()
  await before.ntfy({ quiet_hours: { from: '09:00', to: '13:00' } })
  await before.device.goOffline()
  await before.passes(6 * MINUTE)
  const [raised] = await before.alerts()
  const waiting = (await before.alerts())[0].notices.map(({ status }: { status: string }) => status)
  takeSnapshot(wholeBackup(directory, folder.file('backup.db')))
  await before[Symbol.asyncDispose]()
  await before.clock.advance(HOUR)
  const now = timestamp(before.clock.now())
  restoreBackup({ directory, file: folder.file('backup.db'), version: 'test', now })

  await using at = await startAlerts({
    path: directory.database,
    clock: before.clock,
    key: before.key,
    lines: ['online', 'online'],
  })
  await at.passes(4 * HOUR)
  const quiet = [at.texts().length, at.posts().length]
  const old = await at.alerts()
  await at.device.goOffline()
  await at.passes(6 * MINUTE)

  expect(waiting.toSorted()).toEqual(['done', 'waiting'])
  expect(quiet).toEqual([0, 0])
  expect(old).toMatchObject([
    {
      id: raised?.id,
      resolved_at: new Date(now).toISOString(),
      notices: expect.arrayContaining([expect.objectContaining({ error: 'restored' })]),
    },
  ])
  // What came after the backup isn't known.
  expect(old[0]?.lasted_seconds).toBeWithin(5 * 60, 6 * 60 + 1)
  expect([at.texts().length, at.posts().length]).toEqual([1, 1])
}, 60_000)

test('a rule decides how long, for which lines, and whether at all', async () => {
  await using at = await startAlerts()
  await at.ntfy()
  const [first, second] = await at.lines()
  const rule = await at.rule('line_off', { after_minutes: 20, phone_line_ids: [second.id] })
  await at.device.goOffline()
  await at.second.goOffline()

  await at.passes(15 * MINUTE)
  const early = at.posts().length
  await at.passes(10 * MINUTE)
  await at.rule('webhook_failing', { is_enabled: false })
  const rules = (await at.owner('GET', '/alerts/rules')).data
  const unknown = await at.rule('line_off', { phone_line_ids: ['line_x'] })

  expect(rule).toEqual({
    cause: 'line_off',
    after_minutes: 20,
    phone_line_ids: [second.id],
    site_ids: null,
    is_enabled: true,
  })
  expect(early).toBe(0)
  expect((await at.alerts()).map((alert) => alert.phone_line_id)).toEqual([second.id])
  expect(first.id).not.toBe(second.id)
  expect(rules).toHaveLength(7)
  expect(rules[1]).toMatchObject({ cause: 'webhook_failing', after_minutes: 10, is_enabled: false })
  expect(unknown.error.code).toBe('phone_line_not_found')
})

test('a finding that the owner has put off is no alert', async () => {
  await using at = await startAlerts()
  await at.ntfy()
  await at.device.goOffline()
  await at.passes(MINUTE)
  const until = new Date(at.clock.now() + 2 * HOUR).toISOString()
  const about = { kind: 'line', id: at.line.id }
  await at.owner('PUT', '/snoozes', { code: 'line_offline', about, until })

  await at.passes(HOUR)

  expect(at.posts()).toEqual([])
})
