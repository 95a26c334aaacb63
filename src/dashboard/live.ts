// What changes in the relay, as it happens: one stream of server-sent events for the whole page. A
// change names what changed and its id; whoever shows that reads it again by the API.

import { signal, type ReadonlySignal } from '@preact/signals'

import type { Change, Changes, Told } from './changes.ts'
import type { Clock } from './clock.ts'

type Tools = {
  readonly clock: Clock
  /** Called where the relay refuses the stream: the session may have ended. */
  readonly onRefused: () => Promise<void>
}

const EVENTS = '/dashboard/events'
const RETRY_MS = [500, 1_000, 2_000, 4_000, 8_000] as const
/** A page that nobody sees gives its connection back: browsers open six to one host, for all tabs. */
const HIDDEN_MS = 20_000

export class Live implements Changes {
  readonly #clock: Clock
  readonly #onRefused: () => Promise<void>
  readonly #listeners = new Set<(told: Told) => void>()
  readonly #isConnected = signal(true)
  #lastId: string | null = null

  /** False once the stream is lost, until it is back. */
  readonly isConnected: ReadonlySignal<boolean> = this.#isConnected

  constructor({ clock, onRefused }: Tools) {
    this.#clock = clock
    this.#onRefused = onRefused
  }

  subscribe(listener: (told: Told) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Keeps a stream open while the page is visible. Resolves once `end` aborts. */
  async run(end: AbortSignal): Promise<void> {
    let failures = 0
    while (!end.aborted) {
      await untilVisible(end)
      const over = new AbortController()
      const hadOpened = await this.#follow(AbortSignal.any([end, this.#whenHidden(over.signal)]))
      over.abort()
      if (end.aborted) return
      if (document.hidden) continue
      failures = hadOpened ? 1 : failures + 1
      this.#isConnected.value = false
      await this.#onRefused()
      await this.#clock.sleep(RETRY_MS[failures - 1] ?? RETRY_MS[4], end)
    }
  }

  /** One stream, until it breaks or `end` aborts; whether it ever opened. */
  #follow(end: AbortSignal): Promise<boolean> {
    if (end.aborted) return Promise.resolve(false)
    const after = this.#lastId === null ? '' : `?after=${encodeURIComponent(this.#lastId)}`
    const source = new EventSource(EVENTS + after)
    let hasOpened = false
    return new Promise((resolve) => {
      const finish = () => {
        source.close()
        resolve(hasOpened)
      }
      end.addEventListener('abort', finish, { once: true })
      // The browser would try again by itself, without asking why.
      source.addEventListener('error', finish)
      source.addEventListener('open', () => {
        hasOpened = true
        this.#isConnected.value = true
      })
      source.addEventListener('change', ({ data, lastEventId }: MessageEvent<string>) => {
        this.#tell(JSON.parse(data) as Change, lastEventId) // The relay writes just this.
      })
      // The beginning of a first stream: what was read before it may be old by now.
      for (const name of ['position', 'reset']) {
        source.addEventListener(name, ({ lastEventId }: MessageEvent) =>
          this.#tell('reset', lastEventId),
        )
      }
    })
  }

  #tell(told: Told, position: string): void {
    this.#lastId = position
    for (const listener of this.#listeners) listener(told)
  }

  /** Aborts when the page has been hidden for a while; stops looking when `over` aborts. */
  #whenHidden(over: AbortSignal): AbortSignal {
    const hiding = new AbortController()
    let isBack = new AbortController()
    const look = async () => {
      isBack.abort()
      if (!document.hidden) return
      isBack = new AbortController()
      const { signal } = isBack
      await this.#clock.sleep(HIDDEN_MS, AbortSignal.any([over, signal]))
      if (!signal.aborted) hiding.abort()
    }
    document.addEventListener('visibilitychange', () => void look(), { signal: over })
    return hiding.signal
  }
}

function untilVisible(end: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (!document.hidden || end.aborted) return resolve()
    const done = new AbortController()
    const finish = () => {
      if (document.hidden && !end.aborted) return
      done.abort()
      resolve()
    }
    document.addEventListener('visibilitychange', finish, { signal: done.signal })
    end.addEventListener('abort', finish, { signal: done.signal })
  })
}
