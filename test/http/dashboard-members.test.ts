// Every operation of the dashboard, asked for by a member: those of reading and answering, and no other.

import { expect, test } from 'bun:test'

import { OPERATIONS, pathOf, ROUTES } from './dashboard-operations.ts'
import { outcome, startDashboard } from './dashboard-rig.ts'

const ALLOWED = [
  'DELETE /api/v1/messages/:id',
  'DELETE /dashboard/session',
  'GET /api/v1/attachments/:id',
  'GET /api/v1/attachments/:id/content',
  'GET /api/v1/contacts',
  'GET /api/v1/contacts/:handle',
  'GET /api/v1/conversations',
  'GET /api/v1/conversations/:id',
  'GET /api/v1/messages',
  'GET /api/v1/messages/:id',
  'GET /api/v1/phone-lines',
  'GET /api/v1/search',
  'GET /api/v1/sites',
  'GET /api/v1/sites/:id',
  'GET /dashboard/contact-cost',
  'GET /dashboard/events',
  'GET /dashboard/session',
  'GET /dashboard/unread',
  'POST /api/v1/attachments',
  'POST /api/v1/conversations/:id/messages',
  'POST /api/v1/conversations/:id/read',
  'POST /api/v1/messages/send',
  'POST /dashboard/session',
  'POST /dashboard/setup',
]
test('a member may read and answer, and every other operation is 403 in the one shape', async () => {
  await using relay = await startDashboard()
  const owner = await relay.claim()
  const member = await relay.join(owner)
  // Those reached under another path are not of the dashboard.
  const operations = ROUTES.filter((route) => !/ \/(?:healthz|readyz|metrics)$/.test(route))
  const allowed: string[] = []

  for (const operation of operations) {
    const [method = '', route = ''] = operation.split(' ')
    const browser = relay.browser()
    browser.continueAs(member)
    const body = OPERATIONS[operation]?.[1]
    const answer = await browser.fetch(method, pathOf(route), { body })
    const text = answer.headers.get('content-type')?.includes('json') ? await answer.text() : ''
    await answer.body?.cancel().catch(() => {})
    const isForbidden = answer.status === 403 && text.includes('"code":"forbidden"')
    if (!isForbidden) allowed.push(operation)
    if (operation === 'DELETE /dashboard/session') {
      const again = { name: 'Anna', password: 'correct horse' }
      await member.post('/dashboard/session', again)
    }
  }

  expect(allowed.toSorted()).toEqual(ALLOWED)
})

test('a HEAD is as forbidden as its GET, and an operation that is named nowhere is not there', async () => {
  await using relay = await startDashboard()
  const owner = await relay.claim()
  const member = await relay.join(owner)

  const heads = await Promise.all(
    ['/dashboard/api/keys', '/dashboard/api/messages'].map((path) => member.fetch('HEAD', path)),
  )
  const nowhere = [owner, member].map((browser) => browser.get('/dashboard/api/nowhere'))

  expect(heads.map(({ status }) => status)).toEqual([403, 200])
  expect((await Promise.all(nowhere)).map(outcome)).toEqual(['404 not_found', '404 not_found'])
  expect(outcome(await member.get('/api/v1/messages'))).toBe('401 unauthorized')
})
