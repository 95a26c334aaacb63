// The memory that a line has of its walks over the list of conversations; nothing of it is stored.

import { dropOldest } from '../../../../system/memoize.ts'

/** Whatever the first page shows, the others are looked at so often. */
const WALK_EVERY_MS = 60_000
const TRIES = 3
const REST_MS = 60_000
const FAILURES_MAX = 200

export class WalkMemory {
  /** True if the last walk has left unread conversations, or was cut short. */
  isUnfinished = false
  /** True if the last conversation that was visited stood below the first page. */
  isNewsBelow = false
  #finished: { readonly page: string; readonly at: number } | null = null
  /** The time at which a walk has come to the end of the list. */
  endSeenAt = -Infinity
  readonly #failures = new Map<string, { readonly count: number; readonly at: number }>()

  finish(page: string, at: number): void {
    this.#finished = { page, at }
  }

  /** True if the first page has not changed since the last finished walk, which was a short time ago. */
  isQuiet(page: string, now: number): boolean {
    const { page: before, at } = this.#finished ?? { page: null, at: -Infinity }
    const isCertain = !this.isUnfinished && !this.isNewsBelow
    return isCertain && page === before && now - at < WALK_EVERY_MS
  }

  /** A conversation could not be opened: after some tries in vain it must not hold up the others. */
  noteFailure(mark: string, at: number): void {
    this.#failures.set(mark, { count: (this.#failures.get(mark)?.count ?? 0) + 1, at })
    dropOldest(this.#failures, FAILURES_MAX)
  }

  noteVisit(mark: string): void {
    this.#failures.delete(mark)
  }

  isResting(mark: string, now: number): boolean {
    const failure = this.#failures.get(mark)
    return failure !== undefined && failure.count >= TRIES && now - failure.at < REST_MS
  }
}
