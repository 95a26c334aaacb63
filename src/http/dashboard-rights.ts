// Rights of a browser's session: a member may do only what is listed for members, and of the owner everything
// that lasts or destroys asks for the password again after an hour, so that a stolen session cannot do it.

import { RelayError } from '../domain/errors.ts'
import type { PhoneLineActions } from './phone-lines.ts'
import { contextOf } from './request-context.ts'
import type { WebhookActions } from './webhooks.ts'

type Tools = {
  readonly webhooks: Pick<WebhookActions, 'get'>
  readonly lines: Pick<PhoneLineActions, 'list'>
}

/** An operation, as Elysia knows it before the handler. */
type Attempted = {
  readonly request: Request
  /** The path of the route, as `/api/v1/keys/:id`. */
  readonly route: string
  readonly params: unknown
  readonly body: unknown
}

type Fields = Readonly<Record<string, unknown>>

/** Changes that do not last, remove nothing permanently, or ask for the password themselves. */
const FREE = new Set([
  'POST /api/v1/messages/send',
  'POST /api/v1/conversations/:id/messages',
  'POST /api/v1/attachments',
  'PUT /api/v1/contacts/:handle',
  'PUT /api/v1/opt-outs/:handle',
  'POST /api/v1/contacts/import',
  'POST /api/v1/messages/:id/resolve',
  'POST /api/v1/messages/:id/approve',
  'POST /api/v1/messages/:id/deny',
  'DELETE /api/v1/messages/:id',
  'PATCH /api/v1/conversations/:id',
  'POST /api/v1/conversations/:id/read',
  'POST /api/v1/webhooks/:id/test',
  'POST /api/v1/webhooks/:id/retry-failed',
  'POST /api/v1/webhook-deliveries/:id/redeliver',
  'POST /api/v1/backup',
  'PUT /api/v1/snoozes',
  'POST /api/v1/update-check',
  'POST /dashboard/setup',
  'POST /dashboard/session',
  'DELETE /dashboard/session',
  'DELETE /dashboard/sessions',
  'POST /dashboard/session/elevate',
  'POST /dashboard/password',
  'PUT /dashboard/setup-step',
])

/** Changes that ask only where they widen access. */
const CONDITIONAL: Readonly<Record<string, (tools: Tools, id: string, body: Fields) => boolean>> = {
  'PUT /api/v1/webhooks/:id': leadsElsewhere,
  'PATCH /api/v1/phone-lines/:id': opensLine,
}

/** Reads that ask: a backup contains everything. */
const WITH_PASSWORD = new Set(['GET /api/v1/backups/:name'])

/** Operations of members, who read and answer. What is not listed here is the owner's alone. */
const OF_MEMBERS = new Set([
  'GET /api/v1/messages',
  'GET /api/v1/messages/:id',
  'POST /api/v1/messages/send',
  // Their own only.
  'DELETE /api/v1/messages/:id',
  'GET /api/v1/conversations',
  'GET /api/v1/conversations/:id',
  'POST /api/v1/conversations/:id/messages',
  'POST /api/v1/conversations/:id/read',
  'POST /api/v1/attachments',
  'GET /api/v1/attachments/:id',
  'GET /api/v1/attachments/:id/content',
  'GET /api/v1/contacts',
  'GET /api/v1/contacts/:handle',
  'GET /api/v1/search',
  'GET /api/v1/phone-lines',
  'GET /dashboard/unread',
  'GET /dashboard/contact-cost',
  'GET /dashboard/events',
  'GET /dashboard/session',
  'POST /dashboard/session',
  'DELETE /dashboard/session',
  'POST /dashboard/setup',
])

/** Guard of every route of the dashboard. */
export function requireRight(tools: Tools): (attempted: Attempted) => void {
  return (attempted) => {
    const { session } = contextOf(attempted.request)
    if (session !== null && session.memberId !== null && !OF_MEMBERS.has(operationOf(attempted))) {
      throw new RelayError('forbidden', 'Only the owner of this relay may do this.')
    }
    if (!asksForPassword(tools, attempted)) return
    if (session !== null && session.elevatedUntil !== null) return
    const message = 'Enter the password again: the last time was more than an hour ago.'
    throw new RelayError('password_needed', message)
  }
}

function asksForPassword(tools: Tools, attempted: Attempted): boolean {
  const operation = operationOf(attempted)
  if (operation.startsWith('GET ')) return WITH_PASSWORD.has(operation)
  const condition = CONDITIONAL[operation]
  if (condition === undefined) return !FREE.has(operation)
  return condition(tools, String(fieldsOf(attempted.params)['id']), fieldsOf(attempted.body))
}

/** `GET /api/v1/keys/:id`; a HEAD counts as the GET that it is. */
function operationOf({ request, route }: Attempted): string {
  const path = route.length > 1 ? route.replace(/\/$/, '') : route
  return `${request.method === 'HEAD' ? 'GET' : request.method} ${path}`
}

/** Throws `not_found` for an unknown webhook. */
function leadsElsewhere({ webhooks }: Tools, id: string, body: Fields): boolean {
  const webhook = webhooks.get(id)
  const isMoved = body['url'] !== undefined && body['url'] !== webhook.url
  return isMoved || (body['is_active'] === true && !webhook.is_active)
}

/** True for more new contacts a day, the one-time codes that arrive as SMS, or what groups write. */
function opensLine({ lines }: Tools, id: string, body: Fields): boolean {
  const line = lines.list().find((one) => one.id === id)
  if (line === undefined) return false
  const isRaised = Number(body['daily_contact_limit'] ?? 0) > line.daily_contact_limit
  const isRelayed = body['relay_sms'] === true && !line.relay_sms
  return isRaised || isRelayed || (body['relay_groups'] === true && line.relay_groups !== true)
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
