import type { CredentialId } from '../domain/credential.ts'
import { timestamp, type Timestamp } from '../domain/ids.ts'
import { saveLastUsed } from '../storage/credentials.ts'
import type { Writer } from '../storage/writer.ts'
import type { Clock } from '../system/clock.ts'
import type { Service } from '../system/service.ts'
import { Signal } from '../system/signal.ts'

type Tools = { readonly clock: Clock; readonly writer: Pick<Writer, 'write'> }

export const KEY_USE_MS = 1_000
/** A shortcut calls every half minute, all day long. */
export const BRIDGE_USE_MS = 60_000

const FLUSH_MS = 1_000
const IDLE_MS = 60_000

/**
 * The last use of each credential. A use costs a look into a map; new ones are written at most once a
 * second, all in one transaction, and once more at the end.
 */
export class LastUsed implements Service {
  readonly name = 'credentials.last-used'
  readonly #tools: Tools
  readonly #signal = new Signal()
  /** As many entries as were used since the start. */
  readonly #usedAt = new Map<CredentialId, Timestamp>()
  readonly #unwritten = new Set<CredentialId>()

  constructor(tools: Tools) {
    this.#tools = tools
  }

  /** Notes a use, unless the last one was within the same `everyMs`. */
  note(id: CredentialId, everyMs: number): void {
    const now = timestamp(this.#tools.clock.now())
    const known = this.#usedAt.get(id)
    if (known !== undefined && Math.floor(known / everyMs) === Math.floor(now / everyMs)) return
    this.#usedAt.set(id, now)
    this.#unwritten.add(id)
    this.#signal.notify()
  }

  /** The last use since the start; it may not be written yet. */
  of(id: CredentialId): Timestamp | null {
    return this.#usedAt.get(id) ?? null
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#tools
    while (!signal.aborted) {
      await this.#flush()
      await clock.sleep(FLUSH_MS, signal)
      if (this.#unwritten.size === 0) await this.#signal.wait(clock, IDLE_MS, signal)
    }
    await this.#flush()
  }

  /** Uses of a failed write stay noted for the next one. */
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
