// A cache of what the page has read, kept fresh while a component shows it. A view that opens again shows the cached
// value at once and reads it again in the background.
//
//   const keys = useRead('listKeys', {}, 'key')
//   keys.now.state    // 'loading' | 'ready' (value) | 'failed' (failure)

import { signal, type ReadonlySignal } from '@preact/signals'

import type { Answer, Failure } from './api.ts'
import type { Clock } from './clock.ts'
import type { Update, Updates } from './live.ts'

export type Loaded<T> =
  | { readonly state: 'loading' }
  /** With a `failure`, the value may be out of date. */
  | { readonly state: 'ready'; readonly value: T; readonly failure: Failure | null }
  | { readonly state: 'failed'; readonly failure: Failure }

export type Source<T> = {
  /** Identifies the value and everything it depends on, such as the path and query of its call. */
  readonly key: string
  load(signal: AbortSignal): Promise<Answer<T>>
  /** Kinds and ids of the changes that make the value stale. */
  readonly on: readonly string[]
}

export type Read<T> = {
  readonly now: Loaded<T>
  readonly value: T | null
  readonly refresh: () => void
}

const KEPT_MAX = 60
/** Pause between two reads of the same value. */
const REST_MS = 400
const RETRY_MS = 4_000

export class Store {
  readonly #sources: EntrySources
  readonly #entries = new Map<string, Entry>()

  constructor(sources: EntrySources) {
    this.#sources = sources
  }

  /** Keeps the source fresh until `release`. */
  use<T>(source: Source<T>) {
    const known = this.#entries.get(source.key)
    const entry = known ?? new Entry(this.#sources)
    this.#entries.delete(source.key)
    this.#entries.set(source.key, entry)
    this.#evictOldest()
    entry.acquire(source)
    return {
      now: entry.now as ReadonlySignal<Loaded<T>>, // A key always identifies the same type of value.
      refresh: () => entry.refresh(),
      release: () => entry.release(),
    }
  }

  /** Drops everything: the next session must not see it. */
  clear(): void {
    this.#entries.clear()
  }

  #evictOldest(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size <= KEPT_MAX) return
      if (!entry.isUsed) this.#entries.delete(key)
    }
  }
}

type EntrySources = { readonly live: Updates; readonly clock: Clock }

class Entry {
  readonly #live: Updates
  readonly #clock: Clock
  readonly #now = signal<Loaded<unknown>>({ state: 'loading' })
  #source: Source<unknown> | null = null
  #users = 0
  #end = new AbortController()
  #isStale = false
  #isReading = false
  #stopListening: () => void = () => {}

  readonly now: ReadonlySignal<Loaded<unknown>> = this.#now

  constructor({ live, clock }: EntrySources) {
    this.#live = live
    this.#clock = clock
  }

  get isUsed(): boolean {
    return this.#users > 0
  }

  acquire(source: Source<unknown>): void {
    this.#source = source
    this.#users += 1
    if (this.#users > 1) return
    this.#end = new AbortController()
    this.#isReading = false
    this.#stopListening = this.#live.subscribe((update) => {
      if (this.#isAffected(update)) this.refresh()
    })
    this.refresh()
  }

  release(): void {
    this.#users -= 1
    if (this.#users > 0) return
    this.#stopListening()
    this.#end.abort()
  }

  refresh(): void {
    this.#isStale = true
    if (!this.#isReading) void this.#readWhileStale(this.#end.signal)
  }

  async #readWhileStale(end: AbortSignal): Promise<void> {
    this.#isReading = true
    while (this.#isStale && this.#source !== null) {
      this.#isStale = false
      const answer = await this.#source.load(end)
      if (end.aborted) return
      this.#now.value = after(this.#now.value, answer)
      if (!answer.ok && isTransient(answer.failure)) {
        this.#isStale = true
        await this.#clock.sleep(RETRY_MS, end)
      }
      await this.#clock.sleep(REST_MS, end)
      if (end.aborted) return
    }
    this.#isReading = false
  }

  #isAffected(update: Update): boolean {
    if (update === 'reset') return true
    const on = this.#source?.on ?? []
    return on.includes(update.what) || on.includes(update.id)
  }
}

export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function after(before: Loaded<unknown>, answer: Answer<unknown>): Loaded<unknown> {
  if (before.state === 'ready') {
    if (!answer.ok && !isRefused(answer.failure)) return { ...before, failure: answer.failure }
    // An equal value is not drawn again.
    if (answer.ok && before.failure === null && isSame(before.value, answer.value)) return before
  }
  if (answer.ok) return { state: 'ready', value: answer.value, failure: null }
  return { state: 'failed', failure: answer.failure }
}

/** What was read is gone, or may not be read any more. After 401 the same person may sign in again, and go on. */
function isRefused(failure: Failure): boolean {
  return !isTransient(failure) && failure.status !== 401
}

function isTransient({ status }: Failure): boolean {
  return status === 0 || status === 429 || status >= 500
}

export function readOf<T>(now: Loaded<T>, refresh: () => void): Read<T> {
  return { now, value: now.state === 'ready' ? now.value : null, refresh }
}

/** Combines reads into one that is ready once all are, so that a view does not jump while they arrive. */
export function combine<T extends object>(parts: {
  readonly [K in keyof T]: Read<T[K]>
}): Read<T> {
  const refresh = () => {
    for (const name in parts) parts[name].refresh()
  }
  const values: Partial<T> = {}
  for (const name in parts) {
    const { now } = parts[name]
    if (now.state !== 'ready') return readOf<T>(now, refresh)
    values[name] = now.value
  }
  // Every name has its value here.
  return readOf({ state: 'ready', value: values as T, failure: null }, refresh)
}
