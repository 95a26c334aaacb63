import type { Core } from '../storage/core.ts'
import { indexNext, isIndexBehind } from '../storage/search.ts'
import type { Service } from '../system/service.ts'

/** A batch takes 4 ms, so it delays no send; 2,000 messages a second cost 4 % of the time. */
const BATCH_ROWS = 200
const PAUSE_MS = 100
const LOOK_MS = 20_000

/** Indexes messages later, because an entry costs 15 µs. Searches also read what isn't indexed yet. */
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
