import { expect, test } from 'bun:test'
import { truncateSync, writeFileSync } from 'node:fs'

import {
  StartupCheck,
  isWatched,
  needsStartupCheck,
  requestStartupCheck,
  watchStartup,
} from '../../src/hosting/startup-check.ts'
import { UnusableDatabaseError } from '../../src/storage/migrations.ts'
import { dataDirectoryAt } from '../../src/system/data-directory.ts'
import { silentLog } from '../../src/system/log.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'

const GIB = 2 ** 30

/** A startup check under way, on a database file of `sizeBytes`. */
class Rig implements Disposable {
  readonly folder = new ScratchFolder()
  readonly directory = dataDirectoryAt(this.folder.path)
  readonly clock = new TestClock()
  readonly stop = new AbortController()
  /** When the database was checked. */
  readonly checks: number[] = []
  /** How often the migration was accepted. */
  accepted = 0
  ended: boolean | string | null = null
  readonly check: StartupCheck

  constructor({
    sizeBytes = 0,
    isWatched = () => false,
    assertIntact = async () => {},
  }: {
    sizeBytes?: number
    isWatched?: () => boolean
    assertIntact?: () => Promise<void>
  }) {
    writeFileSync(this.directory.database, '')
    truncateSync(this.directory.database, sizeBytes)
    const migration = { from: 1, accept: () => void (this.accepted += 1) }
    this.check = new StartupCheck(
      { directory: this.directory, migration },
      {
        clock: this.clock,
        log: silentLog,
        isWatched,
        assertIntact: async () => {
          this.checks.push(this.clock.monotonic())
          await assertIntact()
        },
      },
    )
    this.check.run(this.stop.signal).then(
      (mayServe) => void (this.ended = mayServe),
      (error: unknown) =>
        void (this.ended = error instanceof UnusableDatabaseError && error.message),
    )
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]()
  }
}

const never = () => new Promise<void>(() => {})

test('without an upgrade, an intact database lets the relay serve and accepts its migration; a damaged one does not', async () => {
  using intact = new Rig({})
  using damaged = new Rig({
    assertIntact: () => Promise.reject(new Error('3 rows point to nothing.')),
  })

  await intact.clock.advance(0)
  await damaged.clock.advance(0)

  const sentence = 'The database failed its check: 3 rows point to nothing.'
  const ends = [intact, damaged].map(({ check, ended, accepted }) => [check.state, ended, accepted])
  expect(ends).toEqual([
    ['healthy', true, 1],
    ['failed', sentence, 0],
  ])
})

for (const [gibibytes, seconds] of [
  [0, 60],
  [3, 180],
] as const) {
  test(`the check of ${gibibytes} GiB has ${seconds} seconds`, async () => {
    using rig = new Rig({ assertIntact: never, sizeBytes: gibibytes * GIB })

    await rig.clock.advance(seconds * 1_000 - 1)
    const before = rig.check.state
    await rig.clock.advance(1)

    expect([before, rig.check.state]).toEqual(['checking', 'failed'])
    expect(rig.ended).toContain(`it took longer than ${seconds} seconds.`)
  })
}

test('while an upgrade runs, its word is awaited and nothing is checked', async () => {
  using rig = new Rig({ isWatched: () => true })

  await rig.clock.advance(600_000)
  const before = rig.check.state
  rig.check.confirmHealthy()
  await rig.clock.advance(0)

  expect([before, rig.ended, rig.checks, rig.accepted]).toEqual(['awaiting_upgrade', true, [], 1])
})

test('after an upgrade that dies without a word the database is checked', async () => {
  let isAlive = true
  using rig = new Rig({ isWatched: () => isAlive })

  await rig.clock.advance(10_000)
  isAlive = false
  await rig.clock.advance(1_000)

  expect([rig.checks, rig.ended]).toEqual([[11_000], true])
})

test('an upgrade that is silent for a quarter of an hour is awaited no longer', async () => {
  using rig = new Rig({ isWatched: () => true })

  await rig.clock.advance(899_000)
  const before = rig.check.state
  await rig.clock.advance(1_000)

  expect([before, rig.checks, rig.ended]).toEqual(['awaiting_upgrade', [900_000], true])
})

for (const isUpgrade of [true, false]) {
  test(`a stop interrupts the ${isUpgrade ? 'wait for an upgrade' : 'check'}`, async () => {
    using rig = new Rig({ isWatched: () => isUpgrade, assertIntact: never })
    await rig.clock.advance(1_500)

    rig.stop.abort()
    await rig.clock.advance(0)

    expect([rig.check.state, rig.ended, rig.accepted]).toEqual(['interrupted', false, 0])
  })
}

test('an upgrade watches for as long as it holds its lock, and only one does', () => {
  using folder = new ScratchFolder()
  const directory = dataDirectoryAt(folder.path)

  const before = isWatched(directory, TEST_START)
  const watch = watchStartup(directory, TEST_START)
  const during = isWatched(directory, TEST_START)
  expect(() => watchStartup(directory, TEST_START)).toThrow('hookline upgrade, process')
  watch.release()

  expect([before, during, isWatched(directory, TEST_START)]).toEqual([false, true, false])
})

test('a start after damage is checked, and those after a check that passed are not', async () => {
  using rig = new Rig({ isWatched: () => true })
  const data = { directory: rig.directory }

  const before = needsStartupCheck(data)
  requestStartupCheck(rig.directory)
  const met = needsStartupCheck(data)
  rig.check.confirmHealthy()
  await rig.clock.advance(0)

  expect([before, met, needsStartupCheck(data)]).toEqual([false, true, false])
})
