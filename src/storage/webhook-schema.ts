// The tables of webhooks, events and deliveries; `schema.ts` has the rules.

import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

import type {
  ConversationId,
  DeliveryId,
  EventId,
  KeyId,
  LineId,
  MessageId,
  SiteId,
  WebhookId,
} from '../domain/ids.ts'
import {
  ATTEMPT_TRIGGERS,
  DELIVERY_STATUSES,
  DISABLED_REASONS,
  type DeliveryStatus,
  type DisabledReason,
  type EventName,
} from '../domain/webhook.ts'
import { at, bytes, checkJson, checkName, checkWord, flag } from './columns.ts'

export const webhooks = sqliteTable(
  'webhooks',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').$type<WebhookId>().notNull().unique(),
    url: text('url').notNull(),
    events: text('events', { mode: 'json' }).$type<readonly EventName[]>().notNull(),
    isActive: flag('is_active').notNull(),
    description: text('description'),
    /** True if payloads contain links to files that need no key. */
    attachmentLinks: flag('attachment_links').notNull().default(false),
    /** The lines whose events it gets; null for all. */
    lineIds: text('phone_line_ids', { mode: 'json' }).$type<readonly LineId[]>(),
    /** The sites whose lines' events it gets; null for all. */
    siteIds: text('site_ids', { mode: 'json' }).$type<readonly SiteId[]>(),
    /** True if its URL was set by a key without the scope for private addresses. */
    isPublicOnly: flag('is_public_only').notNull().default(false),
    /** The compatible API in whose form it gets its events; null for the relay's own form. */
    format: text('format'),
    /** The lineage of the key whose account the webhook belongs to; null if there is none. */
    keyId: text('key_id').$type<KeyId>(),
    /** True if it gets only the events of messages that name it. Such a webhook isn't listed. */
    isCallback: flag('is_callback').notNull().default(false),
    disabledReason: text('disabled_reason').$type<DisabledReason>(),
    /** The time when its user paused it; null if not paused, or paused by an earlier version. */
    pausedAt: at('paused_at'),
    createdBy: text('created_by').notNull(),
    createdAt: at('created_at').notNull(),
    updatedAt: at('updated_at').notNull(),
    deletedAt: at('deleted_at'),
    /** The breaker: see `domain/breaker.ts`. */
    failuresInRow: integer('failures_in_row').notNull().default(0),
    restUntil: at('rest_until'),
    probeAt: at('probe_at'),
    failingSince: at('failing_since'),
    goneAt: at('gone_at'),
  },
  () => [
    checkJson('events'),
    checkJson('phone_line_ids'),
    checkJson('site_ids'),
    checkWord('disabled_reason', DISABLED_REASONS),
  ],
)

/** Signing secrets, sealed with `secret.key`. A retired secret also signs for 24 hours. */
export const webhookSecrets = sqliteTable(
  'webhook_secrets',
  {
    seq: integer('seq').primaryKey(),
    webhookId: text('webhook_id')
      .$type<WebhookId>()
      .notNull()
      .references(() => webhooks.id, { onDelete: 'cascade' }),
    sealed: bytes('sealed').notNull(),
    createdAt: at('created_at').notNull(),
    retiredAt: at('retired_at'),
  },
  (t) => [index('webhook_secrets_by_webhook').on(t.webhookId)],
)

/**
 * Every published event, each kind once per message. `body` has the exact bytes that are signed; it is null
 * while no webhook needs the event, because it can still be made from the message.
 */
export const events = sqliteTable(
  'events',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').$type<EventId>().notNull().unique(),
    name: text('name').$type<EventName>().notNull(),
    messageId: text('message_id').$type<MessageId>(),
    conversationId: text('conversation_id').$type<ConversationId>(),
    body: text('body'),
    createdAt: at('created_at').notNull(),
  },
  () => [checkName('name'), checkJson('body')],
)

export const deliveries = sqliteTable(
  'deliveries',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').$type<DeliveryId>().notNull().unique(),
    /** Numbers rather than ids, because most of a delivery's cost is its entries in indexes. */
    webhookSeq: integer('webhook_seq')
      .notNull()
      .references(() => webhooks.seq),
    eventSeq: integer('event_seq')
      .notNull()
      .references(() => events.seq),
    status: text('status').$type<DeliveryStatus>().notNull(),
    /** The number of all attempts, and of those by the schedule; only the latter use the schedule up. */
    attemptCount: integer('attempt_count').notNull().default(0),
    scheduledCount: integer('scheduled_count').notNull().default(0),
    nextAttemptAt: at('next_attempt_at'),
    /** The time when a caller asked for an extra attempt; null once that attempt was made. */
    requestedAt: at('requested_at'),
    /** The time when a replay or a retry queued it; equals `created_at` if the replay created it. */
    replayedAt: at('replayed_at'),
    createdAt: at('created_at').notNull(),
    completedAt: at('completed_at'),
  },
  (t) => [
    checkWord('status', DELIVERY_STATUSES),
    uniqueIndex('deliveries_by_event').on(t.eventSeq, t.webhookSeq),
    index('deliveries_by_webhook').on(t.webhookSeq),
    // Not for succeeded deliveries, which are nearly all. For an IN, SQLite would build a table at each change.
    index('deliveries_by_webhook_and_status')
      .on(t.webhookSeq, t.status)
      .where(sql`status = 'pending' OR status = 'exhausted'`),
    index('deliveries_due')
      .on(t.webhookSeq, t.nextAttemptAt)
      .where(sql`status = 'pending'`),
    index('deliveries_requested')
      .on(t.webhookSeq)
      .where(sql`requested_at IS NOT NULL`),
    index('deliveries_replayed')
      .on(t.webhookSeq)
      .where(sql`status = 'pending' AND replayed_at IS NOT NULL`),
    index('deliveries_by_completion')
      .on(t.completedAt)
      .where(sql`completed_at IS NOT NULL`),
  ],
)

/** HTTP attempts; they are deleted with their delivery. */
export const attempts = sqliteTable(
  'attempts',
  {
    deliverySeq: integer('delivery_seq')
      .notNull()
      .references(() => deliveries.seq, { onDelete: 'cascade' }),
    number: integer('number').notNull(),
    trigger: text('trigger').$type<(typeof ATTEMPT_TRIGGERS)[number]>().notNull(),
    startedAt: at('started_at').notNull(),
    durationMs: integer('duration_ms').notNull(),
    statusCode: integer('status_code'),
    error: text('error'),
    responseExcerpt: text('response_excerpt'),
    /** True if the attempt went to a private address: keys don't see the answer. */
    isPrivateTarget: flag('is_private_target').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.deliverySeq, t.number] }),
    checkWord('trigger', ATTEMPT_TRIGGERS),
  ],
)
