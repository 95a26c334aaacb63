import { timestamp, type KeyId, type Timestamp } from '../domain/ids.ts'
import { saveLastUsed } from '../storage/keys.ts'
import type { Writer } from '../storage/writer.ts'
import { Bell } from '../system/bell.ts'
import type { Clock } from '../system/clock.ts'
import type { Service } from '../system/service.ts'

type Tools = { readonly clock: Clock; readonly writer: Pick<Writer, 'write'> }

const WRITE_EVERY_MS = 1_000
const IDLE_MS = 60_000

/**
 * When each key was last used, right to the second. A use costs a look into a map; what is new is
 * written once a second, all keys in one transaction, and once more at the end.
 */
export class LastUsed implements Service {
  readonly name = 'keys.last-used'
  readonly #tools: Tools
  readonly #bell = new Bell()
  /** As many entries as keys that were used since the start. */
  readonly #usedAt = new Map<KeyId, Timestamp>()
  readonly #unwritten = new Set<KeyId>()

  constructor(tools: Tools) {
    this.#tools = tools
  }

  note(id: KeyId): void {
    const now = timestamp(this.#tools.clock.now())
    const known = this.#usedAt.get(id)
    if (known !== undefined && Math.floor(known / 1_000) === Math.floor(now / 1_000)) return
    this.#usedAt.set(id, now)
    this.#unwritten.add(id)
    this.#bell.ring()
  }

  /** The last use since the start; it may not be written yet. */
  of(id: KeyId): Timestamp | null {
    return this.#usedAt.get(id) ?? null
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#flush()
      await this.#tools.clock.sleep(WRITE_EVERY_MS, signal)
      if (this.#unwritten.size === 0) await this.#bell.wait(this.#tools.clock, IDLE_MS, signal)
    }
    await this.#flush()
  }

  /** What a failed write leaves behind stays noted for the next one. */
  async #flush(): Promise<void> {
    const batch = [...this.#usedAt].filter(([id]) => this.#unwritten.has(id))
    if (batch.length === 0) return
    await this.#tools.writer.write((tx) => {
      for (const [id, at] of batch) saveLastUsed(tx, id, at)
    })
    for (const [id, at] of batch) {
      if (this.#usedAt.get(id) === at) this.#unwritten.delete(id)
    }
  }
}
