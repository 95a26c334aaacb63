// Every operation of the dashboard, and whether it asks for the password again after an hour. One that is
// new must be named here.

import { expect, test } from 'bun:test'

import { dashboardRoutes } from '../../src/http/routes.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { outcome, startDashboard } from './dashboard-rig.ts'
import { NO_TOOLS } from './http-relay.ts'

const HOUR = 3_600_000
const NEEDED = '403 password_needed'

/** `asks` and `free` with a body that fits; what depends on its body has tests of its own below. */
const OPERATIONS: Readonly<Record<string, readonly ['asks' | 'free' | 'depends', body?: unknown]>> =
  {
    'POST /api/v1/messages/send': ['free', { to: '+12025550123', text: 'x' }],
    'POST /api/v1/messages/:id/resolve': ['free', { status: 'sent' }],
    'POST /api/v1/messages/:id/approve': ['free', {}],
    'POST /api/v1/messages/:id/deny': ['free', {}],
    'DELETE /api/v1/messages/:id': ['free'],
    'POST /api/v1/conversations/:id/messages': ['free', { text: 'x' }],
    'POST /api/v1/attachments': ['free'],
    'PUT /api/v1/contacts/:handle': ['free', { name: 'Ana' }],
    'POST /api/v1/contacts/import': ['free'],
    'PUT /api/v1/opt-outs/:handle': ['free', {}],
    'DELETE /api/v1/opt-outs/:handle': ['asks'],
    'DELETE /api/v1/contacts/:handle': ['asks'],
    'POST /api/v1/attachments/:id/link': ['asks', {}],
    'DELETE /api/v1/attachments/:id': ['asks'],
    'POST /api/v1/conversations/:id/read': ['free', { message_id: 'x' }],
    'PATCH /api/v1/conversations/:id': ['free', { automation_paused: true }],
    'PATCH /api/v1/phone-lines/:id': ['depends'],
    'DELETE /api/v1/phone-lines/:id': ['asks'],
    'POST /api/v1/phone-lines/:id/adopt': ['asks', { from: 'line_x' }],
    'POST /api/v1/webhooks': ['asks', { url: 'https://a.example', events: ['message.sent'] }],
    'PUT /api/v1/webhooks/:id': ['depends'],
    'DELETE /api/v1/webhooks/:id': ['asks'],
    'POST /api/v1/webhooks/:id/rotate-secret': ['asks', {}],
    'POST /api/v1/webhooks/:id/test': ['free', {}],
    'POST /api/v1/webhooks/:id/replay': ['asks', { since: '2026-11-20T00:00:00.000Z' }],
    'POST /api/v1/webhooks/:id/retry-failed': ['free', {}],
    'DELETE /api/v1/webhooks/:id/replay': ['asks'],
    'POST /api/v1/webhook-deliveries/:id/redeliver': ['free', {}],
    'POST /api/v1/keys': ['asks', {}],
    'DELETE /api/v1/keys/:id': ['asks'],
    'POST /api/v1/bridges': ['asks', { phone_number: '+12025550199' }],
    'POST /api/v1/bridges/:id/token': ['asks', {}],
    'DELETE /api/v1/bridges/:id': ['asks'],
    'PUT /api/v1/settings/:name': ['asks', { value: '1' }],
    'PUT /api/v1/snoozes': ['free', { code: 'x', about: { kind: 'relay', id: null }, until: null }],
    'GET /api/v1/backups/:name': ['asks'],
    'POST /api/v1/backup': ['free', {}],
    'POST /api/v1/update-check': ['free', {}],
    'POST /dashboard/restore': ['asks'],
    'POST /dashboard/restore/start': ['asks', { id: 'x' }],
    'DELETE /dashboard/restore': ['asks'],
    'POST /dashboard/downloads': ['asks', { backup: 'x' }],
    'GET /dashboard/downloads/:ticket': ['free'],
    'POST /dashboard/setup': ['free', { token: 'x', password: 'x' }],
    'POST /dashboard/session': ['free', { password: 'x' }],
    'POST /dashboard/session/elevate': ['free', { password: 'x' }],
    'POST /dashboard/password': ['free', { current: 'x', password: 'battery staple' }],
    'PUT /dashboard/setup-step': ['free', { step: 'line' }],
    'DELETE /dashboard/session': ['free'],
    'DELETE /dashboard/sessions': ['free'],
    ...reading(
      '/api/v1/messages',
      '/api/v1/messages/:id',
      '/api/v1/conversations',
      '/api/v1/conversations/:id',
      '/api/v1/conversations/:id/export',
      '/api/v1/contacts/export',
      '/dashboard/unread',
      '/api/v1/phone-lines',
      '/api/v1/webhooks',
      '/api/v1/webhooks/:id',
      '/api/v1/webhooks/:id/deliveries',
      '/api/v1/webhooks/:id/replay',
      '/api/v1/stats',
      '/api/v1/attachments/:id',
      '/api/v1/attachments/:id/content',
      '/api/v1/recipients/:handle',
      '/api/v1/contacts',
      '/api/v1/contacts/:handle',
      '/api/v1/opt-outs',
      '/api/v1/search',
      '/api/v1/webhook-deliveries/:id',
      '/api/v1/events',
      '/api/v1/events/stream',
      '/api/v1/keys',
      '/api/v1/keys/self',
      '/api/v1/bridges',
      '/api/v1/audit',
      '/api/v1/health',
      '/api/v1/settings',
      '/api/v1/backups',
      '/api/v1/log',
      '/api/v1/update-check',
      '/dashboard/restore',
      '/healthz',
      '/readyz',
      '/metrics',
      '/dashboard/session',
      '/dashboard/sessions',
      '/dashboard/about',
      '/dashboard/state',
      '/dashboard/checks',
      '/dashboard/attention',
      '/dashboard/messages/:id/times',
      '/dashboard/contact-cost',
      '/dashboard/webhooks/:id/deliveries',
      '/dashboard/pictures/home',
      '/dashboard/pictures/line/:id',
      '/dashboard/pictures/webhook/:id',
      '/dashboard/webhook-days',
      '/dashboard/test-inbox',
      '/dashboard/webhooks/:id/inbox',
      '/dashboard/webhooks/:id/inbox/:entry',
      '/dashboard/messages/:id/deliveries',
      '/dashboard/webhook-deliveries/:id',
      '/dashboard/webhook-deliveries/:id/request',
      '/dashboard/qr',
      '/dashboard/events',
    ),
  }

function reading(...paths: readonly string[]): Readonly<Record<string, readonly ['free']>> {
  return Object.fromEntries(paths.map((path) => [`GET ${path}`, ['free'] as const]))
}

/** As a browser asks for it, with an id that nothing has. */
function pathOf(route: string): string {
  const path = route.replace(/^\/api\/v1\//, '/dashboard/api/').replaceAll(/:[a-z]+/g, 'unknown')
  return path.replace('/settings/unknown', '/settings/message_retention_days')
}

test('every operation of the dashboard is in the table', () => {
  const { routes } = dashboardRoutes(NO_TOOLS, new AbortController().signal)

  const operations = routes.map(({ method, path }) => `${method} ${path}`)

  expect(operations.toSorted()).toEqual(Object.keys(OPERATIONS).toSorted())
})

test('each operation asks for the password again after an hour, or does not, as the table says', async () => {
  await using relay = await startDashboard()
  await relay.claim()
  const table = Object.entries(OPERATIONS).filter(([, [word]]) => word !== 'depends')
  const found: [operation: string, word: string][] = []

  for (const [operation, [, body]] of table) {
    const browser = await relay.logIn()
    relay.clock.doze(HOUR)
    const [method = '', route = ''] = operation.split(' ')
    const answer = await browser.fetch(method, pathOf(route), { body })
    const text = answer.ok ? '' : await answer.text()
    await answer.body?.cancel().catch(() => {})
    found.push([operation, text.includes('"code":"password_needed"') ? 'asks' : 'free'])
  }

  const expected = table.map(([operation, [word]]) => [operation, word] as const)
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected))
}, 30_000)

test('all settings last, so each asks', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()
  const { data } = (await browser.get('/dashboard/api/settings')).body
  relay.clock.doze(HOUR)

  for (const { name } of data) {
    const answer = await browser.put(`/dashboard/api/settings/${name}`, { value: '1' })

    expect(`${name} ${outcome(answer)}`).toBe(`${name} ${NEEDED}`)
  }
})

const MOVES: readonly (readonly [what: string, changes: object, expected: string])[] = [
  ['another address', { url: 'https://attacker.example/' }, NEEDED],
  ['another path', { url: 'https://shop.example.com/other' }, NEEDED],
  [
    'another address beside what stays',
    { url: 'https://a.example/', events: ['message.sent'] },
    NEEDED,
  ],
  ['the same address', { url: 'https://shop.example.com/hooks' }, '200'],
  ['other events', { events: ['message.sent'] }, '200'],
  ['what is active already', { is_active: true }, '200'],
  ['a pause', { is_active: false }, '200'],
  ['nothing', {}, '400 invalid_request'],
]

for (const [what, changes, expected] of MOVES) {
  test(`a change of a webhook to ${what} after an hour is ${expected}`, async () => {
    await using relay = await startDashboard()
    const browser = await relay.claim()
    const settings = { url: 'https://shop.example.com/hooks', events: ['message.received'] }
    const { id } = (await browser.post('/dashboard/api/webhooks', settings)).body
    relay.clock.doze(HOUR)

    const answer = await browser.put(`/dashboard/api/webhooks/${id}`, changes)

    expect(outcome(answer)).toBe(expected)
    const { url } = (await browser.get(`/dashboard/api/webhooks/${id}`)).body
    expect(url).toBe(settings.url)
  })
}

test('a webhook that was paused is not active again without the password', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()
  const settings = { url: 'https://shop.example.com/hooks', events: ['message.received'] }
  const { id } = (await browser.post('/dashboard/api/webhooks', settings)).body
  await browser.put(`/dashboard/api/webhooks/${id}`, { is_active: false })
  relay.clock.doze(HOUR)

  const answer = await browser.put(`/dashboard/api/webhooks/${id}`, { is_active: true })

  expect(outcome(answer)).toBe(NEEDED)
})

const LINE_CHANGES: readonly (readonly [what: string, changes: object, expected: string])[] = [
  ['more new contacts', { daily_contact_limit: 51 }, NEEDED],
  ['as many new contacts', { daily_contact_limit: 50 }, '200'],
  ['fewer new contacts', { daily_contact_limit: 0 }, '200'],
  ['SMS too', { relay_sms: true }, NEEDED],
  ['no SMS', { relay_sms: false }, '200'],
  ['a label', { label: 'shop' }, '200'],
  ['off', { is_enabled: false }, '200'],
]

for (const [what, changes, expected] of LINE_CHANGES) {
  test(`a change of a line to ${what} after an hour is ${expected}`, async () => {
    const driver = new ScriptedDriver()
    driver.add('+12025550101')
    await using relay = await startDashboard({ drivers: [driver] })
    const browser = await relay.claim()
    const [line] = (await browser.get('/dashboard/api/phone-lines')).body.data
    relay.clock.doze(HOUR)

    const answer = await browser.ask('PATCH', `/dashboard/api/phone-lines/${line.id}`, {
      body: changes,
    })

    expect(outcome(answer)).toBe(expected)
  })
}
