import { Type } from 'typebox'
import { Compile } from 'typebox/compile'

import type { Shape } from '../../../api/schema.ts'

/** Most guids of repeats that are kept: in a rebuilt database, a repeat may come before its original. */
export const REPEATS_MAX = 100
/** Each of the two date formats has as many edits as one query returns. */
const EDITS_MAX = 2_000
const Count = Type.Integer({ minimum: 0 })

/** Position of a Mac line in chat.db; the relay stores it in the same transaction as the events. */
export type Checkpoint = Shape<typeof Checkpoint>
const Checkpoint = Type.Object({
  /** Rows up to this ROWID were published, except `incomplete`. */
  rowId: Count,
  /** ROWIDs of rows that are still waiting for something. */
  incomplete: Type.Array(Count, { maxItems: 1_000 }),
  /** `sqlite_sequence` of the table of messages; it never falls within one database. */
  sequence: Count,
  /** Some of the newest rows: the fingerprint of the database. */
  lastRows: Type.Array(Type.Object({ rowId: Count, guid: Type.String() }), { maxItems: 100 }),
  /** Start of the line's first run, in milliseconds since 1970. */
  since: Type.Number(),
  /** Last time at which everything had been well for a while: ages of rows are counted to it, not to now. */
  healthyAt: Type.Number(),
  /** Date of the latest message that was published. */
  lastAt: Type.Number(),
  /** Known edits; absent in checkpoints of earlier versions. */
  edits: Type.Optional(Type.Array(Type.Tuple([Count, Type.Number()]), { maxItems: EDITS_MAX })),
  /** Guids of the latest rows that repeat others, or that a send of ours caused in addition to its own row. */
  repeats: Type.Optional(Type.Array(Type.String(), { maxItems: REPEATS_MAX })),
})
const SHAPE = Compile(Checkpoint)

export function checkpointText(checkpoint: Checkpoint): string {
  return JSON.stringify(checkpoint)
}

/** Returns null without a checkpoint or for an unknown form: the line then starts from the present. */
export function readCheckpoint(text: string | null): Checkpoint | null {
  if (text === null) return null
  try {
    const value: unknown = JSON.parse(text)
    return SHAPE.Check(value) ? value : null
  } catch {
    return null
  }
}
