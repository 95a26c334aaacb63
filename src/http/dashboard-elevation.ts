// Operations that ask for the password again after an hour: everything that lasts or destroys, so that a
// stolen session cannot do it. A change that is not listed here asks.

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
  'POST /api/v1/messages/:id/resolve',
  'PATCH /api/v1/conversations/:id',
  'POST /api/v1/webhooks/:id/test',
  'POST /api/v1/webhooks/:id/retry-failed',
  'POST /api/v1/webhook-deliveries/:id/redeliver',
  'POST /api/v1/backup',
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
const READING = new Set(['GET', 'HEAD'])

/** Guard of every route of the dashboard. */
export function requirePassword(tools: Tools): (attempted: Attempted) => void {
  return (attempted) => {
    if (!asksForPassword(tools, attempted)) return
    const { session } = contextOf(attempted.request)
    if (session !== null && session.elevatedUntil !== null) return
    const message = 'Enter the password again: the last time was more than an hour ago.'
    throw new RelayError('password_needed', message)
  }
}

function asksForPassword(tools: Tools, { request, route, params, body }: Attempted): boolean {
  const path = route.length > 1 ? route.replace(/\/$/, '') : route
  if (READING.has(request.method)) return WITH_PASSWORD.has(`GET ${path}`)
  const operation = `${request.method} ${path}`
  const condition = CONDITIONAL[operation]
  if (condition === undefined) return !FREE.has(operation)
  return condition(tools, String(fieldsOf(params)['id']), fieldsOf(body))
}

/** Throws `not_found` for an unknown webhook. */
function leadsElsewhere({ webhooks }: Tools, id: string, body: Fields): boolean {
  const webhook = webhooks.get(id)
  const isMoved = body['url'] !== undefined && body['url'] !== webhook.url
  return isMoved || (body['is_active'] === true && !webhook.is_active)
}

/** True for more new contacts a day, or the one-time codes that arrive as SMS. */
function opensLine({ lines }: Tools, id: string, body: Fields): boolean {
  const line = lines.list().find((one) => one.id === id)
  if (line === undefined) return false
  const isRaised = Number(body['daily_contact_limit'] ?? 0) > line.daily_contact_limit
  return isRaised || (body['relay_sms'] === true && !line.relay_sms)
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
