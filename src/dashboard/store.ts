// What the page has read, kept by a name, fresh while somebody shows it. Coming back to a page shows
// at once what was known, and reads it again behind that.
//
//   const keys = useRead<List<Key>>('keys', 'key')
//   keys.now.state    // 'loading' | 'ready' (value) | 'failed' (failure)

import { signal, type ReadonlySignal } from '@preact/signals'

import type { Changes, Told } from './changes.ts'
import type { Clock } from './clock.ts'
import type { Answer, Failure } from './request.ts'

export type Loaded<T> =
  | { readonly state: 'loading' }
  /** `failure` says why the value may be old. */
  | { readonly state: 'ready'; readonly value: T; readonly failure: Failure | null }
  | { readonly state: 'failed'; readonly failure: Failure }

export type Source<T> = {
  /** Names what is loaded, with all that it depends on: `messages of conv_…`. */
  readonly key: string
  load(signal: AbortSignal): Promise<Answer<T>>
  /** Which changes make it old: their kinds, or the ids of what they are about. */
  readonly on: readonly string[]
}

export type Kept<T> = {
  readonly now: ReadonlySignal<Loaded<T>>
  /** Reads it again, soon. */
  readonly refresh: () => void
}

/** What a source has now, for a component. */
export type Read<T> = {
  readonly now: Loaded<T>
  /** Null as long as there is none. */
  readonly value: T | null
  readonly refresh: () => void
}

type Tools = { readonly live: Changes; readonly clock: Clock }

const KEPT_MAX = 60
/** Between two readings of the same thing, however often it changes. */
const REST_MS = 400
const RETRY_MS = 4_000

export class Store {
  readonly #tools: Tools
  readonly #entries = new Map<string, Entry>()

  constructor(tools: Tools) {
    this.#tools = tools
  }

  /** Keeps the source fresh until `release` is called. */
  use<T>(source: Source<T>): Kept<T> & { readonly release: () => void } {
    const known = this.#entries.get(source.key)
    const entry = known ?? new Entry(this.#tools)
    this.#entries.delete(source.key)
    this.#entries.set(source.key, entry)
    this.#forgetOldest()
    entry.acquire(source)
    return {
      now: entry.now as ReadonlySignal<Loaded<T>>, // A key always names the same kind of value.
      refresh: () => entry.refresh(),
      release: () => entry.release(),
    }
  }

  /** Forgets everything: what one session read is not for the next. */
  clear(): void {
    this.#entries.clear()
  }

  #forgetOldest(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size <= KEPT_MAX) return
      if (!entry.isUsed) this.#entries.delete(key)
    }
  }
}

class Entry {
  readonly #tools: Tools
  readonly #now = signal<Loaded<unknown>>({ state: 'loading' })
  #source: Source<unknown> | null = null
  #users = 0
  #end = new AbortController()
  #isOld = false
  #isReading = false
  #stopListening: () => void = () => {}

  readonly now: ReadonlySignal<Loaded<unknown>> = this.#now

  constructor(tools: Tools) {
    this.#tools = tools
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
    this.#stopListening = this.#tools.live.subscribe((told) => {
      if (this.#concerns(told)) this.refresh()
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
    this.#isOld = true
    if (!this.#isReading) void this.#readWhileOld(this.#end.signal)
  }

  async #readWhileOld(end: AbortSignal): Promise<void> {
    this.#isReading = true
    while (this.#isOld && this.#source !== null) {
      this.#isOld = false
      const answer = await this.#source.load(end)
      if (end.aborted) return
      this.#now.value = after(this.#now.value, answer)
      if (!answer.ok && mayPass(answer.failure)) {
        this.#isOld = true
        await this.#tools.clock.sleep(RETRY_MS, end)
      }
      await this.#tools.clock.sleep(REST_MS, end)
      if (end.aborted) return
    }
    this.#isReading = false
  }

  #concerns(told: Told): boolean {
    if (told === 'reset') return true
    const on = this.#source?.on ?? []
    return on.includes(told.what) || on.includes(told.id)
  }
}

function after(before: Loaded<unknown>, answer: Answer<unknown>): Loaded<unknown> {
  if (answer.ok) return { state: 'ready', value: answer.value, failure: null }
  if (before.state === 'ready') return { ...before, failure: answer.failure }
  return { state: 'failed', failure: answer.failure }
}

/** Whether a later try may do better by itself. */
function mayPass({ status }: Failure): boolean {
  return status === 0 || status === 429 || status >= 500
}

export function readOf<T>(now: Loaded<T>, refresh: () => void): Read<T> {
  return { now, value: now.state === 'ready' ? now.value : null, refresh }
}

/** Several values as one that is ready when all are: what comes in pieces pushes around what is there. */
export function together<T extends object>(parts: {
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
  // Every name has its value by now.
  return readOf({ state: 'ready', value: values as T, failure: null }, refresh)
}
