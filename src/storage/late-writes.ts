import type { Database } from 'bun:sqlite'

import { LateMessages } from './late-messages.ts'
import { LateNotes } from './late-notes.ts'

/** What a group of works writes once, as it leaves it, and not work by work. */
export class LateWrites {
  readonly messages: LateMessages
  readonly notes: LateNotes

  constructor(sqlite: Database) {
    this.messages = new LateMessages(sqlite)
    this.notes = new LateNotes(sqlite)
  }

  /** Writes it all. Where that throws, the rest stays, and the next time throws too. */
  write(): void {
    this.messages.write()
    this.notes.write()
  }

  /** It is undone. */
  forget(): void {
    this.messages.forget()
    this.notes.forget()
  }
}
