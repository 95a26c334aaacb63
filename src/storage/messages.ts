// Reads and saves one message at a time. Lists are in `message-lists.ts`, the queries of dispatch in
// `message-queue.ts`.

import { assert, RelayError } from '../domain/errors.ts'
import { deviceHandle, type Handle } from '../domain/handle.ts'
import { parseId, type ConversationId, type LineId, type Timestamp } from '../domain/ids.ts'
import type { MessageExtras } from '../domain/message-extras.ts'
import type { MessageSource, Outbound } from '../domain/message.ts'
import { memoize } from '../system/memoize.ts'
import type { Db, Tx } from './database.ts'
import { messages } from './schema.ts'
import {
  CONVERSATION_ID,
  CONVERSATION_SEQ,
  LINE_ID,
  LINE_SEQ,
  assigned,
  columnsOf,
  inserted,
  selected,
  type RawRow,
  type Values,
} from './statement.ts'

export type NewMessage = Omit<Outbound, 'seq' | 'revision' | 'updatedAt'>

/** Line and conversation of a message; its row has their `seq` instead. */
type PartyIds = { readonly lineId: LineId; readonly conversationId: ConversationId }
type RawMessage = Omit<RawRow<typeof messages>, 'lineSeq' | 'conversationSeq'> & PartyIds

const RAW_MESSAGE = `${selected(messages, columnsOf(messages, ['lineSeq', 'conversationSeq']))},
  ${LINE_ID} AS lineId, ${CONVERSATION_ID} AS conversationId`

/** A query for messages; `rest` follows `FROM messages`. */
export function messagesWhere(rest: string): (db: Db, values?: Values) => readonly Outbound[] {
  const sql = `SELECT ${RAW_MESSAGE} FROM messages ${rest}`
  return (db, values) => db.rows<RawMessage>(sql, values).map(fromRaw)
}

/** Changes the row in place: a copy of its columns would cost as much as reading them. */
function fromRaw(row: RawMessage): Outbound {
  return Object.assign(row, {
    isPinned: row.isPinned === 1,
    isGroup: row.isGroup === 1,
    extras: row.extras === null ? null : (JSON.parse(row.extras) as MessageExtras), // `valuesOf` wrote it.
    error: row.errorCode === null ? null : { code: row.errorCode, message: row.errorMessage ?? '' },
    refusedBy: row.refusedBy === null ? [] : (JSON.parse(row.refusedBy) as LineId[]), // `valuesOf` wrote it.
  })
}

export const messageAt = messagesWhere('WHERE seq = $seq')

const byId = messagesWhere('WHERE id = $id')

/** The message as it is stored now; null if there is none, or it was deleted. Inside a transaction, pass its `tx`. */
export function findMessage(db: Db, id: string): Outbound | null {
  return byId(db, { id })[0] ?? null
}

// Each step gives its message a new revision. Statements that change many messages at once, such as a merge or a
// correction of the clock, change their conversation or time instead.
const asRead = `SELECT 1 FROM messages WHERE seq = +$seq AND revision = +$revision
  AND updated_at = +$updatedAt AND due_at IS +$dueAt AND conversation_seq = ${CONVERSATION_SEQ}`

/** The message as it is stored now: `known` itself if it hasn't changed since it was read; null if it was deleted. */
export function currentMessage(db: Db, known: Outbound): Outbound | null {
  const { seq, revision, updatedAt, dueAt, conversationId } = known
  const isAsRead = db.row(asRead, { seq, revision, updatedAt, dueAt, conversationId }) !== null
  return isAsRead ? known : findMessage(db, known.id)
}

/** Returns the message with an id from a request; throws `not_found` if there is none. */
export function requireMessage(db: Db, id: string): Outbound {
  const message = parseId('msg', id) === null ? null : findMessage(db, id)
  if (message === null) throw noMessage()
  return message
}

export function noMessage(): RelayError {
  return new RelayError('not_found', 'There is no message with this id.')
}

const insertion = `INSERT INTO messages ${inserted(messages, columnsOf(messages, ['seq']), {
  lineSeq: LINE_SEQ,
  conversationSeq: CONVERSATION_SEQ,
})}`

/** Stores a new message; later changes go through `updateMessage`. */
export function insertMessage(tx: Tx, recorded: NewMessage): Outbound {
  const message = { ...recorded, updatedAt: recorded.createdAt, revision: nextRevision(tx) }
  const { lastInsertRowid } = tx.execute(insertion, valuesOf(message))
  touch(tx, message)
  return { ...message, seq: Number(lastInsertRowid) }
}

/** Fields that a step can change. For a new line, its caller also updates conversations and daily contacts. */
const CHANGEABLE = [
  'lineId',
  'conversationId',
  'phoneNumber',
  'status',
  'service',
  'text',
  'platformGuid',
  'extras',
  'queuedReason',
  'waitsFrom',
  'dueAt',
  'round',
  'refusedBy',
  'contactHold',
  'note',
  'passedAt',
  'error',
  'sentAt',
  'deliveredAt',
  'readAt',
] as const

export type MessageUpdate = Partial<Pick<Outbound, (typeof CHANGEABLE)[number]>>

const ASSIGNMENTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(columnsOf(messages).map((name) => [name, assigned(messages, [name])])),
  lineId: `line_seq = ${LINE_SEQ}`,
  conversationId: `conversation_seq = ${CONVERSATION_SEQ}`,
  error: assigned(messages, ['errorCode', 'errorMessage']),
}

/** Most statements cached; the steps of messages need some dozens. */
const UPDATES_MAX = 200

/** The statement that writes these fields, with a bit for each field. Building its text costs more than running it. */
const updateOf = memoize(UPDATES_MAX, (fields: number) => {
  const written = CHANGEABLE.filter((_, place) => (fields & (1 << place)) !== 0)
  const assignments = written.map((name) => `, ${ASSIGNMENTS[name]}`).join('')
  return `UPDATE messages SET revision = $revision, updated_at = $updatedAt${assignments}
    WHERE seq = +$seq AND revision = +$was`
})

/**
 * Writes the changes of a step, and nothing else. Throws if `message` isn't as it is stored, because then the step
 * was decided on old values.
 */
export function updateMessage(
  tx: Tx,
  message: Outbound,
  change: MessageUpdate,
  now: Timestamp,
): Outbound {
  const changed = { ...message, ...change, revision: nextRevision(tx), updatedAt: now }
  let fields = 0
  for (const [place, name] of CHANGEABLE.entries()) {
    if (changed[name] !== message[name]) fields |= 1 << place
  }
  const { seq, revision } = changed
  const stamps = { seq, revision, updatedAt: now, was: message.revision }
  const { changes } = tx.execute(updateOf(fields), Object.assign(valuesOf(change), stamps))
  assert(changes > 0, `${message.id} is as it was read`)
  touch(tx, changed)
  return changed
}

/** Parameters for the columns of these fields; a statement ignores those that it doesn't name. */
function valuesOf(change: MessageUpdate) {
  const { error, refusedBy = [], extras } = change
  return {
    ...change,
    refusedBy: refusedBy.length === 0 ? null : JSON.stringify(refusedBy),
    extras: extras ? JSON.stringify(extras) : null,
    error: null, // The two columns below have it.
    errorCode: error?.code ?? null,
    errorMessage: error?.message ?? null,
  }
}

function touch(tx: Tx, { id, conversationId }: Pick<Outbound, 'id' | 'conversationId'>): void {
  tx.changes?.push({ what: 'message', id, conversationId })
}

/** A new message, with defaults for everything that the device or client didn't give. */
export function newMessage(
  base: Pick<
    NewMessage,
    'id' | 'lineId' | 'conversationId' | 'phoneNumber' | 'text' | 'guid' | 'createdAt'
  > & { readonly handle: Handle; readonly source: MessageSource },
  more: Partial<NewMessage>,
): NewMessage {
  return {
    direction: 'outbound',
    status: 'queued',
    service: 'iMessage',
    platformGuid: null,
    isGroup: false,
    extras: null,
    queuedReason: null,
    error: null,
    sentAt: null,
    deliveredAt: null,
    readAt: null,
    keyId: null,
    isPinned: false,
    waitsFrom: base.createdAt,
    dueAt: null,
    round: 0,
    refusedBy: [],
    contactHold: 'none',
    note: null,
    passedAt: null,
    ...base,
    handle: deviceHandle(base.handle),
    ...more,
  }
}

/** The newest stored timestamp. Later ones continue from it, so that a clock that was set back reorders nothing. */
export function newestTimestamp(db: Db): number {
  const sql = 'SELECT max(updated_at) AS at FROM messages'
  return db.row<{ at: number | null }>(sql)?.at ?? 0
}

const lastRevisions = new WeakMap<Tx['sqlite'], number>()

/** The next revision, counted in memory: a rollback leaves a gap, which is harmless. */
function nextRevision(tx: Tx): number {
  const sql = 'SELECT revision FROM messages ORDER BY updated_at DESC, revision DESC LIMIT 1'
  const last = lastRevisions.get(tx.sqlite) ?? tx.row<{ revision: number }>(sql)?.revision ?? 0
  lastRevisions.set(tx.sqlite, last + 1)
  return last + 1
}
