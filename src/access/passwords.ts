import { invalidRequest } from '../domain/errors.ts'
import type { Finding } from '../domain/finding.ts'
import { PASSWORD_KIND, isPasswordLength } from '../domain/value-kind.ts'
import type { PasswordHash } from '../system/password-hash.ts'

/** Throws `invalid_request` for a password that is too short or too long, in characters. */
export function requireFit(password: string): void {
  if (isPasswordLength(password)) return
  throw invalidRequest({ path: 'password', message: `must be ${PASSWORD_KIND.wanted}` })
}

/** What is wrong with the password of the options, which counts also where it is too short by now. */
export function passwordFindings(lockedPassword: string | null): readonly Finding[] {
  if (lockedPassword === null || isPasswordLength(lockedPassword)) return []
  return [
    {
      code: 'short_password',
      severity: 'warning',
      title: "The dashboard's password is short",
      why: `The options set it, and it is not ${PASSWORD_KIND.wanted}; it opens the dashboard all the same.`,
      fix: 'Put a longer one into HOOKLINE_ADMIN_PASSWORD or the file that it is read from, and start the relay again.',
      key: null,
      depends_on: null,
    },
  ]
}

/** Hashes one password at a time: each takes 64 MiB, and many at once would take the machine. */
export class Passwords {
  readonly #hash: PasswordHash
  #turn: Promise<unknown> = Promise.resolve()

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
    const turn = this.#turn.then(work, work)
    this.#turn = turn
    return turn
  }
}

/** Systems write the same letter in two ways, as "é" and as "e" with an accent after it. */
function plain(password: string): string {
  return password.normalize('NFC')
}
