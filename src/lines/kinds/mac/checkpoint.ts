import { Type } from 'typebox'
import { Compile } from 'typebox/compile'

import type { RowId } from './chat-db-rows.ts'
import type { KnownEdits } from './edits.ts'

/** Position of a Mac line in chat.db; the core stores it in the transaction of the published events. */
export type Checkpoint = {
  /** Rows up to this ROWID were published, except for `incomplete`. */
  readonly rowId: number
  /** ROWIDs of rows that were read and are not complete yet. */
  readonly incomplete: readonly number[]
  /** `sqlite_sequence` of the table; it never falls while the database is the same. */
  readonly sequence: number
  /** Some of the newest rows: the fingerprint of the database. */
  readonly lastRows: readonly RowId[]
  /** Time of the first run of this line, in milliseconds since 1970. */
  readonly since: number
  /** Last moment at which all had been well for a while: the age of a row is counted to it, not to now. */
  readonly healthyAt: number
  /** Date of the latest message that was published. */
  readonly lastAt: number
  /** Edits that are known; absent in the checkpoint of an earlier version. */
  readonly edits?: KnownEdits | undefined
  /** Guids of the last rows that repeat others, or that a send of ours caused beside its own. */
  readonly repeats?: readonly string[] | undefined
}

/** Repeats that are remembered: in a database that is rebuilt, one may stand before what it repeats. */
export const REPEATS_MAX = 100
/** Two kinds of dates, each with as many edits as one look finds. */
const EDITS_MAX = 2_000
const Count = Type.Integer({ minimum: 0 })
const SHAPE = Compile(
  Type.Object({
    rowId: Count,
    incomplete: Type.Array(Count, { maxItems: 1_000 }),
    sequence: Count,
    lastRows: Type.Array(Type.Object({ rowId: Count, guid: Type.String() }), { maxItems: 100 }),
    since: Type.Number(),
    healthyAt: Type.Number(),
    lastAt: Type.Number(),
    edits: Type.Optional(Type.Array(Type.Tuple([Count, Type.Number()]), { maxItems: EDITS_MAX })),
    repeats: Type.Optional(Type.Array(Type.String(), { maxItems: REPEATS_MAX })),
  }),
)

export function checkpointText(checkpoint: Checkpoint): string {
  return JSON.stringify(checkpoint)
}

/** Null for none, and for one of an unknown form: the line then starts from the present. */
export function readCheckpoint(text: string | null): Checkpoint | null {
  if (text === null) return null
  try {
    const value: unknown = JSON.parse(text)
    return SHAPE.Check(value) ? value : null
  } catch {
    return null
  }
}
