import { invalidRequest, RelayError } from '../domain/errors.ts'
import type { Finding } from '../domain/finding.ts'
import { PASSWORD_KIND, isPasswordLength } from '../domain/value-kind.ts'
import type { Clock } from '../system/clock.ts'
import type { PasswordHash } from '../system/hash.ts'
import { dropOldest } from '../system/memoize.ts'
import { weaknessOf } from './weak-passwords.ts'

/** Throws `invalid_request` for a password of wrong length or one that is easily guessed. `names` are the relay's. */
export function requireFit(password: string, names: readonly string[]): void {
  const message = isPasswordLength(password)
    ? weaknessOf(password, names)
    : `must be ${PASSWORD_KIND.wanted}`
  if (message !== null) throw invalidRequest({ path: 'password', message })
}

/** The password from the options is valid even if it is too short for today's rule. */
export function passwordFindings(lockedPassword: string | null): readonly Finding[] {
  if (lockedPassword === null || isPasswordLength(lockedPassword)) return []
  return [
    {
      code: 'short_password',
      severity: 'warning',
      title: "The dashboard's password is short",
      why: `It is set by the options and is not ${PASSWORD_KIND.wanted}. It still opens the dashboard.`,
      fix: 'Set a longer one in HOOKLINE_ADMIN_PASSWORD, or in the file that it is read from, and restart the relay.',
      key: null,
      depends_on: null,
    },
  ]
}

/** Hashes one password at a time: each takes 64 MiB, and many at once would exhaust the machine. */
export class Passwords {
  readonly #hash: PasswordHash
  #last: Promise<unknown> = Promise.resolve()

  constructor(hash: PasswordHash) {
    this.#hash = hash
  }

  make(password: string): Promise<string> {
    return this.#inTurn(() => this.#hash.make(plain(password)))
  }

  fits(password: string, hash: string): Promise<boolean> {
    return this.#inTurn(() => this.#hash.fits(plain(password), hash))
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work, work)
    this.#last = next
    return next
  }
}

/** Operating systems encode the same letter in two ways: as "é", and as "e" followed by an accent. */
function plain(password: string): string {
  return password.normalize('NFC')
}

/** The giver of a password, and the limit of guesses that counts for it. */
export type Guesser = {
  /** The network, the session or this machine; each is slowed separately. */
  readonly name: string
  readonly share: Share
}

/** `known`: networks that signed in lately. `session`: browsers that are signed in. `local`: this machine. */
export type Share = keyof typeof SHARES

const FREE_FAILURES = 5
const DELAY_MS_MIN = 1_000
const DELAY_MS_MAX = 60_000
/** Wrong passwords per minute. Guesses by strangers never use up the other shares. */
const SHARES = { strangers: 30, known: 10, session: 10, local: 10 } as const
const WINDOW_MS = 60_000
const GUESSERS_MAX = 1_000

/**
 * Slows down guessing: after five wrong passwords, a guesser has to wait 1 s, then 2, 4, … 60 s; and each share has a
 * limit of wrong passwords per minute. An attempt counts as wrong until it is proven right, so that parallel attempts
 * get no more guesses than sequential ones.
 */
export class LoginRateLimiter {
  readonly #clock: Clock
  readonly #delayMaxMs: number
  readonly #what: string
  /** By name. A map keeps the order of its entries, so the first entry failed longest ago. */
  readonly #failures = new Map<string, { readonly count: number; readonly lastAt: number }>()
  /** The starts of the wrong attempts of the last minute, oldest first, by share. */
  readonly #recent = new Map<Share, number[]>()

  /** `delayMaxMs` is the longest wait of one guesser; `what` is what they guess. */
  constructor(clock: Clock, { delayMaxMs = DELAY_MS_MAX, what = 'passwords' } = {}) {
    this.#clock = clock
    this.#delayMaxMs = delayMaxMs
    this.#what = what
  }

  /**
   * Throws `rate_limit_exceeded` with the time to wait; such a call isn't counted. The caller calls `succeed` if the
   * password was right.
   */
  begin({ name, share }: Guesser): { succeed(): void } {
    const now = this.#clock.monotonic()
    const recent = (this.#recent.get(share) ?? []).filter((at) => at > now - WINDOW_MS)
    const [oldest = now] = recent
    const waitOfShareMs = recent.length < SHARES[share] ? 0 : oldest + WINDOW_MS - now
    const waitMs = Math.max(this.#waitOf(name, now), waitOfShareMs)
    if (waitMs > 0) throw tooMany(this.#what, Math.ceil(waitMs / 1_000))
    const count = (this.#failures.get(name)?.count ?? 0) + 1
    this.#failures.delete(name)
    this.#failures.set(name, { count, lastAt: now })
    dropOldest(this.#failures, GUESSERS_MAX)
    this.#recent.set(share, [...recent, now])
    return { succeed: () => this.#forgive({ name, share }, now) }
  }

  #waitOf(name: string, now: number): number {
    const known = this.#failures.get(name)
    if (known === undefined || known.count < FREE_FAILURES) return 0
    const delayMs = Math.min(DELAY_MS_MIN * 2 ** (known.count - FREE_FAILURES), this.#delayMaxMs)
    return known.lastAt + delayMs - now
  }

  #forgive({ name, share }: Guesser, at: number): void {
    this.#failures.delete(name)
    const recent = this.#recent.get(share) ?? []
    const index = recent.indexOf(at)
    if (index !== -1) this.#recent.set(share, recent.toSpliced(index, 1))
  }
}

function tooMany(what: string, seconds: number): RelayError {
  const message =
    `Too many wrong ${what}. Try again in ${seconds} s. ` +
    'On the relay\'s own machine, "hookline setup-link" lets you in without waiting.'
  const details = { limit: `wrong_${what}`, retry_after_seconds: seconds }
  return new RelayError('rate_limit_exceeded', message, { details, retryAfterSeconds: seconds })
}
