// The database belongs to Messages: it is only read, and in short reads, because an open read keeps
// Messages from emptying its write-ahead log.

import { SQLiteError, type Database, type Statement } from 'bun:sqlite'

import type { Handle, Home } from '../../../domain/handle.ts'
import { memoize } from '../../../system/memoize.ts'
import { appleRanges } from './apple-time.ts'
import { withoutMarks } from './attributed-body.ts'
import {
  codeOf,
  isSameFile,
  openChatDb,
  systemFileAccess,
  type ChatDbErrorCode,
  type FileAccess,
  probeSchema,
  type DatabaseIdentity,
} from './chat-db-open.ts'
import { queriesOf } from './chat-db-queries.ts'
import {
  CHAT,
  DATA_VERSION,
  DATED_LIKE,
  EDITED,
  EMOJI_WORDS,
  EXCHANGED,
  fileOf,
  IDS,
  messageRowOf,
  NAMED,
  NUMBER,
  OWN_ERROR,
  ownStateOf,
  ownUseOf,
  readRow,
  TEXT,
  type Chat,
  type Exchanged,
  type Fields,
  type FileRow,
  type MessageRow,
  type OwnState,
  type OwnUse,
  type Raw,
  type RowId,
  type RowOf,
} from './chat-db-rows.ts'
import { personBehind } from './people.ts'

/** Thrown by every method of ChatDb if the database cannot be read now. */
export class ChatDbError extends Error {
  override readonly name = 'ChatDbError'
  readonly code: ChatDbErrorCode

  constructor(code: ChatDbErrorCode, cause: unknown) {
    super(`The database of Messages cannot be read (${code}): ${String(cause)}`, { cause })
    this.code = code
  }
}

type EditedRow = RowId & { readonly editedAt: number }
type OwnError = { readonly error: number; readonly at: number }

const ERRORS_MAX = 200
/** Most rows of the same two seconds that are searched. */
const DATED_LIKE_MAX = 500
const PEOPLE_MAX = 20_000
const NAMES_PAGE = 1_000
/** A replay has the date of the original, except for precision lost on the way. */
const DUPLICATE_MS = 1_000

type Values = Readonly<Record<string, string | number | bigint | null>>
type QueryName = keyof ReturnType<typeof queriesOf>
type Statements = Readonly<Record<QueryName, Statement<Raw, [Values]>>>

/** A read-only connection. Every method does one short read or a few, and may throw a ChatDbError. */
export class ChatDb {
  readonly identity: DatabaseIdentity
  readonly #path: string
  readonly #access: FileAccess
  readonly #db: Database
  readonly #statements: Statements
  /** Spellings that differ from a person's normal form, by person; and the last row of each table read for them. */
  readonly #oddSpellings = new Map<Handle, string[]>()
  readonly #namesRead = { handlesAfter: 0, chatsAfter: 0 }
  #personOf = memoize(PEOPLE_MAX, (spelling) => personBehind(spelling, null))

  private constructor(path: string, access: FileAccess) {
    const opened = openChatDb(path, access)
    if (!opened.ok) throw new ChatDbError(opened.code, opened.cause)
    this.#path = path
    this.#access = access
    this.#db = opened.db
    this.identity = opened.identity
    try {
      this.#statements = prepareStatements(opened.db)
    } catch (error) {
      opened.db.close()
      throw error instanceof ChatDbError ? error : new ChatDbError('unreadable', error)
    }
  }

  static open(path: string, access: FileAccess = systemFileAccess()): ChatDb {
    return new ChatDb(path, access)
  }

  /** Reads numbers without a country code as the line's country does from now on. Call it before anything else. */
  useHome(home: Home | null): void {
    this.#personOf = memoize(PEOPLE_MAX, (spelling) => personBehind(spelling, home))
  }

  isSamePerson(one: string, other: string): boolean {
    return this.#personOf(one) === this.#personOf(other)
  }

  /** False once the path leads to another file than the open one, because the database was replaced. */
  isSameFile(): boolean {
    return isSameFile(this.#path, this.identity, this.#access)
  }

  /** Changes with every commit of another connection; each connection counts separately. */
  dataVersion(): number {
    return this.#rows('dataVersion', DATA_VERSION)[0]?.version ?? 0
  }

  /** 0 if there is no message. */
  maxRowId(): number {
    return this.#value('maxRowId') ?? 0
  }

  /** Highest ROWID ever given to a message; deletions do not lower it. */
  sequence(): number {
    return this.#value('sequence') ?? 0
  }

  /** The newest rows, at most 8: the fingerprint of the database. */
  lastRows(): readonly RowId[] {
    return this.#rows('lastRows', IDS)
  }

  guidsAt(rowIds: readonly number[]): ReadonlyMap<number, string> {
    const found = this.#at('guidsAt', rowIds).map((raw) => readRow(IDS, raw))
    return new Map(found.map(({ rowId, guid }) => [rowId, guid]))
  }

  /** Received and sent rows after a position, in order of ROWID. */
  rowsAfter(rowId: number, limit: number): readonly MessageRow[] {
    return this.#whole(this.#all('rowsAfter', { rowId, limit }))
  }

  rowsAt(rowIds: readonly number[]): readonly MessageRow[] {
    return this.#whole(this.#at('rowsAt', rowIds))
  }

  ownRowsAfter(rowId: number, limit: number): readonly MessageRow[] {
    return this.#whole(this.#all('ownRowsAfter', { rowId, limit }))
  }

  /** Rows dated `ms` (since 1970) or later, oldest first, without absurd dates. */
  rowsSince(ms: number, limit: number): readonly MessageRow[] {
    return this.#whole(this.#dated('rowsBetween', { from: ms, limit }).slice(0, limit))
  }

  statesAt(rowIds: readonly number[]): readonly OwnState[] {
    return this.#at('statesAt', rowIds).map(ownStateOf)
  }

  rowIdOf(guid: string): number | null {
    return this.#value('rowIdOf', { guid })
  }

  /** At most 8 direct iMessage chats with a handle, latest message first. */
  directChats(handle: string): readonly Chat[] {
    return this.#rows('directChats', CHAT, { handle })
  }

  groupChat(identifier: string): Chat | null {
    return this.#rows('groupChat', CHAT, { identifier })[0] ?? null
  }

  /** Handles of a group, which may include our own. */
  membersOf(chatRowId: number): readonly string[] {
    return this.#rows('membersOf', TEXT, { chatRowId }).flatMap(({ value }) => value ?? [])
  }

  /** The newest 500 messages dated `ms` (since 1970) or later that were edited or unsent. */
  editedSince(ms: number): readonly EditedRow[] {
    return this.#dated('editedBetween', { from: ms, limit: 500 })
      .map((raw) => readRow(EDITED, raw))
      .flatMap(({ editedAt, ...ids }) => (editedAt === null ? [] : [{ ...ids, editedAt }]))
  }

  /** True if there are messages from or to the person under any spelling. */
  knowsHandle(handle: string): boolean {
    return this.#value('knowsHandle', { spellings: this.#spellingsOf(handle) }) !== null
  }

  /** True if the message is in "Recently Deleted". */
  isRecoverable(rowId: number): boolean {
    return this.#value('isRecoverable', { rowId }) !== null
  }

  /** Names of inline emoji by their transfer guids; emoji without a name are absent. */
  emojiWords(guids: readonly string[]): ReadonlyMap<string, string> {
    const found = this.#rows('emojiWords', EMOJI_WORDS, { guids: JSON.stringify(guids) })
    return new Map(found.flatMap(({ guid, words }) => (words === null ? [] : [[guid, words]])))
  }

  filesAt(rowIds: readonly number[]): ReadonlyMap<number, readonly FileRow[]> {
    const files = new Map<number, FileRow[]>()
    for (const raw of this.#at('filesAt', rowIds)) {
      const { rowId } = readRow(IDS, raw)
      files.set(rowId, [...(files.get(rowId) ?? []), fileOf(raw)])
    }
    return files
  }

  fileOf(rowId: number, guid: string): FileRow | undefined {
    const joined = this.filesAt([rowId]).get(rowId) ?? []
    return joined.find((file) => file.guid === guid) ?? this.#unjoined([guid]).get(guid)
  }

  /**
   * Latest messages from and to a person under any spelling, and those in the chat of that handle, which
   * may hold a contact's other addresses too; latest first.
   */
  lastWith(handle: string, limit: number): readonly Exchanged[] {
    const spellings = this.#spellingsOf(handle)
    return this.#rows('lastWith', EXCHANGED, { handle, spellings, limit })
  }

  /** Our latest 200 messages with an error, dated `ms` (since 1970) or later, latest first. */
  ownErrorsSince(ms: number): readonly OwnError[] {
    return this.#dated('ownErrorsBetween', { from: ms, limit: ERRORS_MAX })
      .map((raw) => readRow(OWN_ERROR, raw))
      .flatMap(({ error, at }) => (at === null ? [] : [{ error, at }]))
      .sort((a, b) => b.at - a.at)
      .slice(0, ERRORS_MAX)
  }

  /**
   * Earlier rows with the same people, direction and text, dated within a second: iCloud writes such
   * copies under new guids. Returns none for a message without text: two photos of one second are two
   * messages.
   */
  equalsOf(row: MessageRow): readonly MessageRow[] {
    const { rowId, at } = row
    if (at === null || withoutMarks(row.text ?? '').trim() === '') return []
    const isFromMe = row.isFromMe ? 1 : 0
    const window = { from: at - DUPLICATE_MS, until: at + DUPLICATE_MS, limit: DATED_LIKE_MAX }
    const near = this.#dated('datedLike', window, { rowId, isFromMe }).map((raw) =>
      readRow(DATED_LIKE, raw),
    )
    // Our own rows may have no handle; then the chat names the recipient.
    const isPossible = (handle: string | null) =>
      handle === null || row.isFromMe || row.people.includes(this.#personOf(handle))
    const possible = near.filter(({ handle }) => isPossible(handle)).map((other) => other.rowId)
    return this.rowsAt(possible.slice(0, 20)).filter((other) => isEqual(row, other))
  }

  /** Addresses that the latest messages were sent from or came to, latest first. */
  ownUses(): readonly OwnUse[] {
    return [...this.#all('sentUses'), ...this.#all('receivedUses')].map(ownUseOf)
  }

  /** The latest 20 uses of each address, dated `ms` (since 1970) or later, at most 500. */
  usesOfEach(ms: number): readonly OwnUse[] {
    return this.#dated('usesOfEach', { from: ms, limit: 500 }).map(ownUseOf)
  }

  close(): void {
    // A statement that is not finalized keeps the file open.
    for (const statement of Object.values(this.#statements)) statement.finalize()
    this.#db.close()
  }

  #whole(raws: readonly Raw[]): readonly MessageRow[] {
    const rows = raws.map((raw) => messageRowOf(raw, this.#personOf))
    const hasFiles = (row: MessageRow) => row.hasAttachments || row.attachmentGuids.length > 0
    const rowIds = rows.filter(hasFiles).map(({ rowId }) => rowId)
    if (rowIds.length === 0) return rows
    const joined = this.filesAt(rowIds)
    const filesOf = ({ rowId }: MessageRow) => joined.get(rowId) ?? []
    const lacking = (row: MessageRow) =>
      row.attachmentGuids.filter((guid) => !filesOf(row).some((file) => file.guid === guid))
    const unjoined = this.#unjoined(rows.flatMap(lacking))
    return rows.map((row) => {
      const named = lacking(row).flatMap((guid) => unjoined.get(guid) ?? [])
      return { ...row, files: [...filesOf(row), ...named] }
    })
  }

  #unjoined(guids: readonly string[]): ReadonlyMap<string, FileRow> {
    if (guids.length === 0) return new Map()
    const found = this.#all('unjoinedFiles', { guids: JSON.stringify(guids) }).map(fileOf)
    return new Map(found.map((file) => [file.guid, file]))
  }

  /** Rows in a range of dates, at most `limit` in each date format; those dated in seconds are older. */
  #dated(
    name: QueryName,
    dates: { readonly from: number; readonly until?: number; readonly limit: number },
    values: Values = {},
  ): readonly Raw[] {
    return appleRanges(dates.from, dates.until).flatMap((range) =>
      this.#all(name, { ...values, ...range, limit: dates.limit }),
    )
  }

  #at(name: QueryName, rowIds: readonly number[]): readonly Raw[] {
    return [...chunksOf(rowIds, 500)].flatMap((some) =>
      this.#all(name, { rowIds: JSON.stringify(some) }),
    )
  }

  /** The given spelling and the person's other spellings, as JSON. */
  #spellingsOf(handle: string): string {
    this.#readNames('handlesAfter')
    this.#readNames('chatsAfter')
    return JSON.stringify([handle, ...(this.#oddSpellings.get(this.#personOf(handle)) ?? [])])
  }

  #readNames(table: 'handlesAfter' | 'chatsAfter'): void {
    let count = 0
    do {
      const names = this.#rows(table, NAMED, { rowId: this.#namesRead[table], limit: NAMES_PAGE })
      for (const { rowId, value } of names) {
        this.#namesRead[table] = rowId
        const person = value === null ? null : this.#personOf(value)
        if (value === null || person === null || person === value) continue
        this.#oddSpellings.set(person, [...(this.#oddSpellings.get(person) ?? []), value])
      }
      count = names.length
    } while (count === NAMES_PAGE)
  }

  #value(name: QueryName, values: Values = {}): number | null {
    return this.#rows(name, NUMBER, values)[0]?.value ?? null
  }

  #rows<F extends Fields>(name: QueryName, fields: F, values: Values = {}): readonly RowOf<F>[] {
    return this.#all(name, values).map((raw) => readRow(fields, raw))
  }

  #all(name: QueryName, values: Values = {}): readonly Raw[] {
    try {
      return this.#statements[name].all(values)
    } catch (error) {
      if (error instanceof SQLiteError) throw new ChatDbError(codeOf(error), error)
      throw error
    }
  }
}

function prepareStatements(db: Database): Statements {
  const probe = probeSchema(db)
  if (!probe.ok) throw new ChatDbError('unreadable', probe.problem)
  const queries = Object.entries(queriesOf(probe.schema))
  const statements = queries.map(([name, sql]) => [name, db.prepare(sql)] as const)
  return Object.fromEntries(statements) as Statements // There is one statement for each query.
}

function isEqual(row: MessageRow, other: MessageRow): boolean {
  if (other.text !== row.text || other.subject !== row.subject) return false
  return isSameConversation(row, other) && (row.isFromMe || haveCommon(row.people, other.people))
}

export function isSameConversation(row: MessageRow, other: MessageRow): boolean {
  const [group, otherGroup] = [groupOf(row), groupOf(other)]
  if (group !== null || otherGroup !== null) return group === otherGroup
  return haveCommon(row.people, other.people)
}

function groupOf({ chat, room }: MessageRow): string | null {
  return chat === null || chat.isDirect ? room : chat.identifier
}

function haveCommon(people: readonly Handle[], others: readonly Handle[]): boolean {
  return people.some((person) => others.includes(person))
}

function* chunksOf<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}
