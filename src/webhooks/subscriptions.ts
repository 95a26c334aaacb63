import { allFound, cursorSeq, pageOf, type PageRequest } from '../api/paging.ts'
import type { Page } from '../api/schema.ts'
import type * as api from '../api/webhooks.ts'
import { FORMAT_NAMES, OWN_FORMAT, webhookFormat } from '../compat/apis.ts'
import { makerOf, type AuditFields, type Origin } from '../domain/audit.ts'
import { CLOSED, forNewUrl } from '../domain/breaker.ts'
import { invalidRequest, RelayError, type Issue } from '../domain/errors.ts'
import { parseId, type Timestamp } from '../domain/ids.ts'
import { EVERYTHING, hasScope, requirePermission, type Permissions } from '../domain/permissions.ts'
import { ALL_LINES, isNarrower, lineLimitFields, type LineLimits } from '../domain/routing.ts'
import { isSameUrl } from '../domain/webhook-url.ts'
import { EVENT_NAMES, WEBHOOKS_MAX } from '../domain/webhook.ts'
import { auditedUrl } from '../storage/audit.ts'
import type { Core } from '../storage/core.ts'
import type { Db, Tx } from '../storage/database.ts'
import { exhaustBeyond } from '../storage/deliveries.ts'
import { limitsAsked } from '../storage/sites.ts'
import {
  deleteSecrets,
  insertSecret,
  listSecrets,
  countWebhooks,
  findWebhook,
  insertWebhook,
  listWebhooks,
  updateWebhook,
  type StoredWebhook,
  type Webhook,
  type WebhookChanges,
} from '../storage/webhooks.ts'
import type { Seal } from '../system/seal.ts'
import { accountLineageFor } from './accounts.ts'
import type { WebhookQueues } from './loop.ts'
import type { Subscribers } from './publish.ts'
import { missedEvents, pausedSince, requireListed, resourceOf } from './resource.ts'
import { newSecret, secretText } from './signature.ts'
import { checkAddress, parseTarget, publicOnly, type TargetRules } from './targets.ts'

type NewWebhookInput = WebhookInput & {
  readonly url: string
  readonly events: readonly string[]
  readonly format?: string | null | undefined
  readonly key_id?: string | null | undefined
}

/** Creates, lists, changes and deletes webhooks. A change is on disk when its promise resolves. */
export function createSubscriptions(
  core: Core,
  given: {
    readonly seal: Seal
    readonly rules: TargetRules
    readonly subscribers: Subscribers
    readonly queues: WebhookQueues
    /** The secret of every new webhook; random if left out. */
    readonly secret?: Uint8Array | undefined
  },
) {
  const { db } = core
  const { seal, rules, subscribers, queues, secret: chosen } = given
  const resource = (webhook: StoredWebhook) => resourceOf(webhook, queues.isUnreachable(webhook.id))
  const withMissed = async (webhook: StoredWebhook, pausedAt: Timestamp | null) => {
    return { ...resource(webhook), ...(await missedEvents(db, webhook, pausedAt)) }
  }
  return {
    async create(input: NewWebhookInput, origin: Origin, own = EVERYTHING) {
      // Null is the author's own limit, which a new webhook always has.
      const given = { phone_line_ids: null, site_ids: null, ...input }
      const isPublicOnly = !hasScope(own, 'webhooks:private')
      const format = requestedFormat(input.format)
      const asked = { keyId: input.key_id ?? null, format }
      const keyId = (asked.keyId ?? format) === null ? null : accountLineageFor(core, asked, own)
      const fixed = { isPublicOnly, format, keyId }
      const checked = { ...fixed, ...checkInput(db, rules, given, { own, format }) }
      requireMayLink(NEW, checked, own)
      const by = { seal, subscribers, checked, origin, secret: chosen }
      const { stored, secret } = await subscribers.change((tx) => createIn(tx, core, by))
      return { ...resource(stored), secret: secretText(secret) } satisfies api.CreatedWebhook
    },
    list(page: PageRequest, limits: LineLimits = ALL_LINES): Page<api.Webhook> {
      const rows = listWebhooks(db, WEBHOOKS_MAX, cursorSeq(page.cursor))
      const seen = rows.filter((row) => !row.isCallback && isNarrower(row, limits))
      const found = allFound(seen.slice(0, page.limit + 1))
      return pageOf(found, page.limit, resource, ({ seq }) => [seq])
    },
    get: (id: string): api.Webhook => resource(webhookById(db, id)),
    /** Like `get`, with the number of events since the webhook was paused. */
    async read(id: string): Promise<api.Webhook> {
      const webhook = webhookById(db, id)
      return withMissed(webhook, pausedSince(webhook))
    },
    /** Changes the fields in `input`. `is_active: true` also reactivates a webhook that the relay deactivated. */
    async update(id: string, input: WebhookInput, origin: Origin, own = EVERYTHING) {
      const { format } = requireListed(webhookById(db, id))
      const checked = checkInput(db, rules, input, { own, format })
      const { changed, wasPausedAt } = await update(core, subscribers, id, { checked, origin, own })
      return withMissed(changed, wasPausedAt)
    },
    remove: (id: string, origin: Origin) =>
      subscribers.change((tx) => removeIn(tx, core, { subscribers, id, origin })),
    /** Removes in a transaction that reads no subscribers after it. */
    removeIn: (tx: Tx, id: string, origin: Origin) =>
      removeIn(tx, core, { subscribers, id, origin }),
    /** Called in the transaction that moves a line: cancels deliveries to webhooks that no longer get its events. */
    linesMoved: (tx: Tx) => linesMoved(tx, core, subscribers),
  }
}

function linesMoved(tx: Tx, { ids }: Core, subscribers: Subscribers): void {
  for (const webhook of listWebhooks(tx, WEBHOOKS_MAX, null)) {
    if (webhook.siteIds === null) continue
    exhaustBeyond(tx, webhook, ids.now())
    subscribers.changed(webhook.id)
  }
}

/** Creates a webhook in the transaction `tx`. */
export function createIn(
  tx: Tx,
  { random, ids, audit }: Core,
  by: {
    readonly seal: Seal
    readonly subscribers: Subscribers
    readonly checked: CheckedInput & Partial<Webhook>
    readonly origin: Origin
    readonly secret?: Uint8Array | undefined
  },
) {
  const { seal, subscribers, checked, origin } = by
  if (countWebhooks(tx) >= WEBHOOKS_MAX) {
    throw invalidRequest({ path: '', message: `There are at most ${WEBHOOKS_MAX} webhooks.` })
  }
  const now = ids.now()
  const webhook: Webhook = {
    id: ids.id('wh'),
    ...NEW,
    ...checked,
    disabledReason: null,
    pausedAt: checked.isActive === false ? now : null,
    createdBy: makerOf(origin),
    createdAt: now,
    updatedAt: now,
  }
  const secret = by.secret ?? newSecret(random)
  const stored = insertWebhook(tx, webhook)
  const sealed = seal.seal(secret, webhook.id)
  insertSecret(tx, { webhookId: webhook.id, sealed, createdAt: now })
  subscribers.changed(webhook.id)
  const after = auditedFields(webhook)
  audit.record(tx, origin, { action: 'webhook.created', about: aboutOf(webhook), after })
  return { stored, secret }
}

async function update(
  { ids, audit }: Core,
  subscribers: Subscribers,
  id: string,
  by: { readonly checked: CheckedInput; readonly origin: Origin; readonly own: Permissions },
) {
  const { checked, origin, own } = by
  if (Object.keys(checked).length === 0) {
    throw invalidRequest({ path: '', message: 'The body must name at least one field to change.' })
  }
  return subscribers.change((tx) => {
    const webhook = webhookById(tx, id)
    requireMayLink(webhook, checked, own)
    const now = ids.now()
    const changes = { ...changesOf(webhook, checked, now), ...policyAfter(webhook, checked, own) }
    updateWebhook(tx, webhook.id, { ...changes, updatedAt: now })
    subscribers.changed(webhook.id)
    const changed = webhookById(tx, id)
    exhaustBeyond(tx, changed, ids.now())
    audit.record(tx, origin, {
      action: 'webhook.changed',
      about: aboutOf(webhook),
      before: auditedFields(webhook),
      after: auditedFields(changed),
    })
    return { changed, wasPausedAt: pausedSince(webhook) }
  })
}

/** The webhook gets nothing from now on; retention deletes its rows later. */
export function removeIn(
  tx: Tx,
  { ids, audit }: Core,
  by: { readonly subscribers: Subscribers; readonly id: string; readonly origin: Origin },
): void {
  const { subscribers, id, origin } = by
  const webhook = webhookById(tx, id)
  const secrets = listSecrets(tx, webhook.id)
  const now = ids.now()
  updateWebhook(tx, webhook.id, { deletedAt: now, isActive: false, updatedAt: now })
  subscribers.changed(webhook.id)
  deleteSecrets(tx, secrets)
  const before = auditedFields(webhook)
  audit.record(tx, origin, { action: 'webhook.deleted', about: aboutOf(webhook), before })
}

export function aboutOf({ id }: Webhook) {
  return { kind: 'webhook', id } as const
}

/** Without the URL's path and query, which often contain a password. */
export function auditedFields(webhook: Webhook): AuditFields {
  return {
    url: auditedUrl(webhook.url),
    events: webhook.events,
    is_active: webhook.isActive,
    description: webhook.description,
    ...(webhook.format === null ? {} : { format: webhook.format }),
    ...(webhook.keyId === null ? {} : { key_id: webhook.keyId }),
    ...(webhook.attachmentLinks ? { attachment_links: true } : {}),
    ...lineLimitFields(webhook),
    ...(webhook.isPublicOnly ? { is_public_only: true } : {}),
    disabled_reason: webhook.disabledReason,
  }
}

/** Fields of a webhook that is reactivated. */
export const ACTIVE = { isActive: true, disabledReason: null, breaker: CLOSED } as const

const NEW = {
  url: '',
  events: [],
  isActive: true,
  description: null,
  attachmentLinks: false,
  format: null,
  keyId: null,
  isCallback: false,
  ...ALL_LINES,
  isPublicOnly: false,
}

/** `is_active` is the user's decision and overrides the relay's. */
function changesOf(
  webhook: StoredWebhook,
  { isActive, ...input }: CheckedInput,
  now: Timestamp,
): Omit<WebhookChanges, 'updatedAt'> {
  const isMoved = input.url !== undefined && !isSameUrl(input.url, webhook.url)
  const moved = isMoved ? { breaker: forNewUrl(webhook.breaker) } : {}
  const pausedAt = pausedSince(webhook)
  const checked = { ...input, ...moved, pausedAt }
  if (isActive === undefined) return checked
  if (!isActive)
    return { ...checked, isActive: false, disabledReason: null, pausedAt: pausedAt ?? now }
  const wasDisabled = webhook.disabledReason !== null
  return { ...checked, ...(wasDisabled ? ACTIVE : { isActive: true }), pausedAt: null }
}

/** A caller without `webhooks:private` restricts a new URL to public addresses; a caller with it lifts that. */
function policyAfter(
  before: Webhook,
  { url }: CheckedInput,
  own: Permissions,
): Partial<Pick<Webhook, 'isPublicOnly'>> {
  if (url === undefined) return {}
  if (hasScope(own, 'webhooks:private')) return { isPublicOnly: false }
  return isSameUrl(url, before.url) ? {} : { isPublicOnly: true }
}

/** Throws unless a caller who turns on links to files may read files. */
function requireMayLink(old: Webhook | typeof NEW, checked: CheckedInput, own: Permissions) {
  const { url, attachmentLinks } = { ...old, ...checked }
  const isNew = !old.attachmentLinks || !isSameUrl(url, old.url)
  if (attachmentLinks && isNew) requirePermission(own, 'attachments:read')
}

/** The webhook with this id, as the caller wrote it. Throws `not_found`. */
export function webhookById(db: Db, text: string): StoredWebhook {
  const id = parseId('wh', text)
  const webhook = id === null ? null : findWebhook(db, id)
  if (webhook === null) throw new RelayError('not_found', 'There is no webhook with this id.')
  return webhook
}

export function requireActive(webhook: StoredWebhook): void {
  if (webhook.isActive) return
  throw new RelayError('webhook_inactive', 'The webhook is not active: set is_active first.')
}

/** A caller's settings for a webhook; omitted fields stay as they are. */
type WebhookInput = Omit<api.WebhookChanges, 'events'> & {
  readonly events?: readonly string[]
}

type CheckedInput = Partial<
  Pick<Webhook, 'url' | 'events' | 'isActive' | 'description' | 'attachmentLinks'> & LineLimits
>

export const URL_LENGTH_MAX = 2_048
const DESCRIPTION_LENGTH_MAX = 500
const CONTROL_CHARACTER = /\p{Cc}/u

/** The input in stored form. Throws `invalid_request` with every invalid field. */
export function checkInput(
  db: Db,
  rules: TargetRules,
  input: WebhookInput,
  { own, format }: { readonly own: Permissions; readonly format: string | null },
): CheckedInput {
  const { url, events, description } = input
  const issues: Issue[] = []
  const report = (path: string, message: string | null) => {
    if (message !== null) issues.push({ path, message })
  }
  if (url !== undefined) {
    report('url', wrongUrl(url, hasScope(own, 'webhooks:private') ? rules : publicOnly(rules)))
  }
  if (events !== undefined) report('events', wrongEvents(events, format))
  if ((description?.length ?? 0) > DESCRIPTION_LENGTH_MAX) {
    report('description', `must have at most ${DESCRIPTION_LENGTH_MAX} characters`)
  }
  if (issues.length > 0) throw invalidRequest(...issues)
  return { ...storedInput(input), ...limitsIn(db, input, own.limits) }
}

/** Null means all that the author may use. */
function limitsIn(db: Db, input: WebhookInput, own: LineLimits): Partial<LineLimits> {
  const { phone_line_ids: lines, site_ids: sites } = input
  const isNamed = (lines ?? sites ?? null) !== null
  const { lineIds, siteIds } = isNamed ? limitsAsked(db, input, own) : own
  return { ...(lines !== undefined && { lineIds }), ...(sites !== undefined && { siteIds }) }
}

function storedInput({ url, events, ...input }: WebhookInput): CheckedInput {
  const { is_active: isActive, description, attachment_links: attachmentLinks } = input
  return {
    ...(url !== undefined && { url: plainUrl(url) }),
    ...(events && { events: EVENT_NAMES.filter((name) => events.includes(name)) }),
    ...(isActive !== undefined && { isActive }),
    ...(description !== undefined && { description }),
    ...(attachmentLinks !== undefined && { attachmentLinks }),
  }
}

function wrongUrl(url: string, rules: TargetRules): string | null {
  if (url.length > URL_LENGTH_MAX) return `must have at most ${URL_LENGTH_MAX} characters`
  if (CONTROL_CHARACTER.test(url)) return 'must not contain control characters'
  const target = parseTarget(url)
  if (typeof target === 'string') return target
  if (target.address === null) return null
  const checked = checkAddress(target.address, target, rules)
  return checked.isAllowed ? null : `must not name an address that ${checked.why}`
}

/** The URL shows the host that is really called; a bare origin gets no trailing slash. */
export function plainUrl(text: string): string {
  const { origin, href } = new URL(text)
  return text === origin ? text : href
}

/** The format that a new webhook asks for; null for the relay's own. */
function requestedFormat(name: string | null = null): string | null {
  if (name === null || name === OWN_FORMAT) return null
  if (FORMAT_NAMES.includes(name)) return name
  throw invalidRequest({ path: 'format', message: `must be one of ${FORMAT_NAMES.join(', ')}` })
}

function wrongEvents(events: readonly string[], format: string | null): string | null {
  if (events.length === 0) return 'must name at least one event'
  const said = format === null ? null : webhookFormat(format)
  const known: readonly string[] = said?.events ?? EVENT_NAMES
  const unknown = events.filter((name) => !known.includes(name))
  if (unknown.length === 0) return null
  const [where, not] = format === null ? ['', 'unknown'] : [` in the format ${format}`, 'not in it']
  return `must be of ${known.join(', ')}${where}; ${not}: ${unknown.slice(0, 5).join(', ')}`
}
