import type { Timestamp } from '../domain/ids.ts'
import type { Core } from '../storage/core.ts'

type First = { readonly ageMs: number; readonly at: number }

/**
 * Ages of causes, alerts and notices by name. The monotonic clock measures the time since the start, so that setting
 * the wall clock changes no age. Time before the start comes from stored times, as far as the clock trusts them.
 */
export class Ages {
  readonly #clock: Core['clock']
  readonly #firsts = new Map<string, First>()

  constructor({ clock }: Pick<Core, 'clock'>) {
    this.#clock = clock
  }

  /** Milliseconds since `at`. If `at` changes for the same thing, `name` must change too. */
  of(name: string, at: Timestamp): number {
    const now = this.#clock.monotonic()
    const known = this.#firsts.get(name)
    const first = known ?? { ageMs: Math.max(0, this.#clock.ageOf(at)), at: now }
    if (known === undefined) this.#firsts.set(name, first)
    return first.ageMs + now - first.at
  }

  /** Forgets all names except these. */
  keep(names: ReadonlySet<string>): void {
    for (const name of this.#firsts.keys()) if (!names.has(name)) this.#firsts.delete(name)
  }

  /** Forgets older entries: for them the stored time is accurate enough. */
  forgetOlder(ms: number): void {
    const now = this.#clock.monotonic()
    for (const [name, { ageMs, at }] of this.#firsts) {
      if (ageMs + now - at > ms) this.#firsts.delete(name)
    }
  }
}
