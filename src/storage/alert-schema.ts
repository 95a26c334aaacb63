// The tables of alerts; `schema.ts` has the rules.

import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

import {
  CHANNEL_KINDS,
  NOTICE_KINDS,
  NOTICE_STATUSES,
  POST_FORMS,
  type AlertCause,
  type NoticeKind,
  type NoticeStatus,
  type PostForm,
} from '../domain/alert.ts'
import type { SUBJECT_KINDS } from '../domain/finding.ts'
import type { Handle } from '../domain/handle.ts'
import type { AlertId, ChannelId, LineId, MessageId, NoticeId, SiteId } from '../domain/ids.ts'
import type { QuietHours } from '../domain/quiet-hours.ts'
import { at, bytes, checkJson, checkName, checkWord, flag } from './columns.ts'

/** The channels by which the owner is alerted. */
export const alertChannels = sqliteTable(
  'alert_channels',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').$type<ChannelId>().notNull().unique(),
    kind: text('kind').$type<(typeof CHANNEL_KINDS)[number]>().notNull(),
    name: text('name'),
    /** The owner's phone, for a text. */
    handle: text('handle').$type<Handle>(),
    /** The only line that sends the texts; null for every line that can. */
    lineId: text('line_id').$type<LineId>(),
    /** The URL of a post, sealed with `secret.key` because it may contain a key. */
    sealedUrl: bytes('sealed_url'),
    /** The origin of the URL, which may be shown. */
    shownUrl: text('shown_url'),
    form: text('form').$type<PostForm>(),
    quietHours: text('quiet_hours', { mode: 'json' }).$type<QuietHours>(),
    createdAt: at('created_at').notNull(),
  },
  () => [checkWord('kind', CHANNEL_KINDS), checkWord('form', POST_FORMS), checkJson('quiet_hours')],
)

/** The owner's changes to the rule of a cause; a cause without a row has the default rule. */
export const alertRules = sqliteTable(
  'alert_rules',
  {
    cause: text('cause').$type<AlertCause>().primaryKey(),
    afterMinutes: integer('after_minutes').notNull(),
    /** The only lines whose causes count; null for all. */
    lineIds: text('phone_line_ids', { mode: 'json' }).$type<readonly LineId[]>(),
    /** The only sites whose lines count; null for all. */
    siteIds: text('site_ids', { mode: 'json' }).$type<readonly SiteId[]>(),
    isEnabled: flag('is_enabled').notNull(),
  },
  () => [checkName('cause'), checkJson('phone_line_ids'), checkJson('site_ids')],
)

/**
 * A cause of alerts about one thing, from the time it was first found. It is an alert once `raised_at` is set; if the
 * cause ends before that, the row is deleted.
 */
export const alerts = sqliteTable(
  'alerts',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').$type<AlertId>().notNull().unique(),
    cause: text('cause').$type<AlertCause>().notNull(),
    aboutKind: text('about_kind').$type<(typeof SUBJECT_KINDS)[number]>().notNull(),
    /** Empty for the relay itself, because NULL would get around the unique index below. */
    aboutId: text('about_id').notNull(),
    lineId: text('line_id').$type<LineId>(),
    title: text('title').notNull(),
    since: at('since').notNull(),
    raisedAt: at('raised_at'),
    resolvedAt: at('resolved_at'),
    lastedMs: integer('lasted_ms'),
  },
  (t) => [
    checkName('cause'),
    uniqueIndex('alerts_open')
      .on(t.cause, t.aboutKind, t.aboutId)
      .where(sql`resolved_at IS NULL`),
    index('alerts_resolved')
      .on(t.resolvedAt)
      .where(sql`resolved_at IS NOT NULL`),
  ],
)

/** A notice: what is sent to one channel at once. */
export const alertNotices = sqliteTable(
  'alert_notices',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').$type<NoticeId>().notNull().unique(),
    channelId: text('channel_id').$type<ChannelId>().notNull(),
    kind: text('kind').$type<NoticeKind>().notNull(),
    /** The alerts that the notice reports as raised, and those that it reports as over. */
    raised: text('raised', { mode: 'json' }).$type<readonly AlertId[]>().notNull(),
    resolved: text('resolved', { mode: 'json' }).$type<readonly AlertId[]>().notNull(),
    /** The number of alerts in addition to those listed. */
    also: integer('also').notNull().default(0),
    status: text('status').$type<NoticeStatus>().notNull(),
    /** The title is null until the notice is handed over. */
    title: text('title'),
    text: text('text'),
    attempts: integer('attempts').notNull().default(0),
    /** The message that carries the notice, for a text. */
    messageId: text('message_id').$type<MessageId>(),
    /** The reason why it failed, or why it is still waiting. */
    error: text('error'),
    createdAt: at('created_at').notNull(),
    handedOverAt: at('handed_over_at'),
    triedAt: at('tried_at'),
    endedAt: at('ended_at'),
  },
  (t) => [
    checkWord('kind', NOTICE_KINDS),
    checkWord('status', NOTICE_STATUSES),
    checkJson('raised'),
    checkJson('resolved'),
    index('alert_notices_open')
      .on(t.channelId)
      .where(sql`status = 'waiting' OR status = 'handed_over'`),
    index('alert_notices_handed_over').on(t.channelId, t.handedOverAt),
    index('alert_notices_by_creation').on(t.createdAt),
  ],
)
