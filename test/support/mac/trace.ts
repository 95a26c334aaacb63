// A trace: what Messages writes into chat.db, and when; as NDJSON, one step a line. What a real Mac
// wrote is read by recorded-trace.ts.

/** A column's value. A date is `at` milliseconds from the beginning of the trace, mostly below 0. */
export type TraceValue =
  | number
  | string
  | null
  /** Nanoseconds since 2001, as Messages writes them; `s` for the seconds of a database from before 10.13. */
  | { readonly at: number; readonly unit?: 'ns' | 's' | undefined }
  /** The guid of another row of the trace, with what is written before it (`p:0/`). */
  | { readonly guidOf: string; readonly before: string }

/**
 * Columns of `message`, by their names, and three words more: `body` is a text that goes into
 * `attributedBody`, encoded, `file` the path of a file of ours that is instead of it, and `handle` is
 * whom `handle_id` points at.
 */
export type RowValues = Readonly<Record<string, TraceValue>>

/** `t` is milliseconds from the beginning of the trace; `row` names a message within it. */
export type TraceStep = { readonly t: number } & (
  | RowStep
  | { readonly op: 'checkpoint' }
  | Replacement
  /** The Mac sleeps: the wall clock goes on by `ms`, and nothing else does. */
  | { readonly op: 'sleep'; readonly ms: number }
)

/** What is written of one message. */
export type RowStep = { readonly row: string } & (
  | { readonly op: 'insert'; readonly table: 'message'; readonly set: RowValues }
  | { readonly op: 'update'; readonly table: 'message'; readonly set: RowValues }
  /** Into the direct chat with a handle, or into a group where the name begins with `chat`. */
  | { readonly op: 'join'; readonly table: 'chat_message_join'; readonly chat: string }
  /** A person deletes it, with its joins. */
  | { readonly op: 'delete'; readonly table: 'message' }
)

/**
 * Another file takes the place of chat.db, with the newest `keep` messages and their ROWIDs counted from
 * 1; `newest_first` gives the oldest message the highest ROWID. `same_file` writes the same into the
 * file that is there.
 */
export type Replacement = {
  readonly op: 'replace'
  readonly keep: number
  readonly order: 'oldest_first' | 'newest_first'
  readonly into: 'new_file' | 'same_file'
}

/** A trace with the events that a line running all the while must publish, and must not. */
export type Trace = { readonly expects: string; readonly steps: readonly TraceStep[] }

/** What a step of each kind must have besides `t` and `op`, and of what type. */
const FIELDS: Readonly<Record<TraceStep['op'], Readonly<Record<string, string>>>> = {
  insert: { table: 'string', row: 'string', set: 'object' },
  update: { table: 'string', row: 'string', set: 'object' },
  join: { table: 'string', row: 'string', chat: 'string' },
  delete: { table: 'string', row: 'string' },
  checkpoint: {},
  replace: { keep: 'number', order: 'string', into: 'string' },
  sleep: { ms: 'number' },
}

/** One step a line, each line ended. */
export function ndjsonOf(steps: readonly TraceStep[]): string {
  return steps.map((step) => `${JSON.stringify(step)}\n`).join('')
}

/** Reads what `ndjsonOf` writes; throws and names the line that is no step. */
export function traceOfNdjson(text: string): readonly TraceStep[] {
  const steps: TraceStep[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const value: unknown = JSON.parse(line)
    if (!isStep(value)) throw new Error(`Line ${index + 1} of the trace is no step.`)
    steps.push(value)
  }
  return steps
}

function isStep(value: unknown): value is TraceStep {
  if (typeof value !== 'object' || value === null) return false
  const step = value as Readonly<Record<string, unknown>> // An object that is not null has fields.
  const fields =
    typeof step['op'] === 'string'
      ? Object.entries(FIELDS).find(([op]) => op === step['op'])?.[1]
      : undefined
  if (fields === undefined || typeof step['t'] !== 'number') return false
  return Object.entries(fields).every(([name, type]) => typeof step[name] === type)
}
