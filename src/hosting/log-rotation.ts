import { copyFileSync, truncateSync } from 'node:fs'

import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import type { Service } from '../system/service.ts'
import { stampOf } from './installation.ts'

/** launchd lets its log files grow without end. */
export const LOG_BYTES_MAX = 50 * 1_024 * 1_024

const INTERVAL_MS = 3_600_000

/**
 * Looks at the log of the service at its start and every hour: one above 50 MB becomes `relay.log.1`.
 * It is copied and then emptied, because the open file is what the relay writes to: a renamed one would
 * go on to grow. Nothing is lost in between, since nobody else writes and this does not wait.
 */
export class LogRotation implements Service {
  readonly name = 'log-rotation'
  readonly #path: string
  readonly #tools: { readonly clock: Clock; readonly log: Log }

  constructor(path: string, tools: { readonly clock: Clock; readonly log: Log }) {
    this.#path = path
    this.#tools = tools
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#rotate()
      await this.#tools.clock.sleep(INTERVAL_MS, signal)
    }
  }

  #rotate(): void {
    if ((stampOf(this.#path)?.sizeBytes ?? 0) <= LOG_BYTES_MAX) return
    try {
      copyFileSync(this.#path, `${this.#path}.1`)
    } catch (error) {
      // On a full disk the old lines are what can be spared.
      this.#tools.log.warn('the log could not be kept before it was emptied', { error })
    }
    truncateSync(this.#path)
  }
}
