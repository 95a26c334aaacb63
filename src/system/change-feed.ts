// Recent changes, for open dashboards. A change names the thing, never its content: the watcher reads the thing
// again.

import type { Clock } from './clock.ts'
import type { Random } from './random.ts'
import type { Signal } from './signal.ts'

export type Change = {
  readonly what:
    | 'message'
    | 'conversation'
    | 'contact'
    | 'line'
    | 'delivery'
    | 'webhook'
    | 'key'
    | 'health'
    | 'setting'
    | 'backup'
    | 'session'
    | 'member'
    | 'box'
    | 'site'
    | 'alert'
    | 'inbox'
  readonly id: string
  /** The conversation that shows it, for a message. */
  readonly conversationId?: string | undefined
}

/** A change, and the position of a watcher after it. */
export type PublishedChange = { readonly change: Change; readonly position: string }

/** Changes of one thing within this time become one. */
const GATHER_MS = 100
/** If more changes come at once, watchers must read everything again, and the next changes come more slowly. */
const GATHERED_MAX = 1_000
const RUSH_GATHER_MS = 1_000
const KEPT_MAX = 10_000
/** The time for which changes are recorded after the last watcher left, because it may come back. */
const LINGER_MS = 60_000
const EPOCH_BYTES = 6

/**
 * The last 10,000 changes, numbered. A position is `<epoch>-<number>`. The epoch changes at each start, and
 * after each gap without a watcher, in which nothing was recorded.
 */
export class ChangeFeed {
  readonly #clock: Clock
  readonly #random: Random
  readonly #signals = new Set<Signal>()
  readonly #gathered = new Map<string, Change>()
  /** Empty until the first watcher. */
  #epoch = ''
  /** The changes up to number `#last`, at least as many as `since` can return. */
  #kept: Change[] = []
  #last = 0
  #isWatched = false
  #isRush = false
  #endLinger = () => {}

  constructor(tools: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = tools.clock
    this.#random = tools.random
  }

  /** True if changes are recorded; hot paths skip their work if not. */
  get isWatched(): boolean {
    return this.#isWatched
  }

  get watcherCount(): number {
    return this.#signals.size
  }

  /** The position of a watcher that has read everything now. */
  get position(): string {
    return this.#positionAt(this.#last)
  }

  /** Notifies `signal` of every change. Returns a function that ends the watch. */
  watch(signal: Signal): () => void {
    this.#endLinger()
    if (!this.#isWatched) this.#restart()
    this.#isWatched = true
    this.#signals.add(signal)
    return () => {
      if (!this.#signals.delete(signal) || this.#signals.size > 0) return
      const pause = () => {
        this.#isWatched = false
      }
      this.#endLinger = this.#clock.after(LINGER_MS, pause)
    }
  }

  /** Records changes, if the feed is watched. */
  publish(changes: readonly Change[]): void {
    if (!this.#isWatched || changes.length === 0) return
    if (this.#gathered.size === 0) {
      this.#clock.after(this.#isRush ? RUSH_GATHER_MS : GATHER_MS, () => this.#release())
    }
    for (const change of changes) this.#gathered.set(`${change.what} ${change.id}`, change)
  }

  /** Changes after `position`, oldest first; null if everything must be read again. */
  since(position: string): readonly PublishedChange[] | null {
    const [epoch, number = ''] = position.split('-')
    if (epoch !== this.#epoch || !/^[0-9]{1,15}$/.test(number)) return null
    const count = this.#last - Number(number)
    if (count < 0 || count > Math.min(this.#kept.length, KEPT_MAX)) return null
    return this.#kept.slice(this.#kept.length - count).map((change, index) => {
      return { change, position: this.#positionAt(Number(number) + index + 1) }
    })
  }

  #release(): void {
    const changes = [...this.#gathered.values()]
    this.#gathered.clear()
    this.#isRush = changes.length > GATHERED_MAX
    if (this.#isRush) this.#restart()
    else this.#keep(changes)
    for (const signal of this.#signals) signal.notify()
  }

  #keep(changes: readonly Change[]): void {
    this.#kept.push(...changes)
    this.#last += changes.length
    // Only now and then, because `slice` copies all the rest.
    if (this.#kept.length > 2 * KEPT_MAX) this.#kept = this.#kept.slice(-KEPT_MAX)
  }

  #restart(): void {
    this.#epoch = Buffer.from(this.#random.bytes(EPOCH_BYTES)).toString('hex')
    this.#kept = []
    this.#last = 0
  }

  #positionAt(number: number): string {
    return `${this.#epoch}-${number}`
  }
}
