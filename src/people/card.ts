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
  /** Null now and then, so that the consumer can yield to other work. */
  readonly cards: Iterable<Card | null>
}
