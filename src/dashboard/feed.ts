// A long list that is read page by page, newest first, and kept fresh at its head: conversations, and
// the messages of one.

import { signal, type ReadonlySignal } from '@preact/signals'

import type { List } from './api.ts'
import type { Change, Changes } from './changes.ts'
import type { Clock } from './clock.ts'
import type { Answer, Failure } from './request.ts'

export type FeedSource<T> = {
  page(cursor: string | null, limit: number, signal: AbortSignal): Promise<Answer<List<T>>>
  one(id: string, signal: AbortSignal): Promise<Answer<T>>
  /** The entry that a change is about; null where it is about none of this list. */
  concerned(change: Change): string | null
  /** Whether an entry that changed goes to the head of the list. */
  rises(fresh: T, old: T): boolean
  /** More are not kept: who looks for older ones narrows the list. */
  readonly countMax: number
}

export type FeedNow<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly failure: Failure }
  | FeedReady<T>

type FeedReady<T> = {
  readonly state: 'ready'
  readonly entries: readonly T[]
  /** Null at the end of the list, and where no more are kept. */
  readonly nextCursor: string | null
}

type Tools = { readonly live: Changes; readonly clock: Clock }

const PAGE = 50
/** How much of the head is read again where much has changed. */
const HEAD_MAX = 200
/** More changes at once are cheaper to read as a page. */
const SINGLES_MAX = 3
const REST_MS = 250
const RETRY_MS = 4_000

export class Feed<T extends { readonly id: string }> {
  readonly #source: FeedSource<T>
  readonly #clock: Clock
  readonly #end = new AbortController()
  readonly #now = signal<FeedNow<T>>({ state: 'loading' })
  readonly #changed = new Set<string>()
  readonly #stopListening: () => void
  /** Whether everything that is shown may be old. */
  #isOld = true
  #isCatchingUp = false
  #isReadingMore = false

  readonly now: ReadonlySignal<FeedNow<T>> = this.#now

  /** Reads from now on, until `stop`. */
  constructor(source: FeedSource<T>, { live, clock }: Tools) {
    this.#source = source
    this.#clock = clock
    this.#stopListening = live.subscribe((told) => {
      if (told === 'reset') return this.refresh()
      const id = source.concerned(told)
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
    this.#isOld = true
    this.#wake()
  }

  /** Reads the next page, unless that is under way. */
  async readMore(): Promise<void> {
    const now = this.#now.value
    if (this.#isReadingMore || now.state !== 'ready' || now.nextCursor === null) return
    this.#isReadingMore = true
    const answer = await this.#source.page(now.nextCursor, PAGE, this.#end.signal)
    // A page that failed is asked for again by the next scroll, and not by each.
    if (!answer.ok) await this.#clock.sleep(RETRY_MS, this.#end.signal)
    this.#isReadingMore = false
    // Who asked is waiting at the end of the list, and will not ask again.
    if (answer.ok && !this.#append(answer.value, now.nextCursor)) await this.readMore()
  }

  /**
   * Shows a new entry without waiting for its change to be told, and reads it again: the answer to a
   * repeated action is the first answer, which may be old.
   */
  take(entry: T): void {
    const now = this.#now.value
    if (now.state !== 'ready') return
    if (!now.entries.some(({ id }) => id === entry.id)) this.#put(now, entry)
    this.#changed.add(entry.id)
    this.#wake()
  }

  #put(now: FeedReady<T>, entry: T): void {
    const place = now.entries.findIndex(({ id }) => id === entry.id)
    const old = now.entries[place]
    const isFirst = old === undefined || this.#source.rises(entry, old)
    const entries = isFirst
      ? [entry, ...now.entries.filter(({ id }) => id !== entry.id)]
      : now.entries.with(place, entry)
    this.#now.value = { ...now, entries }
  }

  /** False where the list was read anew meanwhile: the page does not fit to its end any more. */
  #append({ data, next_cursor }: List<T>, cursor: string): boolean {
    const now = this.#now.value
    if (now.state !== 'ready' || now.nextCursor !== cursor) return false
    const entries = [...now.entries, ...without(data, now.entries)]
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
    while ((this.#isOld || this.#changed.size > 0) && !signal.aborted) {
      const isRead = await this.#readChanged(signal)
      await this.#clock.sleep(isRead ? REST_MS : RETRY_MS, signal)
    }
    this.#isCatchingUp = false
  }

  /** Whether it could be read; if not, it is still to do. */
  async #readChanged(signal: AbortSignal): Promise<boolean> {
    const now = this.#now.value
    const ids = [...this.#changed]
    this.#changed.clear()
    const isKnown = (id: string) => now.state === 'ready' && now.entries.some((e) => e.id === id)
    const isFew = ids.length <= SINGLES_MAX && ids.every(isKnown)
    if (!this.#isOld && isFew) return this.#readSingles(ids, signal)
    const isRead = await this.#readHead(now, signal)
    if (!isRead) for (const id of ids) this.#changed.add(id)
    return isRead
  }

  async #readSingles(ids: readonly string[], signal: AbortSignal): Promise<boolean> {
    const answers = await Promise.all(ids.map((id) => this.#source.one(id, signal)))
    for (const answer of answers) {
      const now = this.#now.value
      if (answer.ok && now.state === 'ready') this.#put(now, answer.value)
    }
    // What is gone is gone; of all else nobody knows.
    const isRead = answers.every((answer) => answer.ok || answer.failure.status === 404)
    if (!isRead) this.#isOld = true
    return isRead
  }

  async #readHead(before: FeedNow<T>, signal: AbortSignal): Promise<boolean> {
    const isAllOld = this.#isOld
    this.#isOld = false
    const shown = before.state === 'ready' ? before.entries.length : 0
    const limit = Math.min(Math.max(shown, PAGE), HEAD_MAX)
    const answer = await this.#source.page(null, limit, signal)
    if (signal.aborted) return false
    const now = this.#now.value
    if (answer.ok) {
      this.#now.value =
        now.state === 'ready' && !isAllOld ? withHead(now, answer.value) : readyWith(answer.value)
      return true
    }
    this.#isOld = isAllOld
    if (now.state !== 'ready') this.#now.value = { state: 'failed', failure: answer.failure }
    return false
  }
}

function readyWith<T>({ data, next_cursor }: List<T>): FeedReady<T> {
  return { state: 'ready', entries: data, nextCursor: next_cursor }
}

/** The head as it is now, before what is known of older entries. */
function withHead<T extends { readonly id: string }>(
  now: FeedReady<T>,
  head: List<T>,
): FeedReady<T> {
  const older = without(now.entries, head.data)
  // Where nothing of the list is in its new head, there may be a gap between the two.
  const hasGap = older.length === now.entries.length
  if (hasGap || head.next_cursor === null) return readyWith(head)
  return { ...now, entries: [...head.data, ...older] }
}

function without<T extends { readonly id: string }>(entries: readonly T[], others: readonly T[]) {
  const ids = new Set(others.map(({ id }) => id))
  return entries.filter(({ id }) => !ids.has(id))
}
