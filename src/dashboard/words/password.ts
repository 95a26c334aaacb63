// The rules for a new password.

import { grouped } from './common.ts'

// Only length counts: rules about symbols and capitals make people choose passwords that are easy to guess.
const LENGTH_MIN = 12
const LENGTH_MAX = 200

export function strengthWords(password: string): string {
  const length = lengthOf(password)
  if (length === 0)
    return `At least ${grouped(LENGTH_MIN)} characters. A few words in a row work well.`
  if (length < LENGTH_MIN) return `Too short: ${grouped(LENGTH_MIN - length)} more needed.`
  if (length < 16) return 'Fair. Longer is harder to guess.'
  if (length < 20) return 'Good.'
  return 'Very good.'
}

/** The reason why a password can't be used; null if it can. */
export function passwordProblem(password: string): string | null {
  const length = lengthOf(password)
  if (length < LENGTH_MIN) return `Use at least ${grouped(LENGTH_MIN)} characters.`
  return length > LENGTH_MAX ? `Use at most ${grouped(LENGTH_MAX)} characters.` : null
}

/** Counts code points, as the relay does. */
function lengthOf(password: string): number {
  return Array.from(password).length
}
