// The startup check of a service whose database was migrated, or met damage in its last run. Until it ends as
// healthy, only the listener runs: nothing is accepted or sent, so a rollback loses and repeats nothing.
//
//   awaiting_upgrade ── confirmHealthy() ───────────────────────▶ healthy
//          └─────────── upgrade gone, or silent for too long ───▶ checking
//   checking ────────── database intact ────────────────────────▶ healthy
//       └────────────── damaged, or out of time ────────────────▶ failed (rollback or safe mode)
//   both ────────────── stop signal ────────────────────────────▶ interrupted

import { existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

import type { Data } from '../storage/data.ts'
import { UnusableDatabaseError } from '../storage/migrations.ts'
import { whenAborted, withTimeout, type Clock } from '../system/clock.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import { writeFileAtomically } from '../system/files.ts'
import { HeldElsewhereError, takeInstanceLock, type InstanceLock } from '../system/instance-lock.ts'
import type { Log } from '../system/log.ts'

type StartupState = 'awaiting_upgrade' | 'checking' | 'healthy' | 'failed' | 'interrupted'

type StartupData = Pick<Data, 'directory' | 'migration'>

/** Reading and comparing a gigabyte took 13 s on two slow cores. */
const CHECK_MS_PER_GIB = 60_000
const GIB = 2 ** 30
const POLL_MS = 1_000
/** An upgrade confirms within seconds; one stopped in a debugger must not block the start forever. */
const UPGRADE_MS_MAX = 15 * 60_000

export class StartupCheck {
  readonly #data: StartupData
  readonly #clock: Clock
  readonly #log: Log
  readonly #assertIntact: () => Promise<void>
  readonly #isWatched: () => boolean
  readonly #confirmed = new AbortController()
  #state: StartupState = 'awaiting_upgrade'
  #problem = ''

  constructor(
    data: StartupData,
    given: {
      readonly clock: Clock
      readonly log: Log
      /** Rejects with the damage of the database. */
      readonly assertIntact: () => Promise<void>
      /** True if an upgrade waits for this start. */
      readonly isWatched: () => boolean
    },
  ) {
    this.#data = data
    this.#clock = given.clock
    this.#log = given.log
    this.#assertIntact = given.assertIntact
    this.#isWatched = given.isWatched
  }

  get state(): StartupState {
    return this.#state
  }

  /** Called by the upgrade that waits for this start. */
  confirmHealthy(): void {
    this.#confirmed.abort()
  }

  /** Returns true once healthy, false once interrupted; throws an UnusableDatabaseError once failed. */
  async run(signal: AbortSignal): Promise<boolean> {
    for (;;) {
      this.#log.info('startup check', { state: this.#state })
      switch (this.#state) {
        case 'awaiting_upgrade':
          this.#state = await this.#awaitUpgrade(signal)
          break
        case 'checking':
          this.#state = await this.#checkDatabase(signal)
          break
        case 'healthy':
          this.#data.migration?.accept()
          rmSync(requestPath(this.#data.directory), { force: true })
          return true
        case 'interrupted':
          return false
        case 'failed':
          throw new UnusableDatabaseError(`The database failed its check: ${this.#problem}`)
      }
    }
  }

  async #awaitUpgrade(signal: AbortSignal): Promise<StartupState> {
    const clock = this.#clock
    const until = clock.monotonic() + UPGRADE_MS_MAX
    const end = AbortSignal.any([signal, this.#confirmed.signal])
    while (!end.aborted && clock.monotonic() < until && this.#isWatched()) {
      await clock.sleep(POLL_MS, end)
    }
    if (signal.aborted) return 'interrupted'
    return this.#confirmed.signal.aborted ? 'healthy' : 'checking'
  }

  async #checkDatabase(signal: AbortSignal): Promise<StartupState> {
    const { size } = statSync(this.#data.directory.database)
    const limitMs = CHECK_MS_PER_GIB * Math.max(1, size / GIB)
    const check = this.#assertIntact().then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    const late = `it took longer than ${Math.round(limitMs / 1_000)} seconds.`
    const problem = await Promise.race([
      withTimeout(this.#clock, limitMs, check, late),
      whenAborted(signal),
    ])
    if (signal.aborted) return 'interrupted'
    this.#problem = problem?.replace(/\.?$/, '.') ?? ''
    return problem === null ? 'healthy' : 'failed'
  }
}

/** True if the database was migrated, or met damage in the last run. */
export function needsStartupCheck({ directory, migration }: StartupData): boolean {
  return migration !== undefined || existsSync(requestPath(directory))
}

/** Makes the next start of the service check the database, because this run met damage. */
export function requestStartupCheck(directory: DataDirectory): void {
  writeFileAtomically(requestPath(directory), '')
}

/** The lock that an upgrade holds while it waits for a start on this data directory. */
export function watchStartup(directory: DataDirectory, now: number): InstanceLock {
  return takeInstanceLock(watchPath(directory), { since: now, task: 'upgrade', address: null })
}

/** True if an upgrade holds its lock; the kernel releases the lock however the upgrade ends. */
export function isWatched(directory: DataDirectory, now: number): boolean {
  if (!existsSync(watchPath(directory))) return false
  try {
    watchStartup(directory, now).release()
    return false
  } catch (error) {
    if (error instanceof HeldElsewhereError) return true
    throw error
  }
}

function watchPath({ path }: DataDirectory): string {
  return join(path, 'upgrade.lock')
}

function requestPath({ path }: DataDirectory): string {
  return join(path, 'damage-suspected')
}
