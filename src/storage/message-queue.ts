// The message queue. Each recipient gets messages in order: among the queued and sending messages of a
// conversation only the first has a `dueAt`, and the next one gets it when the first is settled. Deferred
// messages are outside of this order. Every query uses a partial index or the few rows of a transient
// status, so its cost depends on what waits, not on all that was ever sent.

import type { Handle } from '../domain/handle.ts'
import {
  timestamp,
  type ConversationId,
  type LineId,
  type MessageId,
  type Timestamp,
} from '../domain/ids.ts'
import {
  hasAttachments,
  UNCERTAIN_ANNOUNCED_AFTER_MS,
  type Outbound,
  type OutgoingAttachment,
  type OutgoingMessage,
  type StoredStatus,
  type Unsettled,
} from '../domain/message.ts'
import type { Age } from '../system/confirmed-clock.ts'
import { attachmentsOf, awaitedAttachments } from './attachments.ts'
import type { Db, Tx } from './database.ts'
import { findGroup } from './groups.ts'
import { messagesWhere, updateMessage } from './messages.ts'
import { firstSeqSince } from './seq-by-time.ts'
import { CONVERSATION_SEQ, LINE_SEQ, type Values } from './statement.ts'

const ids = (sql: string) => (db: Db, values: Values) =>
  db.rows<{ id: MessageId }>(sql, values).map(({ id }) => id)

const dueWhere = (condition: string) =>
  `INDEXED BY messages_due_by_line
   WHERE status = 'queued' AND line_seq = ${LINE_SEQ} AND due_at <= +$now ${condition}
   ORDER BY due_at, seq LIMIT +$limit`

/** Queued messages that a line may send now: the first of each conversation, longest due first. */
export const dueMessages = messagesWhere(dueWhere(''))

/** Due messages that may move to another line, after the cursor (`dueAt`, `seq`). */
export const movableMessages = messagesWhere(
  dueWhere('AND is_pinned = 0 AND (due_at, seq) > (+$dueAt, +$seq)'),
)

const nextDue = `SELECT due_at FROM messages INDEXED BY messages_due_by_line
     WHERE status = 'queued' AND line_seq = ${LINE_SEQ} AND due_at > +$now ORDER BY due_at LIMIT 1`

export function nextDueAt(db: Db, lineId: LineId, now: number): number | null {
  return db.row<{ due_at: number }>(nextDue, { lineId, now })?.due_at ?? null
}

/** Worded like the WHERE of the partial index, because SQLite uses the index only then. */
const IS_UNFINISHED = "(status = 'queued' OR status = 'sending' OR status = 'uncertain')"

const unfinishedWhere = (rest: string) =>
  `INDEXED BY messages_unfinished_by_conversation
   WHERE conversation_seq = ${CONVERSATION_SEQ} AND ${IS_UNFINISHED} AND ${rest}`

/** The earliest message of a conversation that is queued or sending. */
const firstOf = messagesWhere(
  unfinishedWhere("status <> 'uncertain' ORDER BY waits_from, seq LIMIT 1"),
)

const sameTextUncertain = `SELECT max(due_at) AS at FROM messages
     ${unfinishedWhere("status = 'uncertain' AND text = +$text AND due_at > +$now")}`

/** The time when the last uncertain message of the conversation with this text is announced; null if there is none. */
function sameTextUncertainUntil(
  db: Db,
  message: Pick<Outbound, 'conversationId' | 'text'>,
  now: Timestamp,
): Timestamp | null {
  const { conversationId, text } = message
  // Devices distinguish files, so only equal texts can be confused.
  if (text === '') return null
  const values = { conversationId, text, now }
  return db.row<{ at: Timestamp | null }>(sameTextUncertain, values)?.at ?? null
}

/** Queued messages of a conversation that have a `dueAt`, because they are or were its first. */
const queuedWithTurn = messagesWhere(
  unfinishedWhere("status = 'queued' AND due_at IS NOT NULL ORDER BY waits_from, seq"),
)

/** The time when a queued message may be sent, and why not earlier. */
export type Position = Pick<Outbound, 'dueAt' | 'queuedReason'>

/** The position of a new message at the end of its conversation's queue. */
export function initialPosition(
  tx: Tx,
  message: Pick<Outbound, 'conversationId' | 'text'>,
  now: Timestamp,
): Position {
  return firstOf(tx, { conversationId: message.conversationId }).length === 0
    ? positionOfFirst(tx, message, now)
    : { dueAt: null, queuedReason: 'earlier_message' }
}

/** Gives the next message of the conversation its turn. Called when the one before it is settled. */
export function promoteNext(tx: Tx, conversationId: ConversationId, now: Timestamp): void {
  const [first] = firstOf(tx, { conversationId })
  if (first?.status !== 'queued' || first.dueAt !== null) return
  updateMessage(tx, first, positionOfFirst(tx, first, now), now)
}

/** Releases a message that waited for an uncertain one with the same text, once that one is settled. */
export function wakeSameText(tx: Tx, conversationId: ConversationId, now: Timestamp): void {
  const [first] = firstOf(tx, { conversationId })
  if (first?.status !== 'queued' || first.queuedReason !== 'same_text_uncertain') return
  updateMessage(tx, first, positionOfFirst(tx, first, now), now)
}

/** Called after a message moved here from another line: only the message that is first now keeps its turn. */
export function reorder(tx: Tx, conversationId: ConversationId, now: Timestamp): void {
  const [first] = firstOf(tx, { conversationId })
  for (const message of queuedWithTurn(tx, { conversationId })) {
    if (message.id === first?.id) continue
    updateMessage(tx, message, { dueAt: null, queuedReason: 'earlier_message' }, now)
  }
  promoteNext(tx, conversationId, now)
}

/** The position of the first message: it waits until an uncertain message with the same text is announced. */
function positionOfFirst(
  tx: Tx,
  message: Pick<Outbound, 'conversationId' | 'text'>,
  now: Timestamp,
): Position {
  const until = sameTextUncertainUntil(tx, message, now)
  return until === null
    ? { dueAt: now, queuedReason: null }
    : { dueAt: until, queuedReason: 'same_text_uncertain' }
}

/** Most messages that move to another line along with one. */
const BEHIND_MAX = 1_000

const behind = messagesWhere(
  unfinishedWhere(
    "status = 'queued' AND (waits_from, seq) > (+$waitsFrom, +$seq) ORDER BY waits_from, seq LIMIT +$limit",
  ),
)

/** The messages queued behind this one, up to the first that is pinned to its line. */
export function queuedBehind(
  db: Db,
  { conversationId, waitsFrom, seq }: Pick<Outbound, 'conversationId' | 'waitsFrom' | 'seq'>,
): readonly Outbound[] {
  const queued = behind(db, { conversationId, waitsFrom, seq, limit: BEHIND_MAX })
  const bound = queued.findIndex((message) => message.isPinned)
  return bound === -1 ? queued : queued.slice(0, bound)
}

/** The line of a queued or sending message to `handle` that isn't pinned to a line. */
export function lineOnTheWayTo(db: Db, handle: Handle): LineId | null {
  const sql = `SELECT c.line_id AS lineId FROM conversations c
     CROSS JOIN messages m INDEXED BY messages_unfinished_by_conversation
       ON m.conversation_seq = c.seq AND ${IS_UNFINISHED}
     WHERE c.handle = +$handle AND m.status <> 'uncertain' AND m.is_pinned = 0
       AND m.platform_guid IS NULL
     LIMIT 1`
  return db.row<{ lineId: LineId }>(sql, { handle })?.lineId ?? null
}

const oldestAccepted = `SELECT id, waits_from AS at FROM messages INDEXED BY messages_by_status
    WHERE status = 'queued' AND waits_from <= created_at ORDER BY seq LIMIT +$limit`

function acceptedUntil(db: Db, until: number, limit: number): readonly MessageId[] {
  const oldest = (count: number) =>
    db.rows<{ readonly id: MessageId; readonly at: number }>(oldestAccepted, { limit: count })
  // These messages wait since they were accepted, in the order of `seq`. If the oldest is too young, all are.
  const [first] = oldest(1)
  if (first === undefined || first.at > until) return []
  return oldest(limit).flatMap(({ id, at }) => (at <= until ? id : []))
}

const queuedLaterUntil = ids(`SELECT id FROM messages INDEXED BY messages_queued_later
   WHERE status = 'queued' AND waits_from > created_at AND waits_from <= +$until
   ORDER BY waits_from LIMIT +$limit`)

/** Queued messages that could be sent at `until` or earlier. */
export function queuedUntil(db: Db, until: number, limit: number): readonly MessageId[] {
  return [...acceptedUntil(db, until, limit), ...queuedLaterUntil(db, { until, limit })]
}

/** Messages that passed their point of no return at `until` or earlier and are still sending. */
export const heldUntil = ids(`SELECT id FROM messages INDEXED BY messages_by_status
   WHERE status = 'sending' AND passed_at <= +$until ORDER BY seq LIMIT +$limit`)

/** Worded like the WHERE of the partial index, because SQLite uses the index only then. */
const STEP_OF_STATUS = `FROM messages INDEXED BY messages_next_step
   WHERE status = +$status AND due_at IS NOT NULL AND status <> 'queued'`

const dueSteps = ids(
  `SELECT id ${STEP_OF_STATUS} AND due_at <= +$now ORDER BY due_at, seq LIMIT +$limit`,
)

function nextStepAt(db: Db, status: StoredStatus): number | null {
  const sql = `SELECT due_at ${STEP_OF_STATUS} ORDER BY due_at LIMIT 1`
  return db.row<{ due_at: number }>(sql, { status })?.due_at ?? null
}

/** The time by which messages are due, and the most that are returned. */
type Due = { readonly now: number; readonly limit: number }

/** Deferred messages whose next decision is due. */
export function dueDeferred(db: Db, due: Due): readonly MessageId[] {
  return dueSteps(db, { ...due, status: 'deferred' })
}

export function nextDeferredAt(db: Db): number | null {
  return nextStepAt(db, 'deferred')
}

const deferredIn = messagesWhere(
  `INDEXED BY messages_by_status
   WHERE status = 'deferred' AND conversation_seq = ${CONVERSATION_SEQ} ORDER BY waits_from, seq`,
)

/** Deferred messages of the same key in the same conversation, which wait for approval or for each other. */
export function heldBeside(db: Db, message: Pick<Outbound, 'conversationId' | 'extras'>) {
  const { conversationId, extras } = message
  const by = extras?.approval?.requestedBy
  const isOfSame = (other: Outbound) => other.extras?.approval?.requestedBy === by
  return by === undefined ? [] : deferredIn(db, { conversationId }).filter(isOfSame)
}

/** Messages that wait to be sent to one person; `lineId` null means by any line. */
export const waitingTo = messagesWhere(
  `INDEXED BY messages_by_conversation
   WHERE conversation_seq IN (SELECT c.seq FROM conversations c WHERE c.handle = +$handle)
     AND (status = 'queued' OR status = 'deferred') AND is_group = 0
     AND (+$lineId IS NULL OR line_seq = ${LINE_SEQ})`,
)

/** Messages whose line was deleted, so that no line would ever send them. */
export const queuedOnDeletedLines = messagesWhere(
  `INDEXED BY messages_by_status
   WHERE status IN ('queued', 'deferred')
     AND line_seq IN (SELECT seq FROM lines WHERE deleted_at IS NOT NULL)
   ORDER BY seq`,
)

const ANNOUNCED_LATER = ['uncertain', 'received'] as const

/** Uncertain messages, and received ones that waited for their files, whose events are due. */
export function messagesToAnnounce(db: Db, due: Due): readonly MessageId[] {
  return ANNOUNCED_LATER.flatMap((status) => dueSteps(db, { ...due, status }))
}

export function nextAnnouncementAt(db: Db): number | null {
  const times = ANNOUNCED_LATER.flatMap((status) => nextStepAt(db, status) ?? [])
  return times.length === 0 ? null : Math.min(...times)
}

/** Makes messages that wait for a doubtful clock or for quiet hours due at once, so that they are decided again. */
export function wakeHeldBack(tx: Tx, now: number): void {
  const sql = `UPDATE messages INDEXED BY messages_by_status SET due_at = $now
       WHERE status IN ('queued', 'deferred') AND due_at IS NOT NULL
         AND queued_reason IN ('clock_jumped', 'quiet_hours')`
  tx.execute(sql, { now })
}

/**
 * After the clock was set back: dates changes later than `now` to `now`, in their order, lets queued messages wait
 * from `now`, and makes everything due within ten minutes. Times of creation, sending and reading stay as recorded.
 */
export function bringBackChanges(tx: Tx, now: number): void {
  const sql = `UPDATE messages INDEXED BY messages_by_change
       SET updated_at = $now, due_at = min(due_at, $latest),
         waits_from = iif(status = 'queued' AND waits_from <= created_at, min(waits_from, $now), waits_from)
       WHERE updated_at > $now`
  tx.execute(sql, { now, latest: now + UNCERTAIN_ANNOUNCED_AFTER_MS })
}

/** Retries messages that wait for the daily limit or quiet hours. Called after those settings changed. */
export function wakeLimited(tx: Tx, lineId: LineId, now: number): void {
  const sql = `UPDATE messages SET due_at = $now WHERE status = 'queued' AND due_at IS NOT NULL
         AND line_seq = ${LINE_SEQ} AND queued_reason = 'daily_contact_limit'`
  tx.execute(sql, { lineId, now })
  const quiet = `UPDATE messages INDEXED BY messages_by_status SET due_at = $now
       WHERE status = 'deferred' AND line_seq = ${LINE_SEQ} AND queued_reason = 'quiet_hours'`
  tx.execute(quiet, { lineId, now })
}

/** The time when a message that becomes uncertain now is announced. */
export function announcementAt(now: Timestamp): Timestamp {
  return (now + UNCERTAIN_ANNOUNCED_AFTER_MS) as Timestamp // A sum of whole milliseconds.
}

/** The number of messages with a transient status; they are few. */
export function countByStatus(db: Db, status: 'queued' | 'deferred' | 'sending' | 'uncertain') {
  const sql =
    'SELECT count(*) AS count FROM messages INDEXED BY messages_by_status WHERE status = $status'
  return db.row<{ count: number }>(sql, { status })?.count ?? 0
}

/** Messages that an earlier process left as `sending`, except those that the device has. */
export const sendingWithoutGuid = messagesWhere(
  `INDEXED BY messages_by_status
   WHERE status = 'sending' AND platform_guid IS NULL ORDER BY seq`,
)

const UNSETTLED_MS_MAX = 7 * 86_400_000
const UNSETTLED_MAX = 1_000
const OPEN_MS_MAX = 30 * 86_400_000
const OPEN_MAX = 10_000
/** The time for which devices look for a file that hasn't arrived. */
const AWAITED_MS_MAX = 86_400_000

// One status at a time, from a seq on, so that the index gives both order and bound.
const newestOfStatus = messagesWhere(
  `INDEXED BY messages_by_status
   WHERE status = +$status AND seq >= +$from AND line_seq = ${LINE_SEQ}
   ORDER BY seq DESC LIMIT +$limit`,
)

const newestWithGuid = `SELECT platform_guid AS guid, note, seq FROM messages INDEXED BY messages_by_status
     WHERE status = +$status AND seq >= +$from AND line_seq = ${LINE_SEQ}
       AND direction = 'outbound' AND platform_guid IS NOT NULL
     ORDER BY seq DESC LIMIT +$limit`

/** Messages of a line that its driver claims before it reads new ones. */
export type Unfinished = {
  readonly unsettled: readonly Unsettled[]
  readonly open: readonly { readonly guid: string; readonly note: string | null }[]
  readonly awaited: ReturnType<typeof awaitedAttachments>
}

export function unfinishedOf(
  db: Db,
  lineId: LineId,
  { age, files }: { readonly age: Age; readonly files: Files },
): Unfinished {
  const since = (ms: number) => firstSeqSince(db, 'messages', age.ago(ms))
  const week = { lineId, from: since(UNSETTLED_MS_MAX), limit: UNSETTLED_MAX }
  // Only the newest messages, because earlier starts have searched for the older ones.
  const unsettled = ['sending', 'uncertain']
    .flatMap((status) => newestOfStatus(db, { ...week, status }))
    .sort((a, b) => a.seq - b.seq)
    .slice(-UNSETTLED_MAX)
  const month = { lineId, from: since(OPEN_MS_MAX), limit: OPEN_MAX }
  const open = ['sent', 'delivered']
    .flatMap((status) =>
      db.rows<{ guid: string; note: string | null; seq: number }>(newestWithGuid, {
        ...month,
        status,
      }),
    )
    .sort((a, b) => a.seq - b.seq)
    .slice(-OPEN_MAX)
  return {
    unsettled: unsettled.map((m) => ({ message: outgoing(db, m, files), note: m.note })),
    open: open.map(({ guid, note }) => ({ guid, note })),
    awaited: awaitedAttachments(db, lineId, timestamp(age.ago(AWAITED_MS_MAX))),
  }
}

type Files = { pathOf(sha256: string): string }

export function outgoing(db: Db, message: Outbound, files: Files): OutgoingMessage {
  const { id, handle, text, createdAt, platformGuid, extras, isGroup } = message
  const direct = { id, to: handle, text, createdAt, platformGuid }
  if (extras === null && !isGroup) return direct
  return {
    ...direct,
    attachments: attachmentsFor(db, message, files),
    service: serviceOf(message),
    chatGuid: isGroup ? findGroup(db, message.conversationId)?.chatGuid : undefined,
  }
}

function attachmentsFor(
  db: Db,
  { id, extras }: Outbound,
  files: Files,
): readonly OutgoingAttachment[] | undefined {
  if (!hasAttachments({ extras })) return undefined
  return attachmentsOf(db, id).map(({ id, filename, mimeType, size, sha256 }) => {
    // An unsettled message may have lost its file, but the driver only searches for its rows.
    const bytes = { sha256: sha256 ?? '', size: size ?? 0 }
    return { id, path: files.pathOf(bytes.sha256), filename, mimeType, ...bytes }
  })
}

/** For `auto`, the service of the message decides. */
function serviceOf({ extras, service }: Outbound): 'iMessage' | 'SMS' | undefined {
  const wanted = extras?.wantedService
  if (wanted !== 'auto') return wanted
  return service === 'SMS' ? 'SMS' : 'iMessage'
}
