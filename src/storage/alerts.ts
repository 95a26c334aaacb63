// Channels, rules, alerts and notices.

import { and, asc, desc, eq, gte, inArray, isNotNull, isNull, lt, ne, or } from 'drizzle-orm'

import { ALERT_CAUSES, type AlertCause } from '../domain/alert.ts'
import type { AlertId, ChannelId, LineId, NoticeId, Timestamp } from '../domain/ids.ts'
import { ALL_LINES, isNarrower, type LineLimit, type LineLimits } from '../domain/routing.ts'
import { DAY_MS } from '../domain/time.ts'
import { WEBHOOKS_MAX } from '../domain/webhook.ts'
import { alertChannels, alertNotices, alertRules, alerts } from './alert-schema.ts'
import type { Db, Tx } from './database.ts'
import { keptQuery } from './kept-query.ts'
import { purgeOlder, type Purge } from './retention.ts'
import { listWebhooks } from './webhooks.ts'

export type AlertChannel = Readonly<typeof alertChannels.$inferSelect>
export type AlertRow = Readonly<typeof alerts.$inferSelect>
export type NoticeRow = Readonly<typeof alertNotices.$inferSelect>
export type AlertRule = Readonly<typeof alertRules.$inferSelect>
export type NewNotice = typeof alertNotices.$inferInsert

const KEPT_MS = 400 * DAY_MS

export const ALERT_PURGES: readonly Purge[] = [
  purgeOlder(alerts.resolvedAt, KEPT_MS),
  purgeOlder(alertNotices.createdAt, KEPT_MS),
]

const allChannels = keptQuery((orm) =>
  orm.select().from(alertChannels).orderBy(asc(alertChannels.seq)).prepare(),
)

export function listChannels(db: Db): readonly AlertChannel[] {
  return allChannels(db).all()
}

export function saveChannel(tx: Tx, channel: Omit<AlertChannel, 'seq'>): void {
  const { id: _, ...changes } = channel
  tx.orm
    .insert(alertChannels)
    .values(channel)
    .onConflictDoUpdate({ target: alertChannels.id, set: changes })
    .run()
  touch(tx, channel.id)
}

/** Deletes the channel, and marks its waiting notices as failed. */
export function deleteChannel(tx: Tx, id: ChannelId, endedAt: Timestamp): void {
  tx.orm.delete(alertChannels).where(eq(alertChannels.id, id)).run()
  tx.orm
    .update(alertNotices)
    .set({ status: 'failed', error: 'channel_removed', endedAt })
    .where(and(eq(alertNotices.channelId, id), isOpen, isNull(alertNotices.messageId)))
    .run()
  touch(tx, id)
}

/** The owner's rule for a cause, or its default rule. */
export function ruleOf(db: Db, cause: AlertCause): AlertRule {
  const stored = db.orm.select().from(alertRules).where(eq(alertRules.cause, cause)).get()
  const { afterMinutes } = ALERT_CAUSES[cause]
  return stored ?? { cause, afterMinutes, lineIds: null, siteIds: null, isEnabled: true }
}

export function saveRule(tx: Tx, rule: AlertRule): void {
  tx.orm
    .insert(alertRules)
    .values(rule)
    .onConflictDoUpdate({ target: alertRules.cause, set: rule })
    .run()
  touch(tx, rule.cause)
}

/** Causes that have begun and not ended, raised or not. */
export function openAlerts(db: Db): readonly AlertRow[] {
  const sql = 'SELECT seq FROM alerts INDEXED BY alerts_open WHERE resolved_at IS NULL'
  const seqs = db.rows<{ seq: number }>(sql).map(({ seq }) => seq)
  if (seqs.length === 0) return []
  return db.orm.select().from(alerts).where(inArray(alerts.seq, seqs)).orderBy(alerts.seq).all()
}

/** True if an alert of one of these causes is raised and not over. */
export function isLasting(db: Db, causes: readonly AlertCause[]): boolean {
  if (causes.length === 0) return false
  return openAlerts(db).some(({ cause, raisedAt }) => raisedAt !== null && causes.includes(cause))
}

export function insertAlert(tx: Tx, alert: Omit<AlertRow, 'seq'>): void {
  tx.orm.insert(alerts).values(alert).run()
}

export function updateAlert(tx: Tx, id: AlertId, changes: Partial<Omit<AlertRow, 'id'>>): void {
  tx.orm.update(alerts).set(changes).where(eq(alerts.id, id)).run()
  touch(tx, id)
}

export function deleteAlert(tx: Tx, id: AlertId): void {
  tx.orm.delete(alerts).where(eq(alerts.id, id)).run()
}

export function alertsNamed(db: Db, ids: readonly AlertId[]): readonly AlertRow[] {
  return db.orm.select().from(alerts).where(inArray(alerts.id, ids)).orderBy(alerts.seq).all()
}

/** The lines whose alerts a reader may see now, and the reader's limits as they were set. */
export type AlertReader = { readonly lines: LineLimit; readonly limits: LineLimits }

export const EVERYBODY: AlertReader = { lines: null, limits: ALL_LINES }

/** The alerts of the reader's lines, of the webhooks within its limits, and of the relay itself. */
function isSeenBy(db: Db, { lines, limits }: AlertReader) {
  if (lines === null) return undefined
  const webhooks = listWebhooks(db, WEBHOOKS_MAX, null).filter((one) => isNarrower(one, limits))
  const isOfWebhooks = inArray(
    alerts.aboutId,
    webhooks.map(({ id }) => id),
  )
  return or(
    inArray(alerts.lineId, lines),
    eq(alerts.aboutKind, 'relay'),
    and(eq(alerts.aboutKind, 'webhook'), isOfWebhooks),
  )
}

/** True if the reader may see this alert. */
export function isAlertSeen(db: Db, reader: AlertReader, id: string): boolean {
  const isIt = and(eq(alerts.id, id as AlertId), isSeenBy(db, reader)) // Only compared with stored ids.
  return reader.lines === null || db.orm.select().from(alerts).where(isIt).get() !== undefined
}

/** Raised alerts that the reader may see, newest first. */
export function listAlerts(
  db: Db,
  { before, reader }: { readonly before: number | null; readonly reader: AlertReader },
  limit: number,
): readonly AlertRow[] {
  const isOlder = before === null ? undefined : lt(alerts.seq, before)
  return db.orm
    .select()
    .from(alerts)
    .where(and(isNotNull(alerts.raisedAt), isOlder, isSeenBy(db, reader)))
    .orderBy(desc(alerts.seq))
    .limit(limit)
    .all()
}

const isOpen = or(eq(alertNotices.status, 'waiting'), eq(alertNotices.status, 'handed_over'))

/** Notices that may still be sent, or whose outcome isn't known. */
export function openNotices(db: Db): readonly NoticeRow[] {
  const sql = `SELECT seq FROM alert_notices INDEXED BY alert_notices_open
     WHERE status = 'waiting' OR status = 'handed_over'`
  const seqs = db.rows<{ seq: number }>(sql).map(({ seq }) => seq)
  if (seqs.length === 0) return []
  const isIt = inArray(alertNotices.seq, seqs)
  return db.orm.select().from(alertNotices).where(isIt).orderBy(alertNotices.seq).all()
}

export function findNotice(db: Db, id: NoticeId): NoticeRow | null {
  return db.orm.select().from(alertNotices).where(eq(alertNotices.id, id)).get() ?? null
}

/** The notices created at `since` or later, newest first. */
export function noticesSince(db: Db, since: Timestamp, limit: number): readonly NoticeRow[] {
  return db.orm
    .select()
    .from(alertNotices)
    .where(gte(alertNotices.createdAt, since))
    .orderBy(desc(alertNotices.createdAt), desc(alertNotices.seq))
    .limit(limit)
    .all()
}

/** The notices last handed to a channel, without tests, newest first. */
export function lastHandedOver(db: Db, id: ChannelId, limit: number): readonly NoticeRow[] {
  const isIt = and(eq(alertNotices.channelId, id), isNotNull(alertNotices.handedOverAt))
  return db.orm
    .select()
    .from(alertNotices)
    .where(and(isIt, ne(alertNotices.kind, 'test')))
    .orderBy(desc(alertNotices.handedOverAt), desc(alertNotices.seq))
    .limit(limit)
    .all()
}

export function insertNotice(tx: Tx, notice: NewNotice): void {
  tx.orm.insert(alertNotices).values(notice).run()
}

export function updateNotice(tx: Tx, id: NoticeId, changes: Partial<Omit<NewNotice, 'id'>>): void {
  tx.orm.update(alertNotices).set(changes).where(eq(alertNotices.id, id)).run()
  touch(tx, id)
}

/** Lets the oldest notice that the receiver refused be tried again at once. */
export function endPause(tx: Tx, channelId: ChannelId): void {
  const oldest = openNotices(tx).find(
    (one) => one.channelId === channelId && one.status === 'handed_over' && one.messageId === null,
  )
  if (oldest !== undefined) updateNotice(tx, oldest.id, { triedAt: null })
}

/** Most messages examined for approvals. */
const EXAMINED_MAX = 1_000

/** The lines of messages that wait for an approval, with the time since which the oldest one waits. */
export function waitingApprovals(
  db: Db,
): readonly { readonly lineId: LineId; readonly since: Timestamp }[] {
  const sql = `SELECT l.id AS lineId, min(w.at) AS since FROM (
       SELECT line_seq, created_at AS at FROM messages INDEXED BY messages_deferred_by_reason
       WHERE status = 'deferred' AND queued_reason = 'approval' ORDER BY seq LIMIT ${EXAMINED_MAX}) w
     JOIN lines l ON l.seq = w.line_seq GROUP BY l.seq`
  return db.rows(sql)
}

function touch(tx: Tx, id: string): void {
  tx.changes?.push({ what: 'alert', id })
}
