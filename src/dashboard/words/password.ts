// Sentences of a new password: of the link that sets one, and of its fields.

import { grouped } from './common.ts'

export const PASSWORD = {
  command: 'Command',
  newPassword: 'New password',
  confirmPassword: 'Confirm password',
  different: "The passwords don't match.",
  showPassword: 'Show password',
  choose: 'Choose a password',
  chooseNew: 'Choose a new password',
  chooseLead: 'You sign in to this dashboard with it.',
  chooseNewLead: 'This signs out all other browsers.',
  /** The directions of two scripts stay apart. */
  memberLead: (name: string) =>
    `Your name here is \u2068${name}\u2069. Sign in with it and this password.`,
  setPassword: 'Set password',
  currentPassword: 'Current password',
  passwordChanged: 'Password changed.',
  again: 'Confirm your password',
  whyAgain: 'For your security, enter your password again to continue.',
  continue: 'Continue',
  linkOver: 'This link no longer works',
  whyLinkOver: 'It was already used, has expired, or was replaced by a newer one',
  newLink: 'To get a new link, run this on the computer that runs Hookline:',
  newMemberLink: 'Ask the person who runs Hookline for a new one.',
  signInInstead: 'Sign in instead',
} as const

// Length is all that counts: rules about symbols and capitals make people choose what is easy to guess.
const LENGTH_MIN = 12
const LENGTH_MAX = 200
const FAIR_FROM = 16
const GOOD_FROM = 20

/** The strength of a password, in a sentence; its length is counted as the relay does. */
export function strengthWords(password: string): string {
  const length = lengthOf(password)
  if (length === 0)
    return `At least ${grouped(LENGTH_MIN)} characters. A few words in a row work well.`
  if (length < LENGTH_MIN) return `Too short: ${grouped(LENGTH_MIN - length)} more needed.`
  if (length < FAIR_FROM) return 'Fair. Longer is harder to guess.'
  if (length < GOOD_FROM) return 'Good.'
  return 'Very good.'
}

/** The error beside the field of a password that cannot be used; null where it can. */
export function passwordProblem(password: string): string | null {
  const length = lengthOf(password)
  if (length < LENGTH_MIN) return `Use at least ${grouped(LENGTH_MIN)} characters.`
  return length > LENGTH_MAX ? `Use at most ${grouped(LENGTH_MAX)} characters.` : null
}

function lengthOf(password: string): number {
  return Array.from(password).length
}
