import { Type } from 'typebox'
import { Compile } from 'typebox/compile'

import type { RowId } from './chat-db-rows.ts'
import type { KnownEdits } from './edits.ts'

/** Position of a Mac line in chat.db; the core stores it in the same transaction as the events. */
export type Checkpoint = {
  /** Rows up to this ROWID were published, except `incomplete`. */
  readonly rowId: number
  /** ROWIDs of rows that are still waiting for something. */
  readonly incomplete: readonly number[]
  /** `sqlite_sequence` of the table; it never falls within one database. */
  readonly sequence: number
  /** Some of the newest rows: the fingerprint of the database. */
  readonly lastRows: readonly RowId[]
  /** Start of the line's first run, in milliseconds since 1970. */
  readonly since: number
  /** Last time at which all had been well for a while: ages of rows are counted to it, not to now. */
  readonly healthyAt: number
  /** Date of the latest published message. */
  readonly lastAt: number
  /** Known edits; absent in checkpoints of earlier versions. */
  readonly edits?: KnownEdits | undefined
  /** Guids of the last rows that repeat others, or that a send of ours caused in addition to its own row. */
  readonly repeats?: readonly string[] | undefined
}

/** Repeats that are kept: in a rebuilt database, a repeat may come before its original. */
export const REPEATS_MAX = 100
/** Two formats of dates, each with as many edits as one query returns. */
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

/** Returns null for no checkpoint and an unknown form: the line then starts from the present. */
export function readCheckpoint(text: string | null): Checkpoint | null {
  if (text === null) return null
  try {
    const value: unknown = JSON.parse(text)
    return SHAPE.Check(value) ? value : null
  } catch {
    return null
  }
}
