import type { Clock } from '../../../system/clock.ts'
import type { RunProcess } from '../../../system/process.ts'
import { ChatDbError, type ChatDb } from './chat-db.ts'
import { TROUBLE_OF_ERROR } from './database-watch.ts'
import { ownNumber } from './own-number.ts'
import type { MacTrouble } from './reasons.ts'

type Tools = {
  readonly clock: Clock
  readonly run: RunProcess
  readonly chatDbPath: string
  readonly open: () => ChatDb
  /** The number that the owner told. */
  readonly phoneNumber: string | null
  readonly restart: ((why: string) => void) | null
}

const LOOK_EVERY_MS = 60_000
const PROBE_EVERY_MS = 15_000
const HEAD_PATH = '/usr/bin/head'
const PROBE_LIMITS = { timeoutMs: 5_000, killAfterMs: 7_000 }

/** Which number the Mac sends as, and what keeps us from reading it. */
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

  /** What kept the last look from reading chat.db. */
  get trouble(): MacTrouble | null {
    return this.#trouble
  }

  /** Whether the database could be read and did not tell. */
  get isUnknown(): boolean {
    return this.#number === null && this.#trouble === null
  }

  /** Null where it cannot be said: the history is empty, mixed, or cannot be read. */
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
    const { open, phoneNumber } = this.#tools
    try {
      const db = open()
      // A number that was clear once stays, also when the last messages are of several.
      this.#number = phoneNumber ?? ownNumber(db.aliases()) ?? this.#number
      this.#trouble = null
      db.close()
    } catch (error) {
      this.#trouble = TROUBLE_OF_ERROR[error instanceof ChatDbError ? error.code : 'unreadable']
    }
  }

  /**
   * macOS gives Full Disk Access to processes that start after the owner allowed it: a child that can
   * read what we cannot says that it is time to start anew.
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
