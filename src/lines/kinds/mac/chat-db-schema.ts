// Which columns this chat.db has. They differ between machines of one and the same version of macOS
// (imessage-exporter), so the tables are asked and never the system; their order means nothing either.

import type { Database } from 'bun:sqlite'

/** Without these nobody could tell what was sent, what failed, or who wrote what. */
const ESSENTIAL_COLUMNS = {
  message: [
    'ROWID',
    'guid',
    'attributedBody',
    'handle_id',
    'service',
    'error',
    'date',
    'is_from_me',
    'is_sent',
    'is_delivered',
    'is_finished',
    'item_type',
    'associated_message_type',
  ],
  handle: ['ROWID', 'id'],
  chat: ['ROWID', 'guid', 'style', 'chat_identifier'],
  chat_message_join: ['chat_id', 'message_id'],
  sqlite_sequence: ['name', 'seq'],
} as const

/** Read where they are; where one is missing, it is as if it were NULL. */
export const OPTIONAL_COLUMNS = {
  message: [
    'text',
    'date_read',
    'date_delivered',
    'date_edited',
    'is_prepared',
    'is_delayed',
    'is_pending_satellite_send',
    'is_empty',
    'is_system_message',
    'is_service_message',
    'is_spam',
    'is_corrupt',
    'was_downgraded',
    'cache_has_attachments',
    'balloon_bundle_id',
    'schedule_type',
    'destination_caller_id',
    'subject',
    'cache_roomnames',
    'filter_action',
    'associated_message_guid',
  ],
  handle: [],
  chat: ['last_addressed_handle', 'service_name'],
  chat_message_join: ['message_date', 'filter_action'],
  sqlite_sequence: [],
} as const

/** Tables that not every macOS has, with the columns that are read: one that lacks any is not read. */
const OPTIONAL_TABLES = {
  /** What was deleted in Messages and can still be brought back: since macOS 13. */
  chat_recoverable_message_join: ['chat_id', 'message_id'],
  /** With words for inline emoji: since macOS 15. */
  attachment: ['guid', 'emoji_image_short_description'],
} as const

/** The tables that are read, and the columns of each that the relay knows. */
export type ChatDbTable = keyof typeof ESSENTIAL_COLUMNS
export type ChatDbColumn<T extends ChatDbTable> =
  | (typeof ESSENTIAL_COLUMNS)[T][number]
  | (typeof OPTIONAL_COLUMNS)[T][number]

export type ChatDbSchema = {
  /** The column of the table under an alias: `m.is_spam`, or NULL where this database lacks it. */
  column<T extends ChatDbTable>(alias: string, table: T, column: ChatDbColumn<T>): string
  has(table: keyof typeof OPTIONAL_TABLES): boolean
}

/** What is there, or a sentence that names what is missing. */
export type Probe =
  | { readonly ok: true; readonly schema: ChatDbSchema }
  | { readonly ok: false; readonly problem: string }

export function probeSchema(db: Database): Probe {
  // The keys of ESSENTIAL_COLUMNS are the names of the tables.
  const tables = Object.keys(ESSENTIAL_COLUMNS) as ChatDbTable[]
  const found = new Map(tables.map((table) => [table, columnsOf(db, table)]))
  const has = (table: ChatDbTable, column: string) =>
    found.get(table)?.has(column.toLowerCase()) === true
  const missing = tables.flatMap((table) =>
    ESSENTIAL_COLUMNS[table]
      .filter((column) => !has(table, column))
      .map((column) => `${table}.${column}`),
  )
  if (missing.length > 0) return { ok: false, problem: `It lacks ${missing.join(', ')}.` }
  const column: ChatDbSchema['column'] = (alias, table, name) =>
    has(table, name) ? `${alias}.${name}` : 'NULL'
  const hasTable: ChatDbSchema['has'] = (table) => {
    const columns = columnsOf(db, table)
    return OPTIONAL_TABLES[table].every((name) => columns.has(name))
  }
  return { ok: true, schema: { column, has: hasTable } }
}

/** SQLite does not tell upper case from lower in names. */
function columnsOf(db: Database, table: string): ReadonlySet<string> {
  using statement = db.prepare<{ name: string }, []>(`PRAGMA table_info(${table})`)
  return new Set(statement.all().map(({ name }) => name.toLowerCase()))
}
