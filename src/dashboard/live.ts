// What changes in the relay, as it happens: one stream of server-sent events for the whole page. A
// change names what changed and its id; whoever shows that reads it again by the API.

import { signal, type ReadonlySignal } from '@preact/signals'

import { withQuery } from './address.ts'
import type { Change, Changes, Told } from './changes.ts'
import type { Clock } from './clock.ts'
import { pageHeaders } from './request.ts'
import { serverSentEvents, type ServerSentEvent } from './server-sent-events.ts'

/** The document, as far as it tells whether anybody sees it. */
type Visible = {
  readonly hidden: boolean
  addEventListener(
    name: 'visibilitychange',
    look: () => void,
    options: { readonly signal: AbortSignal },
  ): void
}

type Tools = {
  readonly clock: Clock
  readonly document: Visible
  /** Called when the stream is lost and when it is back: session and version may be others. */
  readonly onBreak: () => Promise<void>
}

const EVENTS = '/dashboard/events'
/** The relay gives a sign of life every 15 seconds. */
const SILENCE_MS = 45_000
const RETRY_MS = [500, 1_000, 2_000, 4_000, 8_000] as const

export class Live implements Changes {
  readonly #clock: Clock
  readonly #document: Visible
  readonly #onBreak: () => Promise<void>
  readonly #listeners = new Set<(told: Told) => void>()
  readonly #isConnected = signal(true)
  #lastId: string | null = null

  /** False once the stream is lost, until it is back. */
  readonly isConnected: ReadonlySignal<boolean> = this.#isConnected

  constructor({ clock, document, onBreak }: Tools) {
    this.#clock = clock
    this.#document = document
    this.#onBreak = onBreak
  }

  subscribe(listener: (told: Told) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Keeps a stream open while the page is visible: browsers open six connections to one host, for all
   * tabs. Resolves once `end` aborts.
   */
  async run(end: AbortSignal): Promise<void> {
    let failures = 0
    while (!end.aborted) {
      await untilVisible(this.#document, end)
      const over = new AbortController()
      const hidden = whenHidden(this.#document, over.signal)
      const hadOpened = await this.#follow(AbortSignal.any([end, hidden]))
      over.abort()
      if (end.aborted || hidden.aborted) continue
      failures = hadOpened ? 1 : failures + 1
      this.#isConnected.value = false
      await this.#onBreak()
      await this.#clock.sleep(RETRY_MS[failures - 1] ?? RETRY_MS[4], end)
    }
  }

  /** One stream, until it breaks, falls silent or `end` aborts; whether it ever opened. */
  async #follow(end: AbortSignal): Promise<boolean> {
    const over = new AbortController()
    const signal = AbortSignal.any([end, over.signal])
    let hasOpened = false
    let heardAt = this.#clock.time()
    void this.#untilSilent(() => heardAt, signal).then(() => over.abort())
    try {
      const body = await this.#open(signal)
      hasOpened = body !== null
      if (hasOpened && !this.#isConnected.value) void this.#onBreak()
      if (hasOpened) this.#isConnected.value = true
      const events =
        body === null ? [] : serverSentEvents(body, () => (heardAt = this.#clock.time()))
      for await (const event of events) this.#take(event)
    } catch {
      // The connection is lost, or `signal` aborted: the caller knows which.
    }
    over.abort()
    return hasOpened
  }

  /** Null where the relay refuses. */
  async #open(signal: AbortSignal): Promise<ReadableStream<Uint8Array> | null> {
    const response = await fetch(withQuery(EVENTS, { after: this.#lastId }), {
      headers: { accept: 'text/event-stream', ...pageHeaders() },
      cache: 'no-store',
      redirect: 'error',
      signal,
    })
    return response.ok ? response.body : null
  }

  /** Resolves once nothing was heard for so long that the connection must be dead, or `end` aborts. */
  async #untilSilent(heardAt: () => number, end: AbortSignal): Promise<void> {
    while (!end.aborted && this.#clock.time() - heardAt() < SILENCE_MS) {
      await this.#clock.sleep(SILENCE_MS, end)
    }
  }

  #take({ name, id, data }: ServerSentEvent): void {
    // The beginning of a first stream is told as a reset: what was read before it may be old by now.
    this.#tell(name === 'change' ? (JSON.parse(data) as Change) : 'reset', id) // The relay writes just this.
  }

  #tell(told: Told, position: string): void {
    this.#lastId = position
    for (const listener of this.#listeners) listener(told)
  }
}

/** Aborts when nobody sees the page any more; looks no longer than until `over`. */
function whenHidden(document: Visible, over: AbortSignal): AbortSignal {
  const hidden = new AbortController()
  const look = () => {
    if (document.hidden) hidden.abort()
  }
  document.addEventListener('visibilitychange', look, { signal: over })
  return hidden.signal
}

function untilVisible(document: Visible, end: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = new AbortController()
    const look = () => {
      if (document.hidden && !end.aborted) return
      done.abort()
      resolve()
    }
    document.addEventListener('visibilitychange', look, { signal: done.signal })
    end.addEventListener('abort', look, { signal: done.signal })
    look()
  })
}
