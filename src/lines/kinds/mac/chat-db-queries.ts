// Queries of chat.db. None scans a table: rows are found by ROWID, by the index of dates, or by an index
// that begins with the value. A unary plus before a column keeps SQLite from an index of little use (a flag
// has two values); before a value, it keeps the query plan independent of the bound value.

import {
  columns,
  ESSENTIAL_COLUMNS,
  OPTIONAL_COLUMNS,
  type ChatDbColumn,
  type ChatDbSchema,
} from './chat-db-open.ts'
import { JUNK } from './chat-db-rows.ts'

type MessageColumn = ChatDbColumn<'message'>

const STATE_COLUMNS = columns(
  'guid service error is_sent is_delivered is_finished date_delivered date_read is_prepared',
  'is_delayed is_pending_satellite_send schedule_type',
)
const EXPRESSIONS: ReadonlySet<string> = new Set(
  columns(
    'ROWID attributedBody handle_id text subject message_summary_info other_handle',
    'destination_caller_id account',
  ),
)
const FILE_COLUMNS = columns(
  'filename mime_type transfer_name total_bytes transfer_state is_outgoing hide_attachment',
)

/** Columns that are selected by name; the other columns need an expression. */
const MESSAGE_COLUMNS = [...ESSENTIAL_COLUMNS.message, ...OPTIONAL_COLUMNS.message].filter(
  (column) => !EXPRESSIONS.has(column),
)

/**
 * The longest body that the decoder takes, plus one byte, so that the decoder reports a longer one. Read as BLOB: a
 * body stored as TEXT would lose bytes that are not UTF-8.
 */
const BODY_BYTES_MAX = 2 * 1_048_576 + 1
/** Number of latest rows that are searched for uses of our addresses. */
const OWN_USES_AMONG = 50_000
/** Latest uses that are read of each of our addresses. */
const USES_OF_EACH = 20
/** iMessage allows 32; a carrier may allow more. */
const MEMBERS_MAX = 500

/**
 * A message may be in several chats: joining only the lowest returns it once. A group (43) wins over a
 * direct chat (45): a message that may belong to a group never counts as direct.
 */
const LOWEST_CHAT = `(SELECT coalesce(min(CASE k.style WHEN 43 THEN k.ROWID END), min(k.ROWID))
  FROM chat_message_join j JOIN chat k ON k.ROWID = j.chat_id WHERE j.message_id = m.ROWID)`
const IS_IN_GROUP = `(SELECT max(k.style = 43) FROM chat_message_join j JOIN chat k ON k.ROWID = j.chat_id
  WHERE j.message_id = m.ROWID) AS is_in_group`
/** Guids as text: JSON holds no BLOB. */
const CHATS = `(SELECT json_group_array(json_array(
    CAST(k.guid AS TEXT), CAST(k.style AS INTEGER), CAST(k.chat_identifier AS TEXT)))
  FROM chat_message_join j JOIN chat k ON k.ROWID = j.chat_id WHERE j.message_id = m.ROWID) AS chats`
const ROW_IDS = `(SELECT value FROM json_each($rowIds))`
const SPELLINGS = `(SELECT value FROM json_each($spellings))`
const HANDLE = `(SELECT h.id FROM handle h WHERE h.ROWID = m.handle_id) AS handle`

export function queriesOf(schema: ChatDbSchema) {
  const named = (names: readonly MessageColumn[]) => namedColumns(schema, names)
  const joinDate = schema.column('j', 'chat_message_join', 'message_date')
  const state = `SELECT m.ROWID AS id, ${named(STATE_COLUMNS)}, ${IS_IN_GROUP} FROM message m`
  const chat = chatColumns(schema)
  // Before macOS 26, the guid names the service if the column is missing.
  const chatService = `lower(coalesce(nullif(${schema.column('c', 'chat', 'service_name')}, ''),
    substr(c.guid, 1, instr(c.guid, ';') - 1)))`
  const full = fullRows(schema)
  return {
    dataVersion: 'PRAGMA data_version',
    maxRowId: 'SELECT max(ROWID) AS value FROM message',
    sequence: `SELECT seq AS value FROM sqlite_sequence WHERE name = 'message'`,
    lastRows: `SELECT ROWID AS id, guid FROM message WHERE ROWID > 0
      ORDER BY ROWID DESC LIMIT 8`,
    guidsAt: `SELECT ROWID AS id, guid FROM message WHERE ROWID IN ${ROW_IDS}`,
    rowIdOf: 'SELECT ROWID AS value FROM message WHERE guid = +$guid',
    rowsAfter: `${full} WHERE m.ROWID > +$rowId ORDER BY m.ROWID LIMIT +$limit`,
    rowsAt: `${full} WHERE m.ROWID IN ${ROW_IDS} ORDER BY m.ROWID`,
    ownRowsAfter: `${full} WHERE m.ROWID > +$rowId AND +m.is_from_me = 1
      ORDER BY m.ROWID LIMIT +$limit`,
    rowsBetween: `${full} WHERE m.date BETWEEN +$from AND +$until
      ORDER BY m.date, m.ROWID LIMIT +$limit`,
    statesAt: `${state} WHERE m.ROWID IN ${ROW_IDS} ORDER BY m.ROWID`,
    ownErrorsBetween: `SELECT m.error AS error, m.date AS date FROM message m
      WHERE m.date BETWEEN +$from AND +$until AND +m.is_from_me = 1 AND +m.error <> 0
      ORDER BY m.date DESC LIMIT +$limit`,
    directChats: `SELECT ${chat} FROM chat c
      WHERE c.chat_identifier = +$handle AND +c.style = 45 AND ${chatService} = 'imessage'
      ORDER BY (SELECT max(${joinDate}) FROM chat_message_join j WHERE j.chat_id = c.ROWID) DESC,
        c.ROWID DESC LIMIT 8`,
    knowsHandle: `SELECT 1 AS value FROM message m
        WHERE m.handle_id IN (SELECT h.ROWID FROM handle h WHERE h.id IN ${SPELLINGS})
      UNION ALL SELECT 1 FROM json_each($spellings)
        CROSS JOIN chat c ON c.chat_identifier = json_each.value AND +c.style = 45
        JOIN chat_message_join j ON j.chat_id = c.ROWID LIMIT 1`,
    handlesAfter: `SELECT ROWID AS id, id AS value FROM handle WHERE ROWID > +$rowId
      ORDER BY ROWID LIMIT +$limit`,
    chatsAfter: `SELECT ROWID AS id, chat_identifier AS value FROM chat
      WHERE ROWID > +$rowId AND +style = 45 ORDER BY ROWID LIMIT +$limit`,
    lastWith: lastWith(named(['is_from_me', 'service', 'error', 'is_sent', 'date']), joinDate),
    datedLike: `SELECT m.ROWID AS id, ${HANDLE} FROM message m
      WHERE m.date BETWEEN +$from AND +$until AND +m.ROWID < +$rowId AND +m.is_from_me = +$isFromMe
      ORDER BY m.date LIMIT +$limit`,
    isRecoverable: isRecoverable(schema),
    emojiWords: emojiWords(schema),
    filesAt: filesAt(schema),
    unjoinedFiles: unjoinedFiles(schema),
    editedBetween: editedBetween(schema),
    groupChat: `SELECT ${chat} FROM chat c WHERE c.chat_identifier = +$identifier AND +c.style = 43
      ORDER BY c.ROWID DESC LIMIT 1`,
    membersOf: membersOf(schema),
    sentUses: ownUses(schema, 1),
    receivedUses: ownUses(schema, 0),
    usesOfEach: usesOfEach(schema),
  }
}

function namedColumns(schema: ChatDbSchema, names: readonly MessageColumn[]): string {
  return names.map((name) => `${schema.column('m', 'message', name)} AS ${name}`).join(', ')
}

function chatColumns(schema: ChatDbSchema): string {
  return `c.ROWID AS chat_id, c.guid AS chat_guid, c.style AS chat_style,
    c.chat_identifier AS chat_identifier, ${schema.column('c', 'chat', 'group_id')} AS chat_group_id,
    ${schema.column('c', 'chat', 'display_name')} AS chat_name`
}

/** Messages with every column that is read; the caller adds the WHERE clause. */
function fullRows(schema: ChatDbSchema): string {
  const column = (name: MessageColumn) => schema.column('m', 'message', name)
  const joinFilter = schema.column('j', 'chat_message_join', 'filter_action')
  return `SELECT m.ROWID AS id, ${namedColumns(schema, MESSAGE_COLUMNS)}, ${chatColumns(schema)},
    ${IS_IN_GROUP}, ${CHATS}, h.id AS handle,
    substr(CAST(m.attributedBody AS BLOB), 1, ${BODY_BYTES_MAX}) AS body,
    substr(${column('text')}, 1, ${BODY_BYTES_MAX}) AS text,
    substr(${column('subject')}, 1, ${BODY_BYTES_MAX}) AS subject,
    CASE WHEN ${column('date_edited')} > 0 THEN
      substr(CAST(${column('message_summary_info')} AS BLOB), 1, ${BODY_BYTES_MAX}) END AS summary,
    (SELECT o.id FROM handle o WHERE o.ROWID = ${column('other_handle')}) AS other,
    (SELECT max(${joinFilter} = ${JUNK}) FROM chat_message_join j WHERE j.message_id = m.ROWID)
      AS is_junk_in_chat
    FROM message m LEFT JOIN handle h ON h.ROWID = m.handle_id
    LEFT JOIN chat c ON c.ROWID = ${LOWEST_CHAT}`
}

function editedBetween(schema: ChatDbSchema): string {
  const edited = schema.column('m', 'message', 'date_edited')
  return `SELECT m.ROWID AS id, m.guid AS guid, ${edited} AS date_edited FROM message m
    WHERE m.date BETWEEN +$from AND +$until AND +${edited} > 0 ORDER BY m.date DESC LIMIT +$limit`
}

function membersOf(schema: ChatDbSchema): string {
  if (!schema.has('chat_handle_join')) return 'SELECT NULL AS value WHERE +$chatRowId IS NULL'
  return `SELECT h.id AS value FROM chat_handle_join j JOIN handle h ON h.ROWID = j.handle_id
    WHERE j.chat_id = +$chatRowId ORDER BY h.ROWID LIMIT ${MEMBERS_MAX}`
}

/**
 * Latest rows of each handle, and of each direct chat with that name; of these, the latest. A row that we sent may
 * have no handle, and a row that was never joined has no chat.
 */
function lastWith(selected: string, joinDate: string): string {
  return `SELECT ${selected}, ${HANDLE} FROM message m WHERE m.ROWID IN (
      SELECT n.ROWID FROM handle h JOIN message n ON n.ROWID IN (
        SELECT i.ROWID FROM message i WHERE i.handle_id = h.ROWID ORDER BY i.date DESC LIMIT +$limit)
      WHERE h.id IN ${SPELLINGS}
      UNION ALL
      SELECT n.ROWID FROM chat c JOIN message n ON n.ROWID IN (
        SELECT j.message_id FROM chat_message_join j WHERE j.chat_id = c.ROWID
        ORDER BY ${joinDate} DESC, j.message_id DESC LIMIT +$limit)
      WHERE c.chat_identifier = +$handle AND +c.style = 45)
    ORDER BY m.date DESC, m.ROWID DESC LIMIT +$limit`
}

/**
 * Returns a row if the message was deleted and can be recovered. The table has no index by message, but
 * each chat is found by the index that begins with the chat.
 */
function isRecoverable(schema: ChatDbSchema): string {
  if (!schema.has('chat_recoverable_message_join')) return 'SELECT 1 AS value WHERE +$rowId IS NULL'
  const lowest = 'SELECT min(r.chat_id) FROM chat_recoverable_message_join r'
  return `WITH RECURSIVE recoverable_chat (id) AS (${lowest} UNION ALL
      SELECT (${lowest} WHERE r.chat_id > recoverable_chat.id) FROM recoverable_chat
      WHERE recoverable_chat.id IS NOT NULL)
    SELECT 1 AS value FROM recoverable_chat WHERE EXISTS (
      SELECT 1 FROM chat_recoverable_message_join r
      WHERE r.chat_id = recoverable_chat.id AND r.message_id = +$rowId)`
}

function emojiWords(schema: ChatDbSchema): string {
  const wanted = '(SELECT value FROM json_each($guids))'
  if (!schema.has('attachment')) return `SELECT NULL AS guid, NULL AS words WHERE 0 IN ${wanted}`
  const words = schema.column('a', 'attachment', 'emoji_image_short_description')
  return `SELECT a.guid AS guid, ${words} AS words FROM attachment a WHERE a.guid IN ${wanted}`
}

function fileColumns(schema: ChatDbSchema) {
  const hasFiles = schema.has('message_attachment_join') && schema.has('attachment')
  const columnOf = (name: ChatDbColumn<'attachment'>) =>
    hasFiles ? schema.column('a', 'attachment', name) : 'NULL'
  const named = FILE_COLUMNS.map((name) => `${columnOf(name)} AS ${name}`)
  return { hasFiles, columns: named.join(', ') }
}

/** Files in the order of their rows, which may differ from the order in the text. */
function filesAt(schema: ChatDbSchema): string {
  const { hasFiles, columns: named } = fileColumns(schema)
  if (!hasFiles) return `SELECT NULL AS id, NULL AS guid, ${named} WHERE 0 IN ${ROW_IDS} AND 0`
  return `SELECT j.message_id AS id, a.guid AS guid, ${named} FROM message_attachment_join j
    JOIN attachment a ON a.ROWID = j.attachment_id
    WHERE j.message_id IN ${ROW_IDS} ORDER BY j.message_id, a.ROWID`
}

/**
 * Files by guid that no message has: on macOS 15 sometimes only the body names a file (BlueBubbles). A file of
 * another message is never returned, even if a body names it.
 */
function unjoinedFiles(schema: ChatDbSchema): string {
  const { hasFiles, columns: named } = fileColumns(schema)
  if (!hasFiles) return `SELECT NULL AS guid, ${named} WHERE +$guids IS NULL`
  return `SELECT a.guid AS guid, ${named} FROM attachment a
    WHERE a.guid IN (SELECT value FROM json_each($guids)) AND NOT EXISTS
      (SELECT 1 FROM message_attachment_join j WHERE j.attachment_id = a.ROWID)`
}

/**
 * Our addresses that the latest messages without an error were sent from or came to, with all other people whom each
 * message names. `last_addressed_handle` of the chat is not read: it may be the other person's. Rows that name only
 * their own address are skipped, because iCloud rewrites notes to oneself by the thousand. All three flags are named
 * because Messages has an index over them, ordered by ROWID; received messages are never "sent".
 */
function ownUses(schema: ChatDbSchema, isOwn: 0 | 1): string {
  return `SELECT ${useColumns(schema)} FROM message m
    WHERE m.is_sent = ${isOwn} AND m.is_from_me = ${isOwn} AND m.error = 0
      AND m.ROWID > (SELECT max(ROWID) FROM message) - ${OWN_USES_AMONG}
      AND ${namesAnOther(schema, isOwn)}
    ORDER BY m.ROWID DESC LIMIT 200`
}

/** Like `ownUses`, but the latest uses of each address and account by date, so that a busy address hides no other. */
function usesOfEach(schema: ChatDbSchema): string {
  const address = schema.column('m', 'message', 'destination_caller_id')
  const account = schema.column('m', 'message', 'account')
  return `SELECT ${useColumns(schema)} FROM message m WHERE m.ROWID IN (
      SELECT id FROM (
        SELECT m.ROWID AS id, row_number() OVER (
          PARTITION BY m.is_from_me, lower(${address}), lower(${account}) ORDER BY m.date DESC) AS place
        FROM message m WHERE m.ROWID IN (
            SELECT d.ROWID FROM message d WHERE d.date BETWEEN +$from AND +$until
            ORDER BY d.date DESC LIMIT 10000)
          AND +m.is_sent = +m.is_from_me AND +m.error = 0
          AND CASE m.is_from_me WHEN 1 THEN ${namesAnOther(schema, 1)} ELSE ${namesAnOther(schema, 0)} END)
      WHERE place <= ${USES_OF_EACH})
    ORDER BY m.date DESC LIMIT +$limit`
}

function useColumns(schema: ChatDbSchema): string {
  const members = schema.has('chat_handle_join')
    ? `(SELECT json_group_array(CAST(o.id AS TEXT)) FROM chat_message_join j
        JOIN chat_handle_join t ON t.chat_id = j.chat_id JOIN handle o ON o.ROWID = t.handle_id
        WHERE j.message_id = m.ROWID)`
    : `'[]'`
  const address = schema.column('m', 'message', 'destination_caller_id')
  const account = schema.column('m', 'message', 'account')
  return `m.is_from_me AS is_from_me, m.date AS date, ${HANDLE}, ${CHATS}, ${members} AS members,
      ${address} AS address, ${account} AS account`
}

/** Matches a row with an address of ours that differs from its handle. */
function namesAnOther(schema: ChatDbSchema, isOwn: 0 | 1): string {
  const account = schema.column('m', 'message', 'account')
  const handle = '(SELECT lower(h.id) FROM handle h WHERE h.ROWID = m.handle_id)'
  const login = `lower(substr(${account}, instr(${account}, ':') + 1))`
  const address = `lower(${schema.column('m', 'message', 'destination_caller_id')})`
  const isOther = (name: string) => `(${name} <> '' AND ${name} IS NOT ${handle})`
  return `(${[address, ...(isOwn === 1 ? [login] : [])].map(isOther).join(' OR ')})`
}
