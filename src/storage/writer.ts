import type { Changes } from '../system/changes.ts'
import type { Signal } from '../system/signal.ts'
import type { Db, Tx } from './database.ts'
import { isDiskFull, NotWrittenError, relayStopping, storageFull } from './faults.ts'
import { TakenOverError, type Guard } from './guard.ts'
import { LostFileError } from './open-files.ts'
import { forgetRows } from './recent-rows.ts'

/** A synchronous work: a promise would be committed before it ends, so its type is refused. */
export type Work<T> = (tx: Tx) => T extends PromiseLike<unknown> ? never : T

/**
 * A `repeatable` work changes nothing but the database and what can stand it twice: where a fault undoes
 * it, it is run again. A group of such works needs no savepoints, for which SQLite copies every page
 * that a work changes: a fifth of what it does for a message.
 */
type Kind = 'once' | 'repeatable'

/** How the promise of a work settles once its group is committed. */
type End = { readonly settle: (value: never) => void; readonly value: never }

type Waiting = {
  readonly kind: Kind
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
 * The only way to write. Works that arrive together share one `BEGIN IMMEDIATE … COMMIT`, in the order
 * of arrival, and one that throws undoes itself only; every promise settles after the commit. One flush
 * of the disk thus serves many requests, at full durability.
 */
export class Writer {
  readonly #control: ReturnType<typeof prepareControl>
  readonly #tx: { -readonly [K in keyof Tx]: Tx[K] }
  readonly #guard: Guard
  readonly #onFatal: (error: unknown) => void
  readonly #onDiskFull: () => void
  readonly #changes: ChangeTeller
  readonly #waiting: Waiting[] = []
  readonly #signals = new Set<Signal>()
  readonly #beforeCommit = new Set<() => void>()
  readonly #afterCommit: (() => void)[] = []
  #isScheduled = false
  /** Why nothing is written any more. */
  #refusal: Error | null = null

  /**
   * `onFatal` hears of data that are lost or another's, and of faults of ours: the process must not go
   * on. `onDiskFull` hears of every write that met a full disk; `changes`, of what a commit changed.
   */
  constructor(
    db: Db,
    onFatal: (error: unknown) => void,
    onDiskFull: () => void = () => {},
    changes: ChangeTeller = NOBODY,
  ) {
    this.#control = prepareControl(db)
    this.#tx = Object.assign(Object.create(db), { touched: null }) as Tx // Only `#commitGroup` hands it out, between BEGIN and COMMIT.
    this.#guard = db.guard
    this.#onFatal = onFatal
    this.#onDiskFull = onDiskFull
    this.#changes = changes
  }

  /**
   * Runs `work` in a transaction and resolves with its value once that is durable. Rejects, with
   * nothing of `work` kept, when it throws or the commit fails.
   */
  write<T>(work: Work<T>, kind: Kind = 'once'): Promise<T> {
    if (this.#refusal !== null) return Promise.reject(this.#refusal)
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.#waiting.push({ kind, work, resolve, reject })
    this.#schedule()
    return promise
  }

  /**
   * Calls `act` when the works of this group have run: the repeatable works that it brings share the
   * commit. It may read, but what it sees is not durable yet.
   */
  beforeCommit(act: () => void): void {
    this.#beforeCommit.add(act)
  }

  /** Notifies `signal` after the commit of the work that asks for it. */
  notifyAfterCommit(signal: Signal): void {
    this.#signals.add(signal)
  }

  /** Calls `act` after the commit of the work that asks for it; never when that is rolled back. */
  afterCommit(act: () => void): void {
    this.#afterCommit.push(act)
  }

  /** Commits what waits and refuses what comes later. */
  close(): void {
    while (this.#waiting.length > 0) this.#commitGroup()
    this.#refusal = new NotWrittenError('The writer is closed.')
  }

  /** Refuses what waits and what comes later: the process ends, and must write nothing more. */
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
    const touched = this.#changes.isWatched ? [] : null
    this.#tx.touched = touched
    let ends: readonly End[]
    try {
      this.#begin()
      ends = this.#runAtOnce(group) ?? this.#runAll(group, (waiting) => this.#runOne(waiting))
      this.#guard.requireInPlace()
      this.#control.commit.run()
    } catch (error) {
      this.#abandon(group, error)
      return
    }
    for (const { settle, value } of ends) settle(value)
    const acts = this.#afterCommit.splice(0)
    for (const act of acts) this.#perform(act)
    for (const signal of this.#signals) signal.notify()
    this.#signals.clear()
    if (touched !== null) this.#changes.tell(touched)
  }

  #begin(): void {
    this.#control.begin.run()
    this.#guard.requireOwn()
  }

  /** Runs a group without savepoints; null, and nothing of it is left, where that cannot be. */
  #runAtOnce(group: Waiting[]): readonly End[] | null {
    if (group.some(({ kind }) => kind === 'once')) return null
    try {
      const ends = this.#runAll(group, ({ work, resolve }) => ({
        settle: resolve,
        value: this.#valueOf(work),
      }))
      this.#tx.late.write()
      return ends
    } catch (error) {
      this.#forget(error, { acts: 0, touched: 0 })
      this.#control.rollback.run()
      this.#begin()
      return null
    }
  }

  /** Runs a group by `run`, with all that joins it meanwhile. */
  #runAll(group: Waiting[], run: (waiting: Waiting) => End): readonly End[] {
    const ends: End[] = []
    for (const waiting of group) {
      ends.push(run(waiting))
      if (ends.length === group.length) this.#letJoin(group) // The loop goes on with those.
    }
    return ends
  }

  #letJoin(group: Waiting[]): void {
    const acts = [...this.#beforeCommit]
    this.#beforeCommit.clear()
    for (const act of acts) this.#perform(act)
    this.#requireTransaction(null)
    while (this.#waiting[0]?.kind === 'repeatable' && group.length < GROUP_MAX) {
      group.push(...this.#waiting.splice(0, 1))
    }
  }

  /** Runs one work in its savepoint. */
  #runOne({ work, resolve, reject }: Waiting): End {
    const before = { acts: this.#afterCommit.length, touched: this.#tx.touched?.length ?? 0 }
    this.#control.savepoint.run()
    try {
      const value = this.#valueOf(work)
      this.#tx.late.write()
      this.#control.release.run()
      return { settle: resolve, value }
    } catch (error) {
      this.#forget(error, before)
      this.#control.rollbackTo.run()
      this.#control.release.run()
      return { settle: reject, value: this.#told(error) as never } // Any reason may be given.
    }
  }

  /** Before what failed is undone: so is all that was to follow its commit. */
  #forget(error: unknown, before: { readonly acts: number; readonly touched: number }): void {
    // SQLite may have rolled the whole group back by itself: then nothing more of it may run.
    this.#requireTransaction(error)
    this.#afterCommit.length = before.acts
    this.#tx.touched?.splice(before.touched)
    this.#tx.late.forget()
    forgetRows(this.#tx)
  }

  #valueOf(work: Waiting['work']): never {
    const value = work(this.#tx)
    this.#requireTransaction(null)
    return value as never // `write` tied the type of this value to that of its promise.
  }

  #requireTransaction(cause: unknown): void {
    if (this.#control.isOpen()) return
    throw new NotWrittenError('SQLite rolled the whole transaction back.', { cause })
  }

  #abandon(group: readonly Waiting[], error: unknown): void {
    this.#tx.late.forget()
    const isUndone = this.#control.isOpen()
    if (isUndone) {
      try {
        this.#control.rollback.run()
      } catch (failure) {
        this.#onFatal(failure)
      }
    }
    this.#beforeCommit.clear()
    this.#afterCommit.length = 0
    forgetRows(this.#tx)
    this.#signals.clear()
    const isLost = error instanceof LostFileError || error instanceof TakenOverError
    const told = isLost && isUndone ? relayStopping(error) : this.#told(error)
    for (const { reject } of group) reject(told)
    if (isLost) this.#onFatal(error)
  }

  /** No work is to blame for what goes along with a commit: a fault there is ours, and must not pass unseen. */
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
    isOpen: () => sqlite.inTransaction,
  }
}
