// What changes in the relay, as it happens: one stream of server-sent events for the whole page. A
// change names what changed and its id; whoever shows that reads it again by the API.

import { signal, type ReadonlySignal } from '@preact/signals'

import { withQuery } from './address.ts'
import type { Change, Changes, Told } from './changes.ts'
import type { Clock } from './clock.ts'

type Tools = {
  readonly clock: Clock
  /** Called when the stream is lost and when it is back: session and version may be others. */
  readonly onBreak: () => Promise<void>
}

const EVENTS = '/dashboard/events'
const RETRY_MS = [500, 1_000, 2_000, 4_000, 8_000] as const

export class Live implements Changes {
  readonly #clock: Clock
  readonly #onBreak: () => Promise<void>
  readonly #listeners = new Set<(told: Told) => void>()
  readonly #isConnected = signal(true)
  #lastId: string | null = null

  /** False once the stream is lost, until it is back. */
  readonly isConnected: ReadonlySignal<boolean> = this.#isConnected

  constructor({ clock, onBreak }: Tools) {
    this.#clock = clock
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
      await untilVisible(end)
      const over = new AbortController()
      const hidden = whenHidden(over.signal)
      const hadOpened = await this.#follow(AbortSignal.any([end, hidden]))
      over.abort()
      if (end.aborted || hidden.aborted) continue
      failures = hadOpened ? 1 : failures + 1
      this.#isConnected.value = false
      await this.#onBreak()
      await this.#clock.sleep(RETRY_MS[failures - 1] ?? RETRY_MS[4], end)
    }
  }

  /** One stream, until it breaks or `end` aborts; whether it ever opened. */
  #follow(end: AbortSignal): Promise<boolean> {
    if (end.aborted) return Promise.resolve(false)
    const source = new EventSource(withQuery(EVENTS, { after: this.#lastId }))
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
        if (!this.#isConnected.value) void this.#onBreak()
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
}

/** Aborts when nobody sees the page any more; looks no longer than until `over`. */
function whenHidden(over: AbortSignal): AbortSignal {
  const hidden = new AbortController()
  const look = () => {
    if (document.hidden) hidden.abort()
  }
  document.addEventListener('visibilitychange', look, { signal: over })
  return hidden.signal
}

function untilVisible(end: AbortSignal): Promise<void> {
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
