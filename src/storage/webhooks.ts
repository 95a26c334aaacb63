import { and, count, desc, eq, isNotNull, isNull, lt, inArray, sql } from 'drizzle-orm'

import { type Breaker, CLOSED } from '../domain/breaker.ts'
import type { KeyId, MessageId, Timestamp, WebhookId } from '../domain/ids.ts'
import type { DisabledReason } from '../domain/webhook.ts'
import { isLive, lineageIn } from './credentials.ts'
import type { Db, Tx } from './database.ts'
import { keptQuery } from './kept-query.ts'
import { webhooks, webhookSecrets } from './webhook-schema.ts'

type Row = Readonly<typeof webhooks.$inferSelect>

export type Webhook = Omit<Row, 'seq' | 'deletedAt' | keyof Breaker>

/** A webhook with the state of its circuit breaker. */
export type StoredWebhook = Webhook & { readonly seq: number; readonly breaker: Breaker }

export type WebhookChanges = Partial<Omit<Webhook, 'id' | 'createdBy' | 'createdAt'>> &
  Pick<Webhook, 'updatedAt'> & { readonly breaker?: Breaker; readonly deletedAt?: Timestamp }

const isKept = isNull(webhooks.deletedAt)

export function insertWebhook(tx: Tx, webhook: Webhook): StoredWebhook {
  const row = tx.orm.insert(webhooks).values(webhook).returning({ seq: webhooks.seq }).get()
  touch(tx, webhook.id)
  return { ...webhook, seq: row.seq, breaker: CLOSED }
}

/** The webhook; null if it is unknown or deleted. */
export function findWebhook(db: Db, id: WebhookId): StoredWebhook | null {
  const row = db.orm
    .select()
    .from(webhooks)
    .where(and(eq(webhooks.id, id), isKept))
    .get()
  return row === undefined ? null : storedWebhook(row)
}

/** The webhook for callbacks of a lineage of keys to this URL; null if there is none. */
export function findCallback(
  db: Db,
  { keyId, url, format }: { readonly keyId: KeyId; readonly url: string; readonly format: string },
): StoredWebhook | null {
  const isOfKey = and(eq(webhooks.keyId, keyId), eq(webhooks.format, format))
  const isIt = and(isOfKey, eq(webhooks.url, url), eq(webhooks.isCallback, true), isKept)
  const row = db.orm.select().from(webhooks).where(isIt).get()
  return row === undefined ? null : storedWebhook(row)
}

/** The query that a message adds to the URL of its callback; empty if there is none. */
export function callbackQuery(db: Db, messageId: MessageId): string {
  const sql = `SELECT extras ->> '$.callback.query' AS query FROM messages WHERE id = $messageId`
  return db.row<{ query: string | null }>(sql, { messageId })?.query ?? ''
}

/** Callbacks whose key has ended without being replaced. */
export function callbacksOfEndedKeys(db: Db, now: number): readonly WebhookId[] {
  const sql = `SELECT id FROM webhooks w WHERE is_callback = 1 AND deleted_at IS NULL
     AND NOT EXISTS (SELECT 1 FROM credentials INDEXED BY credentials_made_for WHERE made_for IS NOT NULL
       AND ${lineageIn('credentials')} = w.key_id AND ${isLive('credentials')})`
  return db.rows<{ id: WebhookId }>(sql, { now }).map(({ id }) => id)
}

export function countWebhooks(db: Db): number {
  const counted = db.orm.select({ count: count() }).from(webhooks).where(isKept)
  return counted.get()?.count ?? 0
}

const webhooksBefore = keptQuery((orm) =>
  orm
    .select()
    .from(webhooks)
    .where(and(isKept, lt(webhooks.seq, sql`+${sql.placeholder('before')}`)))
    .orderBy(desc(webhooks.seq))
    .limit(sql.placeholder('limit'))
    .prepare(),
)

/**
 * Webhooks that aren't deleted, callbacks among them, newest first; `before` is the cursor's seq. Each call
 * reads the database: what each message asks is cached in `Subscribers`.
 */
export function listWebhooks(db: Db, limit: number, before: number | null): StoredWebhook[] {
  const rows = webhooksBefore(db).all({ limit, before: before ?? Number.MAX_SAFE_INTEGER })
  return rows.map(storedWebhook)
}

export function listDeletedWebhooks(db: Db): readonly Pick<Row, 'id' | 'seq'>[] {
  return db.orm.select().from(webhooks).where(isNotNull(webhooks.deletedAt)).all()
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
 * Saves the breaker, and deactivates the webhook if `disable` is set. If the webhook was changed since `version` (its
 * `updatedAt`), does nothing and returns false, because the breaker then belongs to an older state.
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

export function deleteWebhookRow(tx: Tx, id: WebhookId): void {
  tx.orm.delete(webhooks).where(eq(webhooks.id, id)).run()
}

function touch(tx: Tx, id: WebhookId): void {
  tx.changes?.push({ what: 'webhook', id })
}

function storedWebhook(row: Row): StoredWebhook {
  const { failuresInRow, failingSince, restUntil, probeAt, goneAt, deletedAt: _, ...webhook } = row
  return { ...webhook, breaker: { failuresInRow, failingSince, restUntil, probeAt, goneAt } }
}

/** A sealed signing secret. A retired one still signs for a while, together with its successors. */
type StoredSecret = typeof webhookSecrets.$inferSelect

export function insertSecret(
  tx: Tx,
  secret: Pick<StoredSecret, 'webhookId' | 'sealed' | 'createdAt'>,
): void {
  tx.orm.insert(webhookSecrets).values(secret).run()
}

export function listSecrets(db: Db, webhookId: WebhookId): StoredSecret[] {
  const isOfWebhook = eq(webhookSecrets.webhookId, webhookId)
  const secrets = db.orm.select().from(webhookSecrets).where(isOfWebhook)
  return secrets.orderBy(desc(webhookSecrets.seq)).all()
}

export function retireSecrets(tx: Tx, webhookId: WebhookId, at: Timestamp): void {
  tx.orm
    .update(webhookSecrets)
    .set({ retiredAt: at })
    .where(and(eq(webhookSecrets.webhookId, webhookId), isNull(webhookSecrets.retiredAt)))
    .run()
}

export function deleteSecrets(tx: Tx, secrets: readonly StoredSecret[]): void {
  const seqs = secrets.map(({ seq }) => seq)
  tx.orm.delete(webhookSecrets).where(inArray(webhookSecrets.seq, seqs)).run()
}
