// Every operation of the dashboard, and whether it asks for the password again after an hour. A change that
// is new must be named here, and a read that asks.

import { dashboardRoutes } from '../../src/http/routes.ts'
import { NO_RELAY } from './http-relay.ts'

type Told = readonly [word: 'asks' | 'free' | 'depends', body?: unknown]

/** `asks` and `free`, with a body that fits; what depends on its body has tests of its own. */
export const TABLE: Readonly<Record<string, Told>> = {
  'POST /api/v1/messages/send': ['free', { to: '+12025550123', text: 'x' }],
  'POST /api/v1/messages/:id/resolve': ['free', { status: 'sent' }],
  'POST /api/v1/messages/:id/approve': ['free', {}],
  'POST /api/v1/messages/:id/deny': ['free', {}],
  'DELETE /api/v1/messages/:id': ['free'],
  'POST /api/v1/conversations/:id/messages': ['free', { text: 'x' }],
  'POST /api/v1/attachments': ['free'],
  'PUT /api/v1/contacts/:handle': ['free', { name: 'Ana' }],
  'POST /api/v1/contacts/import': ['free'],
  'DELETE /api/v1/contacts/:handle': ['asks'],
  'PUT /api/v1/opt-outs/:handle': ['free', {}],
  'DELETE /api/v1/opt-outs/:handle': ['asks'],
  'POST /api/v1/attachments/:id/link': ['asks', {}],
  'DELETE /api/v1/attachments/:id': ['asks'],
  'POST /api/v1/conversations/:id/read': ['free', { message_id: 'x' }],
  'POST /api/v1/conversations/:id/separate': ['asks', {}],
  'PATCH /api/v1/conversations/:id': ['free', { automation_paused: true }],
  'PATCH /api/v1/phone-lines/:id': ['depends', { label: 'x' }],
  'DELETE /api/v1/phone-lines/:id': ['asks'],
  'POST /api/v1/phone-lines/:id/adopt': ['asks', { from: 'line_x' }],
  'POST /api/v1/phone-lines/:id/move': ['asks', { to: 'here' }],
  'POST /api/v1/alerts/channels': ['asks', { to: '+12025550123' }],
  'PATCH /api/v1/alerts/channels/:id': ['asks', { name: 'Phone' }],
  'DELETE /api/v1/alerts/channels/:id': ['asks'],
  'POST /api/v1/alerts/channels/:id/test': ['free', {}],
  'PUT /api/v1/alerts/rules': ['asks', { cause: 'line_off', after_minutes: 5 }],
  'POST /api/v1/sites': ['free', { name: 'Berlin' }],
  'PATCH /api/v1/sites/:id': ['free', { name: 'Berlin' }],
  'DELETE /api/v1/sites/:id': ['asks'],
  'PATCH /api/v1/members/:id': ['asks', { site_ids: null }],
  'POST /api/v1/boxes': ['asks', { name: 'here' }],
  'PATCH /api/v1/boxes/:id': ['asks', { name: 'attic' }],
  'DELETE /api/v1/boxes/:id': ['asks'],
  'POST /api/v1/webhooks': ['asks', { url: 'https://a.example', events: ['message.sent'] }],
  'PUT /api/v1/webhooks/:id': ['depends', { is_active: false }],
  'DELETE /api/v1/webhooks/:id': ['asks'],
  'POST /api/v1/webhooks/:id/rotate-secret': ['asks', {}],
  'POST /api/v1/webhooks/:id/test': ['free', {}],
  'POST /api/v1/webhooks/:id/replay': ['asks', { since: '2026-11-20T00:00:00.000Z' }],
  'POST /api/v1/webhooks/:id/retry-failed': ['free', {}],
  'DELETE /api/v1/webhooks/:id/replay': ['asks'],
  'POST /api/v1/webhook-deliveries/:id/redeliver': ['free', {}],
  'POST /api/v1/keys': ['asks', {}],
  'POST /api/v1/keys/:id/rotate': ['asks', {}],
  'DELETE /api/v1/keys/:id': ['asks'],
  'POST /api/v1/bridges': ['asks', { phone_number: '+12025550199' }],
  'POST /api/v1/bridges/:id/token': ['asks', {}],
  'DELETE /api/v1/bridges/:id': ['asks'],
  'POST /api/v1/members': ['asks', { name: 'Anna' }],
  'POST /api/v1/members/:id/link': ['asks', {}],
  'DELETE /api/v1/members/:id': ['asks'],
  'PUT /api/v1/settings/:name': ['asks', { value: '1' }],
  'PUT /api/v1/snoozes': ['free', { code: 'x', about: { kind: 'relay', id: null }, until: null }],
  'GET /api/v1/backups/:name': ['asks'],
  'POST /api/v1/backup': ['free', {}],
  'POST /api/v1/update-check': ['free', {}],
  'POST /dashboard/restore': ['asks'],
  'POST /dashboard/restore/start': ['asks', { id: 'x' }],
  'DELETE /dashboard/restore': ['asks'],
  'POST /dashboard/downloads': ['asks', { backup: 'x' }],
  'POST /dashboard/setup': ['free', { token: 'x', password: 'x' }],
  'POST /dashboard/session': ['free', { password: 'x' }],
  'POST /dashboard/session/elevate': ['free', { password: 'x' }],
  'POST /dashboard/password': ['free', { current: 'x', password: 'battery staple' }],
  'POST /dashboard/second-factor': ['asks'],
  'PUT /dashboard/second-factor': ['asks', { code: '000000' }],
  'POST /dashboard/second-factor/recovery-codes': ['asks', { code: '000000' }],
  'DELETE /dashboard/second-factor': ['asks', { code: '000000' }],
  'PUT /dashboard/setup-step': ['free', { step: 'line' }],
  'DELETE /dashboard/session': ['free'],
  'DELETE /dashboard/sessions/:id': ['free'],
  'DELETE /dashboard/sessions': ['free'],
}

/** Every operation, as its method and the path of its route. */
export const ROUTES: readonly string[] = dashboardRoutes(...NO_RELAY).routes.map(
  ({ method, path }) => `${method} ${path}`,
)

/** The table, and every read that is not in it. */
export const OPERATIONS: Readonly<Record<string, Told>> = {
  ...Object.fromEntries(ROUTES.map((route) => [route, ['free'] as const])),
  ...TABLE,
}

/** As a browser asks for it, with an id that nothing has. */
export function pathOf(route: string): string {
  const path = route.replace(/^\/api\/v1\//, '/dashboard/api/').replaceAll(/:[a-z]+/g, 'unknown')
  return path.replace('/settings/unknown', '/settings/message_retention_days')
}
