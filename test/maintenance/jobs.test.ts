import { expect, test } from 'bun:test'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'

import { defaultSetting, type SettingValues } from '../../src/domain/setting.ts'
import { dailyBackupJob } from '../../src/maintenance/backups.ts'
import { retentionJob } from '../../src/maintenance/maintenance.ts'
import { BackupWorker, dailyBackup } from '../../src/storage/backup.ts'
import type { Core } from '../../src/storage/core.ts'
import { openDatabase } from '../../src/storage/database.ts'
import type { Purge } from '../../src/storage/retention.ts'
import { ConfirmedClock } from '../../src/system/confirmed-clock.ts'
import { openDataDirectory } from '../../src/system/data-directory.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'
import { openTestStorage } from '../support/test-storage.ts'

const DAY_MS = 86_400_000

/** A core with settings of which a test chooses some. */
function coreWith(values: Partial<SettingValues>, clock = new TestClock()): Core {
  const { core } = openTestStorage()
  const settings: Core['settings'] = {
    ...core.settings,
    get: <N extends keyof SettingValues>(name: N): SettingValues[N] => {
      const held: SettingValues[N] | undefined = values[name]
      return held === undefined ? defaultSetting(name) : held
    },
  }
  return { ...core, clock: new ConfirmedClock(clock, null), settings }
}

/** A clock that goes on within a turn too, as it does while a statement runs. */
class SlowClock extends TestClock {
  #spentMs = 0

  spend(ms: number): void {
    this.#spentMs += ms
  }

  override monotonic(): number {
    return super.monotonic() + this.#spentMs
  }
}

function openRetention(
  values: Partial<SettingValues>,
  purges: readonly Purge[] = [],
  clock = new TestClock(),
) {
  const core = coreWith(values, clock)
  const { db, writer } = core
  storeLine(db.sqlite)
  const job = retentionJob(core, { purges, attachments: { sweep: async () => {} } })
  const stop = new AbortController()
  const ids = () => db.sqlite.query('SELECT id FROM messages ORDER BY seq').values().flat()
  return { clock, db, writer, job, stop, ids }
}

test('messages are kept for ever, or for as long as the owner says', async () => {
  const kept: unknown[] = []

  for (const settings of [{}, { message_retention_days: 90 }]) {
    const { db, job, stop, ids } = openRetention(settings)
    storeMessages(db.sqlite, [
      { id: 'ancient', status: 'read', createdAt: 0 },
      { id: 'old', status: 'read', createdAt: TEST_START - 91 * DAY_MS },
      { id: 'new', status: 'read', createdAt: TEST_START - 89 * DAY_MS },
    ])
    await job.run(stop.signal)
    kept.push(ids())
  }

  expect(kept).toEqual([['ancient', 'old', 'new'], ['new']])
})

test('what is old goes in batches of up to 500, with a pause between two', async () => {
  const asked: number[][] = []
  let left = 1_200
  const purge: Purge = (_tx, age, limit) => {
    const deleted = Math.min(left, limit)
    left -= deleted
    asked.push([age.now() - TEST_START, deleted])
    return deleted
  }
  const { clock, job, stop } = openRetention({}, [purge])

  const running = job.run(stop.signal)
  await clock.advance(1_000)
  await running

  expect(asked).toEqual([
    [0, 50],
    [20, 100],
    [40, 200],
    [60, 400],
    [80, 450],
  ])
})

test('a batch that takes long makes the next one as small as fits in ten milliseconds', async () => {
  const clock = new SlowClock()
  const asked: number[] = []
  // Milliseconds for a row: rows with words in the index, then some that are cheap, then one that is not.
  const costs = [1, 1, 0.02, 40, 40]
  const purge: Purge = (_tx, _age, limit) => {
    const cost = costs[asked.length]
    if (cost === undefined) return 0
    asked.push(limit)
    clock.spend(limit * cost)
    return limit
  }
  const { job, stop } = openRetention({}, [purge], clock)

  const running = job.run(stop.signal)
  await clock.advance(1_000)
  await running

  expect(asked).toEqual([50, 10, 10, 20, 1])
})

test('between two batches of a retention others write', async () => {
  const order: string[] = []
  let left = 3
  const purge: Purge = (_tx, _age, limit) => {
    order.push('batch')
    left -= 1
    return left === 0 ? 0 : limit
  }
  const { clock, writer, job, stop } = openRetention({}, [purge])

  const running = job.run(stop.signal)
  await clock.advance(0)
  await writer.write(() => void order.push('send'))
  await clock.advance(1_000)
  await running

  expect(order).toEqual(['batch', 'send', 'batch', 'batch'])
})

test('a retention that is stopped does no further batch', async () => {
  let batches = 0
  const endless: Purge = (_tx, _now, limit) => {
    batches += 1
    return limit
  }
  const { clock, job, stop } = openRetention({}, [endless])
  const running = job.run(stop.signal)
  await clock.advance(50)

  stop.abort()
  await running
  const before = batches
  await clock.advance(1_000)

  expect([before > 1, batches]).toEqual([true, before])
})

test('the nightly backup is made, copied to the second folder, and old ones go', async () => {
  using folder = new ScratchFolder()
  const directory = openDataDirectory(folder.file('data'))
  openDatabase(directory.database, { version: 'test' })
  for (const day of [1, 2, 3]) writeFileSync(dailyBackup(directory, day * DAY_MS).to, '')
  const second = folder.file('second')
  const destination = { worker: new BackupWorker(), directory, folder: second }
  const job = dailyBackupJob(coreWith({ backups_kept: 2 }), destination)

  await job.run(new AbortController().signal)

  expect(readdirSync(directory.backups).sort()).toEqual([
    'hookline-1970-01-04T00-00-00Z.db',
    'hookline-2026-11-21T10-00-00Z.db',
  ])
  expect(readdirSync(second)).toEqual(['hookline-2026-11-21T10-00-00Z.db'])
})

test('a second folder that fails leaves the first backup standing', async () => {
  using folder = new ScratchFolder()
  const directory = openDataDirectory(folder.file('data'))
  openDatabase(directory.database, { version: 'test' })
  writeFileSync(folder.file('second'), 'a file in its place')
  const destination = { worker: new BackupWorker(), directory, folder: folder.file('second') }
  const job = dailyBackupJob(coreWith({}), destination)

  const running = job.run(new AbortController().signal)

  await expect(running).rejects.toThrow()
  expect(existsSync(dailyBackup(directory, TEST_START).to)).toBe(true)
})

test('a backup that was missed is made soon after the start, one of today is not', () => {
  using folder = new ScratchFolder()
  const directory = openDataDirectory(folder.path)
  const core = coreWith({})
  const worker = { take: () => Promise.reject(new Error('not now')) }
  const destination = { worker, directory, folder: null }

  const missed = dailyBackupJob(core, destination).firstAfterMs
  writeFileSync(dailyBackup(directory, TEST_START - DAY_MS / 2).to, '')
  const recent = dailyBackupJob(core, destination).firstAfterMs

  expect([missed, recent]).toEqual([900_000, null])
})
