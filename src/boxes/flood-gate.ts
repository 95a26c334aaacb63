// How much each box, and each machine that joins, may send to its head. The head does not listen to one that floods
// it, for a minute: a broker drops what nobody listens to, so nothing of a flood gets into the head's memory.

import { type Timestamp, timestamp } from '../domain/ids.ts'
import { MINUTE_MS } from '../domain/time.ts'
import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import type { Link } from './link.ts'

type Tools = {
  readonly clock: Clock
  readonly log: Log
  /** All that may send: a sender is the last word of its subjects. */
  readonly senders: () => readonly string[]
  /** Called when a sender is cut off, and when it is no longer. */
  readonly changed: () => void
}

/** Some thousand events a second. */
const BYTES_MAX_PER_MS = 8_000
/** The windows of many lines at once. What comes beyond them is not taken, and comes again after seconds. */
const BURST_BYTES_MAX = 4_000_000
const FLOOD_BYTES_MIN = 12_000_000

export class FloodGate {
  readonly #tools: Tools
  /** Each listens to the senders of now. */
  readonly #listeners = new Set<() => void>()
  /** Bytes that came from each sender, less those that it may send meanwhile: a leaky bucket. */
  readonly #arrived = new Map<string, { readonly level: number; readonly at: number }>()
  /** When each sender that floods is heard again. */
  readonly cutOff = new Map<string, Timestamp>()

  constructor(tools: Tools) {
    this.#tools = tools
  }

  /** The link, without what is more than a sender may send. */
  over(link: Link): Link {
    return {
      ask: (...request) => link.ask(...request),
      serve: (...request) => this.#serve(link, ...request),
      close: () => link.close(),
    }
  }

  /** Listens to the senders of now, without those that are cut off. */
  refresh(): void {
    for (const listen of this.#listeners) listen()
  }

  #serve(link: Link, subject: string, answer: Parameters<Link['serve']>[1]): () => void {
    const [, start = '', name = ''] = /^(.*\.)(.*)$/.exec(subject) ?? []
    const stops = new Map<string, () => void>()
    const listen = () => {
      const missing = new Set(name === '*' ? this.#tools.senders() : [name])
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
    const now = this.#tools.clock.monotonic()
    const { level, at } = this.#arrived.get(sender) ?? { level: 0, at: now }
    const reached = Math.max(0, level - (now - at) * BYTES_MAX_PER_MS) + bytes
    this.#arrived.set(sender, { level: reached, at: now })
    if (reached > FLOOD_BYTES_MIN && !this.cutOff.has(sender)) this.#cut(sender)
    return reached <= BURST_BYTES_MAX
  }

  #cut(sender: string): void {
    const { clock, log, changed } = this.#tools
    log.warn('box floods the head, and is cut off', { box_id: sender })
    this.cutOff.set(sender, timestamp(clock.now() + MINUTE_MS))
    this.refresh()
    changed()
    clock.after(MINUTE_MS, () => {
      this.cutOff.delete(sender)
      this.refresh()
      changed()
    })
  }
}
