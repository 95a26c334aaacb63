// The tables; more are in the other `*-schema.ts` files. drizzle-kit writes the SQL in `migrations/` from them, and
// we add STRICT to each table by hand. Lists are ordered by `seq`, the order of recording: it is the rowid, which
// every index has as its last column at no cost.

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
import { GROUP_STATES } from '../domain/conversation.ts'
import type { CredentialId, CredentialKind } from '../domain/credential.ts'
import type { Severity } from '../domain/finding.ts'
import type { Handle } from '../domain/handle.ts'
import type { ConversationId, KeyId, LineId, MessageId, SiteId } from '../domain/ids.ts'
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
import type { CallerId, KeyRules, Scope } from '../domain/permissions.ts'
import { at, checkJson, checkName, checkWord, flag } from './columns.ts'
import { lines } from './line-schema.ts'

/** Facts about the database itself: see `about.ts` and `migrations.ts`. */
export const about = sqliteTable('about', {
  name: text('name').primaryKey(),
  value: text('value').notNull(),
})

export const settings = sqliteTable('settings', {
  name: text('name').primaryKey(),
  value: text('value').notNull(),
  updatedAt: at('updated_at').notNull(),
})

/** Findings that the owner snoozed. */
export const snoozes = sqliteTable(
  'snoozes',
  {
    /** Code, kind and id of its subject: `webhook_failing webhook wh_…`. */
    finding: text('finding').primaryKey(),
    /** The finding's severity when it was snoozed. */
    severity: text('severity').$type<Severity>().notNull(),
    until: at('until').notNull(),
  },
  () => [checkName('severity')],
)

/** API keys and bridge tokens, including revoked ones. */
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
    /** The first characters of the key, or of the token. */
    hint: text('hint').notNull(),
    createdBy: text('created_by').notNull(),
    createdAt: at('created_at').notNull(),
    secretCreatedAt: at('secret_created_at').notNull(),
    /** Accurate to the second for a key, to the minute for a bridge. */
    lastUsedAt: at('last_used_at'),
    revokedAt: at('revoked_at'),
    /** The limits of a key; each is null if the key doesn't have it. */
    scopes: text('scopes', { mode: 'json' }).$type<readonly Scope[]>(),
    lineIds: text('phone_line_ids', { mode: 'json' }).$type<readonly LineId[]>(),
    siteIds: text('site_ids', { mode: 'json' }).$type<readonly SiteId[]>(),
    conversationIds: text('conversation_ids', { mode: 'json' }).$type<readonly ConversationId[]>(),
    expiresAt: at('expires_at'),
    rules: text('rules', { mode: 'json' }).$type<KeyRules>(),
    /** The first key of a series in which each key replaced the one before; null for a key that replaces none. */
    lineage: text('lineage').$type<KeyId>(),
    /** The compatible API that the key was made for, where alone it works; null for the relay's own API. */
    madeFor: text('made_for'),
    /** The key that created, rotated or renewed the present secret, and so knows it; null if it is older. */
    secretMadeBy: text('secret_made_by'),
    /** The secret itself, sealed with `secret.key`, if the relay signs with it; null for most. */
    sealedSecret: blob('sealed_secret', { mode: 'buffer' }),
  },
  (t) => [
    checkJson('scopes'),
    checkJson('phone_line_ids'),
    checkJson('site_ids'),
    checkJson('conversation_ids'),
    checkJson('rules'),
    uniqueIndex('credentials_by_number')
      .on(t.phoneNumber)
      .where(sql`revoked_at IS NULL`),
    index('credentials_made_for')
      .on(t.madeFor)
      .where(sql`made_for IS NOT NULL`),
  ],
)

/** Sends of the last day by keys with a send limit. */
export const keySends = sqliteTable(
  'key_sends',
  {
    keyId: text('key_id').$type<KeyId>().notNull(),
    at: at('at').notNull(),
    messageId: text('message_id').$type<MessageId>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.keyId, t.at, t.messageId] })],
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
    /** The other person; for a group, the device's identifier of it. */
    handle: text('handle').$type<Handle>().notNull(),
    service: text('service').notNull(),
    messageCount: integer('message_count').notNull(),
    lastSeq: integer('last_seq').notNull(),
    /** The last message that was read; an outbound message marks all before it as read. */
    readSeq: integer('read_seq').notNull().default(0),
    /** Received messages after `readSeq`. */
    unreadCount: integer('unread_count').notNull().default(0),
    /** True if the last message was received. */
    isUnanswered: flag('is_unanswered').notNull().default(false),
    /** True if a person answers here, so that programs should not. */
    isAutomationPaused: flag('automation_paused').notNull().default(false),
    /** The time since which it is paused because two programs seemed to answer each other; null otherwise. */
    loopedAt: at('looped_at'),
    /** Messages up to this seq count toward no loop: a person let the conversation go on after them. */
    loopFrom: integer('loop_from').notNull().default(0),
    /** The conversation to which its last message moved; null if it still has messages. */
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
    index('conversations_looped')
      .on(t.loopedAt)
      .where(sql`looped_at IS NOT NULL`),
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
     * Numbers rather than ids: with ids, the index by conversation was four times as large, and messages that came
     * together were far apart in it, so that each wrote its own page.
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
    /** Everything that a plain text doesn't have: see domain/message-extras. */
    extras: text('extras', { mode: 'json' }).$type<MessageExtras>(),
    source: text('source').$type<MessageSource>().notNull(),
    /** The API key that sent it. */
    keyId: text('key_id').$type<KeyId>(),
    /** True if the caller chose the line. */
    isPinned: flag('is_pinned').notNull().default(false),
    queuedReason: text('queued_reason').$type<QueuedReason>(),
    /** Earliest send time, start of the 24-hour expiry, and order within the conversation. */
    waitsFrom: at('waits_from').notNull(),
    /**
     * The next step: the next try of a queued message (null while an earlier message of the conversation
     * goes first), the next decision on a deferred one, or the event of an uncertain one or of a received
     * one that waits for its files (null once published).
     */
    dueAt: at('due_at'),
    /** The number of times that all lines have refused it, and the lines that refused it in this round. */
    round: integer('round').notNull().default(0),
    refusedBy: text('refused_by', { mode: 'json' }).$type<readonly LineId[]>(),
    contactHold: text('contact_hold').$type<ContactHold>().notNull().default('none'),
    /** The driver's opaque note at the point of no return, and the time of that point. */
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
    index('messages_by_status').on(t.status),
    index('messages_by_change').on(t.updatedAt, t.revision),
    index('messages_due_by_line')
      .on(t.lineSeq, t.dueAt)
      .where(sql`status = 'queued' AND due_at IS NOT NULL`),
    index('messages_deferred_by_reason')
      .on(t.queuedReason)
      .where(sql`status = 'deferred'`),
    // For all other messages, the order of recording shows their age.
    index('messages_queued_later')
      .on(t.waitsFrom)
      .where(sql`status = 'queued' AND waits_from > created_at`),
    // Every step of a message evaluates the condition of every index that names its status, so such indexes are few.
    index('messages_next_step')
      .on(t.status, t.dueAt)
      .where(sql`due_at IS NOT NULL AND status <> 'queued'`),
    index('messages_unfinished_by_conversation')
      .on(t.conversationSeq, t.waitsFrom)
      // An OR, because for an IN, SQLite would build a table at each change of a message.
      .where(sql`status = 'queued' OR status = 'sending' OR status = 'uncertain'`),
  ],
)

/** Everything that a group chat has in addition to its row in `conversations`. */
export const groups = sqliteTable(
  'groups',
  {
    /** The `seq` of the conversation. */
    seq: integer('seq')
      .primaryKey()
      .references(() => conversations.seq, { onDelete: 'cascade' }),
    /** The device's guid of the chat, exactly as the device spells it now. */
    chatGuid: text('chat_guid').notNull(),
    name: text('name'),
    /** The members without the owner. */
    participants: text('participants', { mode: 'json' }).$type<readonly Handle[]>().notNull(),
    /** `unreachable` if the device no longer finds it; `left` if the owner isn't a member anymore. */
    state: text('state').$type<(typeof GROUP_STATES)[number]>().notNull(),
  },
  (t) => [
    checkJson('participants'),
    checkWord('state', GROUP_STATES),
    index('groups_by_state').on(t.state),
  ],
)

/** Reactions, edits and unsends that came before their message. They are kept for some seconds. */
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

/** Every guid of a line. Guids are never deleted, even if their message is. */
export const knownGuids = sqliteTable(
  'known_guids',
  {
    lineId: text('line_id').$type<LineId>().notNull(),
    guid: text('guid').notNull(),
    messageId: text('message_id').$type<MessageId>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.guid, t.lineId] })],
)

/** Receipts that came before their guid. They are kept for an hour. */
export const waitingReceipts = sqliteTable(
  'waiting_receipts',
  {
    lineId: text('line_id').$type<LineId>().notNull(),
    guid: text('guid').notNull(),
    kind: text('kind').$type<ReceiptKind>().notNull(),
    at: at('at').notNull(),
    reason: text('reason'),
    /** The service that carried the message, if the device named one. */
    service: text('service'),
    recordedAt: at('recorded_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.lineId, t.guid, t.kind] }),
    checkWord('kind', RECEIPT_KINDS),
    index('waiting_receipts_by_age').on(t.recordedAt),
  ],
)

/** Device events that intake refused. A finding shows them. */
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

/** The number of messages that a line didn't relay, by kind, with the times of the first and the last. */
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

/** Requests accepted under an `Idempotency-Key`, with their first answer verbatim. */
export const idempotency = sqliteTable(
  'idempotency',
  {
    /** The caller, because each caller has its own keys. Empty in records from before callers were stored. */
    caller: text('caller').$type<CallerId | ''>().notNull().default(''),
    key: text('key').notNull(),
    fingerprint: text('fingerprint').notNull(),
    messageId: text('message_id').$type<MessageId>().notNull(),
    answer: text('answer').$type<AnswerKind>(),
    body: text('body'),
    createdAt: at('created_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.caller, t.key] }), checkWord('answer', ANSWER_KINDS)],
)
