// The tables of Messages in each version of macOS: those of macOS 12, and the differences of each later
// version. Columns and indexes are those that the system makes.

import { readFileSync } from 'node:fs'

const BASE = `${import.meta.dir}/../../fixtures/chat-db/macos12.sql`

type Difference = {
  /** The schema that it differs from. */
  readonly from: string
  /** Columns behind those of a table. */
  readonly columns?: Readonly<Record<string, string>>
  /** Columns of `message` that stand last, in this order. */
  readonly last?: string
  /** Indexes that others replace. */
  readonly dropped?: readonly string[]
  readonly statements?: string
}

const RECENTLY_DELETED = `CREATE TABLE chat_recoverable_message_join (
  chat_id INTEGER REFERENCES chat (ROWID) ON DELETE CASCADE,
  message_id INTEGER REFERENCES message (ROWID) ON DELETE CASCADE, delete_date INTEGER,
  ck_sync_state INTEGER DEFAULT 0, PRIMARY KEY (chat_id, message_id), CHECK (delete_date != 0)
);

CREATE TABLE recoverable_message_part (
  chat_id INTEGER REFERENCES chat (ROWID) ON DELETE CASCADE,
  message_id INTEGER REFERENCES message (ROWID) ON DELETE CASCADE, part_index INTEGER,
  delete_date INTEGER, part_text BLOB NOT NULL, ck_sync_state INTEGER DEFAULT 0,
  PRIMARY KEY (chat_id, message_id, part_index), CHECK (delete_date != 0)
);

CREATE TABLE unsynced_removed_recoverable_messages (
  ROWID INTEGER PRIMARY KEY AUTOINCREMENT UNIQUE, chat_guid TEXT NOT NULL,
  message_guid TEXT NOT NULL, part_index INTEGER
);`

const SCHEDULED_AND_SATELLITE = `CREATE INDEX message_idx_associated_message2 ON message (associated_message_guid)
  WHERE associated_message_guid IS NOT NULL;

CREATE INDEX message_idx_schedule_state ON message (schedule_state);

CREATE INDEX message_idx_is_scheduled_message ON message (schedule_type)
  WHERE schedule_type = 2;

CREATE INDEX message_idx_is_pending_satellite_message ON message (is_pending_satellite_send)
  WHERE is_pending_satellite_send = 1;`

const UNDELIVERED_OF_26 = `CREATE INDEX message_idx_undelivered_one_to_one_imessage ON message
  (cache_roomnames, service, is_sent, is_delivered, was_downgraded, item_type)
  WHERE cache_roomnames IS NULL AND service IN ('iMessage', 'RCS') AND is_sent = 1 AND is_delivered = 0
    AND was_downgraded = 0 AND item_type = 0 AND schedule_type = 0;

CREATE INDEX chat_message_join_idx_message_date_only ON chat_message_join (message_date);

CREATE INDEX handle_idx_id ON handle (id, rowid);`

const CHATS_BY_IDENTIFIER = `CREATE TABLE chat_lookup (
  identifier TEXT NOT NULL, domain TEXT NOT NULL,
  chat INTEGER NOT NULL REFERENCES chat (ROWID) ON UPDATE CASCADE ON DELETE CASCADE,
  priority INTEGER DEFAULT 0, UNIQUE (identifier, domain)
);

CREATE TABLE chat_service (
  service TEXT NOT NULL,
  chat INTEGER NOT NULL REFERENCES chat (ROWID) ON UPDATE CASCADE ON DELETE CASCADE,
  UNIQUE (service, chat)
);`

const DIFFERENCES = {
  /** Edited and unsent messages, recently deleted. */
  macos13: {
    from: 'macos12',
    columns: {
      message: `date_retracted INTEGER, date_edited INTEGER, was_detonated INTEGER DEFAULT 0,
        part_count INTEGER`,
    },
    statements: RECENTLY_DELETED,
  },
  /** The version of this one is probable, not stated. */
  macos14: {
    from: 'macos13',
    columns: {
      chat: 'is_recovered INTEGER DEFAULT 0, is_deleting_incoming_messages INTEGER DEFAULT 0',
      message: `is_stewie INTEGER DEFAULT 0, is_sos INTEGER DEFAULT 0, is_critical INTEGER DEFAULT 0,
        bia_reference_id TEXT, is_kt_verified INTEGER DEFAULT 0, fallback_hash TEXT`,
    },
  },
  /** Scheduled and satellite messages, RCS. */
  macos15: {
    from: 'macos14',
    columns: {
      message: `associated_message_emoji TEXT, is_pending_satellite_send INTEGER DEFAULT 0,
        needs_relay INTEGER DEFAULT 0, schedule_type INTEGER DEFAULT 0,
        schedule_state INTEGER DEFAULT 0, sent_or_received_off_grid INTEGER DEFAULT 0,
        date_recovered INTEGER DEFAULT 0`,
      attachment: 'emoji_image_content_identifier TEXT, emoji_image_short_description TEXT',
    },
    dropped: ['message_idx_associated_message'],
    statements: SCHEDULED_AND_SATELLITE,
  },
  /** As one machine has it, without index_state. */
  macos26a: {
    from: 'macos15',
    columns: {
      chat: 'is_pending_review INTEGER DEFAULT 0',
      message: 'is_time_sensitive INTEGER DEFAULT 0, ck_chat_id TEXT',
      attachment: 'preview_generation_state INTEGER DEFAULT 0',
    },
    dropped: ['message_idx_undelivered_one_to_one_imessage'],
    statements: UNDELIVERED_OF_26,
  },
  /** As another machine has it: index_state, and columns at other places. */
  macos26b: {
    from: 'macos26a',
    columns: {
      message: 'index_state INTEGER DEFAULT 0',
      chat_message_join: 'index_state INTEGER NOT NULL DEFAULT 0',
    },
    last: `date_recovered is_sos is_critical bia_reference_id fallback_hash is_kt_verified part_count
      was_detonated is_stewie associated_message_emoji is_pending_satellite_send needs_relay
      schedule_type schedule_state sent_or_received_off_grid is_time_sensitive ck_chat_id index_state`,
  },
  /** Filters, previews, date_updated, chats looked up by identifier. */
  macos27: {
    from: 'macos26a',
    columns: {
      message: `index_state INTEGER DEFAULT 0, filter_action INTEGER DEFAULT 0,
        filter_sub_action INTEGER DEFAULT 0, is_preview_sent INTEGER DEFAULT 0,
        is_preview_delivered INTEGER DEFAULT 0, date_preview_sent INTEGER,
        date_preview_delivered INTEGER, date_updated INTEGER, retry_count INTEGER`,
      attachment: 'preflight_info BLOB, sensitivity_analysis INTEGER DEFAULT 0',
      chat_message_join: `index_state INTEGER NOT NULL DEFAULT 0,
        filter_action INTEGER NOT NULL DEFAULT 0, filter_sub_action INTEGER NOT NULL DEFAULT 0`,
    },
    statements: CHATS_BY_IDENTIFIER,
  },
} as const satisfies Record<string, Difference>

export type SchemaName = 'macos12' | keyof typeof DIFFERENCES

export const SCHEMAS: readonly SchemaName[] = [
  'macos12',
  // The keys are the names of the type.
  ...(Object.keys(DIFFERENCES) as (keyof typeof DIFFERENCES)[]),
]

/** The statements that make the tables, parted by blank lines. */
export function schemaSql(name: string): string {
  if (name === 'macos12') return readFileSync(BASE, 'utf8')
  const differences: Readonly<Record<string, Difference>> = DIFFERENCES
  const difference = differences[name]
  if (difference === undefined) throw new Error(`No schema: ${name}`)
  const { from, columns = {}, last, dropped = [], statements } = difference
  const kept = schemaSql(from)
    .split('\n\n')
    .filter((statement) => !dropped.some((index) => statement.startsWith(`CREATE INDEX ${index} `)))
  const grown = Object.entries(columns).reduce(
    (sql, [table, added]) =>
      withColumns(sql, table, (definitions, constraints) => [
        ...definitions,
        ...definitionsIn(added),
        ...constraints,
      ]),
    [...kept, statements ?? []].flat().join('\n\n'),
  )
  if (last === undefined) return grown
  const names = last.split(/\s+/)
  const placeOf = (definition: string) => names.indexOf(definition.split(' ')[0] ?? '')
  return withColumns(grown, 'message', (definitions, constraints) => [
    ...definitions.toSorted((a, b) => placeOf(a) - placeOf(b)),
    ...constraints,
  ])
}

/** Changes the definitions between the brackets of one table. */
export function withColumns(
  sql: string,
  table: string,
  change: (columns: readonly string[], constraints: readonly string[]) => readonly string[],
): string {
  const pattern = new RegExp(`(CREATE TABLE ${table} \\(\\n)(.*?)(\\n\\);)`, 's')
  return sql.replace(pattern, (_, open: string, body: string, close: string) => {
    const definitions = definitionsIn(body)
    // Constraints stay where the grammar wants them: behind the columns.
    const isConstraint = (definition: string) => /^(UNIQUE|PRIMARY|CHECK)\b/.test(definition)
    const columns = definitions.filter((definition) => !isConstraint(definition))
    return open + change(columns, definitions.filter(isConstraint)).join(',\n') + close
  })
}

/** A comma between brackets does not part two definitions. */
function definitionsIn(text: string): readonly string[] {
  return text.split(/,\s+(?![^(]*\))/).map((definition) => definition.trim())
}
