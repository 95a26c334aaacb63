import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import type { LineSession } from './driver.ts'
import { LiveSession } from './live-session.ts'

type SessionsTools = {
  readonly clock: Clock
  readonly log: Log
  /** Hears when a send begins or ends. */
  readonly onTraffic: () => void
  /** Hears when the last send of the sessions before has returned. */
  readonly onDrained: () => void
}

/** The sessions of one line: the one that lives, and those that are over but have sends left. */
export class LineSessions {
  readonly #tools: SessionsTools
  readonly #ending = new Map<LiveSession, Promise<void>>()
  #latest: LiveSession | null = null

  constructor(tools: SessionsTools) {
    this.#tools = tools
  }

  /** One hand at a time: null also while a session before has a send that did not return. */
  get live(): LiveSession | null {
    return this.#ending.size === 0 ? this.#latest : null
  }

  get inFlight(): number {
    let count = this.#latest?.inFlight ?? 0
    for (const session of this.#ending.keys()) count += session.inFlight
    return count
  }

  /** Another session than before ends that one. */
  open(session: LineSession): void {
    if (this.#latest?.isOf(session) === true) return
    this.end()
    this.#latest = new LiveSession(session, this.#tools)
  }

  end(): void {
    const session = this.#latest
    this.#latest = null
    if (session === null) return
    const ended = session.end()
    if (session.inFlight > 0) this.#ending.set(session, this.#forget(session, ended))
  }

  /** Resolves when no send of a session that is over is left. */
  async drained(): Promise<void> {
    while (this.#ending.size > 0) await Promise.all(this.#ending.values())
  }

  /** Lets go of sends at the stop: first of those that wait, then of all. */
  giveUp(which: 'waiting' | 'all'): void {
    for (const session of this.#ending.keys()) {
      if (which === 'waiting') session.giveUpWaiting()
      else session.giveUp()
    }
  }

  async #forget(session: LiveSession, ended: Promise<void>): Promise<void> {
    await ended
    this.#ending.delete(session)
    if (this.#ending.size === 0) this.#tools.onDrained()
  }
}
