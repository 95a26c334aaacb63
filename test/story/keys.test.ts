// Keys with limits, on the real relay: scopes, lines, expiry, rules of sending, and keys that make keys.

import { expect, test } from 'bun:test'

import { routeOf } from '../../src/api/operation.ts'
import { OPERATIONS } from '../../src/api/operations.ts'
import { publicRoutes } from '../../src/http/routes.ts'
import { NO_RELAY } from '../http/http-relay.ts'
import {
  ANNA,
  BOB,
  HOUR_MS,
  errorOf,
  idsIn,
  idsOf,
  makeKey,
  openShop,
  type Shop,
} from '../support/limited-keys.ts'
import { startRich } from '../support/rich-relay.ts'
import { refuses } from '../support/scripted-driver.ts'
import { TEST_START } from '../support/test-clock.ts'
import { type Json } from '../support/test-relay.ts'

/** A message from ANNA to the first line and one from BOB to the second. */
async function talk({ devices }: Shop): Promise<void> {
  await devices[0]?.receive({ guid: 'a', handle: ANNA as never, text: 'apples please' })
  await devices[1]?.receive({ guid: 'b', handle: BOB as never, text: 'apples today' })
}

test('every route of the API declares the scope of its key, or that it needs none', () => {
  const served = publicRoutes(...NO_RELAY).routes.filter(({ path }) => path.startsWith('/api/'))
  const limited = Object.values(OPERATIONS).filter((operation) => 'scope' in operation)
  const declared = limited.map(routeOf).map(({ method, path }) => `${method} ${path}`)

  const open = served.filter(({ method, path }) => !declared.includes(`${method} ${path}`))

  expect(served.length).toBeGreaterThan(40)
  expect(open.map(({ path }) => path)).toEqual([])
})

test('a call without its scope is refused, with the missing one', async () => {
  await using relay = await openShop()
  await talk(relay)
  const reader = await makeKey(relay, { scopes: ['read'] })

  const answers = [
    await reader.call('GET', '/messages'),
    await reader.send(ANNA),
    await reader.call('POST', '/keys', {}),
    await reader.call('GET', '/webhooks'),
    await reader.call('DELETE', '/keys/key_1'),
  ]

  expect(answers.map(errorOf)).toEqual([
    [200, undefined, undefined],
    [403, 'forbidden', { required_scope: 'messages:send' }],
    [403, 'forbidden', { required_scope: 'keys:write' }],
    [403, 'forbidden', { required_scope: 'webhooks:read' }],
    [403, 'forbidden', { required_scope: 'keys:write' }],
  ])
  expect(relay.devices.flatMap(({ given }) => given)).toEqual([])
})

test('names in messages need the scope of the contacts', async () => {
  await using relay = await openShop()
  await talk(relay)
  await relay.put(`/api/v1/contacts/${encodeURIComponent(ANNA)}`, { name: 'Anna' })
  const reader = await makeKey(relay, { scopes: ['messages:read'] })

  const [plain, named] = await Promise.all(
    ['', '?contact_names=true'].map((query) => reader.call('GET', `/messages${query}`)),
  )

  expect(plain?.status).toBe(200)
  expect(named?.body.error.details).toEqual({ required_scope: 'contacts:read' })
})

test('a key of one line sees nothing of the others, and every page is full', async () => {
  await using relay = await openShop()
  const [first, second] = await idsOf(relay)
  for (let number = 0; number < 6; number += 1) {
    const guid = (line: string) => `${line}${number}`
    await relay.devices[0]?.receive({ guid: guid('a'), handle: ANNA as never, text: 'apples' })
    await relay.devices[1]?.receive({ guid: guid('b'), handle: BOB as never, text: 'apples' })
  }
  for (const [handle, name] of [
    [ANNA, 'Anna'],
    [BOB, 'Bob'],
  ] as const)
    await relay.put(`/api/v1/contacts/${encodeURIComponent(handle)}`, { name })
  const hook = { url: 'https://a.example/x', events: ['message.received'] }
  await relay.post('/api/v1/webhooks', hook)
  const key = await makeKey(relay, { phone_line_ids: [first] })
  const own = (await key.call('POST', '/webhooks', hook)).body

  const handles = async (path: string) =>
    (await key.get(path)).data.map((each: Json) => each.handle)
  const found = await key.get('/search?q=apples')
  const numbers = await key.get('/search?q=20255507')
  const stats = await key.get('/stats?days=1')
  const page = await key.get('/messages?limit=4')
  const rest = await key.get(`/messages?limit=4&cursor=${page.next_cursor}`)

  expect([page.data.length, rest.data.length, rest.has_more]).toEqual([4, 2, false])
  expect([...page.data, ...rest.data].every(({ handle }) => handle === ANNA)).toBe(true)
  expect(await handles('/conversations')).toEqual([ANNA])
  expect(await handles(`/conversations?handle=${encodeURIComponent(BOB)}`)).toEqual([])
  expect(await handles(`/messages?handle=${encodeURIComponent(BOB)}`)).toEqual([])
  expect(await handles('/messages?updated_since=2026-01-01T00:00:00Z')).toEqual(Array(6).fill(ANNA))
  expect(await handles(`/messages?phone_line_id=${second}`)).toEqual([])
  expect(await handles('/contacts')).toEqual([ANNA])
  expect(idsIn(await key.get('/phone-lines'))).toEqual([first ?? ''])
  expect(idsIn(await key.get('/webhooks'))).toEqual([own.id])
  expect(found.messages.map(({ message }: Json) => message.handle)).toEqual(Array(6).fill(ANNA))
  expect(numbers.conversations.map(({ handle }: Json) => handle)).toEqual([ANNA])
  expect(numbers.people.map(({ handle }: Json) => handle)).toEqual([ANNA])
  expect([stats.data[0].received, stats.data[0].lines.length]).toEqual([6, 1])
  expect((await key.get(`/recipients/${encodeURIComponent(BOB)}`)).evidence).toBe('none')
})

test('a thing of another line is unknown to a key, in the words of one that never was', async () => {
  await using relay = await openShop()
  await talk(relay)
  const [first, second] = await idsOf(relay)
  const hook = { url: 'https://a.example/x', events: ['message.received'] }
  const all = (await relay.post('/api/v1/webhooks', hook)).body.id
  const test = (await relay.post(`/api/v1/webhooks/${all}/test`, {})).body.id
  const ofBob = `?handle=${encodeURIComponent(BOB)}`
  const message = (await relay.get(`/api/v1/messages${ofBob}`)).data[0]
  const key = await makeKey(relay, { phone_line_ids: [first] })
  const asked = [
    ['GET', '/messages/:id', message.id],
    ['GET', '/conversations/:id', message.conversation_id],
    ['GET', '/conversations/:id/export', message.conversation_id],
    ['POST', '/conversations/:id/read', message.conversation_id, { message_id: message.id }],
    ['POST', '/conversations/:id/messages', message.conversation_id, { text: 'hi' }],
    ['PATCH', '/conversations/:id', message.conversation_id, { automation_paused: true }],
    ['PATCH', '/phone-lines/:id', second, { label: 'mine' }],
    ['GET', '/webhooks/:id', all],
    ['PUT', '/webhooks/:id', all, { is_active: false }],
    ['DELETE', '/webhooks/:id', all],
    ['GET', '/webhooks/:id/deliveries', all],
    ['GET', '/webhook-deliveries/:id', test],
    ['POST', '/webhook-deliveries/:id/redeliver', test],
  ] as const

  for (const [method, path, id = '', body] of asked) {
    const unknown = `${id.slice(0, id.indexOf('_'))}_00000000000000000000000000`
    const foreign = await key.call(method, path.replace(':id', id), body)
    const never = await relay.request(method, `/api/v1${path.replace(':id', unknown)}`, body)
    expect([method, path, ...errorOf(foreign)]).toEqual([method, path, ...errorOf(never)])
    expect(foreign.status).toBe(404)
  }
  expect(errorOf(await key.send(ANNA, { phone_line_id: second }))).toEqual([
    404,
    'phone_line_not_found',
    undefined,
  ])
})

test('a file of another line, or that another key uploaded, is neither read nor sent on by a key', async () => {
  await using relay = await startRich({ numbers: ['+12025550801', '+12025550802'] })
  const [first, second] = await idsOf(relay)
  const file = await relay.file('menu')
  const sent = { to: BOB, text: 'hi', phone_line_id: second, attachments: [{ id: file }] }
  await relay.send(sent)
  const key = await makeKey(relay, { phone_line_ids: [first] })
  const unused = await relay.file('soup')

  const answers = [
    await key.call('GET', `/attachments/${file}`),
    await key.call('POST', `/attachments/${file}/link`, {}),
    await key.send(ANNA, { attachments: [{ id: file }] }),
    await key.send(ANNA, { attachments: [{ id: unused }] }),
  ]

  expect(answers.map((answer) => errorOf(answer).slice(0, 2))).toEqual([
    [404, 'attachment_not_found'],
    [404, 'attachment_not_found'],
    [404, 'attachment_not_found'],
    [404, 'attachment_not_found'],
  ])
})

test('a message of a key that names no line never leaves its lines', async () => {
  await using relay = await openShop()
  const [, second, third] = await idsOf(relay)
  await relay.devices[0]?.receive({ guid: 'a', handle: ANNA as never })
  const key = await makeKey(relay, { phone_line_ids: [second, third] })
  for (const device of relay.devices.slice(1)) device.script = refuses

  const { body } = await key.send(ANNA)
  for (let seconds = 0; seconds < 60; seconds += 1) await relay.clock.advance(1_000)

  expect((await relay.message(body.id ?? body.error.details.message_id)).status).toBe('failed')
  expect(relay.devices.map(({ given }) => given.length > 0)).toEqual([false, true, true])
})

test('a webhook of a key gets the events of its lines only, also when they are sent later', async () => {
  const told: string[] = []
  await using relay = await openShop({
    post: async ({ body }) => {
      told.push(JSON.parse(body).message.handle)
      return {
        result: 'answered',
        statusCode: 200,
        excerpt: null,
        retryAfterSeconds: null,
        isPrivateTarget: false,
      }
    },
  })
  const [first, second] = await idsOf(relay)
  const key = await makeKey(relay, { phone_line_ids: [first] })
  const hook = { url: 'https://a.example/x', events: ['message.received'] }

  const own = (await key.call('POST', '/webhooks', hook)).body
  const wide = await key.call('POST', '/webhooks', { ...hook, phone_line_ids: [second] })
  await talk(relay)
  await relay.clock.advance(10_000)
  const replay = { since: '2026-01-01T00:00:00Z', include_earlier: true, dry_run: true }
  const { would_replay: later } = (await key.call('POST', `/webhooks/${own.id}/replay`, replay))
    .body

  expect(own.phone_line_ids).toEqual([first])
  expect([wide.status, wide.body.error.details.issues[0].path]).toEqual([400, 'phone_line_ids'])
  expect([told, later]).toEqual([[ANNA], 0])
})

test('a key without the scope for private addresses cannot reach them, by webhook or by file', async () => {
  await using relay = await openShop()
  const local = { url: 'http://192.168.1.4/x', events: ['message.sent'] }
  const named = { ...local, url: 'http://nas.example/x' }
  const key = await makeKey(relay, { scopes: ['send', 'webhooks:write', 'webhooks:read'] })

  const refused = await key.call('POST', '/webhooks', local)
  const made = await key.call('POST', '/webhooks', named)
  const owners = (await relay.post('/api/v1/webhooks', local)).body
  const moved = await key.call('PUT', `/webhooks/${owners.id}`, named)

  expect([refused.status, refused.body.error.details.issues[0].path]).toEqual([400, 'url'])
  expect([made.body.is_public_only, owners.is_public_only]).toEqual([true, undefined])
  expect(moved.body.is_public_only).toBe(true)
})

test('an expired key is refused, and the holder of its secret learns why', async () => {
  await using relay = await openShop()
  const expires_at = new Date(TEST_START + HOUR_MS).toISOString()
  const key = await makeKey(relay, { expires_at })
  const past = await makeKey(relay, { expires_at: '2020-01-01T00:00:00Z' })

  const before = await key.call('GET', '/messages')
  await relay.clock.advance(5_000)
  const all = await relay.get('/api/v1/health')
  await relay.clock.advance(HOUR_MS)
  const after = await key.call('GET', '/messages')
  const wrong = await key.call('GET', '/messages', undefined, {
    'X-API-Secret': `hl_secret_${'x'.repeat(43)}`,
  })

  const warnings = all.data.map(({ code }: Json) => code)

  expect(warnings).toContain('keys_expire')
  expect((await relay.get('/api/v1/health')).data.map(({ code }: Json) => code)).not.toContain(
    'keys_expire',
  )
  expect([past.status, before.status, after.status]).toEqual([400, 200, 401])
  const reasonOf = ({ body }: { readonly body: Json }) => body.error.details.reason
  expect([reasonOf(after), reasonOf(wrong)]).toEqual(['expired', 'wrong'])
})

test('a key reads what it may do itself', async () => {
  await using relay = await openShop()
  const [first] = await idsOf(relay)
  const rules = { recipients: 'list', allow: [ANNA], sends_per_hour: 5 }
  const key = await makeKey(relay, {
    name: 'n8n',
    scopes: ['send'],
    phone_line_ids: [first],
    rules,
  })

  const self = await key.get('/keys/self')
  const [made] = (await relay.get('/api/v1/audit?action=key.created')).data

  expect(self).toMatchObject({
    id: key.made.id,
    name: 'n8n',
    scopes: ['messages:send', 'attachments:write'],
    phone_line_ids: [first],
    expires_at: null,
    rules: { ...rules, sends_per_day: null, approval: 'never', quiet_hours: null },
  })
  expect(made.after).toMatchObject({ scopes: self.scopes, phone_line_ids: [first] })
  expect(JSON.parse(made.after.rules)).toEqual(self.rules)
})

test('no key makes, sees or revokes one that may do more', async () => {
  await using relay = await openShop()
  const [first, second] = await idsOf(relay)
  const end = new Date(TEST_START + HOUR_MS).toISOString()
  const rules = { recipients: 'known', allow: [BOB], sends_per_hour: 5, approval: 'new_contacts' }
  const limits = {
    scopes: ['send', 'keys:read', 'keys:write'],
    phone_line_ids: [first],
    expires_at: end,
  }
  const maker = await makeKey(relay, { ...limits, rules })
  const above = await makeKey(relay, { ...limits, rules: { ...rules, sends_per_hour: 6 } })

  const asked: readonly [Json, Json][] = [
    [{ scopes: ['read'] }, ['scopes']],
    [{ expires_at: new Date(TEST_START + 2 * HOUR_MS).toISOString() }, ['expires_at']],
    [{ rules: { sends_per_hour: 6 } }, ['rules']],
    [{ rules: { recipients: 'anyone', allow: [] } }, ['rules']],
    [{ rules: { allow: [ANNA] } }, ['rules']],
    [{ rules: { approval: 'never' } }, ['rules']],
  ]
  for (const [body, parts] of asked) {
    const { status, made } = await makeKey(relay, body, maker)
    expect([body, status, made.error?.details]).toEqual([body, 403, { above: parts }])
  }
  const other = await makeKey(relay, { phone_line_ids: [second] }, maker)
  const child = await makeKey(relay, { name: 'child', rules: { recipients: 'list' } }, maker)
  const revoked = await maker.call('DELETE', `/keys/${above.made.id}`)

  expect(other.status).toBe(400)
  expect(idsIn(await maker.get('/keys'))).toEqual([child.made.id, maker.made.id])
  expect(child.made).toMatchObject({ phone_line_ids: [first], expires_at: end })
  expect(child.made.rules).toMatchObject({ ...rules, recipients: 'list' })
  expect([revoked.status, (await above.call('GET', '/keys/self')).status]).toEqual([404, 200])
})
