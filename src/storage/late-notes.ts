import type { Database, Statement } from 'bun:sqlite'

import { timestamp, type MessageId, type Timestamp } from '../domain/ids.ts'
import type { EventName } from '../domain/webhook.ts'

/** An event that no webhook is to get yet. Its id and its body are made when one is. */
export type UntoldEvent = {
  readonly name: EventName
  readonly messageId: MessageId
  readonly createdAt: Timestamp
}

/** With its place among all events, told and untold. */
export type Note = UntoldEvent & { readonly seq: number }

/** The notes of one group. */
export type NotesRow = {
  /** That of its first note. */
  readonly seq: number
  /** When its last note was made. */
  readonly createdAt: Timestamp
  readonly events: string
}

/** How far behind the first note its place is, and how many milliseconds before the last it was made. */
type PackedNote = readonly [place: number, name: EventName, messageId: MessageId, age: number]

/**
 * Write-behind, as for messages: the notes of a group are one row. A message makes three, and a row for
 * each cost more than its own row did.
 */
export class LateNotes {
  readonly #sqlite: Database
  #notes: Note[] = []
  #insertion: Statement<null, [NotesRow]> | null = null

  constructor(sqlite: Database) {
    this.#sqlite = sqlite
  }

  /** Notes come in the order of their places. */
  add(note: Note): void {
    this.#notes.push(note)
  }

  /** Writes them all. Where that throws they stay, and the next time throws too. */
  write(): void {
    const [first] = this.#notes
    const last = this.#notes.at(-1)
    if (first === undefined || last === undefined) return
    const packed = this.#notes.map(({ seq, name, messageId, createdAt }): PackedNote => {
      return [seq - first.seq, name, messageId, last.createdAt - createdAt]
    })
    const events = JSON.stringify(packed)
    this.#prepared().run({ seq: first.seq, createdAt: last.createdAt, events })
    this.forget()
  }

  /** They are undone. */
  forget(): void {
    this.#notes = []
  }

  /** Not before the table is there. */
  #prepared(): Statement<null, [NotesRow]> {
    return (this.#insertion ??= this.#sqlite.prepare(
      'INSERT INTO untold_events (seq, created_at, events) VALUES ($seq, $createdAt, $events)',
    ))
  }
}

/** The notes of a row, in their order. */
export function notesIn({ seq, createdAt, events }: NotesRow): readonly Note[] {
  const packed = JSON.parse(events) as readonly PackedNote[] // `write` made it.
  return packed.map(([place, name, messageId, age]) => {
    return { seq: seq + place, name, messageId, createdAt: timestamp(createdAt - age) }
  })
}
