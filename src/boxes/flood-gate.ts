// Limits how much each box, and each machine that joins, may send to its head. A box doesn't limit its head. The head
// stops listening for a minute to a sender that floods it: the broker drops what has no listener, so a flood never
// reaches the head's memory.

import { type Timestamp, timestamp } from '../domain/ids.ts'
import { MINUTE_MS } from '../domain/time.ts'
import type { Core } from '../storage/core.ts'
import type { Link } from './link.ts'

/** Some thousand events a second. */
const BYTES_MAX_PER_MS = 8_000
/** Room for the windows of many lines at once. More is not taken; the box repeats it after seconds. */
const BURST_BYTES_MAX = 4_000_000
const FLOOD_BYTES_MIN = 12_000_000

export class FloodGate {
  readonly #core: Core
  readonly #senders: () => readonly string[]
  readonly #changed: () => void
  /** Functions that each subscribe to the current senders. */
  readonly #listeners = new Set<() => void>()
  /** A leaky bucket for each sender: bytes that came, less the bytes allowed since. */
  readonly #arrived = new Map<string, { readonly level: number; readonly at: number }>()
  /** Senders that flood, with the time at which each is heard again. */
  readonly cutOff = new Map<string, Timestamp>()

  constructor(
    core: Core,
    given: {
      /** Names of all allowed senders, each the last word of its subjects. Others are neither heard nor answered. */
      readonly senders: () => readonly string[]
      /** Called when a sender is cut off, and when it is heard again. */
      readonly changed: () => void
    },
  ) {
    this.#core = core
    this.#senders = given.senders
    this.#changed = given.changed
  }

  /** Wraps `link` so that it takes no more from a sender than the sender may send. */
  over(link: Link): Link {
    return {
      ask: (...request) => link.ask(...request),
      serve: (...request) => this.#serve(link, ...request),
      close: () => link.close(),
    }
  }

  /** Subscribes to the current senders, except those that are cut off. */
  refresh(): void {
    for (const listen of this.#listeners) listen()
  }

  #serve(link: Link, subject: string, answer: Parameters<Link['serve']>[1]): () => void {
    const [, start = '', name = ''] = /^(.*\.)(.*)$/.exec(subject) ?? []
    const stops = new Map<string, () => void>()
    const listen = () => {
      const missing = new Set(name === '*' ? this.#senders() : [name])
      for (const sender of this.cutOff.keys()) missing.delete(sender)
      for (const [one, stop] of stops) if (!missing.delete(one) && stops.delete(one)) stop()
      for (const sender of missing) {
        const stop = link.serve(start + sender, async (text, asked) =>
          this.#takes(sender, Buffer.byteLength(text)) ? answer(text, asked) : null,
        )
        stops.set(sender, stop)
      }
    }
    this.#listeners.add(listen)
    listen()
    return () => {
      this.#listeners.delete(listen)
      for (const stop of stops.values()) stop()
    }
  }

  #takes(sender: string, bytes: number): boolean {
    const now = this.#core.clock.monotonic()
    const { level, at } = this.#arrived.get(sender) ?? { level: 0, at: now }
    const reached = Math.max(0, level - (now - at) * BYTES_MAX_PER_MS) + bytes
    this.#arrived.set(sender, { level: reached, at: now })
    if (reached > FLOOD_BYTES_MIN && !this.cutOff.has(sender)) this.#cut(sender)
    return reached <= BURST_BYTES_MAX
  }

  #cut(sender: string): void {
    const { clock, log } = this.#core
    log.warn('the head is flooded, and cuts the sender off', { sender })
    this.cutOff.set(sender, timestamp(clock.now() + MINUTE_MS))
    this.refresh()
    this.#changed()
    clock.after(MINUTE_MS, () => {
      this.cutOff.delete(sender)
      this.refresh()
      this.#changed()
    })
  }
}
