// Replaces the secrets of webhooks and reactivates webhooks.

import type * as api from '../api/webhooks.ts'
import type { Origin } from '../domain/audit.ts'
import type { Core } from '../storage/core.ts'
import type { Tx } from '../storage/database.ts'
import {
  deleteSecrets,
  insertSecret,
  listSecrets,
  retireSecrets,
  updateWebhook,
  type StoredWebhook,
} from '../storage/webhooks.ts'
import type { Seal } from '../system/seal.ts'
import type { Subscribers } from './publish.ts'
import { pausedSince } from './resource.ts'
import { newSecret, SECRETS_MAX, secretText } from './signature.ts'
import { aboutOf, ACTIVE, auditedFields, webhookById } from './subscriptions.ts'

export function createSecrets(
  core: Core,
  { seal, subscribers }: { readonly seal: Seal; readonly subscribers: Subscribers },
) {
  return {
    async rotateSecret(id: string, origin: Origin): Promise<api.RotatedSecret> {
      const secret = newSecret(core.random)
      return subscribers.change((tx) => {
        const webhook = webhookById(tx, id)
        replaceSecret(tx, core, { seal, subscribers, webhook, origin, secret })
        return { id: webhook.id, secret: secretText(secret) }
      })
    },
  }
}

type SecretReplacement = {
  readonly seal: Seal
  readonly subscribers: Subscribers
  readonly webhook: StoredWebhook
  readonly origin: Origin
}

/** Earlier secrets also sign for 24 hours. Reactivates a webhook whose secret was unreadable. */
export function replaceSecret(
  tx: Tx,
  { ids, audit }: Core,
  {
    seal,
    subscribers,
    webhook,
    origin,
    secret,
  }: SecretReplacement & { readonly secret: Uint8Array },
): void {
  const now = ids.now()
  retireSecrets(tx, webhook.id, now)
  const sealed = seal.seal(secret, webhook.id)
  insertSecret(tx, { webhookId: webhook.id, sealed, createdAt: now })
  const unusable = listSecrets(tx, webhook.id).filter(
    ({ sealed }, i) => i >= SECRETS_MAX || seal.open(sealed, webhook.id) === null,
  )
  deleteSecrets(tx, unusable)
  const active = webhook.disabledReason === 'secret_unreadable' ? ACTIVE : {}
  const pausedAt = pausedSince(webhook)
  updateWebhook(tx, webhook.id, { ...active, pausedAt, updatedAt: now })
  subscribers.changed(webhook.id)
  audit.record(tx, origin, { action: 'webhook.secret_rotated', about: aboutOf(webhook) })
}

/** Turns on a webhook that the relay itself turned off; its pending deliveries are sent. */
export function turnOn(
  tx: Tx,
  { ids, audit }: Core,
  { subscribers, webhook, origin }: Omit<SecretReplacement, 'seal'>,
): void {
  updateWebhook(tx, webhook.id, { ...ACTIVE, updatedAt: ids.now() })
  subscribers.changed(webhook.id)
  const after = auditedFields({ ...webhook, ...ACTIVE })
  const before = auditedFields(webhook)
  audit.record(tx, origin, { action: 'webhook.changed', about: aboutOf(webhook), before, after })
}
