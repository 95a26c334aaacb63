// What is on its way to programs outside: posts to webhooks. The fake is quiet once none is left.

import { systemClock, withTimeout } from '../system/clock.ts'
import { comeToRest } from '../system/driven-clock.ts'
import type { Post, PostRequest } from '../webhooks/post.ts'

/** A post without an answer for so long, in real time, is not waited for: its receiver may hang on purpose. */
const HANGS_AFTER_MS = 3_000

type Flight = { readonly url: string; readonly startedAt: number; readonly end: Promise<unknown> }

export class Traffic {
  readonly #posts = new Set<Flight>()

  /** Wraps the posts of a relay. */
  readonly around = (post: Post): Post => {
    return async (request, signal) => {
      const end = post(request, signal)
      const flight = { url: addressIn(request), startedAt: systemClock.monotonic(), end }
      this.#posts.add(flight)
      try {
        return await end
      } finally {
        this.#posts.delete(flight)
      }
    }
  }

  /** The addresses of the posts that have no answer yet. */
  inFlight(): readonly string[] {
    return [...this.#posts].map(({ url }) => url)
  }

  /** Resolves once nothing is under way but what the clock or a hanging receiver holds. */
  async settle(): Promise<void> {
    for (;;) {
      await comeToRest()
      const now = systemClock.monotonic()
      const awaited = [...this.#posts].filter(({ startedAt }) => now - startedAt < HANGS_AFTER_MS)
      if (awaited.length === 0) return
      const leftMs = Math.min(...awaited.map((one) => one.startedAt + HANGS_AFTER_MS - now))
      await withTimeout(systemClock, leftMs, Promise.race(awaited.map(({ end }) => end)), null)
    }
  }
}

function addressIn({ url }: PostRequest): string {
  return URL.canParse(url) ? new URL(url).origin + new URL(url).pathname : url
}
