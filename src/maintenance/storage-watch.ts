import type { Finding } from '../domain/finding.ts'
import type { Core } from '../storage/core.ts'
import type { Data } from '../storage/data.ts'
import { storageFull } from '../storage/sqlite-errors.ts'
import type { Clock } from '../system/clock.ts'
import { freeBytes } from '../system/files.ts'
import type { Log } from '../system/log.ts'
import type { Service } from '../system/service.ts'
import type { Signal } from '../system/signal.ts'

/** Below this, no message is accepted or passes its point of no return, and no event is delivered. */
export const FREE_BYTES_MIN = 256 * 1024 * 1024

/** The log stays at a few MiB, unless a program keeps reading an older state of the database. */
const LOG_BYTES_MAX = 256 * 1024 * 1024

const INTERVAL_MS = 10_000

/** The disk of the data directory. */
export type WatchedDisk = {
  freeBytes(): number
  /** The size of the database's write-ahead log. */
  logBytes(): number
  /** Throws if a file of the data directory is no longer the one that the relay has open. */
  requireInPlace(): void
}

/** The disk as this machine has it, but for the readings that tests replace. */
export function watchedDisk(
  { db, directory }: Pick<Data, 'db' | 'directory'>,
  replaced: Partial<WatchedDisk> = {},
): WatchedDisk {
  return {
    freeBytes: () => freeBytes(directory.path),
    logBytes: () => Bun.file(`${directory.database}-wal`).size,
    requireInPlace: () => db.guard.requireInPlace(),
    ...replaced,
  }
}

/** Watches the free space of the disk, and that the data are still there: every 10 s, and after a failed write. */
export class DiskWatch implements Service {
  readonly name = 'disk-watch'
  readonly #deps: ConstructorParameters<typeof DiskWatch>[1]
  readonly #disk: WatchedDisk
  #free = Number.POSITIVE_INFINITY
  #logBytes = 0

  constructor(
    disk: WatchedDisk,
    deps: {
      readonly clock: Clock
      readonly log: Log
      /** Called with the error of `requireInPlace`; the process must end. */
      readonly onLost: (error: unknown) => void
      /** Called when `isLow` changes. */
      readonly onChange: (isLow: boolean) => void
    },
  ) {
    this.#disk = disk
    this.#deps = deps
    this.check()
  }

  get isLow(): boolean {
    return this.#free < FREE_BYTES_MIN
  }

  /** Throws if nothing is accepted. */
  requireRoom(): void {
    if (this.isLow) throw storageFull()
  }

  /** Throws if `bytes` more would leave the relay without room. */
  requireRoomFor(bytes: number): void {
    if (this.#readFree() - bytes >= FREE_BYTES_MIN) return
    throw storageFull(undefined, 'The disk of the relay has no room for it.')
  }

  get #isLogHeld(): boolean {
    return this.#logBytes > LOG_BYTES_MAX
  }

  check(): void {
    this.#checkLog()
    const wasLow = this.isLow
    this.#free = this.#readFree()
    if (this.isLow === wasLow) return
    const fields = { free_bytes: this.#free, needed_bytes: FREE_BYTES_MIN }
    if (this.isLow) this.#deps.log.error('disk almost full: nothing is accepted', fields)
    else this.#deps.log.info('disk has room again', fields)
    this.#deps.onChange(this.isLow)
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.check()
      this.#requireInPlace()
      await this.#deps.clock.sleep(INTERVAL_MS, signal)
    }
  }

  #checkLog(): void {
    const wasHeld = this.#isLogHeld
    this.#logBytes = this.#disk.logBytes()
    if (this.#isLogHeld === wasHeld) return
    const log = this.#deps.log
    const fields = { log_bytes: this.#logBytes }
    if (wasHeld) log.info('the log of the database was emptied', fields)
    else log.warn('another program holds the log of the database', fields)
  }

  /** If the free space can't be read, the disk counts as full. */
  #readFree(): number {
    try {
      return this.#disk.freeBytes()
    } catch (error) {
      if (!this.isLow) this.#deps.log.error('the free space of the disk cannot be read', { error })
      return 0
    }
  }

  #requireInPlace(): void {
    try {
      this.#disk.requireInPlace()
    } catch (error) {
      this.#deps.onLost(error)
    }
  }

  findings(): readonly Finding[] {
    const log = this.#isLogHeld ? heldLog(this.#logBytes) : null
    const disk = this.isLow ? fullDisk(this.#free, log) : null
    return [log, disk].filter((finding) => finding !== null)
  }
}

function heldLog(bytes: number): Finding {
  return {
    code: 'log_held',
    severity: 'warning',
    title: "The database's log can't be emptied: another program reads the database",
    why: `hookline.db-wal has ${mib(bytes)}, and grows with each write for as long as a program, such as a sqlite3 shell or a backup tool, keeps the database open in the middle of a read.`,
    fix: 'Close that program: "lsof hookline.db" in the data directory lists it. Hookline then empties the log by itself. For a copy, use "hookline backup".',
    key: null,
    depends_on: null,
  }
}

function fullDisk(free: number, log: Finding | null): Finding {
  return {
    code: 'storage_full',
    severity: 'error',
    title: 'The disk is almost full',
    why: `${mib(free)} are free. Hookline needs 256 MiB.`,
    fix:
      log?.fix ??
      'Free up space on the disk of the data directory, or move the directory to another disk.',
    key: null,
    depends_on: log?.code ?? null,
  }
}

function mib(bytes: number): string {
  return `${Math.floor(bytes / 1024 / 1024)} MiB`
}

/** A check reads the whole database, so errors in between wait for the next check. */
const PAUSE_MS = 60 * 60_000
const FOREVER_MS = 2 ** 31 - 1

/**
 * Checks the database after an unexpected error of a request: SQLite returns an overwritten row as if it were intact,
 * and only a check finds it. If the check finds damage, it ends the relay.
 */
export function integrityWatch(
  { clock, log }: Core,
  given: {
    /** Each unexpected error of a request notifies it. */
    readonly doubtSignal: Signal
    /** Rejects with the damage. */
    readonly assertIntact: () => Promise<void>
  },
): Service {
  const { doubtSignal, assertIntact } = given
  return {
    name: 'integrity-watch',
    async run(signal) {
      while (!signal.aborted) {
        await doubtSignal.wait(clock, FOREVER_MS, signal)
        if (signal.aborted) return
        await assertIntact().catch((error: unknown) =>
          log.error('the database failed its integrity check', { error }),
        )
        await clock.sleep(PAUSE_MS, signal)
      }
    },
  }
}
