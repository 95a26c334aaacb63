// Who may call as the shortcuts of an iPhone, and what becomes of the line of a bridge.

import { expect, test } from 'bun:test'

import { asOwner } from '../support/control-socket.ts'
import { startRelay } from '../support/test-relay.ts'
import { ASYNC, FRIEND, NUMBER, phoneOf, startBridged } from './shortcuts-relay.ts'

const PATHS = ['/bridge/v1/receive', '/bridge/v1/next', '/bridge/v1/done', '/bridge/v1/other']

test('a bridge is made with a token that is shown once and stored as a hash', async () => {
  await using relay = await startRelay()

  const made = await relay.post('/api/v1/bridges', { phone_number: NUMBER, label: 'Shop' })
  const listed = await relay.get('/api/v1/bridges')

  const { token, ...bridge } = made.body
  expect(made.status).toBe(201)
  expect(token).toMatch(/^hlb_[\w-]{43}$/)
  expect(bridge).toEqual({
    id: expect.stringMatching(/^brg_[0-9a-z]{26}$/),
    phone_number: NUMBER,
    label: 'Shop',
    token_hint: token.slice(0, 10),
    created_by: relay.key?.id,
    created_at: bridge.created_at,
    token_created_at: bridge.created_at,
    last_heard_at: null,
    revoked_at: null,
  })
  expect(listed).toEqual({ data: [bridge], has_more: false, next_cursor: null })
  const rows = JSON.stringify(
    relay.db.sqlite.query("SELECT * FROM credentials WHERE kind = 'bridge'").all(),
  )
  expect(rows).not.toContain(token.slice(10))
})

test('a number has one bridge, until that is removed', async () => {
  await using relay = await startRelay()
  const make = () => relay.post('/api/v1/bridges', { phone_number: NUMBER })

  const first = await make()
  const second = await make()
  await relay.request('DELETE', `/api/v1/bridges/${first.body.id}`)
  const third = await make()

  expect([first.status, second.status, third.status]).toEqual([201, 409, 201])
  expect(second.body.error.code).toBe('bridge_exists')
})

test('a bridge for what is no number in full is refused', async () => {
  await using relay = await startRelay()
  const numbers = ['12025550147', 'mum@example.com', '+0123456789', '']

  const answers = await Promise.all(
    numbers.map((number) => relay.post('/api/v1/bridges', { phone_number: number })),
  )

  expect(answers.map(({ status, body }) => [status, body.error.details.issues[0].path])).toEqual(
    numbers.map(() => [400, 'phone_number']),
  )
})

test('a token opens nothing but its three routes, and a key opens none of them', async () => {
  await using box = await startBridged()
  const { relay, phone } = box
  const headers = {
    'X-API-Key': '',
    'X-API-Secret': '',
    Authorization: `Bearer ${box.bridge.token}`,
  }

  const elsewhere = await Promise.all([
    relay.request('GET', '/api/v1/messages', undefined, headers),
    relay.request('GET', '/api/v1/bridges', undefined, headers),
    relay.request('POST', '/api/v1/messages/send', { to: FRIEND, text: 'hello' }, headers),
    relay.request('GET', '/dashboard/api/messages', undefined, { ...headers, Host: 'localhost' }),
  ])
  const byKey = await Promise.all(PATHS.map((path) => relay.post(path, {})))
  const byToken = [await phone.call('/bridge/v1/other', {}), await phone.call('/bridge/v1', {})]
  const byOther = await phoneOf(relay, `${box.bridge.token.slice(0, -1)}~`).receive({})

  expect(elsewhere.map(({ status }) => status)).toEqual([401, 401, 401, 401])
  expect(byKey.map(({ status }) => status)).toEqual(PATHS.map(() => 401))
  expect(byKey[0]?.body.error).toMatchObject({
    code: 'unauthorized',
    message: expect.stringMatching(/^Invalid or missing bridge token\. /),
    details: { reason: 'missing_token' },
  })
  expect(byToken.map(({ status }) => status)).toEqual([404, 404])
  expect(byOther.status).toBe(401)
})

test('a call without a token learns nothing, whatever its body', async () => {
  await using box = await startBridged()
  const { relay } = box
  const stranger = phoneOf(relay, 'hlb_')

  const answers = [
    await stranger.call('/bridge/v1/next', { unknown: 1 }),
    await stranger.call('/bridge/v1/done', 'x'.repeat(300_000)),
    await stranger.call('/bridge/v1/nowhere', {}),
  ]

  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401])
})

test('a new token kills the one before at once, also in a call that waits', async () => {
  await using box = await startBridged()
  const { relay, phone, clock } = box
  const waiting = phone.next()
  await clock.advance(100)

  const renewed = await relay.post(`/api/v1/bridges/${box.bridge.id}/token`, {})
  const sent = await relay.send({ to: FRIEND, text: 'hello' }, ASYNC)
  await clock.advance(100)
  const refused = await waiting
  const dead = await phone.receive({})
  const asked = phoneOf(relay, renewed.body.token).next()
  await clock.advance(100)

  expect(renewed.status).toBe(200)
  expect(renewed.body).toEqual({
    id: box.bridge.id,
    token: expect.stringMatching(/^hlb_[\w-]{43}$/),
  })
  expect([refused.status, dead.status]).toEqual([401, 401])
  expect((await asked).body.message.id).toBe(sent.body.id)
})

test('a removed bridge is dead at once, its line goes offline and can be deleted', async () => {
  await using box = await startBridged()
  const { relay, phone, clock } = box
  const waiting = phone.next()
  await clock.advance(100)
  const { id } = await box.line()
  const kept = await relay.request('DELETE', `/api/v1/phone-lines/${id}`)

  const removed = await relay.request('DELETE', `/api/v1/bridges/${box.bridge.id}`)
  const again = await relay.request('DELETE', `/api/v1/bridges/${box.bridge.id}`)
  await relay.send({ to: FRIEND, text: 'hello' }, ASYNC)
  await clock.advance(5_000)
  const offline = await box.line()
  const renewed = await relay.post(`/api/v1/bridges/${box.bridge.id}/token`, {})
  const deleted = await relay.request('DELETE', `/api/v1/phone-lines/${id}`)

  expect([kept.status, kept.body.error.code]).toEqual([409, 'phone_line_in_use'])
  expect([removed.status, again.status]).toEqual([200, 200])
  expect(removed.body).toEqual({ id: box.bridge.id, deleted: true })
  expect((await waiting).status).toBe(401)
  expect((await phone.receive({})).status).toBe(401)
  expect(offline).toMatchObject({ status: 'offline', status_reason: 'device_absent' })
  expect(offline.status_hint).toContain('bridge of this line was removed')
  expect(renewed.status).toBe(404)
  expect(deleted.status).toBe(200)
  expect(await relay.lines()).toEqual([])
})

test('a new bridge for the number of a removed one goes on with its line', async () => {
  await using box = await startBridged()
  const { relay, clock } = box
  const before = await box.line()
  await relay.request('DELETE', `/api/v1/bridges/${box.bridge.id}`)
  await clock.advance(5_000)

  const made = await relay.post('/api/v1/bridges', { phone_number: NUMBER })
  await clock.advance(5_000)
  const asked = phoneOf(relay, made.body.token).next()
  await clock.advance(25_000)
  await asked

  expect(await relay.lines()).toMatchObject([{ id: before.id, status: 'online' }])
})

test('a line that does not run yet asks the iPhone to come again', async () => {
  await using relay = await startRelay()
  const { body } = await relay.post('/api/v1/bridges', { phone_number: NUMBER })
  const phone = phoneOf(relay, body.token)

  const answers = [await phone.receive({}), await phone.next(), await phone.done('msg_x')]

  expect(answers.map((one) => [one.status, one.headers.get('retry-after')])).toEqual(
    answers.map(() => [503, '5']),
  )
  expect(answers[0]?.body.error.code).toBe('starting')
})

test('when a bridge was heard is known to the minute, and written no more often', async () => {
  await using box = await startBridged()
  const { relay, phone, clock, bridge } = box
  const heard = async () => (await relay.get('/api/v1/bridges')).data[0].last_heard_at
  const stored = () =>
    relay.db.sqlite
      .query<{ at: number }, []>("SELECT last_used_at AS at FROM credentials WHERE kind = 'bridge'")
      .get()?.at
  const first = new Date(clock.now()).toISOString()

  await phone.receive({})
  const told = await heard()
  const writes: unknown[] = []
  for (let i = 0; i < 24; i += 1) {
    await clock.advance(5_000)
    await phone.receive({ id: `${i}` })
    writes.push(stored())
  }

  expect(told).toBe(first)
  expect(new Set(writes).size).toBeLessThanOrEqual(3)
  expect(clock.now() - Date.parse(await heard())).toBeLessThanOrEqual(60_000)
  expect(await asOwner(relay, 'GET', '/bridges')).toMatchObject({ data: [{ id: bridge.id }] })
})

test('the answer to a revoked key lists the bridges that it made', async () => {
  await using box = await startBridged()

  const { body } = await box.relay.request('DELETE', `/api/v1/keys/${box.relay.key?.id}`)

  expect(body.created.bridges).toEqual([box.bridge.id])
})
