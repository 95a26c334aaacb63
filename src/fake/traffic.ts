// Work in real time that a relay began: posts to programs outside, and files. The fake is quiet once none is left.

import { AttachmentStore } from '../attachments/store.ts'
import type { LineDriver, LineSession } from '../lines/driver.ts'
import { systemClock, withTimeout } from '../system/clock.ts'
import { comeToRest } from '../system/driven-clock.ts'
import type { Post, PostRequest } from '../webhooks/post.ts'

/** Work that takes longer, in real time, is not waited for: a receiver may hang on purpose. */
const HANGS_AFTER_MS = 3_000

type Flight = {
  /** The address of a post; null for other work. */
  readonly url: string | null
  readonly startedAt: number
  readonly end: Promise<unknown>
}

export class Traffic {
  readonly #flights = new Set<Flight>()

  /** Wraps the posts of a relay. */
  readonly around = (post: Post): Post => {
    return (request, signal) => this.#count(post(request, signal), addressIn(request))
  }

  /** The addresses of the posts that have no answer yet. */
  inFlight(): readonly string[] {
    return [...this.#flights].flatMap(({ url }) => url ?? [])
  }

  /** Resolves once nothing is under way but what the clock or a hanging receiver holds. */
  async settle(): Promise<void> {
    for (;;) {
      await comeToRest()
      const now = systemClock.monotonic()
      const awaited = [...this.#flights].filter(({ startedAt }) => now - startedAt < HANGS_AFTER_MS)
      if (awaited.length === 0) return
      const leftMs = Math.min(...awaited.map((one) => one.startedAt + HANGS_AFTER_MS - now))
      await withTimeout(systemClock, leftMs, Promise.race(awaited.map(({ end }) => end)), null)
    }
  }

  /** A store of files whose work counts. */
  createStore(...given: ConstructorParameters<typeof AttachmentStore>): AttachmentStore {
    const count = <T>(work: Promise<T>) => this.#count(work)
    const Counted = class extends AttachmentStore {
      override write: AttachmentStore['write'] = (...them) => count(super.write(...them))
      override keep: AttachmentStore['keep'] = (...them) => count(super.keep(...them))
      override release: AttachmentStore['release'] = (...them) => count(super.release(...them))
      override sweep: AttachmentStore['sweep'] = (...them) => count(super.sweep(...them))
    }
    return new Counted(...given)
  }

  /** A driver whose sends count until they reach the point of no return. */
  ofDriver(driver: LineDriver): LineDriver {
    return {
      ...driver,
      run: (line, listener, signal) => {
        const onEvent: typeof listener.onEvent = (event) => {
          if (event.type !== 'online') return listener.onEvent(event)
          return listener.onEvent({ ...event, session: this.#ofSession(event.session) })
        }
        return driver.run(line, { onEvent }, signal)
      },
    }
  }

  #ofSession(session: LineSession): LineSession {
    return {
      capacity: session.capacity,
      knows: (handle) => session.knows(handle),
      send: async (message, pointOfNoReturn, signal) => {
        const prepared = Promise.withResolvers<void>()
        void this.#count(prepared.promise)
        const ask: typeof pointOfNoReturn = (note) => {
          prepared.resolve()
          return pointOfNoReturn(note)
        }
        return session.send(message, ask, signal).finally(prepared.resolve)
      },
    }
  }

  async #count<T>(end: Promise<T>, url: string | null = null): Promise<T> {
    const flight = { url, startedAt: systemClock.monotonic(), end }
    this.#flights.add(flight)
    try {
      return await end
    } finally {
      this.#flights.delete(flight)
    }
  }
}

function addressIn({ url }: PostRequest): string {
  return URL.canParse(url) ? new URL(url).origin + new URL(url).pathname : url
}
