// The database of Messages as a test writes it, in the part of Messages. What is not said is as a plain
// iMessage has it.

import { Database } from 'bun:sqlite'
import { randomUUID } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'

import { toAppleNanoseconds } from '../../../src/lines/kinds/mac/apple-time.ts'
import { encodeAttributedBody } from './attributed-body-encoder.ts'
import { schemaSql, type SchemaName } from './chat-db-schemas.ts'

export type ColumnValue = string | number | bigint | boolean | Uint8Array | null

/**
 * What a row of `message` holds, by column name; a column that the schema lacks is left out.
 * `text` becomes the body, and the column `text` stays NULL, as a send by AppleScript leaves it;
 * `textColumn` fills that column. `at` (milliseconds since 1970) becomes `date`.
 */
export type MessageValues = {
  readonly at?: number | undefined
  readonly text?: string | undefined
  readonly textColumn?: string | undefined
  readonly [column: string]: ColumnValue | undefined
}

export type ChatValues = {
  readonly identifier: string
  readonly style?: 43 | 45 | undefined
  readonly service?: string | undefined
  readonly guid?: string | undefined
  readonly lastAddressedHandle?: string | undefined
  readonly groupId?: string | undefined
  readonly name?: string | undefined
  /** Handles of a group; a direct chat has the one that names it. */
  readonly members?: readonly string[] | undefined
}

/** What a row of `attachment` holds, by column name. */
export type FileValues = {
  readonly guid: string
  readonly [column: string]: string | number | null
}

export type FileOptions = {
  /** Changes the statements that make the tables; see `chat-db-mutations.ts`. */
  readonly mutate?: ((sql: string) => string) | undefined
  /** Dates as they were before macOS 10.13. */
  readonly areDatesSeconds?: boolean | undefined
  /** Bodies stored as TEXT: the same bytes under another type. */
  readonly areBodiesText?: boolean | undefined
}

export type Written = { readonly rowId: number; readonly guid: string }
export type Received = Written & { readonly handleRowId: number; readonly chatRowId: number }

type Row = Readonly<Record<string, Exclude<ColumnValue, boolean>>>

const PRAGMAS = [
  'busy_timeout = 5000',
  // No test cuts the power.
  'synchronous = OFF',
  'journal_mode = WAL',
]

/** What Messages writes of a message that it received, if nothing else is said. */
const RECEIVED: Readonly<Record<string, ColumnValue>> = {
  service: 'iMessage',
  is_finished: 1,
  is_delivered: 1,
  is_from_me: 0,
}

export class ChatDbFile {
  readonly path: string
  readonly schema: SchemaName
  /** The connection that writes. */
  readonly db: Database
  readonly #options: FileOptions
  readonly #columns = new Map<string, ReadonlySet<string>>()

  private constructor(path: string, schema: SchemaName, options: FileOptions) {
    this.path = path
    this.schema = schema
    this.#options = options
    if (!existsSync(path)) writeFileSync(path, emptyFile(schema, options))
    this.db = new Database(path, { strict: true, readwrite: true })
    for (const pragma of PRAGMAS) this.db.run(`PRAGMA ${pragma}`)
  }

  /** Makes the file at `path`, or opens the one that is there. */
  static create(path: string, schema: SchemaName, options: FileOptions = {}): ChatDbFile {
    return new ChatDbFile(path, schema, options)
  }

  /** A date as this file writes it: nanoseconds since 2001, or seconds. */
  date(ms: number): bigint {
    const ns = toAppleNanoseconds(ms)
    return this.#options.areDatesSeconds === true ? ns / 1_000_000_000n : ns
  }

  /** The handle of that id and service, made if there is none. */
  addHandle(id: string, service = 'iMessage'): number {
    this.db
      .query('INSERT INTO handle (id, service) VALUES ($id, $service) ON CONFLICT DO NOTHING')
      .run({ id, service })
    return this.#rowIdOf('SELECT ROWID AS id FROM handle WHERE id = $id AND service = $service', {
      id,
      service,
    })
  }

  /** Since macOS 26 the guids of chats name no service. */
  addChat({ identifier, style = 45, service = 'iMessage', ...values }: ChatValues): number {
    const isNamed = ['macos12', 'macos13', 'macos14', 'macos15'].includes(this.schema)
    const sign = style === 45 ? '-' : '+'
    const chatRowId = this.#insert('chat', {
      guid: values.guid ?? `${isNamed ? service : 'any'};${sign};${identifier}`,
      style,
      chat_identifier: identifier,
      service_name: service,
      room_name: style === 43 ? identifier : null,
      last_addressed_handle: values.lastAddressedHandle ?? null,
      group_id: values.groupId ?? null,
      display_name: values.name ?? null,
    })
    for (const member of values.members ?? []) {
      this.#insert('chat_handle_join', {
        chat_id: chatRowId,
        handle_id: this.addHandle(member, service),
      })
    }
    return chatRowId
  }

  /** A row of `message` that is joined to no chat yet. */
  addMessage(values: MessageValues & { readonly at: number }): Written {
    const guid = typeof values['guid'] === 'string' ? values['guid'] : randomUUID().toUpperCase()
    const rowId = this.#insert('message', this.#rowOf({ ...RECEIVED, ...values, guid }))
    return { rowId, guid }
  }

  joinChat(messageRowId: number, chatRowId: number): void {
    // As text: a number of JavaScript does not hold a date in nanoseconds.
    const dated = this.db
      .query<{ date: string | null }, [number]>(
        'SELECT CAST(date AS TEXT) AS date FROM message WHERE ROWID = ?',
      )
      .get(messageRowId)
    this.#insert('chat_message_join', {
      chat_id: chatRowId,
      message_id: messageRowId,
      message_date: dated?.date ?? 0,
    })
  }

  /** A file in a message, as Messages has one that it has received. */
  addAttachment(messageRowId: number, values: FileValues): number {
    const attachmentRowId = this.#insert('attachment', {
      original_guid: values.guid,
      transfer_state: 5,
      ...values,
    })
    const attached = { message_id: messageRowId, attachment_id: attachmentRowId }
    this.#insert('message_attachment_join', attached)
    return attachmentRowId
  }

  /** Changes a file. */
  setAttachment(rowId: number, values: Readonly<Record<string, string | number | null>>): void {
    const changes = this.#namesOf('attachment', values).map((name) => `${name} = $${name}`)
    this.db
      .query(`UPDATE attachment SET ${changes.join()} WHERE ROWID = $attachmentRowId`)
      .run({ ...values, attachmentRowId: rowId })
  }

  /** Moves a message of a chat to what was deleted lately. */
  deleteRecoverably(messageRowId: number, chatRowId: number): void {
    this.db.query('DELETE FROM chat_message_join WHERE message_id = ?').run(messageRowId)
    const deleted = { chat_id: chatRowId, message_id: messageRowId, delete_date: 1 }
    this.#insert('chat_recoverable_message_join', deleted)
  }

  /** Changes a message. */
  set(rowId: number, values: MessageValues): void {
    const row = this.#rowOf(values)
    const changes = this.#namesOf('message', row).map((name) => `${name} = ${this.#slot(name)}`)
    this.db
      .query(`UPDATE message SET ${changes.join()} WHERE ROWID = $messageRowId`)
      .run({ ...row, messageRowId: rowId })
  }

  /** A message from `from` as Messages writes it, in one transaction; the chat is a direct one unless given. */
  receive(message: {
    readonly from: string
    readonly text: string
    readonly at: number
    readonly chat?: number | undefined
    readonly values?: MessageValues | undefined
  }): Received {
    const { from, text, at, values } = message
    return this.db.transaction(() => {
      const handleRowId = this.addHandle(from)
      const written = this.addMessage({ text, ...values, at, handle_id: handleRowId })
      const chatRowId = message.chat ?? this.directChat(from)
      this.joinChat(written.rowId, chatRowId)
      return { ...written, handleRowId, chatRowId }
    })()
  }

  /** The first direct chat with a handle, made if there is none. */
  directChat(identifier: string): number {
    const found = this.db
      .query<{ id: number }, [{ identifier: string }]>(
        'SELECT ROWID AS id FROM chat WHERE chat_identifier = $identifier AND style = 45',
      )
      .get({ identifier })
    return found?.id ?? this.addChat({ identifier })
  }

  /** Moves all that the write-ahead log holds into the file, and empties it. */
  checkpoint(): void {
    this.db.query('PRAGMA wal_checkpoint(TRUNCATE)').all()
  }

  close(): void {
    this.db.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #rowOf(values: MessageValues): Row {
    const { at, text, textColumn, ...columns } = values
    const row: Record<string, ColumnValue | undefined> = {
      ...(at === undefined ? {} : { date: this.date(at) }),
      ...(text === undefined ? {} : { attributedBody: encodeAttributedBody(text) }),
      ...(textColumn === undefined ? {} : { text: textColumn }),
      ...columns,
    }
    return Object.fromEntries(
      Object.entries(row).flatMap(([name, value]) => {
        if (value === undefined) return []
        return [[name, typeof value === 'boolean' ? Number(value) : value]]
      }),
    )
  }

  #insert(table: string, row: Row): number {
    const names = this.#namesOf(table, row)
    const slots = names.map((name) => this.#slot(name))
    const insertion = `INSERT INTO ${table} (${names.join()}) VALUES (${slots.join()})`
    return Number(this.db.query(insertion).run(row).lastInsertRowid)
  }

  /** Those columns of a row that the table has. */
  #namesOf(table: string, row: Row): readonly string[] {
    const known = this.#columns.get(table) ?? columnsOf(this.db, table)
    this.#columns.set(table, known)
    return Object.keys(row).filter((name) => known.has(name))
  }

  #slot(name: string): string {
    const isText = name === 'attributedBody' && this.#options.areBodiesText === true
    return isText ? `CAST($${name} AS TEXT)` : `$${name}`
  }

  #rowIdOf(sql: string, values: Record<string, string>): number {
    const row = this.db.query<{ id: number }, [Record<string, string>]>(sql).get(values)
    if (row === null) throw new Error(`No row: ${sql}`)
    return row.id
  }
}

/** Files without rows: making one is slow beside everything that a test does with it. */
const emptyFiles = new Map<string, Uint8Array>()

function emptyFile(schema: SchemaName, { mutate }: FileOptions): Uint8Array {
  const fixture = schemaSql(schema)
  const sql = mutate?.(fixture) ?? fixture
  const known = emptyFiles.get(sql)
  if (known !== undefined) return known
  using db = new Database(':memory:')
  db.run(sql)
  const made = db.serialize()
  emptyFiles.set(sql, made)
  return made
}

function columnsOf(db: Database, table: string): ReadonlySet<string> {
  const columns = db.query<{ name: string }, []>(`PRAGMA table_info(${table})`).all()
  return new Set(columns.map(({ name }) => name))
}
