// One stream of server-sent events per page reports changes in the relay. A change has only a kind and an id: views
// read the content again from the API.

import { signal, type ReadonlySignal } from '@preact/signals'

import { pageHeaders, requestOf } from './api.ts'
import type { Clock } from './clock.ts'

export type Change = {
  readonly what: string
  readonly id: string
  /** Set if `what` is a message. */
  readonly conversation_id?: string | undefined
}

/** `reset`: anything may have changed. */
export type Update = Change | 'reset'

export type Updates = {
  /** Returns a function that ends the subscription. */
  subscribe(listener: (update: Update) => void): () => void
}

type Visible = {
  readonly hidden: boolean
  addEventListener(
    name: 'visibilitychange',
    listener: () => void,
    options: { readonly signal: AbortSignal },
  ): void
}

/** The relay sends a heartbeat every 15 seconds. */
const SILENCE_MS = 45_000
const RETRY_MS = [500, 1_000, 2_000, 4_000, 8_000] as const

export class Live implements Updates {
  readonly #clock: Clock
  readonly #document: Visible
  /** Called after the stream is lost and after it is back: session and version may have changed. */
  readonly #onBreak: () => Promise<void>
  readonly #listeners = new Set<(update: Update) => void>()
  readonly #isConnected = signal(true)
  #lastId: string | null = null
  /** Aborted once this page leads: it follows changes for all pages of its browser. */
  #led = new AbortController()

  readonly isConnected: ReadonlySignal<boolean> = this.#isConnected

  constructor(given: {
    readonly clock: Clock
    readonly document: Visible
    readonly onBreak: () => Promise<void>
  }) {
    this.#clock = given.clock
    this.#document = given.document
    this.#onBreak = given.onBreak
  }

  subscribe(listener: (update: Update) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  get isLeading(): boolean {
    return this.#led.signal.aborted
  }

  /** Keeps the stream open while the page is hidden, until this run ends. */
  lead(): void {
    this.#led.abort()
  }

  /**
   * Keeps a stream open while the page is visible or leads: browsers open only six connections per host for all
   * tabs. Resolves once `end` aborts.
   */
  async run(end: AbortSignal): Promise<void> {
    this.#led = new AbortController()
    let failures = 0
    while (!end.aborted) {
      await this.#visible(end)
      const hidden = new AbortController()
      const onHidden = () => this.#mayRest && hidden.abort()
      const over = new AbortController()
      this.#document.addEventListener('visibilitychange', onHidden, { signal: over.signal })
      const hadOpened = await this.#follow(AbortSignal.any([end, hidden.signal]))
      over.abort()
      if (end.aborted || hidden.signal.aborted) continue
      failures = hadOpened ? 1 : failures + 1
      this.#isConnected.value = false
      await this.#onBreak()
      await this.#clock.sleep(RETRY_MS[failures - 1] ?? RETRY_MS[4], end)
    }
  }

  /** Reads one stream until it breaks, is silent too long, or `end` aborts. Returns whether it opened. */
  async #follow(end: AbortSignal): Promise<boolean> {
    const over = new AbortController()
    const signal = AbortSignal.any([end, over.signal])
    let hasOpened = false
    let activeAt = this.#clock.time()
    void this.#silence(() => activeAt, signal).then(() => over.abort())
    try {
      const body = await this.#open(signal)
      hasOpened = body !== null
      if (hasOpened && !this.#isConnected.value) void this.#onBreak()
      if (hasOpened) this.#isConnected.value = true
      const events =
        body === null ? [] : serverSentEvents(body, () => (activeAt = this.#clock.time()))
      for await (const event of events) this.#publish(event)
    } catch {
      // The connection broke, or `signal` aborted; the caller checks which.
    }
    over.abort()
    return hasOpened
  }

  /** Returns null if the relay refuses. */
  async #open(signal: AbortSignal): Promise<ReadableStream<Uint8Array> | null> {
    const { path } = requestOf('watchChanges', { query: { after: this.#lastId } })
    const response = await fetch(path, {
      headers: { accept: 'text/event-stream', ...pageHeaders() },
      cache: 'no-store',
      redirect: 'error',
      signal,
    })
    return response.ok ? response.body : null
  }

  /** Resolves once the stream has been silent too long, or `end` aborts. */
  async #silence(activeAt: () => number, end: AbortSignal): Promise<void> {
    while (!end.aborted && this.#clock.time() - activeAt() < SILENCE_MS) {
      await this.#clock.sleep(SILENCE_MS, end)
    }
  }

  /** Resolves once the page is visible, or `end` aborts. */
  #visible(end: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = new AbortController()
      const check = () => {
        if (this.#mayRest && !end.aborted) return
        done.abort()
        resolve()
      }
      this.#document.addEventListener('visibilitychange', check, { signal: done.signal })
      end.addEventListener('abort', check, { signal: done.signal })
      this.#led.signal.addEventListener('abort', check, { signal: done.signal })
      check()
    })
  }

  get #mayRest(): boolean {
    return this.#document.hidden && !this.#led.signal.aborted
  }

  #publish({ name, id, data }: ServerSentEvent): void {
    // The first stream starts with a reset: data read before it may be out of date.
    const update = name === 'change' ? (JSON.parse(data) as Change) : 'reset' // The relay wrote it.
    this.#lastId = id
    for (const listener of this.#listeners) listener(update)
  }
}

type ServerSentEvent = NonNullable<ReturnType<typeof eventIn>>

/** Parses the body of a `fetch`: an EventSource can't send headers. Also calls `onBytes` for heartbeats. */
async function* serverSentEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<ServerSentEvent, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return undefined
      onBytes()
      text += decoder.decode(value, { stream: true })
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      yield* blocks.map(eventIn).filter((event) => event !== null)
    }
  } finally {
    // Rejects if the body is broken, which leaves nothing to cancel.
    await reader.cancel().catch(() => {})
  }
}

/** Returns null for a comment and for the retry time. */
function eventIn(block: string) {
  const lines = block.split('\n')
  const field = (name: string) =>
    lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
  const name = field('event')
  return name === undefined ? null : { name, id: field('id') ?? '', data: field('data') ?? '' }
}
