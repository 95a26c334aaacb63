import { and, count, desc, eq, isNull, lt, sql, inArray } from 'drizzle-orm'

import { type Breaker, CLOSED } from '../domain/breaker.ts'
import type { Timestamp, WebhookId } from '../domain/ids.ts'
import type { DisabledReason, EventName, Webhook } from '../domain/webhook.ts'
import type { Db, Tx } from './database.ts'
import { webhooks, webhookSecrets } from './webhook-schema.ts'

/** A webhook with the breaker of its receiver. */
export type StoredWebhook = Webhook & { readonly seq: number; readonly breaker: Breaker }

export type WebhookChanges = {
  readonly url?: string | undefined
  readonly events?: readonly EventName[] | undefined
  readonly isActive?: boolean | undefined
  readonly disabledReason?: DisabledReason | null | undefined
  readonly breaker?: Breaker | undefined
  readonly updatedAt: Timestamp
}

export function insertWebhook(tx: Tx, webhook: Webhook): StoredWebhook {
  const row = tx.orm.insert(webhooks).values(webhook).returning({ seq: webhooks.seq }).get()
  touch(tx, webhook.id)
  return { ...webhook, seq: row.seq, breaker: CLOSED }
}

/** The webhook, unless it is unknown or deleted. */
export function findWebhook(db: Db, id: WebhookId): StoredWebhook | null {
  const row = db.orm
    .select()
    .from(webhooks)
    .where(and(eq(webhooks.id, id), isNull(webhooks.deletedAt)))
    .get()
  return row === undefined ? null : storedWebhook(row)
}

/** The number of webhooks that are not deleted. */
export function countWebhooks(db: Db): number {
  const counted = db.orm.select({ count: count() }).from(webhooks).where(isNull(webhooks.deletedAt))
  return counted.get()?.count ?? 0
}

/** Webhooks that are not deleted, newest first, those before `before` where it is given. */
export function listWebhooks(db: Db, limit: number, before: number | null): StoredWebhook[] {
  const older = before === null ? undefined : lt(webhooks.seq, before)
  const rows = db.orm
    .select()
    .from(webhooks)
    .where(and(isNull(webhooks.deletedAt), older))
    .orderBy(desc(webhooks.seq))
    .limit(limit)
    .all()
  return rows.map(storedWebhook)
}

/** Ids of webhooks that were deleted and whose rows are still there. */
export function listDeletedWebhooks(db: Db): WebhookId[] {
  const rows = db.orm
    .select({ id: webhooks.id })
    .from(webhooks)
    .where(sql`${webhooks.deletedAt} IS NOT NULL`)
    .all()
  return rows.map((row) => row.id)
}

export function updateWebhook(tx: Tx, id: WebhookId, changes: WebhookChanges): void {
  const { breaker, ...columns } = changes
  tx.orm
    .update(webhooks)
    .set({ ...columns, ...breaker })
    .where(eq(webhooks.id, id))
    .run()
  touch(tx, id)
}

/**
 * Saves the breaker, and deactivates the webhook where `disable` has a reason. Does nothing when the
 * webhook was changed since `version`, its `updatedAt`: then the breaker is that of an older state.
 */
export function saveBreaker(
  tx: Tx,
  webhook: { readonly id: WebhookId; readonly version: Timestamp },
  breaker: Breaker,
  disable: { readonly reason: DisabledReason; readonly at: Timestamp } | null,
): boolean {
  const disabled =
    disable === null
      ? {}
      : { isActive: false, disabledReason: disable.reason, updatedAt: disable.at }
  const rows = tx.orm
    .update(webhooks)
    .set({ ...breaker, ...disabled })
    .where(and(eq(webhooks.id, webhook.id), eq(webhooks.updatedAt, webhook.version)))
    .returning({ id: webhooks.id })
    .all()
  if (rows.length > 0) touch(tx, webhook.id)
  return rows.length > 0
}

/** A deleted webhook is unknown to every caller; retention deletes its rows. */
export function markWebhookDeleted(tx: Tx, id: WebhookId, at: Timestamp): void {
  tx.orm
    .update(webhooks)
    .set({ deletedAt: at, isActive: false, updatedAt: at })
    .where(eq(webhooks.id, id))
    .run()
  touch(tx, id)
}

export function deleteWebhookRow(tx: Tx, id: WebhookId): void {
  tx.orm.delete(webhooks).where(eq(webhooks.id, id)).run()
}

function touch(tx: Tx, id: WebhookId): void {
  tx.changes?.push({ what: 'webhook', id })
}

function storedWebhook(row: typeof webhooks.$inferSelect): StoredWebhook {
  const { failuresInRow, failingSince, restUntil, probeAt, goneAt, deletedAt: _, ...webhook } = row
  return { ...webhook, breaker: { failuresInRow, failingSince, restUntil, probeAt, goneAt } }
}

/** A signing secret, sealed. A retired one signs beside its successors for a while. */
export type StoredSecret = {
  readonly seq: number
  readonly sealed: Uint8Array
  readonly retiredAt: Timestamp | null
}

export function insertSecret(
  tx: Tx,
  webhookId: WebhookId,
  sealed: Uint8Array,
  createdAt: Timestamp,
): void {
  tx.orm
    .insert(webhookSecrets)
    .values({ webhookId, sealed: Buffer.from(sealed), createdAt })
    .run()
}

/** All secrets of a webhook, newest first. */
export function listSecrets(db: Db, webhookId: WebhookId): StoredSecret[] {
  const { seq, sealed, retiredAt } = webhookSecrets
  return db.orm
    .select({ seq, sealed, retiredAt })
    .from(webhookSecrets)
    .where(eq(webhookSecrets.webhookId, webhookId))
    .orderBy(desc(seq))
    .all()
}

export function retireSecrets(tx: Tx, webhookId: WebhookId, at: Timestamp): void {
  tx.orm
    .update(webhookSecrets)
    .set({ retiredAt: at })
    .where(and(eq(webhookSecrets.webhookId, webhookId), isNull(webhookSecrets.retiredAt)))
    .run()
}

export function deleteSecrets(tx: Tx, seqs: readonly number[]): void {
  tx.orm
    .delete(webhookSecrets)
    .where(inArray(webhookSecrets.seq, [...seqs]))
    .run()
}
