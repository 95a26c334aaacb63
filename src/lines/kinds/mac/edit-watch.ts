// Edits and unsends change the row of a message, long after it was read. Apple allows an edit for 15
// minutes, so the rows of the last 20 are compared after each change of the database, by their index of dates.

import type { MessageRow } from './chat-db-rows.ts'
import type { ChatDb } from './chat-db.ts'

/** Date of the last edit of a message that is known, by ROWID. */
export type KnownEdits = readonly (readonly [rowId: number, editedAt: number])[]

const WINDOW_MS = 1_200_000
/** After an outage, the window begins before it, but not further back. */
const WINDOW_MS_MAX = 7 * 86_400_000

type Look = {
  readonly now: number
  /** Last healthy moment of the line: what was edited in an outage is found after it. */
  readonly healthyAt: number
  /** True for a row that was published. */
  readonly isRead: (rowId: number) => boolean
}

export class EditWatch {
  #known: ReadonlyMap<number, number>

  constructor(known: KnownEdits) {
    this.#known = new Map(known)
  }

  /** Goes into the checkpoint: after a restart, no edit is published again. */
  get known(): KnownEdits {
    return [...this.#known]
  }

  /** Takes a message as it is read: its edits up to now are in its text. */
  take(row: MessageRow): void {
    if (row.editedAt !== null) this.#known = new Map([...this.#known, [row.rowId, row.editedAt]])
  }

  /** Takes everything that was edited before the first run. */
  begin(db: ChatDb, now: number): void {
    const edited = db.editedSince(now - WINDOW_MS)
    this.#known = new Map(edited.map(({ rowId, editedAt }) => [rowId, editedAt]))
  }

  /** Another database has other ROWIDs; the core knows an edit by the guid of its message. */
  clear(): void {
    this.#known = new Map()
  }

  /** Messages that were edited or unsent since the last look. */
  look(db: ChatDb, { now, healthyAt, isRead }: Look): readonly MessageRow[] {
    const from = Math.max(Math.min(now, healthyAt) - WINDOW_MS, now - WINDOW_MS_MAX)
    const edited = db.editedSince(from).filter(({ rowId }) => isRead(rowId))
    const changed = edited.filter(({ rowId, editedAt }) => this.#known.get(rowId) !== editedAt)
    this.#known = new Map(edited.map(({ rowId, editedAt }) => [rowId, editedAt]))
    return changed.length === 0 ? [] : db.rowsAt(changed.map(({ rowId }) => rowId))
  }
}
