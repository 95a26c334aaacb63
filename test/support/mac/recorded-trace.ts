import { fromAppleTime } from '../../../src/lines/kinds/mac/apple-time.ts'
import type { RowValues, TraceStep, TraceValue } from './trace.ts'

/** A line of what `hookline mac trace` writes: raw rows, in which ROWIDs say what belongs together. */
type Entry = {
  readonly t: number
  readonly op: 'insert' | 'update' | 'join' | 'delete'
  readonly table: string
  readonly set: Readonly<Record<string, unknown>>
}

type Recording = {
  /** When it began, in milliseconds since 1970. */
  readonly start: number
  /** By ROWID: the handles, and how a `join` names the chats. */
  readonly handles: ReadonlyMap<unknown, string>
  readonly chats: ReadonlyMap<unknown, string>
}

const GROUP = 43
/** Numbers of the Mac that was recorded, which another database gives by itself. */
const OWN_COLUMNS: ReadonlySet<string> = new Set(['ROWID', 'guid', 'handle_id', 'attributedBody'])
const DATE = /^date(_|$)/

/**
 * The steps of a recording (NDJSON). Its texts are not in it, so each message says its number; its
 * dates lie from the beginning of the trace as far as they lay from that of the recording.
 */
export function traceOfRecording(text: string): readonly TraceStep[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const entries = lines.map((line) => JSON.parse(line) as Entry) // A file that the command has written.
  const recording = readRecording(entries)
  return entries.flatMap((entry) => stepsOf(entry, recording))
}

function readRecording(entries: readonly Entry[]): Recording {
  const handles = new Map<unknown, string>()
  const chats = new Map<unknown, string>()
  for (const { table, set } of entries) {
    if (table === 'handle' && 'id' in set) handles.set(set['ROWID'], String(set['id']))
    if (table !== 'chat' || !('chat_identifier' in set)) continue
    const sign = set['style'] === GROUP ? 'chat' : ''
    chats.set(set['ROWID'], `${sign}${String(set['chat_identifier'])}`)
  }
  // The first message that came is dated when it came: the recording holds no other time of day.
  const first = entries.find(({ op, table, t }) => table === 'message' && op === 'insert' && t > 0)
  const at = first === undefined ? null : dateOf(first.set['date'])
  return { start: (at ?? 0) - (first?.t ?? 0), handles, chats }
}

function stepsOf({ t, op, table, set }: Entry, recording: Recording): readonly TraceStep[] {
  if (table === 'chat_message_join' && op === 'join') {
    const chat = recording.chats.get(set['chat_id'])
    const row = String(set['message_id'])
    return chat === undefined ? [] : [{ t, op, table, row, chat }]
  }
  if (table !== 'message' || op === 'join') return []
  const row = String(set['ROWID'])
  if (op === 'delete') return [{ t, op, table, row }]
  return [{ t, op, table, row, set: valuesOf(set, recording) }]
}

function valuesOf(set: Entry['set'], { start, handles }: Recording): RowValues {
  const values: Record<string, TraceValue> = {}
  for (const [name, value] of Object.entries(set)) {
    const at = DATE.test(name) ? dateOf(value) : null
    if (at !== null) values[name] = { at: at - start }
    else if (!OWN_COLUMNS.has(name) && isPlain(value)) values[name] = value
  }
  const handle = handles.get(set['handle_id'])
  if (handle !== undefined) values['handle'] = handle
  const body = set['attributedBody']
  if (body === null) values['body'] = null
  // Of bytes only their count is recorded.
  else if (body !== undefined) values['body'] = `message ${String(set['ROWID'])}`
  return values
}

/** Milliseconds since 1970; null for what is no date, such as a `date_read` near 2^63. */
function dateOf(value: unknown): number | null {
  const isNumber = typeof value === 'number' || typeof value === 'string'
  return isNumber ? fromAppleTime(BigInt(value)) : null
}

function isPlain(value: unknown): value is string | number | null {
  return value === null || typeof value === 'string' || typeof value === 'number'
}
