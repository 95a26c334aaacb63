import type { Timestamp } from '../domain/ids.ts'
import type { Core } from '../storage/core.ts'

type First = { readonly ageMs: number; readonly at: number }

/**
 * The ages of things by their ids. The monotonic clock measures what happens in this life, so that a wall clock that is
 * set neither makes a cause old nor keeps it young. The time before this life comes from stored times, as far as the
 * relay's clock trusts them.
 */
export class Ages {
  readonly #clock: Core['clock']
  readonly #firsts = new Map<string, First>()

  constructor({ clock }: Pick<Core, 'clock'>) {
    this.#clock = clock
  }

  /** How long ago `at` was, in milliseconds. `name` must be another one if the time of a thing changes. */
  of(name: string, at: Timestamp): number {
    const now = this.#clock.monotonic()
    const known = this.#firsts.get(name)
    const first = known ?? { ageMs: Math.max(0, this.#clock.ageOf(at)), at: now }
    if (known === undefined) this.#firsts.set(name, first)
    return first.ageMs + now - first.at
  }

  /** Forgets everything but these. */
  keep(names: ReadonlySet<string>): void {
    for (const name of this.#firsts.keys()) if (!names.has(name)) this.#firsts.delete(name)
  }

  /** Forgets what is older, whose stored time is good enough. */
  forgetOlder(ms: number): void {
    const now = this.#clock.monotonic()
    for (const [name, { ageMs, at }] of this.#firsts) {
      if (ageMs + now - at > ms) this.#firsts.delete(name)
    }
  }
}
