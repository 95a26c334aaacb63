// A long list that is read page by page, newest first, and kept fresh at its head.

import { signal, type ReadonlySignal } from '@preact/signals'

import type { Page } from '../api/schema.ts'
import type { Answer, Failure } from './api.ts'
import type { Clock } from './clock.ts'
import type { Change, Updates } from './live.ts'
import { isSame } from './store.ts'

export type FeedSource<T> = {
  page(cursor: string | null, limit: number, signal: AbortSignal): Promise<Answer<Page<T>>>
  entry(id: string, signal: AbortSignal): Promise<Answer<T>>
  /** The id of the changed entry; null if the change doesn't affect this list. */
  idIn(change: Change): string | null
  /** Returns whether a changed entry moves to the head of the list; never if left out. */
  movesUp?(fresh: T, old: T): boolean
  readonly countMax: number
  /** Most entries to read at once from the head, from 50 to 200; default 200. */
  headMax?(): number
}

export type FeedNow<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly failure: Failure }
  | FeedReady<T>

type FeedReady<T> = {
  readonly state: 'ready'
  readonly entries: readonly T[]
  /** Null at the end of the list, and once `countMax` entries are kept. */
  readonly nextCursor: string | null
}

const PAGE = 50
/** Most entries read at once from the head, and kept beyond those the reader scrolled to. */
export const HEAD_MAX = 200
/** If more entries changed, one page is cheaper than single reads. */
const SINGLES_MAX = 3
const REST_MS = 250
/** The pause if every entry was new: nobody can read that fast, and drawing takes time. */
const RUSH_REST_MS = 1_000
const RETRY_MS = 4_000

export class Feed<T extends { readonly id: string }> {
  readonly #source: FeedSource<T>
  readonly #clock: Clock
  readonly #end = new AbortController()
  readonly #now = signal<FeedNow<T>>({ state: 'loading' })
  readonly #changed = new Set<string>()
  readonly #stopListening: () => void
  /** True if every entry may be out of date. */
  #isStale = true
  #isCatchingUp = false
  #isReadingMore = false
  /** True if the latest read of the head had no entry in common with the list. */
  #isRush = false
  /** The number of entries that the reader has scrolled to. */
  #scrolledTo = 0

  readonly now: ReadonlySignal<FeedNow<T>> = this.#now

  /** Starts reading, until `stop`. */
  constructor(
    source: FeedSource<T>,
    { live, clock }: { readonly live: Updates; readonly clock: Clock },
  ) {
    this.#source = source
    this.#clock = clock
    this.#stopListening = live.subscribe((update) => {
      if (update === 'reset') return this.refresh()
      const id = source.idIn(update)
      if (id === null) return
      this.#changed.add(id)
      this.#wake()
    })
    this.#wake()
  }

  stop(): void {
    this.#stopListening()
    this.#end.abort()
  }

  refresh(): void {
    this.#isStale = true
    this.#wake()
  }

  /** Reads the next page, unless one is being read. */
  async readMore(limit = PAGE): Promise<void> {
    const now = this.#now.value
    if (this.#isReadingMore || now.state !== 'ready' || now.nextCursor === null) return
    this.#isReadingMore = true
    const answer = await this.#source.page(now.nextCursor, limit, this.#end.signal)
    // After a failure, scrolling must not repeat the request at once.
    if (!answer.ok) await this.#clock.sleep(RETRY_MS, this.#end.signal)
    this.#isReadingMore = false
    // The reader is still at the end of the list, so no scroll event would ask again.
    if (answer.ok && !this.#append(answer.value, now.nextCursor)) await this.readMore(limit)
  }

  /**
   * Shows a new entry before its change event arrives, then reads it again: a repeated action returns its first
   * answer, which may be out of date.
   */
  add(entry: T): void {
    const now = this.#now.value
    if (now.state !== 'ready') return
    if (!now.entries.some(({ id }) => id === entry.id)) this.#put(now, entry)
    this.#changed.add(entry.id)
    this.#wake()
  }

  #put(now: FeedReady<T>, entry: T): void {
    const place = now.entries.findIndex(({ id }) => id === entry.id)
    const old = now.entries[place]
    if (isSame(old, entry)) return
    const isFirst = old === undefined || this.#source.movesUp?.(entry, old) === true
    const entries = isFirst
      ? [entry, ...now.entries.filter(({ id }) => id !== entry.id)]
      : now.entries.with(place, entry)
    this.#now.value = { ...now, entries }
  }

  /** Returns false if the list was replaced meanwhile, so that the page no longer continues it. */
  #append({ data, next_cursor }: Page<T>, cursor: string): boolean {
    const now = this.#now.value
    if (now.state !== 'ready' || now.nextCursor !== cursor) return false
    const entries = [...now.entries, ...without(data, now.entries)]
    this.#scrolledTo = entries.length
    const isFull = entries.length >= this.#source.countMax
    this.#now.value = { state: 'ready', entries, nextCursor: isFull ? null : next_cursor }
    return true
  }

  #wake(): void {
    if (!this.#isCatchingUp) void this.#catchUp()
  }

  async #catchUp(): Promise<void> {
    const { signal } = this.#end
    this.#isCatchingUp = true
    while ((this.#isStale || this.#changed.size > 0) && !signal.aborted) {
      const isRead = await this.#readChanged(signal)
      const restMs = this.#isRush ? RUSH_REST_MS : REST_MS
      await this.#clock.sleep(isRead ? restMs : RETRY_MS, signal)
    }
    this.#isCatchingUp = false
  }

  /** Returns false if reading failed and must be repeated. */
  async #readChanged(signal: AbortSignal): Promise<boolean> {
    const now = this.#now.value
    const ids = [...this.#changed]
    const entries = now.state === 'ready' ? now.entries : []
    const known = entries.findLastIndex(({ id }) => this.#changed.has(id)) + 1
    const newCount = ids.filter((id) => !entries.some((entry) => entry.id === id)).length
    this.#changed.clear()
    this.#isRush = false
    if (!this.#isStale && newCount === 0 && ids.length <= SINGLES_MAX) {
      return this.#readSingles(ids, signal)
    }
    // Everything that changed, and one known entry to join it to the rest.
    const isRead = await this.#readHead(
      this.#isStale ? entries.length : known + newCount + 1,
      signal,
    )
    if (!isRead) for (const id of ids) this.#changed.add(id)
    return isRead
  }

  async #readSingles(ids: readonly string[], signal: AbortSignal): Promise<boolean> {
    const answers = await Promise.all(ids.map((id) => this.#source.entry(id, signal)))
    for (const answer of answers) {
      const now = this.#now.value
      if (answer.ok && now.state === 'ready') this.#put(now, answer.value)
    }
    // A deleted entry (404) stays gone; after any other failure, everything may be out of date.
    const isRead = answers.every((answer) => answer.ok || answer.failure.status === 404)
    if (!isRead) this.#isStale = true
    return isRead
  }

  async #readHead(count: number, signal: AbortSignal): Promise<boolean> {
    const wasStale = this.#isStale
    this.#isStale = false
    const limit = Math.max(PAGE, Math.min(count, this.#source.headMax?.() ?? HEAD_MAX))
    const answer = await this.#source.page(null, limit, signal)
    if (signal.aborted) return false
    if (answer.ok) {
      this.#takeHead(answer.value, wasStale)
      return true
    }
    this.#isStale = wasStale
    const { failure } = answer
    if (this.#now.value.state !== 'ready') this.#now.value = { state: 'failed', failure }
    return false
  }

  /** Keeps the known older entries behind the new head, unless they are out of date or too many. */
  #takeHead({ data, next_cursor }: Page<T>, isStale: boolean): void {
    const now = this.#now.value
    const known = now.state === 'ready' ? now.entries : []
    // Preact does not redraw the row of the same object.
    const old = new Map(known.map((entry) => [JSON.stringify(entry), entry]))
    const head = data.map((entry) => old.get(JSON.stringify(entry)) ?? entry)
    const older = without(known, head)
    // If none is in both, entries between them may be missing.
    const hasGap = older.length === known.length
    this.#isRush = hasGap && known.length > 0
    const isFull = head.length + older.length > this.#scrolledTo + HEAD_MAX
    if (now.state !== 'ready' || isStale || hasGap || isFull || next_cursor === null) {
      this.#scrolledTo = head.length
      this.#now.value = { state: 'ready', entries: head, nextCursor: next_cursor }
    } else this.#now.value = { ...now, entries: [...head, ...older] }
  }
}

function without<T extends { readonly id: string }>(entries: readonly T[], others: readonly T[]) {
  const ids = new Set(others.map(({ id }) => id))
  return entries.filter(({ id }) => !ids.has(id))
}
