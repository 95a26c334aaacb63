// Work in real time that a relay began: posts to programs outside, and files. The fake is quiet once none is left.

import { AttachmentStore } from '../attachments/store.ts'
import type { LineDriver, LineSession } from '../lines/driver.ts'
import { storageFull } from '../storage/sqlite-errors.ts'
import { systemClock, withTimeout } from '../system/clock.ts'
import { comeToRest } from '../system/driven-clock.ts'
import { systemRandom } from '../system/random.ts'
import type { Post, PostRequest } from '../webhooks/post.ts'

/** Work that takes longer, in real time, is not waited for: a receiver may hang on purpose. */
const HANGS_AFTER_MS = 3_000

type Flight = {
  /** The address of a post; null for other work. */
  readonly url: string | null
  readonly startedAt: number
  /** Resolves when the work is done, or failed. */
  readonly end: Promise<unknown>
  /** Lets the relay have the outcome. */
  readonly release: () => void
}

export class Traffic {
  readonly #isOrdered: boolean
  readonly #flights = new Set<Flight>()
  #pumping: Promise<void> | null = null

  /**
   * If it is ordered, the relay gets one outcome at a time, in the order in which the works began, and each when it has
   * come to rest from the one before: how long a work took in real time makes no difference.
   */
  constructor({ isOrdered }: { readonly isOrdered: boolean }) {
    this.#isOrdered = isOrdered
  }

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
    do {
      await comeToRest()
      await this.#pumping
    } while (this.#pumping !== null)
  }

  /** One turn is enough for most of those that wake at one instant. How long works take must make no difference. */
  async settleBetween(): Promise<void> {
    await comeToRest(1)
    if (this.#pumping !== null) await this.settle()
  }

  /** Waits for one work after the other, until none is left but those that hang. */
  async #pump(): Promise<void> {
    for (;;) {
      await comeToRest()
      const flights = [...this.#flights]
      // Works that hang have lost their place.
      for (const flight of flights) if (leftMs(flight) <= 0) flight.release()
      const next = flights.find((flight) => leftMs(flight) > 0)
      if (next === undefined) break
      await withTimeout(systemClock, leftMs(next), next.end, null)
      next.release()
    }
    this.#pumping = null
  }

  /** A store of files whose work counts. */
  createStore(...given: ConstructorParameters<typeof AttachmentStore>): AttachmentStore {
    const count = <T>(work: Promise<T>) => this.#count(work)
    const Counted = class extends AttachmentStore {
      override newPath = async () => super.newPath().catch(placeless)
      override write: AttachmentStore['write'] = (...them) => count(super.write(...them))
      override keep: AttachmentStore['keep'] = (...them) => count(super.keep(...them))
      override release: AttachmentStore['release'] = (...them) => count(super.release(...them))
      override sweep: AttachmentStore['sweep'] = (...them) => count(super.sweep(...them))
    }
    const [core, folder] = given
    // The names of incomplete files are drawn at times that depend on the disk.
    return new Counted({ ...core, random: systemRandom }, folder)
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
        if (message.attachments === undefined) return session.send(message, pointOfNoReturn, signal)
        const prepared = Promise.withResolvers<void>()
        const turn = this.#count(prepared.promise)
        const ask: typeof pointOfNoReturn = async (note) => {
          prepared.resolve()
          await turn
          return pointOfNoReturn(note)
        }
        return session.send(message, ask, signal).finally(prepared.resolve)
      },
    }
  }

  async #count<T>(work: Promise<T>, url: string | null = null): Promise<T> {
    const turn = Promise.withResolvers<void>()
    const end = work.catch(() => {})
    const flight = { url, startedAt: systemClock.monotonic(), end, release: turn.resolve }
    if (!this.#isOrdered) turn.resolve()
    this.#flights.add(flight)
    this.#pumping ??= this.#pump()
    await end
    if (leftMs(flight) > 0) await turn.promise
    this.#flights.delete(flight)
    return work
  }
}

function placeless(cause: unknown): never {
  const places = 'the temporary folder and /dev/shm: let it write to one of them'
  throw storageFull(cause, `This fake has no place for files. It looked at ${places}.`)
}

function leftMs({ startedAt }: Flight): number {
  return startedAt + HANGS_AFTER_MS - systemClock.monotonic()
}

function addressIn({ url }: PostRequest): string {
  return URL.canParse(url) ? new URL(url).origin + new URL(url).pathname : url
}
