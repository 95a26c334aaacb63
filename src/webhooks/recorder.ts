import type { Tx } from '../storage/database.ts'
import type { Writer } from '../storage/writer.ts'
import { nextTurn, type Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'

/** Writes one thing in a transaction, perhaps more than once, and says what to do once that is on disk. */
export type Entry = { readonly write: (tx: Tx) => () => void }

const BATCH_MAX = 256
const AGAIN_MS = 1_000
const GATHER_TURNS = 6
const GATHER_MAX = 64

/**
 * Writes what was tried, in batches. An entry that cannot be written is kept and written again: it
 * stands for an exchange that happened, and losing it would send the same event anew.
 */
export class Recorder {
  readonly #writer: Writer
  readonly #clock: Clock
  readonly #log: Log
  #kept: Entry[] = []
  #batchMax = BATCH_MAX
  #writing: Promise<void> | null = null
  #signal = new AbortController().signal

  constructor(parts: { readonly writer: Writer; readonly clock: Clock; readonly log: Log }) {
    this.#writer = parts.writer
    this.#clock = parts.clock
    this.#log = parts.log
  }

  /** How many entries are not on disk yet. */
  get size(): number {
    return this.#kept.length
  }

  /** Once `signal` aborts, what cannot be written at once is given up with an error. */
  open(signal: AbortSignal): void {
    this.#signal = signal
  }

  add(entry: Entry): void {
    this.#kept.push(entry)
    this.#writing ??= this.#writeAll()
  }

  /** Resolves when everything is on disk, or given up. */
  async close(): Promise<void> {
    await this.#writing
  }

  async #writeAll(): Promise<void> {
    while (this.#kept.length > 0) {
      await this.#gather()
      const batch = this.#kept.slice(0, this.#batchMax)
      const written = await this.#write(batch)
      this.#kept = this.#kept.slice(batch.length)
      if (written.isWritten) {
        this.#batchMax = BATCH_MAX
        for (const act of written.after) act()
      } else {
        await this.#keep(batch, written.error)
      }
    }
    this.#writing = null
  }

  /** A few turns of the event loop bring in answers that arrive together: one flush for all. */
  async #gather(): Promise<void> {
    for (let turn = 0; turn < GATHER_TURNS && this.#kept.length < GATHER_MAX; turn += 1) {
      await nextTurn()
    }
  }

  async #write(batch: readonly Entry[]) {
    try {
      const writeBatch = (tx: Tx) => batch.map(({ write }) => write(tx))
      const after = await this.#writer.write(writeBatch, 'repeatable')
      return { isWritten: true, after } as const
    } catch (error) {
      return { isWritten: false, error } as const
    }
  }

  /** One by one from now on, and from the other end, so that no single entry holds up the rest. */
  async #keep(batch: readonly Entry[], error: unknown): Promise<void> {
    const wasSingle = this.#batchMax === 1
    this.#batchMax = 1
    if (wasSingle && this.#signal.aborted) {
      this.#log.error('a webhook attempt could not be recorded', { error })
      return
    }
    this.#kept.push(...batch)
    await this.#clock.sleep(AGAIN_MS, this.#signal)
  }
}
