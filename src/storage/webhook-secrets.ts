import { and, desc, eq, inArray, isNull } from 'drizzle-orm'

import type { Timestamp, WebhookId } from '../domain/ids.ts'
import type { Db, Tx } from './database.ts'
import { webhookSecrets } from './webhook-schema.ts'

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
