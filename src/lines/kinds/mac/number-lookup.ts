// The number that this Mac sends from. Messages does not state it, but each of its rows has the address of
// ours that the message was sent from or came to.

import type { KindHost } from '../../line-kind.ts'
import type { MacTrouble } from './condition.ts'
import { troubleOf } from './database-watch.ts'
import type { MessagesDb } from './mac-host.ts'
import { lastAddressCounts } from './own-addresses.ts'

const LOOK_UP_EVERY_MS = 60_000
const PROBE_EVERY_MS = 15_000
const PROBE_LIMITS = { timeoutMs: 5_000, killAfterMs: 7_000 }
const E164 = /^\+[1-9][0-9]{6,14}$/
/** Share of the last messages that a number needs to count as the line's own. */
const SHARE_MIN = 2 / 3

export class NumberLookup {
  readonly #host: KindHost
  readonly #chatDb: MessagesDb
  readonly #phoneNumber: string | null
  #number: string | null
  #trouble: MacTrouble | null = null
  #lookedUpAt = -Infinity
  #probedAt = -Infinity

  /** `phoneNumber` is the owner's setting, which wins over the database. */
  constructor(host: KindHost, chatDb: MessagesDb, phoneNumber: string | null) {
    this.#host = host
    this.#chatDb = chatDb
    this.#phoneNumber = phoneNumber
    this.#number = phoneNumber
  }

  /** Reason why the last lookup could not read chat.db. */
  get trouble(): MacTrouble | null {
    return this.#trouble
  }

  /** True if the database was read but does not show the number. */
  get isUnknown(): boolean {
    return this.#number === null && this.#trouble === null
  }

  /** Null if the number is unknown: the history is empty, mixed, or cannot be read. */
  async number(signal: AbortSignal): Promise<string | null> {
    const now = this.#host.clock.monotonic()
    const everyMs = this.#trouble === null ? LOOK_UP_EVERY_MS : PROBE_EVERY_MS
    if (now - this.#lookedUpAt >= everyMs) {
      this.#lookedUpAt = now
      this.#lookUp()
    }
    if (this.#trouble === 'full_disk_access') await this.#probe(now, signal)
    return this.#number
  }

  #lookUp(): void {
    try {
      const db = this.#chatDb.open()
      // A number that was certain once is kept, even if the last messages are from several numbers.
      const counts = lastAddressCounts(db.ownUses(), this.#host.clock.now())
      this.#number = this.#phoneNumber ?? ownNumber(counts) ?? this.#number
      this.#trouble = null
      db.close()
    } catch (error) {
      this.#trouble = troubleOf(error)
    }
  }

  /**
   * macOS applies Full Disk Access to processes started after the owner allowed it: if a child can read
   * the file and we cannot, restart.
   */
  async #probe(now: number, signal: AbortSignal): Promise<void> {
    const { run, restart } = this.#host
    if (restart === null || now - this.#probedAt < PROBE_EVERY_MS) return
    this.#probedAt = now
    const order = { path: '/usr/bin/head', args: ['-c', '16', this.#chatDb.path], ...PROBE_LIMITS }
    const end = await run(order, signal)
    if (end.end === 'exited' && end.exitCode === 0) restart('Full Disk Access was granted')
  }
}

/** The number of most of the last messages; null if no number has enough of them. */
function ownNumber(aliases: ReadonlyMap<string, number>): string | null {
  const numbers = numbersOf(aliases)
  const total = numbers.reduce((sum, [, count]) => sum + count, 0)
  const [first] = numbers
  return first !== undefined && first[1] >= total * SHARE_MIN ? first[0] : null
}

/** Phone numbers among our addresses, most used first. */
export function numbersOf(
  aliases: ReadonlyMap<string, number>,
): readonly (readonly [number: string, count: number])[] {
  return [...aliases].filter(([alias]) => E164.test(alias)).sort((a, b) => b[1] - a[1])
}
