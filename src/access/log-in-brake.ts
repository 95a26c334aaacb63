import { RelayError } from '../domain/errors.ts'
import type { Clock } from '../system/clock.ts'

type Failures = { readonly count: number; readonly lastAt: number }

/** A password that is being looked at. */
export type Attempt = {
  /** It was right: the address begins anew. */
  succeed(): void
}

const FREE_FAILURES = 5
const DELAY_MS_MIN = 1_000
const DELAY_MS_MAX = 60_000
const ALL_FAILURES_MAX = 60
const ALL_WINDOW_MS = 60_000
const ADDRESSES_MAX = 1_000

/**
 * Slows down who guesses: after five wrong passwords an address waits 1 s, then 2, 4, … 60 s before the
 * next; and all addresses together get 60 wrong ones a minute. An attempt counts as wrong from its
 * beginning until it is proven right, so that many at once get no more than one after the other.
 */
export class LogInBrake {
  readonly #clock: Clock
  /** By address; a map remembers the order of entries, so its first one failed longest ago. */
  readonly #failures = new Map<string, Failures>()
  /** When the wrong ones of the last minute began, oldest first. */
  #recent: number[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Throws `rate_limit_exceeded` with the time to wait; then nothing was counted. */
  begin(address: string): Attempt {
    const now = this.#clock.monotonic()
    this.#recent = this.#recent.filter((at) => at > now - ALL_WINDOW_MS)
    const waitMs = Math.max(this.#waitOf(address, now), this.#waitOfAll(now))
    if (waitMs > 0) throw tooMany(Math.ceil(waitMs / 1_000))
    const count = (this.#failures.get(address)?.count ?? 0) + 1
    this.#failures.delete(address)
    this.#forgetOldest()
    this.#failures.set(address, { count, lastAt: now })
    this.#recent.push(now)
    return { succeed: () => this.#forgive(address, now) }
  }

  #waitOf(address: string, now: number): number {
    const known = this.#failures.get(address)
    if (known === undefined || known.count < FREE_FAILURES) return 0
    const delayMs = Math.min(DELAY_MS_MIN * 2 ** (known.count - FREE_FAILURES), DELAY_MS_MAX)
    return known.lastAt + delayMs - now
  }

  #waitOfAll(now: number): number {
    const [oldest = now] = this.#recent
    return this.#recent.length < ALL_FAILURES_MAX ? 0 : oldest + ALL_WINDOW_MS - now
  }

  #forgive(address: string, at: number): void {
    this.#failures.delete(address)
    const index = this.#recent.indexOf(at)
    if (index !== -1) this.#recent.splice(index, 1)
  }

  #forgetOldest(): void {
    const oldest = this.#failures.keys().next()
    if (this.#failures.size >= ADDRESSES_MAX && !oldest.done) this.#failures.delete(oldest.value)
  }
}

function tooMany(seconds: number): RelayError {
  const message = `Too many wrong passwords: try again in ${seconds} s.`
  const details = { limit: 'wrong_passwords', retry_after_seconds: seconds }
  return new RelayError('rate_limit_exceeded', message, { details, retryAfterSeconds: seconds })
}
