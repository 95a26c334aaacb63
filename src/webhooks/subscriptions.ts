import { type Page, type PageRequest, pageOf } from '../api/paging.ts'
import type * as api from '../api/webhooks.ts'
import { makerOf, type AuditFields, type Origin } from '../domain/audit.ts'
import { CLOSED, forNewUrl } from '../domain/breaker.ts'
import { invalidRequest } from '../domain/errors.ts'
import type { WebhookId } from '../domain/ids.ts'
import { WEBHOOKS_MAX, type EventName, type Webhook } from '../domain/webhook.ts'
import { auditedUrl, type Audit } from '../storage/audit.ts'
import type { Db, Tx } from '../storage/database.ts'
import {
  deleteSecrets,
  insertSecret,
  listSecrets,
  retireSecrets,
  countWebhooks,
  insertWebhook,
  listWebhooks,
  markWebhookDeleted,
  updateWebhook,
  type StoredWebhook,
  type WebhookChanges,
} from '../storage/webhooks.ts'
import type { Writer } from '../storage/writer.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { Random } from '../system/random.ts'
import type { Seal } from '../system/seal.ts'
import type { Subscribers } from './publish.ts'
import { positionOf, webhookById } from './requests.ts'
import { webhookResource } from './resources.ts'
import type { DeliverySignals } from './signals.ts'
import { newSecret, SECRETS_MAX, secretText } from './signature.ts'
import type { TargetRules } from './targets.ts'
import { checkInput, type CheckedInput, type WebhookInput } from './webhook-input.ts'

export type SubscriptionParts = {
  readonly db: Db
  readonly writer: Writer
  readonly stamps: LogicalClock
  readonly random: Random
  readonly seal: Seal
  readonly rules: TargetRules
  readonly deliverySignals: DeliverySignals
  readonly subscribers: Subscribers
  readonly audit: Pick<Audit, 'record'>
}

export type NewWebhookInput = WebhookInput & {
  readonly url: string
  readonly events: readonly string[]
}

/** What callers do with webhooks. A change is on disk when its promise resolves. */
export function createSubscriptions(parts: SubscriptionParts) {
  return {
    create: (input: NewWebhookInput, origin: Origin) => create(parts, input, origin),
    list: (page: PageRequest): Page<api.Webhook> => {
      const rows = listWebhooks(parts.db, page.limit + 1, positionOf(page.cursor))
      return pageOf(rows, page.limit, webhookResource, ({ seq }) => [seq])
    },
    get: (id: string): api.Webhook => webhookResource(webhookById(parts.db, id)),
    update: (id: string, input: WebhookInput, origin: Origin) => update(parts, id, input, origin),
    remove: (id: string, origin: Origin) => remove(parts, id, origin),
    rotateSecret: (id: string, origin: Origin) => rotateSecret(parts, id, origin),
  }
}

async function create(
  parts: SubscriptionParts,
  input: NewWebhookInput,
  origin: Origin,
): Promise<api.CreatedWebhook> {
  const { stamps, random, seal, rules, deliverySignals, audit } = parts
  const checked = checkInput(input, rules)
  return change(parts, (tx) => {
    if (countWebhooks(tx) >= WEBHOOKS_MAX) {
      throw invalidRequest({ path: '', message: `There are at most ${WEBHOOKS_MAX} webhooks.` })
    }
    const webhook = webhookOf(checked, { stamps, createdBy: makerOf(origin) })
    const secret = newSecret(random)
    insertWebhook(tx, webhook)
    insertSecret(tx, webhook.id, seal.seal(secret, webhook.id), webhook.createdAt)
    deliverySignals.changed(webhook.id)
    const after = auditedFields(webhook)
    audit.record(tx, origin, { action: 'webhook.created', about: aboutOf(webhook), after })
    return { ...webhookResource(webhook), secret: secretText(secret) }
  })
}

/** Changes what `input` names; what the relay deactivated is active again by `isActive: true`. */
async function update(
  parts: SubscriptionParts,
  id: string,
  input: WebhookInput,
  origin: Origin,
): Promise<api.Webhook> {
  const { db, stamps, rules, deliverySignals, audit } = parts
  webhookById(db, id)
  const checked = checkInput(input, rules)
  if (Object.keys(checked).length === 0) {
    throw invalidRequest({ path: '', message: 'The body must name at least one field to change.' })
  }
  return change(parts, (tx) => {
    const webhook = webhookById(tx, id)
    updateWebhook(tx, webhook.id, { ...changesOf(webhook, checked), updatedAt: stamps.now() })
    deliverySignals.changed(webhook.id)
    const changed = webhookById(tx, id)
    audit.record(tx, origin, {
      action: 'webhook.changed',
      about: aboutOf(webhook),
      before: auditedFields(webhook),
      after: auditedFields(changed),
    })
    return webhookResource(changed)
  })
}

/** From now on it is unknown and gets nothing; retention takes its rows away. */
async function remove(parts: SubscriptionParts, id: string, origin: Origin): Promise<void> {
  await change(parts, (tx) => {
    const webhook = webhookById(tx, id)
    const secrets = listSecrets(tx, webhook.id)
    markWebhookDeleted(tx, webhook.id, parts.stamps.now())
    parts.deliverySignals.changed(webhook.id)
    deleteSecrets(
      tx,
      secrets.map(({ seq }) => seq),
    )
    const before = auditedFields(webhook)
    parts.audit.record(tx, origin, { action: 'webhook.deleted', about: aboutOf(webhook), before })
  })
}

/** A new secret; those before it sign too for 24 hours. Mends a webhook whose secret is unreadable. */
async function rotateSecret(
  { stamps, random, seal, audit, ...parts }: SubscriptionParts,
  id: string,
  origin: Origin,
): Promise<api.RotatedSecret> {
  return change(parts, (tx) => {
    const webhook = webhookById(tx, id)
    const secret = newSecret(random)
    const now = stamps.now()
    retireSecrets(tx, webhook.id, now)
    insertSecret(tx, webhook.id, seal.seal(secret, webhook.id), now)
    const useless = listSecrets(tx, webhook.id).filter(
      ({ sealed }, i) => i >= SECRETS_MAX || seal.open(sealed, webhook.id) === null,
    )
    deleteSecrets(
      tx,
      useless.map(({ seq }) => seq),
    )
    const mended = webhook.disabledReason === 'secret_unreadable' ? ACTIVE : {}
    updateWebhook(tx, webhook.id, { ...mended, updatedAt: now })
    parts.deliverySignals.changed(webhook.id)
    audit.record(tx, origin, { action: 'webhook.secret_rotated', about: aboutOf(webhook) })
    return { id: webhook.id, secret: secretText(secret) }
  })
}

/** A write after which the delivery loop hears its deliverySignals, and `publish` reads the webhooks anew. */
async function change<T>(
  parts: Pick<SubscriptionParts, 'writer' | 'deliverySignals' | 'subscribers'>,
  work: (tx: Tx) => T extends PromiseLike<unknown> ? never : T,
): Promise<T> {
  const { writer, deliverySignals, subscribers } = parts
  try {
    return await writer.write<T>((tx) => {
      const value = work(tx)
      subscribers.invalidate()
      writer.afterCommit(() => deliverySignals.signal.notify())
      return value
    })
  } finally {
    // What was read inside a commit that failed in the end must not stay.
    subscribers.invalidate()
    deliverySignals.signal.notify()
  }
}

function aboutOf({ id }: Webhook) {
  return { kind: 'webhook', id } as const
}

/** A receiver's path and query often are its password. */
function auditedFields({
  url,
  events,
  isActive,
  description,
  disabledReason,
}: Webhook): AuditFields {
  return {
    url: auditedUrl(url),
    events,
    is_active: isActive,
    description,
    disabled_reason: disabledReason,
  }
}

const ACTIVE = { isActive: true, disabledReason: null, breaker: CLOSED } as const

function webhookOf(
  { url = '', events = [], isActive = true, description = null }: CheckedInput,
  { stamps, createdBy }: { readonly stamps: LogicalClock; readonly createdBy: string },
): Webhook {
  const now = stamps.now()
  const id: WebhookId = stamps.id('wh')
  const names: readonly EventName[] = events
  const times = { createdAt: now, updatedAt: now }
  return {
    id,
    url,
    events: names,
    isActive,
    description,
    disabledReason: null,
    createdBy,
    ...times,
  }
}

/** Whatever is said of `is_active` is the user's word, and ends what the relay decided. */
function changesOf(
  webhook: StoredWebhook,
  { isActive, ...checked }: CheckedInput,
): Omit<WebhookChanges, 'updatedAt'> {
  const isMoved = checked.url !== undefined && checked.url !== webhook.url
  const moved = isMoved ? { breaker: forNewUrl(webhook.breaker) } : {}
  if (isActive === undefined) return { ...checked, ...moved }
  if (!isActive) return { ...checked, ...moved, isActive: false, disabledReason: null }
  const wasDisabled = webhook.disabledReason !== null
  return { ...checked, ...moved, ...(wasDisabled ? ACTIVE : { isActive: true }) }
}
