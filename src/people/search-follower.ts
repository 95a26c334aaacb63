import type { Core } from '../storage/core.ts'
import { indexNext, isIndexBehind } from '../storage/search.ts'
import type { Service } from '../system/service.ts'

/** A batch takes 4 ms, so that no send waits longer, and 2,000 messages a second cost 4 % of the time. */
const BATCH_ROWS = 200
const PAUSE_MS = 100
const LOOK_MS = 20_000

/**
 * Keeps the index of messages and conversations. It follows them, because an entry costs 15 µs: written with
 * each send, it would slow sends down. Searches read what it does not have yet.
 */
export class SearchFollower implements Service {
  readonly name = 'search index'
  readonly #core: Core
  readonly #disk: { readonly isLow: boolean }

  constructor(core: Core, { disk }: { readonly disk: { readonly isLow: boolean } }) {
    this.#core = core
    this.#disk = disk
  }

  async run(signal: AbortSignal): Promise<void> {
    const { db, writer, clock } = this.#core
    while (!signal.aborted) {
      const isBehind = !this.#disk.isLow && isIndexBehind(db)
      if (isBehind) await writer.write((tx) => indexNext(tx, BATCH_ROWS))
      await clock.sleep(isBehind ? PAUSE_MS : LOOK_MS, signal)
    }
  }
}
