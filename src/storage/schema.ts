// The tables. drizzle-kit makes the SQL in `migrations/` from this file; there every table is then
// made STRICT by hand. Lists go by `seq`, the order of recording, which every index ends with for
// nothing because it is the rowid. The tables of lines are in `line-schema.ts`, those of events and
// webhooks in `webhook-schema.ts`, those of files in `attachment-schema.ts`, those of figures in `stats-schema.ts`.

import { sql } from 'drizzle-orm'
import {
  blob,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
  type AnySQLiteColumn,
} from 'drizzle-orm/sqlite-core'

import { CONTACT_HOLDS, type ContactHold } from '../domain/contact-limit.ts'
import { GROUP_STATES, type Group } from '../domain/conversation.ts'
import type { CredentialId, CredentialKind } from '../domain/credential.ts'
import type { Severity } from '../domain/finding.ts'
import type { Handle } from '../domain/handle.ts'
import type { ConversationId, KeyId, LineId, MessageId } from '../domain/ids.ts'
import type { MessageExtras } from '../domain/message-extras.ts'
import {
  ANSWER_KINDS,
  DIRECTIONS,
  MESSAGE_SOURCES,
  RECEIPT_KINDS,
  STORED_STATUSES,
  type AnswerKind,
  type Direction,
  type MessageSource,
  type QueuedReason,
  type ReceiptKind,
  type StoredStatus,
} from '../domain/message.ts'
import type { NotRelayedKind } from '../domain/not-relayed.ts'
import type { CallerId } from '../domain/permissions.ts'
import type { KeyRules, Scope } from '../domain/permissions.ts'
import { at, checkJson, checkName, checkWord, flag } from './columns.ts'
import { lines } from './line-schema.ts'

/** Facts that the file keeps about itself: see `about.ts` and `migrations.ts`. */
export const about = sqliteTable('about', {
  name: text('name').primaryKey(),
  value: text('value').notNull(),
})

export const settings = sqliteTable('settings', {
  name: text('name').primaryKey(),
  value: text('value').notNull(),
  updatedAt: at('updated_at').notNull(),
})

/** Findings that the owner has put off. */
export const snoozes = sqliteTable(
  'snoozes',
  {
    /** Code, kind and id of its subject: `webhook_failing webhook wh_…`. */
    finding: text('finding').primaryKey(),
    severity: text('severity').$type<Severity>().notNull(),
    until: at('until').notNull(),
  },
  () => [checkName('severity')],
)

/** API keys and the tokens of bridges; a revoked one stays listed. */
export const credentials = sqliteTable(
  'credentials',
  {
    id: text('id').$type<CredentialId>().primaryKey(),
    kind: text('kind').$type<CredentialKind>().notNull(),
    /** A key's name, or a bridge's label. */
    name: text('name'),
    phoneNumber: text('phone_number'),
    /** The value of `X-API-Key`; null for a bridge. */
    key: text('key').unique(),
    secretSha256: blob('secret_sha256', { mode: 'buffer' }).notNull().unique(),
    hint: text('hint').notNull(),
    createdBy: text('created_by').notNull(),
    createdAt: at('created_at').notNull(),
    secretCreatedAt: at('secret_created_at').notNull(),
    lastUsedAt: at('last_used_at'),
    revokedAt: at('revoked_at'),
    /** What a key may do; null where it has no such limit. */
    scopes: text('scopes', { mode: 'json' }).$type<readonly Scope[]>(),
    lineIds: text('phone_line_ids', { mode: 'json' }).$type<readonly LineId[]>(),
    expiresAt: at('expires_at'),
    rules: text('rules', { mode: 'json' }).$type<KeyRules>(),
  },
  (t) => [
    checkJson('scopes'),
    checkJson('phone_line_ids'),
    checkJson('rules'),
    uniqueIndex('credentials_by_number')
      .on(t.phoneNumber)
      .where(sql`revoked_at IS NULL`),
  ],
)

/** Sends of the last day by keys that may send only so many. */
export const keySends = sqliteTable(
  'key_sends',
  {
    keyId: text('key_id').$type<KeyId>().notNull(),
    at: at('at').notNull(),
    messageId: text('message_id').$type<MessageId>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.keyId, t.at, t.messageId] })],
)

/** New contacts that a line spent on a day. */
export const contactDays = sqliteTable(
  'contact_days',
  {
    lineId: text('line_id').$type<LineId>().notNull(),
    day: integer('day').notNull(),
    spent: integer('spent').notNull(),
  },
  (t) => [primaryKey({ columns: [t.lineId, t.day] })],
)

/** People that a line has written to. The address book is `people`; older executables open this table by its name. */
export const dailyContacts = sqliteTable(
  'contacts',
  {
    lineId: text('line_id').$type<LineId>().notNull(),
    handle: text('handle').$type<Handle>().notNull(),
    knownAt: at('known_at'),
    queued: integer('queued').notNull(),
    passed: integer('passed').notNull(),
    spentDay: integer('spent_day'),
  },
  (t) => [primaryKey({ columns: [t.lineId, t.handle] })],
)

export const conversations = sqliteTable(
  'conversations',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').$type<ConversationId>().notNull().unique(),
    lineId: text('line_id')
      .$type<LineId>()
      .notNull()
      .references(() => lines.id),
    phoneNumber: text('phone_number').notNull(),
    handle: text('handle').$type<Handle>().notNull(),
    service: text('service').notNull(),
    messageCount: integer('message_count').notNull(),
    lastSeq: integer('last_seq').notNull(),
    /** The last message that was read; an own message marks all before it as read. */
    readSeq: integer('read_seq').notNull().default(0),
    /** Received messages after it. */
    unreadCount: integer('unread_count').notNull().default(0),
    /** The last message was received. */
    isUnanswered: flag('is_unanswered').notNull().default(false),
    /** A person answers it, and programs should not. */
    isAutomationPaused: flag('automation_paused').notNull().default(false),
    /** The conversation to which its last message moved; null where it has messages of its own. */
    movedTo: integer('moved_to').references((): AnySQLiteColumn => conversations.seq, {
      onDelete: 'cascade',
    }),
    createdAt: at('created_at').notNull(),
    updatedAt: at('updated_at').notNull(),
  },
  (t) => [
    uniqueIndex('conversations_by_line_and_handle').on(t.lineId, t.handle),
    index('conversations_by_line_and_last').on(t.lineId, t.lastSeq),
    index('conversations_unread')
      .on(t.lineId, t.lastSeq)
      .where(sql`unread_count > 0`),
    index('conversations_unanswered')
      .on(t.lineId, t.lastSeq)
      .where(sql`is_unanswered = 1`),
    index('conversations_by_handle').on(t.handle),
    index('conversations_by_move')
      .on(t.movedTo)
      .where(sql`moved_to IS NOT NULL`),
  ],
)

export const messages = sqliteTable(
  'messages',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').$type<MessageId>().notNull().unique(),
    /**
     * Numbers in the place of ids: with ids the index by conversation was four times as large, and
     * messages that came together were far apart in it, a page to be written for each.
     */
    lineSeq: integer('line_seq')
      .notNull()
      .references(() => lines.seq),
    conversationSeq: integer('conversation_seq')
      .notNull()
      .references(() => conversations.seq),
    phoneNumber: text('phone_number').notNull(),
    handle: text('handle').$type<Handle>().notNull(),
    direction: text('direction').$type<Direction>().notNull(),
    status: text('status').$type<StoredStatus>().notNull(),
    service: text('service').notNull(),
    text: text('text').notNull(),
    guid: text('guid').notNull(),
    platformGuid: text('platform_guid'),
    isGroup: flag('is_group').notNull().default(false),
    /** All that a direct text message does not have: see domain/message-extras. */
    extras: text('extras', { mode: 'json' }).$type<MessageExtras>(),
    source: text('source').$type<MessageSource>().notNull(),
    /** The API key that sent it. */
    keyId: text('key_id').$type<KeyId>(),
    /** The caller named the line. */
    isPinned: flag('is_pinned').notNull().default(false),
    queuedReason: text('queued_reason').$type<QueuedReason>(),
    /** From then on it may go, and its 24 hours count; the order within its conversation. */
    waitsFrom: at('waits_from').notNull(),
    /**
     * The time of the next step: the next try of a queued message (null while an earlier message
     * of the conversation goes first), the next decision on a deferred one, or the announcement of an uncertain one or of a received one
     * that waits for its files (null once made).
     */
    dueAt: at('due_at'),
    /** Rounds of lines that refused it, and the lines that did so in this round. */
    round: integer('round').notNull().default(0),
    refusedBy: text('refused_by', { mode: 'json' }).$type<readonly LineId[]>(),
    contactHold: text('contact_hold').$type<ContactHold>().notNull().default('none'),
    /** The driver's opaque note of the point of no return, and when that was. */
    note: text('note'),
    passedAt: at('passed_at'),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    /** Grows with every change of any message: the order of `updated_since`. */
    revision: integer('revision').notNull(),
    createdAt: at('created_at').notNull(),
    updatedAt: at('updated_at').notNull(),
    sentAt: at('sent_at'),
    deliveredAt: at('delivered_at'),
    readAt: at('read_at'),
  },
  (t) => [
    checkWord('direction', DIRECTIONS),
    checkWord('status', STORED_STATUSES),
    checkWord('source', MESSAGE_SOURCES),
    checkName('queued_reason'),
    checkWord('contact_hold', CONTACT_HOLDS),
    checkJson('refused_by'),
    checkJson('extras'),
    index('messages_by_line').on(t.lineSeq),
    index('messages_by_conversation').on(t.conversationSeq),
    index('messages_by_direction').on(t.direction),
    index('messages_by_status').on(t.status),
    index('messages_by_change').on(t.updatedAt, t.revision),
    index('messages_due_by_line')
      .on(t.lineSeq, t.dueAt)
      .where(sql`status = 'queued' AND due_at IS NOT NULL`),
    index('messages_deferred')
      .on(t.dueAt)
      .where(sql`status = 'deferred'`),
    index('messages_deferred_by_reason')
      .on(t.queuedReason)
      .where(sql`status = 'deferred'`),
    // Of all other messages the order of recording is that of their age.
    index('messages_queued_later')
      .on(t.waitsFrom)
      .where(sql`status = 'queued' AND waits_from > created_at`),
    index('messages_to_announce')
      .on(t.dueAt)
      .where(sql`(status = 'uncertain' OR status = 'received') AND due_at IS NOT NULL`),
    index('messages_unfinished_by_conversation')
      .on(t.conversationSeq, t.waitsFrom)
      // SQLite builds a table for an IN, at each change of a message.
      .where(sql`status = 'queued' OR status = 'sending' OR status = 'uncertain'`),
  ],
)

/** Additions to a conversation of several people: the row of `conversations` is the same for both. */
export const groups = sqliteTable(
  'groups',
  {
    /** That of the conversation. */
    seq: integer('seq')
      .primaryKey()
      .references(() => conversations.seq, { onDelete: 'cascade' }),
    chatGuid: text('chat_guid').notNull(),
    name: text('name'),
    participants: text('participants', { mode: 'json' }).$type<readonly Handle[]>().notNull(),
    state: text('state').$type<Group['state']>().notNull(),
  },
  (t) => [
    checkJson('participants'),
    checkWord('state', GROUP_STATES),
    index('groups_by_state').on(t.state),
  ],
)

/** Reactions, edits and unsends whose message the relay does not have yet: kept for some seconds. */
export const waitingChanges = sqliteTable(
  'waiting_changes',
  {
    seq: integer('seq').primaryKey(),
    lineId: text('line_id').$type<LineId>().notNull(),
    guid: text('guid').notNull(),
    body: text('body').notNull(),
    recordedAt: at('recorded_at').notNull(),
  },
  (t) => [checkJson('body'), index('waiting_changes_by_guid').on(t.lineId, t.guid)],
)

/** Every guid of a line, for ever: guids outlive their messages. */
export const knownGuids = sqliteTable(
  'known_guids',
  {
    lineId: text('line_id').$type<LineId>().notNull(),
    guid: text('guid').notNull(),
    messageId: text('message_id').$type<MessageId>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.guid, t.lineId] })],
)

/** Receipts whose guid nobody knows yet: kept for an hour. */
export const waitingReceipts = sqliteTable(
  'waiting_receipts',
  {
    lineId: text('line_id').$type<LineId>().notNull(),
    guid: text('guid').notNull(),
    kind: text('kind').$type<ReceiptKind>().notNull(),
    at: at('at').notNull(),
    reason: text('reason'),
    /** The service that carried the message, where the device named one. */
    service: text('service'),
    recordedAt: at('recorded_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.lineId, t.guid, t.kind] }),
    checkWord('kind', RECEIPT_KINDS),
    index('waiting_receipts_by_age').on(t.recordedAt),
  ],
)

/** Events of a device that intake refused: shown in the health catalogue. */
export const rejectedEvents = sqliteTable(
  'rejected_events',
  {
    seq: integer('seq').primaryKey(),
    lineId: text('line_id').$type<LineId>().notNull(),
    reason: text('reason').notNull(),
    recordedAt: at('recorded_at').notNull(),
  },
  (t) => [index('rejected_events_by_age').on(t.recordedAt)],
)

/** Messages that a line did not relay, by kind, with the times of the first and the last. */
export const notRelayed = sqliteTable(
  'not_relayed',
  {
    lineId: text('line_id').$type<LineId>().notNull(),
    kind: text('kind').$type<NotRelayedKind>().notNull(),
    count: integer('count').notNull(),
    since: at('since').notNull(),
    lastAt: at('last_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.lineId, t.kind] }), checkName('kind')],
)

/** Requests that were accepted under an `Idempotency-Key`, and the first answer, word for word. */
export const idempotency = sqliteTable(
  'idempotency',
  {
    /** Each caller has keys of its own. Empty if the record was made before callers were kept. */
    caller: text('caller').$type<CallerId | ''>().notNull().default(''),
    key: text('key').notNull(),
    fingerprint: text('fingerprint').notNull(),
    messageId: text('message_id').$type<MessageId>().notNull(),
    answer: text('answer').$type<AnswerKind>(),
    body: text('body'),
    createdAt: at('created_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.caller, t.key] }),
    checkWord('answer', ANSWER_KINDS),
    index('idempotency_by_age').on(t.createdAt),
  ],
)
