// Passwords that are guessed first although they are long enough: common ones, sequences, and names.

// The passwords of at least 12 characters among the 49,233 most common ones of @zxcvbn-ts/language-common 3.
import common from './common-passwords.txt' with { type: 'text' }
import type { Addresses } from './setup-link.ts'

const COMMON: ReadonlySet<string> = new Set(common.trim().split('\n'))
/** Neighbors in the alphabet, among the digits, and on keyboards. */
const ROWS = [
  '01234567890',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiop',
  'qwertzuiop',
  'azertyuiop',
  'asdfghjkl',
  'yxcvbnm',
  'zxcvbnm',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik',
]
const PAIRS: ReadonlySet<string> = new Set(
  ROWS.flatMap((row) => [row, Array.from(row).toReversed().join('')]).flatMap((row) =>
    Array.from(row.slice(1), (letter, index) => `${row[index]}${letter}`),
  ),
)
/** Runs of neighbors that are shorter than this on average don't make a sequence. */
const RUN_LENGTH = 4
/** Characters that a password needs in addition to a name. */
const BESIDE_NAME_MIN = 8

const NAME_LENGTH_MIN = 4

/** Names that a guesser would try: those of the product and of the machine. */
export function relayNames(
  addresses: Pick<Addresses, 'publicUrl' | 'localName'>,
): readonly string[] {
  const { publicUrl, localName } = addresses
  const hosts = [localName, publicUrl === null ? '' : new URL(publicUrl).hostname]
  const labels = hosts.flatMap((host) => host.toLowerCase().split('.'))
  const isName = (label: string) => label.length >= NAME_LENGTH_MIN && label !== 'local'
  return ['hookline', 'imessage', ...labels.filter(isName)]
}

/** The end of a sentence on why the password is weak; null if it isn't. */
export function weaknessOf(password: string, names: readonly string[]): string | null {
  const plain = password.normalize('NFKC').toLowerCase()
  if (COMMON.has(plain)) return 'must not be one of the most common passwords'
  if (isSequence(plain)) return 'must not be a sequence, such as 123456 or qwerty, or a repetition'
  const name = names.find((one) => plain.includes(one))
  if (name === undefined) return null
  const beside = names.reduce((text, one) => text.replaceAll(one, ''), plain)
  const isMore = beside.replaceAll(/[^\p{L}\p{N}]/gu, '').length >= BESIDE_NAME_MIN
  return isMore ? null : `must not be made of a name of this relay, such as ${name}`
}

function isSequence(text: string): boolean {
  if (/^(.{1,4}?)\1+.{0,3}$/u.test(text)) return true
  const letters = Array.from(text)
  const runs = letters.filter((letter, index) => {
    const last = letters[index - 1] ?? ''
    return last !== letter && !PAIRS.has(`${last}${letter}`)
  }).length
  return runs * RUN_LENGTH <= letters.length
}
