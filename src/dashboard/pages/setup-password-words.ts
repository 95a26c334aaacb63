// What is said of a password while it is typed. Its length is all that counts: rules about signs and
// capitals make people choose what is easy to guess.

const LENGTH_MIN = 12
const LENGTH_MAX = 200
const FAIR_FROM = 16
const GOOD_FROM = 20

/** How good it is, in a sentence; the relay counts characters in the same way. */
export function strengthWords(password: string): string {
  const length = lengthOf(password)
  if (length === 0)
    return `${LENGTH_MIN} characters or more; a few words in a row are easy to keep.`
  if (length < LENGTH_MIN) return `Too short: ${LENGTH_MIN - length} more at least.`
  if (length < FAIR_FROM) return 'Fair: longer is harder to guess.'
  if (length < GOOD_FROM) return 'Good.'
  return 'Very good.'
}

/** Why it cannot be taken, in a sentence beside the field; null where it can. */
export function passwordProblem(password: string): string | null {
  const length = lengthOf(password)
  if (length < LENGTH_MIN) return `It needs ${LENGTH_MIN} characters or more.`
  return length > LENGTH_MAX ? `It may have ${LENGTH_MAX} characters at most.` : null
}

function lengthOf(password: string): number {
  return Array.from(password).length
}
