// The memory of a line's walks over the list of conversations. It is not stored.

import { dropOldest } from '../../../../system/memoize.ts'

/** Pages below the first are read at least this often, whatever the first page shows. */
const WALK_EVERY_MS = 60_000
const TRIES = 3
const REST_MS = 60_000
const FAILURES_MAX = 200

export class WalkMemory {
  /** True if the last walk was cut short, or ended early although it saw a changed conversation. */
  isUnfinished = false
  /** True if the last visited conversation was below the first page. */
  hasVisitedBelow = false
  #finished: { readonly page: string; readonly at: number } | null = null
  /** Monotonic time at which a walk last reached the end of the list. */
  endSeenAt = -Infinity
  readonly #failures = new Map<string, { readonly count: number; readonly at: number }>()

  finish(page: string, at: number): void {
    this.#finished = { page, at }
  }

  /** True if the first page is unchanged since a finished walk less than a minute ago. */
  isQuiet(page: string, now: number): boolean {
    const { page: before, at } = this.#finished ?? { page: null, at: -Infinity }
    const isCertain = !this.isUnfinished && !this.hasVisitedBelow
    return isCertain && page === before && now - at < WALK_EVERY_MS
  }

  /** Counts a failure of a conversation that could not be opened: after three tries it must not hold up the others. */
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
