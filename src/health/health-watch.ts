import type { Changes } from '../system/changes.ts'
import type { Clock } from '../system/clock.ts'
import type { Service } from '../system/service.ts'
import type { Signal } from '../system/signal.ts'
import type { HealthCatalogue } from './catalogue.ts'

type Tools = {
  readonly clock: Clock
  readonly changes: Pick<Changes, 'isWatched' | 'tell'>
  readonly health: Pick<HealthCatalogue, 'list'>
  /** Rung by those who know that something changed: the rest is seen at the next look. */
  readonly healthSignal: Signal
}

const WATCHED_EVERY_MS = 15_000
const UNWATCHED_EVERY_MS = 60_000

/**
 * Tells watchers that the catalogue says something else than before. Most findings have no moment at
 * which they begin, so it looks every 15 s, and only while somebody watches.
 */
export class HealthWatch implements Service {
  readonly name = 'health-watch'
  readonly #tools: Tools
  #seen = ''

  constructor(tools: Tools) {
    this.#tools = tools
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, changes, healthSignal } = this.#tools
    while (!signal.aborted) {
      const ms = changes.isWatched ? WATCHED_EVERY_MS : UNWATCHED_EVERY_MS
      await healthSignal.wait(clock, ms, signal)
      if (changes.isWatched && !signal.aborted) await this.#look()
    }
  }

  async #look(): Promise<void> {
    const { changes, health } = this.#tools
    const found = JSON.stringify(await health.list())
    if (found !== this.#seen) changes.tell([{ what: 'health', id: 'health' }])
    this.#seen = found
  }
}
