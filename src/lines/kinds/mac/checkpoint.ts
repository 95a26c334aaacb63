// Where a Mac line left off in chat.db: kept by the core in the transaction of what was told.

import { Type } from 'typebox'
import { Compile } from 'typebox/compile'

import type { Witness } from './chat-db-rows.ts'

export type Checkpoint = {
  /** Everything up to this ROWID was told, but for `held`. */
  readonly rowId: number
  /** Rows that were read and are not complete yet: told later. */
  readonly held: readonly number[]
  /** `sqlite_sequence` of the table; it never falls while the database is the same. */
  readonly sequence: number
  /** Some of the newest rows: what says that this is still the same database. */
  readonly witnesses: readonly Witness[]
  /** When this line was attended for the first time, in milliseconds since 1970. */
  readonly since: number
  /** The last moment at which all was well for a while: the age of a row is counted to it, not to now. */
  readonly good: number
  /** The date of the latest message that was told. */
  readonly lastAt: number
}

const Count = Type.Integer({ minimum: 0 })
const SHAPE = Compile(
  Type.Object({
    rowId: Count,
    held: Type.Array(Count, { maxItems: 1_000 }),
    sequence: Count,
    witnesses: Type.Array(Type.Object({ rowId: Count, guid: Type.String() }), { maxItems: 100 }),
    since: Type.Number(),
    good: Type.Number(),
    lastAt: Type.Number(),
  }),
)

export function checkpointText(checkpoint: Checkpoint): string {
  return JSON.stringify(checkpoint)
}

/** Null for none, and for one that nobody can read: then the line starts anew, from now on. */
export function readCheckpoint(text: string | null): Checkpoint | null {
  if (text === null) return null
  try {
    const value: unknown = JSON.parse(text)
    return SHAPE.Check(value) ? value : null
  } catch {
    return null
  }
}
