// The number that this Mac sends from. Messages does not state it; its rows do, each with the address of
// ours that it was sent from or came to.

import type { Clock } from '../../../system/clock.ts'
import type { RunProcess } from '../../../system/process.ts'
import type { ChatDb } from './chat-db.ts'
import type { MacTrouble } from './condition.ts'
import { troubleOf } from './database-watch.ts'
import { lastAddressCounts } from './own-addresses.ts'

type Tools = {
  readonly clock: Clock
  readonly run: RunProcess
  readonly chatDbPath: string
  readonly open: () => ChatDb
  readonly phoneNumber: string | null
  readonly restart: ((why: string) => void) | null
}

const LOOK_EVERY_MS = 60_000
const PROBE_EVERY_MS = 15_000
const HEAD_PATH = '/usr/bin/head'
const PROBE_LIMITS = { timeoutMs: 5_000, killAfterMs: 7_000 }
const E164 = /^\+[1-9][0-9]{6,14}$/
/** Share of the last messages that a number needs to be taken for the line's own. */
const SHARE_MIN = 2 / 3

export class NumberLookup {
  readonly #tools: Tools
  #number: string | null
  #trouble: MacTrouble | null = null
  #lookedAt = -Infinity
  #probedAt = -Infinity

  constructor(tools: Tools) {
    this.#tools = tools
    this.#number = tools.phoneNumber
  }

  /** Reason why the last look could not read chat.db. */
  get trouble(): MacTrouble | null {
    return this.#trouble
  }

  /** The database was read, and does not show the number. */
  get isUnknown(): boolean {
    return this.#number === null && this.#trouble === null
  }

  /** Null while unknown: the history is empty, mixed, or cannot be read. */
  async number(signal: AbortSignal): Promise<string | null> {
    const now = this.#tools.clock.monotonic()
    const everyMs = this.#trouble === null ? LOOK_EVERY_MS : PROBE_EVERY_MS
    if (now - this.#lookedAt >= everyMs) {
      this.#lookedAt = now
      this.#look()
    }
    if (this.#trouble === 'full_disk_access') await this.#probe(now, signal)
    return this.#number
  }

  #look(): void {
    const { clock, open, phoneNumber } = this.#tools
    try {
      const db = open()
      // A number that was clear once stays, even if the last messages are of several.
      const counts = lastAddressCounts(db.ownUses(), clock.now())
      this.#number = phoneNumber ?? ownNumber(counts) ?? this.#number
      this.#trouble = null
      db.close()
    } catch (error) {
      this.#trouble = troubleOf(error)
    }
  }

  /**
   * macOS gives Full Disk Access to processes that start after the owner allowed it: if a child can read
   * the file and we cannot, it is time to restart.
   */
  async #probe(now: number, signal: AbortSignal): Promise<void> {
    const { run, restart, chatDbPath } = this.#tools
    if (restart === null || now - this.#probedAt < PROBE_EVERY_MS) return
    this.#probedAt = now
    const order = { path: HEAD_PATH, args: ['-c', '16', chatDbPath], ...PROBE_LIMITS }
    const end = await run(order, signal)
    if (end.end === 'exited' && end.exitCode === 0) restart('Full Disk Access was granted')
  }
}

/** Number of most of the last messages; null where that is not clear. */
function ownNumber(aliases: ReadonlyMap<string, number>): string | null {
  const numbers = numbersOf(aliases)
  const total = numbers.reduce((sum, [, count]) => sum + count, 0)
  const [first] = numbers
  return first !== undefined && first[1] >= total * SHARE_MIN ? first[0] : null
}

/** Phone numbers among our addresses, the most used first. */
export function numbersOf(
  aliases: ReadonlyMap<string, number>,
): readonly (readonly [number: string, count: number])[] {
  return [...aliases].filter(([alias]) => E164.test(alias)).sort((a, b) => b[1] - a[1])
}
