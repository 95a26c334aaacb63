import { arrives, insert, inboundRow, join, OWN_NUMBER } from './trace-steps.ts'
import type { Trace, TraceStep } from './trace.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const BACKFILL_ROWS = 500
const ROWS_PER_COMMIT = 50
const ALL = 1_000_000

/** What Messages in iCloud, a migration or a restore does to the whole database. */
export const DATABASE_TRACES = {
  backfill_500: {
    // Messages in iCloud writes old messages with new ROWIDs, at any time (openclaw).
    expects:
      'Nothing live: old rows are history, however high their ROWIDs; then the new message, live.',
    steps: [
      ...many(BACKFILL_ROWS, (index) => {
        const t = Math.floor(index / ROWS_PER_COMMIT) * 100
        const date = { at: (index - BACKFILL_ROWS) * HOUR_MS - 2 * DAY_MS }
        return arrives(t, `old ${index}`, `long ago, number ${index}`, { date })
      }),
      ...arrives(2_000, 'new', 'and now'),
    ],
  },
  nightly_replay: {
    // 24 to 48 hours old, under new guids, nine in ten of them in the chat with oneself.
    expects: 'Nothing live. What is there twice is recorded once.',
    steps: [0, 10_000].flatMap((t) =>
      many(20, (index) => {
        const date = { at: -25 * HOUR_MS - index * HOUR_MS }
        const text = `yesterday, number ${index}`
        if (index % 10 === 0) return arrives(t, `${t} ${index}`, text, { date })
        const row = inboundRow(t, text, { handle: OWN_NUMBER, date })
        return [insert(t, `${t} ${index}`, row), join(t, `${t} ${index}`, OWN_NUMBER)]
      }),
    ),
  },
  replay_after_82_minutes: {
    // The youngest replayed row that was reported; an age fence alone lets it through.
    expects: 'One message, live: the second row has another guid and is the same message.',
    steps: [
      ...arrives(0, 'a', 'hello', { date: { at: -82 * MINUTE_MS } }),
      ...arrives(10_000, 'b', 'hello', { date: { at: -82 * MINUTE_MS } }),
    ],
  },
  seconds_dates: {
    // From before 10.13; such rows live on in migrated databases.
    expects: 'One message, live, with the right date.',
    steps: arrives(0, 'a', 'hello', { date: { at: 0, unit: 's' } }),
  },
  checkpoints: {
    expects: 'Three messages, live: emptying the WAL hides nothing.',
    steps: [
      ...arrives(0, 'a', 'one'),
      { t: 500, op: 'checkpoint' },
      ...arrives(1_000, 'b', 'two'),
      { t: 1_000, op: 'checkpoint' },
      ...arrives(1_500, 'c', 'three'),
    ],
  },
  sleep_of_8_hours: {
    expects: 'Both messages, live, the second once the Mac is awake.',
    steps: [
      ...arrives(0, 'a', 'good night'),
      { t: 1_000, op: 'sleep', ms: 8 * HOUR_MS },
      ...arrives(1_500, 'b', 'good morning', { date: { at: 7 * HOUR_MS } }),
    ],
  },
  newest_deleted: {
    // AUTOINCREMENT gives no ROWID twice: the next message has a higher one than those that are gone.
    expects: 'Three messages, live: deleting the newest two takes nothing back, and hides nothing.',
    steps: [
      ...arrives(0, 'a', 'one'),
      ...arrives(0, 'b', 'two'),
      ...['a', 'b'].map((row) => ({ t: 3_000, op: 'delete', table: 'message', row }) as const),
      ...arrives(4_000, 'c', 'three'),
    ],
  },
  replaced_by_smaller: {
    // The same path, a new file, and a cursor that stands above its highest ROWID (openclaw).
    expects: 'Twelve messages, live; none of them again from the new file; then the new one, live.',
    steps: [
      ...many(12, (index) => arrives(index, `row ${index}`, `number ${index}`)),
      { t: 5_000, op: 'replace', keep: 5, order: 'oldest_first', into: 'new_file' },
      ...arrives(7_000, 'new', 'after the restore'),
    ],
  },
  rowids_renumbered: {
    // After a rebuild about 17,000 older messages had higher ROWIDs than the newest (openAGI).
    expects: 'Twelve messages, live; none of them again; then the new one, live.',
    steps: [
      ...many(12, (index) => arrives(index, `row ${index}`, `number ${index}`)),
      { t: 5_000, op: 'replace', keep: ALL, order: 'newest_first', into: 'same_file' },
      ...arrives(7_000, 'new', 'after the rebuild'),
    ],
  },
} satisfies Readonly<Record<string, Trace>>

function many(count: number, make: (index: number) => readonly TraceStep[]): TraceStep[] {
  return Array.from({ length: count }, (_, index) => make(index)).flat()
}
