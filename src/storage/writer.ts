import { RelayError } from '../domain/errors.ts'
import type { Bell } from '../system/bell.ts'
import type { Changes } from '../system/changes.ts'
import type { Db, Tx } from './database.ts'
import { forgetRows } from './recent-rows.ts'

/** A synchronous work: a promise would be committed before it ends, so its type is refused. */
export type Work<T> = (tx: Tx) => T extends PromiseLike<unknown> ? never : T

type Waiting = {
  readonly work: (tx: Tx) => unknown
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

/** Where it is told what a commit changed. */
type ChangeTeller = Pick<Changes, 'isWatched' | 'tell'>

const NOBODY: ChangeTeller = { isWatched: false, tell() {} }

/** How many works share a commit at most. */
const GROUP_MAX = 512
const GATHER_TURNS_MAX = 8

/**
 * The only way to write. Works that arrive together share one `BEGIN IMMEDIATE … COMMIT`, each in a
 * savepoint of its own, in the order of arrival; every promise settles after the commit. One flush of
 * the disk thus serves many requests, at full durability.
 */
export class Writer {
  readonly #control: ReturnType<typeof prepareControl>
  readonly #tx: { -readonly [K in keyof Tx]: Tx[K] }
  readonly #onFatal: (error: unknown) => void
  readonly #onDiskFull: () => void
  readonly #changes: ChangeTeller
  readonly #waiting: Waiting[] = []
  readonly #bells = new Set<Bell>()
  readonly #afterCommit: (() => void)[] = []
  #isScheduled = false
  #isClosed = false

  /**
   * `onFatal` hears of an I/O error or damage: the process must not go on. `onDiskFull` hears of every
   * write that met a full disk; `changes`, of what a commit changed.
   */
  constructor(
    db: Db,
    onFatal: (error: unknown) => void,
    onDiskFull: () => void = () => {},
    changes: ChangeTeller = NOBODY,
  ) {
    this.#control = prepareControl(db)
    this.#tx = { ...db, touched: null } as Tx // Only `#commitGroup` hands it out, between BEGIN and COMMIT.
    this.#onFatal = onFatal
    this.#onDiskFull = onDiskFull
    this.#changes = changes
  }

  /**
   * Runs `work` in a transaction and resolves with its value once that is durable. Rejects, with
   * nothing of `work` kept, when it throws or the commit fails.
   */
  write<T>(work: Work<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(new NotWrittenError('The writer is closed.'))
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve, reject })
      this.#schedule()
    })
  }

  /** Rings `bell` after the commit of the work that asks for it. */
  ringAfterCommit(bell: Bell): void {
    this.#bells.add(bell)
  }

  /** Calls `act` after the commit of the work that asks for it; never when that is rolled back. */
  afterCommit(act: () => void): void {
    this.#afterCommit.push(act)
  }

  /** Commits what waits and refuses what comes later. */
  close(): void {
    while (this.#waiting.length > 0) this.#commitGroup()
    this.#isClosed = true
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#gather(1, GATHER_TURNS_MAX))
  }

  /**
   * A work that came alone is committed at once. Where others joined it, more are under way: as long as
   * each turn of the event loop brings some, their flush is worth more than that turn.
   */
  #gather(known: number, turns: number): void {
    const { length } = this.#waiting
    if (length > known && length < GROUP_MAX && turns > 0) {
      setImmediate(() => this.#gather(length, turns - 1))
      return
    }
    this.#isScheduled = false
    this.#commitGroup()
    if (this.#waiting.length > 0) this.#schedule()
  }

  #commitGroup(): void {
    const group = this.#waiting.splice(0, GROUP_MAX)
    if (group.length === 0) return
    const settle: (() => void)[] = []
    const touched = this.#changes.isWatched ? [] : null
    this.#tx.touched = touched
    try {
      this.#control.begin.run()
      for (const waiting of group) settle.push(this.#runOne(waiting))
      this.#control.commit.run()
    } catch (error) {
      this.#abandon(group, error)
      return
    }
    for (const done of settle) done()
    const acts = this.#afterCommit.splice(0)
    for (const act of acts) this.#perform(act)
    for (const bell of this.#bells) bell.ring()
    this.#bells.clear()
    if (touched !== null) this.#changes.tell(touched)
  }

  /** Runs one work in its savepoint; what it returns settles the promise after the commit. */
  #runOne({ work, resolve, reject }: Waiting): () => void {
    const acts = this.#afterCommit.length
    const touched = this.#tx.touched?.length ?? 0
    this.#control.savepoint.run()
    try {
      const value = work(this.#tx) as never // `write` tied this value's type to `resolve`.
      this.#requireTransaction(null)
      this.#control.release.run()
      return () => resolve(value)
    } catch (error) {
      // SQLite may have rolled the whole group back by itself: then nothing more of it may run.
      this.#requireTransaction(error)
      this.#afterCommit.length = acts
      this.#tx.touched?.splice(touched)
      forgetRows(this.#tx)
      this.#control.rollbackTo.run()
      this.#control.release.run()
      const told = this.#told(error)
      return () => reject(told)
    }
  }

  #requireTransaction(cause: unknown): void {
    if (this.#tx.sqlite.inTransaction) return
    throw new NotWrittenError('SQLite rolled the whole transaction back.', { cause })
  }

  #abandon(group: readonly Waiting[], error: unknown): void {
    if (this.#tx.sqlite.inTransaction) {
      try {
        this.#control.rollback.run()
      } catch (failure) {
        this.#onFatal(failure)
      }
    }
    this.#afterCommit.length = 0
    forgetRows(this.#tx)
    this.#bells.clear()
    const told = this.#told(error)
    for (const { reject } of group) reject(told)
    if (isDamage(error)) this.#onFatal(error)
  }

  /** What follows a commit cannot undo it: a fault there is ours, and must not pass unseen. */
  #perform(act: () => void): void {
    try {
      act()
    } catch (error) {
      this.#onFatal(error)
    }
  }

  #told(error: unknown): unknown {
    if (!isDiskFull(error)) return error
    this.#onDiskFull()
    return storageFull(error)
  }
}

function prepareControl({ sqlite }: Db) {
  return {
    begin: sqlite.prepare('BEGIN IMMEDIATE'),
    commit: sqlite.prepare('COMMIT'),
    rollback: sqlite.prepare('ROLLBACK'),
    savepoint: sqlite.prepare('SAVEPOINT work'),
    release: sqlite.prepare('RELEASE work'),
    rollbackTo: sqlite.prepare('ROLLBACK TO work'),
  }
}

/** The work was not at fault: nothing could be written just then. */
export class NotWrittenError extends Error {
  override readonly name = 'NotWrittenError'
}

/** Whether SQLite says that the disk, or the file's allowed size, is full. */
function isDiskFull(error: unknown): boolean {
  return codesOf(error).includes('SQLITE_FULL')
}

function isDamage(error: unknown): boolean {
  return codesOf(error).some((code) => /^SQLITE_(IOERR|CORRUPT|NOTADB)/.test(code))
}

/** The code of an error and those of its causes: drizzle wraps what SQLite throws. */
function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const code = 'code' in error ? [String(error.code)] : []
  return [...code, ...codesOf(error.cause)]
}

/** What a caller is told while nothing can be stored. */
export function storageFull(cause?: unknown): RelayError {
  const error = new RelayError('storage_full', 'The disk of the relay is full.', {
    retryAfterSeconds: 30,
  })
  error.cause = cause
  return error
}
