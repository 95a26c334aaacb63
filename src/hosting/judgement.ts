// Whether a start that migrated its database may serve. Until then the relay stands still: it takes
// nothing and sends nothing, so that the way back to the database of before loses and repeats nothing.

import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { UnusableDatabaseError } from '../storage/migrations.ts'
import { whenAborted, within, type Clock } from '../system/clock.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import { writeFileAtomically } from '../system/files.ts'
import { HeldElsewhereError, takeInstanceLock, type InstanceLock } from '../system/instance-lock.ts'

export type JudgementTools = {
  readonly clock: Clock
  /** Rejects with what is wrong with the database. */
  readonly requireSound: () => Promise<void>
  /** Whether an upgrade lives that watches this start, and judges in our place. */
  readonly isWatched: () => boolean
  /** Of the database. */
  readonly sizeBytes: number
}

/** How long the check may take: reading and comparing a gigabyte took 13 s on two slow cores. */
const CHECK_MS_PER_GIB = 60_000
const GIB = 2 ** 30
const LOOK_AGAIN_MS = 1_000
/** An upgrade says its word within seconds; one that is stopped in a debugger must not hold us for ever. */
const WATCHED_MS_MAX = 15 * 60_000

/** The judgement of one start. */
export class Judgement {
  readonly #tools: JudgementTools
  readonly #acquittal = new AbortController()

  constructor(tools: JudgementTools) {
    this.#tools = tools
  }

  /** The upgrade that watches found the relay healthy. */
  acquit(): void {
    this.#acquittal.abort()
  }

  /**
   * True as soon as the relay may serve, false where `signal` aborts first. Rejects with an
   * UnusableDatabaseError where it must not.
   */
  async verdict(signal: AbortSignal): Promise<boolean> {
    await this.#whileWatched(signal)
    if (signal.aborted) return false
    if (this.#acquittal.signal.aborted) return true
    const problem = await Promise.race([this.#check(), whenAborted(signal)])
    if (signal.aborted) return false
    if (problem === null) return true
    throw new UnusableDatabaseError(`The database does not pass its check: ${problem}`)
  }

  async #whileWatched(signal: AbortSignal): Promise<void> {
    const { clock, isWatched } = this.#tools
    const until = clock.monotonic() + WATCHED_MS_MAX
    const end = AbortSignal.any([signal, this.#acquittal.signal])
    while (!end.aborted && clock.monotonic() < until && isWatched()) {
      await clock.sleep(LOOK_AGAIN_MS, end)
    }
  }

  /** What is wrong with the database, or null. */
  async #check(): Promise<string | null> {
    const { clock, requireSound, sizeBytes } = this.#tools
    const limitMs = CHECK_MS_PER_GIB * Math.max(1, sizeBytes / GIB)
    const found = requireSound().then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    const late = `it took longer than ${Math.round(limitMs / 1_000)} seconds.`
    return within(clock, limitMs, found, late)
  }
}

/** Says to every relay that starts on this data directory that an upgrade watches it. */
export function takeWatch(directory: DataDirectory, now: number): InstanceLock {
  return takeInstanceLock(watchPath(directory), { since: now, task: 'upgrade', address: null })
}

/** Whether an upgrade runs on this data directory: the kernel lets go of its lock however it ends. */
export function isWatched(directory: DataDirectory, now: number): boolean {
  if (!existsSync(watchPath(directory))) return false
  try {
    takeWatch(directory, now).release()
    return false
  } catch (error) {
    if (error instanceof HeldElsewhereError) return true
    throw error
  }
}

/** Has the next start under a service judged, because this one met damage in the database. */
export function suspectDamage(directory: DataDirectory): void {
  writeFileAtomically(suspicionPath(directory), '')
}

export function isSuspected(directory: DataDirectory): boolean {
  return existsSync(suspicionPath(directory))
}

export function dropSuspicion(directory: DataDirectory): void {
  rmSync(suspicionPath(directory), { force: true })
}

function watchPath({ path }: DataDirectory): string {
  return join(path, 'upgrade.lock')
}

function suspicionPath({ path }: DataDirectory): string {
  return join(path, 'damage-suspected')
}
