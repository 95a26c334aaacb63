// Records how Messages writes a message down: which rows of chat.db come, how they change, and when. A
// test can play the same to the driver afterwards. No text, address or guid is told.

import { Database } from 'bun:sqlite'

import type { Clock } from '../../../system/clock.ts'
import type { Random } from '../../../system/random.ts'
import { createDisguise } from './disguise.ts'
import { FollowedTable, type RowChange } from './followed-table.ts'

/**
 * `t` is milliseconds from the start. At 0 stands a row that was there before, told because one that
 * came later points at it.
 */
export type TraceEntry = { readonly t: number } & RowChange

export type TraceOrder = {
  /** Where chat.db lies. */
  readonly path: string
  readonly forMs: number
  readonly clock: Clock
  readonly random: Random
  readonly write: (entry: TraceEntry) => void
}

/** `isWhole` is false where more happened than a trace has room for. */
export type TraceEnd = { readonly isWhole: boolean }

const LOOK_AGAIN_MS = 20
const ENTRIES_MAX = 50_000
const SALT_LENGTH = 32

/** In the order in which their rows point at each other. */
const TABLES = [
  'handle',
  'chat',
  'message',
  'attachment',
  'chat_handle_join',
  'chat_message_join',
  'message_attachment_join',
]

/** Columns that point at rows which may be older than the trace. */
const REFERENCES = [
  { from: 'message', column: 'handle_id', to: 'handle' },
  { from: 'message', column: 'other_handle', to: 'handle' },
  { from: 'chat_message_join', column: 'chat_id', to: 'chat' },
]

/**
 * Writes down what happens in chat.db for `forMs`, or until `signal` aborts. It only reads. Throws what
 * SQLite throws where the file cannot be read.
 */
export async function recordTrace(order: TraceOrder, signal: AbortSignal): Promise<TraceEnd> {
  const { path, forMs, clock, random, write } = order
  using db = new Database(path, { readonly: true, safeIntegers: true })
  db.run('PRAGMA query_only = 1')
  db.run('PRAGMA busy_timeout = 5000')
  const startedAt = clock.monotonic()
  // Asked before anything is read: what comes between is then seen as a change.
  let version = dataVersion(db)
  const disguise = createDisguise(random.bytes(SALT_LENGTH))
  const tables = inOneSnapshot(db, () =>
    TABLES.map((name) => FollowedTable.fromNow(db, name, disguise)).filter(
      (table) => table !== null,
    ),
  )
  let entryCount = 0
  while (!signal.aborted && clock.monotonic() - startedAt < forMs && entryCount < ENTRIES_MAX) {
    await clock.sleep(LOOK_AGAIN_MS, signal)
    const now = dataVersion(db)
    if (now === version) continue
    version = now
    const entries = inOneSnapshot(db, () => look(tables, Math.round(clock.monotonic() - startedAt)))
    for (const entry of entries) write(entry)
    entryCount += entries.length
  }
  return { isWhole: entryCount < ENTRIES_MAX && !tables.some((table) => table.isFull) }
}

function look(tables: readonly FollowedTable[], t: number): readonly TraceEntry[] {
  const find = (name: string) => tables.find((table) => table.name === name)
  const changed = tables.flatMap((table) => table.changes())
  const arrived = tables.flatMap((table) => table.arrivals())
  const older = REFERENCES.flatMap(({ from, column, to }) => {
    const rowIds = find(from)?.referencesIn(column) ?? []
    return find(to)?.known(rowIds) ?? []
  })
  return [
    ...older.map((change) => ({ t: 0, ...change })),
    ...[...changed, ...arrived].map((change) => ({ t, ...change })),
  ]
}

/** It changes with each commit of another connection, and costs less than a microsecond. */
function dataVersion(db: Database): bigint | undefined {
  return db.query<{ data_version: bigint }, []>('PRAGMA data_version').get()?.data_version
}

/** Short: a reader that stays keeps Messages from emptying its write-ahead log. */
function inOneSnapshot<T>(db: Database, read: () => T): T {
  return db.transaction(read)()
}
