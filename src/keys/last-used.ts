import { timestamp, type BridgeId, type KeyId, type Timestamp } from '../domain/ids.ts'
import { saveLastHeard } from '../storage/bridges.ts'
import type { Tx } from '../storage/database.ts'
import { saveLastUsed } from '../storage/keys.ts'
import type { Writer } from '../storage/writer.ts'
import type { Clock } from '../system/clock.ts'
import type { Service } from '../system/service.ts'
import { Signal } from '../system/signal.ts'

type Tools = { readonly clock: Clock; readonly writer: Pick<Writer, 'write'> }

/** What is used, and how exactly that is known. */
type Use<Id> = {
  readonly name: string
  readonly everyMs: number
  readonly save: (tx: Tx, id: Id, at: Timestamp) => void
}

export const KEY_USE: Use<KeyId> = { name: 'keys.last-used', everyMs: 1_000, save: saveLastUsed }

/** A shortcut calls every half minute, all day long. */
export const BRIDGE_USE: Use<BridgeId> = {
  name: 'bridges.last-heard',
  everyMs: 60_000,
  save: saveLastHeard,
}

const IDLE_MS = 60_000

/**
 * When each key or bridge was last used, as exactly as `Use` says. A use costs a look into a map; what
 * is new is written once in that time, all in one transaction, and once more at the end.
 */
export class LastUsed<Id extends string> implements Service {
  readonly name: string
  readonly #use: Use<Id>
  readonly #tools: Tools
  readonly #wake = new Signal()
  /** As many entries as were used since the start. */
  readonly #usedAt = new Map<Id, Timestamp>()
  readonly #unwritten = new Set<Id>()

  constructor(tools: Tools, use: Use<Id>) {
    this.#tools = tools
    this.#use = use
    this.name = use.name
  }

  note(id: Id): void {
    const now = timestamp(this.#tools.clock.now())
    const known = this.#usedAt.get(id)
    const { everyMs } = this.#use
    if (known !== undefined && Math.floor(known / everyMs) === Math.floor(now / everyMs)) return
    this.#usedAt.set(id, now)
    this.#unwritten.add(id)
    this.#wake.notify()
  }

  /** The last use since the start; it may not be written yet. */
  of(id: Id): Timestamp | null {
    return this.#usedAt.get(id) ?? null
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#flush()
      await this.#tools.clock.sleep(this.#use.everyMs, signal)
      if (this.#unwritten.size === 0) await this.#wake.wait(this.#tools.clock, IDLE_MS, signal)
    }
    await this.#flush()
  }

  /** What a failed write leaves behind stays noted for the next one. */
  async #flush(): Promise<void> {
    const batch = [...this.#usedAt].filter(([id]) => this.#unwritten.has(id))
    if (batch.length === 0) return
    await this.#tools.writer.write((tx) => {
      for (const [id, at] of batch) this.#use.save(tx, id, at)
    })
    for (const [id, at] of batch) {
      if (this.#usedAt.get(id) === at) this.#unwritten.delete(id)
    }
  }
}
