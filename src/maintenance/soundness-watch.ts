import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import type { Service } from '../system/service.ts'
import type { Signal } from '../system/signal.ts'

type Tools = {
  readonly clock: Clock
  readonly log: Log
  /** Rung at each error of a request that nobody foresaw. */
  readonly doubtSignal: Signal
  /** Rejects with what is wrong with the database. */
  readonly requireSound: () => Promise<void>
}

/** A check reads the whole database: errors that come in between wait for the next one. */
const PAUSE_MS = 60 * 60_000
const FOR_EVER_MS = 2 ** 31 - 1

/**
 * Has the database checked once a request met an error that nobody foresaw: SQLite hands out a row that was
 * overwritten as if it were sound, and only a check finds it. Whoever checks ends the relay at damage.
 */
export class SoundnessWatch implements Service {
  readonly name = 'soundness-watch'
  readonly #tools: Tools

  constructor(tools: Tools) {
    this.#tools = tools
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, doubtSignal } = this.#tools
    while (!signal.aborted) {
      await doubtSignal.wait(clock, FOR_EVER_MS, signal)
      if (signal.aborted) return
      await this.#check()
      await clock.sleep(PAUSE_MS, signal)
    }
  }

  async #check(): Promise<void> {
    const { log, requireSound } = this.#tools
    try {
      await requireSound()
    } catch (error) {
      log.error('the database does not pass its check', { error })
    }
  }
}
