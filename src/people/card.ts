import type { ContactFields } from '../domain/contact-fields.ts'

/** One contact of a file; its recipients are unparsed. */
export type Card = ContactFields & {
  /** The number of the row or card, from 1. */
  readonly row: number
  readonly recipients: readonly string[]
  readonly end: number
}

export type ContactFile = {
  /** The header row, which each part of a split file needs; empty for vCards. */
  readonly head: string
  /** Sometimes null, so that a reader can let others work. */
  readonly cards: Iterable<Card | null>
}
