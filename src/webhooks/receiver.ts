// Saves the state of a webhook's receiver, and marks in the timeline when it begins to fail and when it works again.

import { isOpen, type Breaker } from '../domain/breaker.ts'
import type { Timestamp, WebhookId } from '../domain/ids.ts'
import type { MarkDetail, MarkKind } from '../domain/timeline.ts'
import { webhookName } from '../domain/webhook-url.ts'
import type { DisabledReason } from '../domain/webhook.ts'
import type { Tx } from '../storage/database.ts'
import { pendingDeliveries } from '../storage/delivery-queue.ts'
import { mark } from '../storage/timeline.ts'
import { findWebhook, saveBreaker, type StoredWebhook } from '../storage/webhooks.ts'

export type ReceiverState = {
  readonly breaker: Breaker
  readonly disable: DisabledReason | null
}

export type SavedReceiver = { readonly id: WebhookId; readonly version: Timestamp }

/**
 * Called in the transaction that records an attempt, at the time `at`. Does nothing if the webhook was changed since
 * the attempt began.
 */
export function saveReceiver(tx: Tx, webhook: SavedReceiver, change: ReceiverState, at: Timestamp) {
  const { breaker, disable } = change
  const before = findWebhook(tx, webhook.id)
  if (!saveBreaker(tx, webhook, breaker, disable && { reason: disable, at })) return
  const changed = before === null ? null : changeOf(tx, before, change)
  if (before === null || changed === null) return
  const [kind, facts] = changed
  mark(tx, { at, kind, about: before.id, detail: { name: webhookName(before), ...facts } })
}

function changeOf(
  tx: Tx,
  before: StoredWebhook,
  { breaker, disable }: ReceiverState,
): readonly [MarkKind, MarkDetail] | null {
  if (disable !== null) return ['webhook.turned_off', { reason: disable }]
  if (isOpen(breaker) === isOpen(before.breaker)) return null
  if (isOpen(breaker)) return ['webhook.failing', { since: breaker.failingSince ?? undefined }]
  const since = before.breaker.failingSince ?? undefined
  return ['webhook.working', { since, waiting: pendingDeliveries(tx, before.seq).count }]
}
