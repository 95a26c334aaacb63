// The people of a history, and all the ways in which Apple's programs spell each of them.

import type { SeededRandom } from '../../support/seeded-random.ts'

export type Person = {
  /** The one handle that is right for them everywhere. */
  readonly handle: string
  /** Spellings of that handle in rows; the first is the plainest. */
  readonly spellings: readonly string[]
  /** An address of another person with whom a merged contact mixes them up. */
  readonly merged: string
  /** Nothing can be sent to a short code or the name of a sender. */
  readonly isReachable: boolean
}

const BANKS = ['MyBank', 'AXISBK-S', 'DeliveryCo']

/** A person with a number of the line's country: the only ones whose number is complete without its country. */
export function neighbour(serial: number): Person {
  const [area, exchange, line] = ['415', '555', String(serial).padStart(4, '0')]
  const digits = area + exchange + line
  const spellings = [
    `+1${digits}`,
    digits,
    `1${digits}`,
    `tel:+1${digits}`,
    `(${area}) ${exchange}-${line}`,
    `+1 (${area}) ${exchange}-${line}`,
    `${area}.${exchange}.${line}`,
    `\u202A+1 ${area}-${exchange}-${line}\u202C`,
    `1 ${area}\u00A0${exchange}\u00A0${line}`,
  ]
  return { ...reachable(serial), handle: `+1${digits}`, spellings }
}

function foreigner(serial: number): Person {
  const number = `151${String(12_000_000 + serial)}`
  const grouped = `${number.slice(0, 3)} ${number.slice(3)}`
  const spellings = [
    `+49${number}`,
    `0049${number}`,
    `tel:+49${number}`,
    `+49 ${grouped}`,
    `+49 (0)${grouped}`,
  ]
  return { ...reachable(serial), handle: `+49${number}`, spellings }
}

function correspondent(serial: number): Person {
  const name = `ann.${serial}`
  const spellings = [`${name}@example.com`, `Ann.${serial}@Example.com`, `${name}@EXAMPLE.COM`]
  return { ...reachable(serial), handle: `${name}@example.com`, spellings }
}

/** Codes and names come with a suffix or without, and their letters are theirs. */
function sender(serial: number, random: SeededRandom): Person {
  const name = random.chance() < 0.5 ? String(20_000 + serial) : `${random.of(BANKS)}${serial}`
  const spellings = [name, `${name}(smsft)`, `${name}(smsft_fi)`]
  return { handle: name, spellings, merged: `card.${serial}@example.com`, isReachable: false }
}

function reachable(serial: number) {
  return { merged: `card.${serial}@example.com`, isReachable: true }
}

export type Spelled = { readonly isSpelled: boolean; readonly hasSenders: boolean }

/** A person, with one spelling only unless the history is about spellings. */
export function somebody(random: SeededRandom, serial: number, how: Spelled): Person {
  const kind = random.chance()
  if (how.hasSenders && kind < 0.15) return sender(serial, random)
  const make = kind < 0.65 ? neighbour : random.of([foreigner, correspondent])
  const person = make(serial)
  return how.isSpelled ? person : { ...person, spellings: person.spellings.slice(0, 1) }
}
