// Moves pages from the write-ahead log into the database. SQLite does that within a commit, which then takes as long
// as some thousand pages and their flush do: 40 to 80 ms. Here a thread with a connection of its own copies them while
// the relay goes on writing. The log can only start over at a moment when no page is left in it, and under load more
// pages come in meanwhile; so the relay's own thread copies the last few, between two commits.

import { whenAborted, type Clock } from '../system/clock.ts'
import type { Service } from '../system/service.ts'
import type { CheckpointReply, CheckpointRequest } from './checkpoint-worker.ts'
import type { Core } from './core.ts'
import { CHECKPOINT_FRAMES, hasSqlite, type Db } from './database.ts'

const LOOK_MS = 1_000
/** The log is emptied from this length on: 16 MiB, which a start after a crash reads in a moment. */
const FRAMES_MIN = 4_000
/** So many pages the relay's own thread copies in about a millisecond. */
const LAST_FRAMES_MAX = 256
/** Copies by the thread in a row. Each leaves what was written during it: a few percent of the one before. */
const COPIES_MAX = 6
/** From this length on (64 MiB) the relay's own thread copies whatever the other one left. */
const FRAMES_MAX = 16_384
/** From this length on (512 MiB) SQLite copies pages within commits, whatever the thread does. */
const FRAMES_LIMIT = 131_072

type LogState = { readonly log: number; readonly checkpointed: number }

/** Keeps the write-ahead log short. Without it, SQLite does that within commits. */
export class Checkpoints implements Service {
  readonly name = 'checkpoints'
  readonly #db: Db
  readonly #clock: Clock
  readonly #thread: CheckpointThread

  constructor({ db, clock }: Pick<Core, 'db' | 'clock'>, path: string) {
    this.#db = db
    this.#clock = clock
    this.#thread = new CheckpointThread(db, path)
  }

  async run(signal: AbortSignal): Promise<void> {
    const { sqlite } = this.#db
    // 3.51 has NOOP. Before 3.51.3, two connections that checkpoint can damage the database (SQLite calls it the
    // WAL-reset bug); on macOS the system's SQLite may be that old.
    const isInMemory = this.#log('NOOP').log < 0
    if (isInMemory || !hasSqlite(sqlite, 51, 3)) {
      await whenAborted(signal)
      return
    }
    sqlite.run(`PRAGMA wal_autocheckpoint = ${FRAMES_LIMIT}`)
    try {
      while (!signal.aborted) {
        if (this.#log('NOOP').log >= FRAMES_MIN) await this.#empty()
        await this.#clock.sleep(LOOK_MS, signal)
      }
    } finally {
      sqlite.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_FRAMES}`)
      await this.#thread.close()
    }
  }

  async #empty(): Promise<void> {
    let state = this.#log('NOOP')
    for (let copies = 0; left(state) > LAST_FRAMES_MAX && copies < COPIES_MAX; copies += 1) {
      await this.#thread.copy()
      state = this.#log('NOOP')
    }
    const isShort = left(state) > 0 && left(state) <= LAST_FRAMES_MAX
    if (isShort || state.log >= FRAMES_MAX) this.#log('PASSIVE')
  }

  /** Runs a checkpoint that never waits, or none (`NOOP`); returns the pages in the log, and those copied. */
  #log(mode: 'NOOP' | 'PASSIVE'): LogState {
    const state = this.#db.sqlite.query<LogState, []>(`PRAGMA wal_checkpoint(${mode})`).get()
    return state ?? { log: -1, checkpointed: -1 }
  }
}

function left({ log, checkpointed }: LogState): number {
  return log - checkpointed
}

/** Starts with the first copy. It ends with the process: ending a thread that holds a database can crash it. */
class CheckpointThread {
  readonly #db: Db
  readonly #path: string
  #thread: Worker | null = null
  #isOpen = false
  #answer = Promise.withResolvers<CheckpointReply>()

  constructor(db: Db, path: string) {
    this.#db = db
    this.#path = path
  }

  /** Copies the pages of the log that no reader needs in their older state, and flushes them. */
  async copy(): Promise<void> {
    if (!this.#isOpen) {
      await this.#ask({ open: this.#path })
      // So the files that the thread opened are those that the relay has open. Otherwise it doesn't even close them,
      // because the last connection that closes copies the log.
      this.#db.guard.requireInPlaceNow()
      this.#isOpen = true
    }
    await this.#ask('copy')
  }

  /** Closes the database, so that the relay's own connection is the last one and removes the log. */
  async close(): Promise<void> {
    if (this.#isOpen) await this.#ask('close')
    this.#isOpen = false
  }

  async #ask(request: CheckpointRequest): Promise<void> {
    const answer = Promise.withResolvers<CheckpointReply>()
    this.#answer = answer
    const thread = (this.#thread ??= this.#start())
    // The process stays alive for an answer, and not for the thread.
    thread.ref()
    thread.postMessage(request)
    const problem = await answer.promise.finally(() => thread.unref())
    if (problem !== null) throw new Error(problem)
  }

  #start(): Worker {
    const thread = new Worker(new URL('./checkpoint-worker.ts', import.meta.url).href)
    thread.addEventListener('message', ({ data }: MessageEvent<CheckpointReply>) => {
      this.#answer.resolve(data)
    })
    thread.addEventListener('error', ({ message }) => {
      this.#thread = null
      this.#isOpen = false
      this.#answer.reject(new Error(message))
    })
    return thread
  }
}
