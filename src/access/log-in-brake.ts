import { RelayError } from '../domain/errors.ts'
import type { Clock } from '../system/clock.ts'

type Failures = { readonly count: number; readonly lastAt: number }

/** Who gives a password, and from whose share of the guesses. */
export type Guesser = {
  /** Names the network, the session or this machine; each is slowed for itself. */
  readonly name: string
  readonly share: Share
}

/**
 * `known`: networks that signed in lately. `session`: browsers that are signed in, for what asks again.
 * `local`: this machine.
 */
export type Share = keyof typeof SHARES

/** A password that is being looked at. */
export type Attempt = {
  /** It was right: who gave it begins anew. */
  succeed(): void
}

const FREE_FAILURES = 5
const DELAY_MS_MIN = 1_000
const DELAY_MS_MAX = 60_000
/** Wrong passwords a minute. Strangers, however many, leave the owner the others. */
const SHARES = { strangers: 30, known: 10, session: 10, local: 10 } as const
const WINDOW_MS = 60_000
const GUESSERS_MAX = 1_000

/**
 * Slows down who guesses: after five wrong passwords one waits 1 s, then 2, 4, … 60 s before the next;
 * and all of a share together get so many wrong ones a minute. An attempt counts as wrong from its
 * beginning until it is proven right, so that many at once get no more than one after the other.
 */
export class LogInBrake {
  readonly #clock: Clock
  /** By name; a map remembers the order of entries, so its first one failed longest ago. */
  readonly #failures = new Map<string, Failures>()
  /** When the wrong ones of the last minute began, oldest first, by share. */
  readonly #recent = new Map<Share, number[]>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Throws `rate_limit_exceeded` with the time to wait; then nothing was counted. */
  begin({ name, share }: Guesser): Attempt {
    const now = this.#clock.monotonic()
    const recent = (this.#recent.get(share) ?? []).filter((at) => at > now - WINDOW_MS)
    const [oldest = now] = recent
    const waitOfShareMs = recent.length < SHARES[share] ? 0 : oldest + WINDOW_MS - now
    const waitMs = Math.max(this.#waitOf(name, now), waitOfShareMs)
    if (waitMs > 0) throw tooMany(Math.ceil(waitMs / 1_000))
    const count = (this.#failures.get(name)?.count ?? 0) + 1
    this.#failures.delete(name)
    this.#forgetOldest()
    this.#failures.set(name, { count, lastAt: now })
    this.#recent.set(share, [...recent, now])
    return { succeed: () => this.#forgive({ name, share }, now) }
  }

  #waitOf(name: string, now: number): number {
    const known = this.#failures.get(name)
    if (known === undefined || known.count < FREE_FAILURES) return 0
    const delayMs = Math.min(DELAY_MS_MIN * 2 ** (known.count - FREE_FAILURES), DELAY_MS_MAX)
    return known.lastAt + delayMs - now
  }

  #forgive({ name, share }: Guesser, at: number): void {
    this.#failures.delete(name)
    const recent = this.#recent.get(share) ?? []
    const index = recent.indexOf(at)
    if (index !== -1) this.#recent.set(share, recent.toSpliced(index, 1))
  }

  #forgetOldest(): void {
    const oldest = this.#failures.keys().next()
    if (this.#failures.size >= GUESSERS_MAX && !oldest.done) this.#failures.delete(oldest.value)
  }
}

function tooMany(seconds: number): RelayError {
  const message =
    `Too many wrong passwords: try again in ${seconds} s. ` +
    'On the machine of the relay, "hookline setup-link" lets you in without waiting.'
  const details = { limit: 'wrong_passwords', retry_after_seconds: seconds }
  return new RelayError('rate_limit_exceeded', message, { details, retryAfterSeconds: seconds })
}
