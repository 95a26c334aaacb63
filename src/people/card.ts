import type { ContactFields } from '../domain/contact-fields.ts'

/** One contact of a file, with its recipients as the file writes them. */
export type Card = ContactFields & {
  /** The number of the row or of the card, from 1. */
  readonly row: number
  readonly recipients: readonly string[]
  readonly end: number
}

export type ContactFile = {
  /** The row of names that each part of the file needs; empty for vCards. */
  readonly head: string
  /** Null now and then between two cards that are far apart, so that a reader can let others work. */
  readonly cards: Iterable<Card | null>
}
