import type { Finding } from '../domain/finding.ts'
import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import type { Service } from '../system/service.ts'

/** Below this nothing is accepted, no message passes its point of no return, nothing is delivered. */
export const FREE_BYTES_MIN = 256 * 1024 * 1024

const INTERVAL_MS = 10_000

/**
 * Knows whether the disk is nearly full, and whether the data still lie on it: asked every 10 s, and at
 * once after a write that failed.
 */
export class DiskWatch implements Service {
  readonly name = 'disk-watch'
  readonly #tools: DiskWatchTools
  #free = Number.POSITIVE_INFINITY

  constructor(tools: DiskWatchTools) {
    this.#tools = tools
    this.check()
  }

  get isLow(): boolean {
    return this.#free < FREE_BYTES_MIN
  }

  /** Looks now. */
  check(): void {
    const wasLow = this.isLow
    this.#free = this.#readFree()
    if (this.isLow === wasLow) return
    const fields = { free_bytes: this.#free, needed_bytes: FREE_BYTES_MIN }
    if (this.isLow) this.#tools.log.error('the disk is nearly full: nothing is accepted', fields)
    else this.#tools.log.info('the disk has room again', fields)
    this.#tools.onChange(this.isLow)
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.check()
      this.#requireInPlace()
      await this.#tools.clock.sleep(INTERVAL_MS, signal)
    }
  }

  /** A disk that cannot be asked takes nothing. */
  #readFree(): number {
    try {
      return this.#tools.freeBytes()
    } catch (error) {
      if (!this.isLow)
        this.#tools.log.error('the disk cannot be asked for its free space', { error })
      return 0
    }
  }

  #requireInPlace(): void {
    try {
      this.#tools.requireInPlace()
    } catch (error) {
      this.#tools.onLost(error)
    }
  }

  findings(): readonly Finding[] {
    if (!this.isLow) return []
    return [
      {
        code: 'storage_full',
        severity: 'error',
        title: 'The disk is nearly full',
        why: `${Math.floor(this.#free / 1024 / 1024)} MiB are free; the relay needs 256 MiB.`,
        fix: 'Delete what is not needed on the disk of the data directory, or move the directory.',
        key: null,
        depends_on: null,
      },
    ]
  }
}

export type DiskWatchTools = {
  readonly clock: Clock
  readonly log: Log
  /** The bytes that are free for the data directory. */
  readonly freeBytes: () => number
  /** Throws where a file of the data directory is not the one that the relay has open. */
  readonly requireInPlace: () => void
  /** Called with what it throws: the process must not go on. */
  readonly onLost: (error: unknown) => void
  /** Called when the answer changes. */
  readonly onChange: (isLow: boolean) => void
}
