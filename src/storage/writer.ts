import type { ChangeFeed } from '../system/change-feed.ts'
import type { Db, Tx } from './database.ts'
import { LostFileError, TakenOverError, type Guard } from './guard.ts'
import { isDiskFull, NotWrittenError, relayStopping, storageFull } from './sqlite-errors.ts'

/** A synchronous function that writes. The type refuses a promise, because it would be committed before it ends. */
export type Work<T> = (tx: Tx) => T extends PromiseLike<unknown> ? never : T

type Waiting = {
  readonly work: (tx: Tx) => unknown
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

type Settle = () => void

type Changes = Pick<ChangeFeed, 'isWatched' | 'publish'>

const NO_FEED: Changes = { isWatched: false, publish() {} }

/** Most works in one commit. */
const GROUP_MAX = 512
const GATHER_TURNS_MAX = 8

/**
 * The only way to write. Works that arrive together share one `BEGIN IMMEDIATE … COMMIT`, in the order of arrival.
 * Each runs in a savepoint, so a work that throws undoes only itself. Every promise settles after the commit, so one
 * flush of the disk makes many requests durable.
 */
export class Writer {
  readonly #control: ReturnType<typeof prepareControl>
  readonly #tx: { -readonly [K in keyof Tx]: Tx[K] }
  readonly #guard: Guard
  readonly #onFatal: (error: unknown) => void
  readonly #onDiskFull: () => void
  readonly #changes: Changes
  readonly #waiting: Waiting[] = []
  readonly #afterCommit: (() => void)[] = []
  #isScheduled = false
  /** The reason why nothing is written anymore; null while works are accepted. */
  #refusal: Error | null = null

  /**
   * `onFatal` is called if the data are lost, another process took them over, or our own code fails: the process must
   * end. `onDiskFull` is called for each write that failed because the disk is full.
   */
  constructor(
    db: Db,
    onFatal: (error: unknown) => void,
    onDiskFull: () => void = () => {},
    changes: Changes = NO_FEED,
  ) {
    this.#control = prepareControl(db)
    this.#tx = { ...db, changes: null } as Tx // Only `#commitGroup` hands it out, between BEGIN and COMMIT.
    this.#guard = db.guard
    this.#onFatal = onFatal
    this.#onDiskFull = onDiskFull
    this.#changes = changes
  }

  /**
   * Runs `work` in a transaction and resolves with its value once that is durable. If it throws or the
   * commit fails, rejects and keeps nothing of `work`.
   */
  write<T>(work: Work<T>): Promise<T> {
    if (this.#refusal !== null) return Promise.reject(this.#refusal)
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.#waiting.push({ work, resolve, reject })
    this.#schedule()
    return promise
  }

  /** Calls `act` after the commit of the running work, unless that work is rolled back. */
  afterCommit(act: () => void): void {
    this.#afterCommit.push(act)
  }

  /** Commits waiting works and refuses later ones. */
  close(): void {
    while (this.#waiting.length > 0) this.#commitGroup()
    this.#refusal = new NotWrittenError('The writer is closed.')
  }

  /** Refuses waiting and later works: the process is ending and must not write anymore. */
  abandon(cause: unknown): void {
    const refusal = relayStopping(cause)
    this.#refusal = refusal
    for (const { reject } of this.#waiting.splice(0)) reject(refusal)
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#gather(1, GATHER_TURNS_MAX))
  }

  /**
   * Commits a single work at once. If others joined it, more are probably coming: as long as each turn of the event
   * loop brings some, one flush for all is worth waiting a turn.
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
    const changes = this.#changes.isWatched ? [] : null
    this.#tx.changes = changes
    let settles: readonly Settle[]
    try {
      this.#control.begin.run()
      this.#guard.requireOwn()
      settles = group.map((waiting) => this.#runOne(waiting))
      this.#guard.requireInPlace()
      this.#control.commit.run()
    } catch (error) {
      this.#undoGroup(group, error)
      return
    }
    for (const settle of settles) settle()
    for (const act of this.#afterCommit.splice(0)) this.#perform(act)
    if (changes !== null) this.#changes.publish(changes)
  }

  /** Runs one work in its savepoint; throws if SQLite itself rolled back the whole group. */
  #runOne({ work, resolve, reject }: Waiting): Settle {
    const before = { acts: this.#afterCommit.length, changes: this.#tx.changes?.length ?? 0 }
    this.#control.savepoint.run()
    try {
      const value = work(this.#tx) as never // `write` tied the type of this value to that of its promise.
      this.#requireTransaction(null)
      this.#control.release.run()
      return () => resolve(value)
    } catch (error) {
      this.#requireTransaction(error)
      this.#control.rollbackTo.run()
      this.#control.release.run()
      this.#afterCommit.length = before.acts
      this.#tx.changes?.splice(before.changes)
      const reason = this.#reasonFor(error)
      return () => reject(reason)
    }
  }

  #requireTransaction(cause: unknown): void {
    if (this.#control.isOpen()) return
    throw new NotWrittenError('SQLite rolled the whole transaction back.', { cause })
  }

  /** Rolls the group back and rejects all its promises. */
  #undoGroup(group: readonly Waiting[], error: unknown): void {
    const isUndone = this.#control.isOpen()
    if (isUndone) {
      try {
        this.#control.rollback.run()
      } catch (failure) {
        this.#onFatal(failure)
      }
    }
    this.#afterCommit.length = 0
    const isLost = error instanceof LostFileError || error instanceof TakenOverError
    const reason = isLost && isUndone ? relayStopping(error) : this.#reasonFor(error)
    for (const { reject } of group) reject(reason)
    if (isLost) this.#onFatal(error)
  }

  /** An error after the commit is not the fault of a work, so it is fatal rather than a rejection. */
  #perform(act: () => void): void {
    try {
      act()
    } catch (error) {
      this.#onFatal(error)
    }
  }

  #reasonFor(error: unknown): unknown {
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
    isOpen: () => sqlite.inTransaction,
  }
}
