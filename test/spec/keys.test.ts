// Sections 2.1, 4.1, 4.2, 5 and 7: keys, when their secret is seen, who is let in, and the one answer to everyone
// else.

import { expect, test } from 'bun:test'

import { recordingLog } from '../support/recording-log.ts'
import {
  ISO_TIME,
  READER,
  type SpecRelay,
  credentials,
  rawRequest,
  startSpecRelay,
} from './spec-relay.ts'

const KEYS = '/api/v1/keys'

test('spec 2.1, 4.1: a new key has id, name, last_used_at, and its values in the specified shapes', async () => {
  await using relay = await startSpecRelay()

  const { status, body } = await relay.post(KEYS, { name: 'shop-production' })

  expect(status).toBe(201)
  expect(body).toEqual({
    id: expect.stringMatching(/^key_[0-9a-z]{26}$/),
    name: 'shop-production',
    key: expect.stringMatching(/^hl_live_[A-Za-z0-9_-]{32}$/),
    secret: expect.stringMatching(/^hl_secret_[A-Za-z0-9_-]{43}$/),
    created_by: relay.key?.id,
    created_at: expect.stringMatching(ISO_TIME),
    last_used_at: null,
  })
})

test('spec 4.1: the name is optional, and so is the body', async () => {
  await using relay = await startSpecRelay()

  const unnamed = await relay.post(KEYS, {})
  const empty = await relay.request('POST', KEYS)

  expect([unnamed.status, unnamed.body.name]).toEqual([201, null])
  expect([empty.status, empty.body.name]).toEqual([201, null])
  expect(unnamed.body.secret).not.toBe(empty.body.secret)
})

test('spec 2.1, 4.1, 5.5: the secret is in the answer to the creation, and nowhere after', async () => {
  const { log, lines } = recordingLog()
  await using relay = await startSpecRelay({ log })
  const { body: created } = await relay.post(KEYS, { name: 'shop' })
  await relay.send({ to: READER, text: 'hello' }, credentials(created))
  await rawRequest(relay, KEYS, { headers: { ...credentials(created), 'X-API-Key': 'wrong' } })
  await relay.clock.advance(2_000)

  const read = await everythingReadable(relay)
  const revoked = await relay.request('DELETE', `${KEYS}/${created.id}`)

  const seen = JSON.stringify([read, revoked.body, lines])
  expect(seen).toContain(created.id)
  expect(seen).not.toContain(created.secret)
  expect(seen).not.toContain(created.key)
  expect(seen).not.toContain('hl_secret_')
})

test('spec 2.1: a listed key has its name and its last use, and only a hint of its value', async () => {
  await using relay = await startSpecRelay()
  const { body: created } = await relay.post(KEYS, { name: 'shop' })

  const { data } = await relay.get(KEYS)

  expect(data[0]).toEqual({
    id: created.id,
    name: 'shop',
    key_hint: created.key.slice(0, 14),
    created_by: relay.key?.id,
    created_at: created.created_at,
    last_used_at: null,
    revoked_at: null,
  })
})

test('spec 2.1, 5.7: last_used_at says when the key was used last, and moves with each use', async () => {
  await using relay = await startSpecRelay()
  const { body: created } = await relay.post(KEYS, {})
  const lastUse = async () => {
    const { data } = await relay.get(KEYS)
    return data.find(({ id }: { id: string }) => id === created.id).last_used_at
  }
  const use = (headers: Record<string, string>) =>
    rawRequest(relay, '/api/v1/messages', { headers: { ...credentials(created), ...headers } })

  const uses = [await lastUse()]
  await use({})
  uses.push(await lastUse())
  await relay.clock.advance(90_000)
  await use({ 'X-API-Secret': 'wrong' })
  uses.push(await lastUse())
  await use({})
  uses.push(await lastUse())

  expect(uses).toEqual([
    null,
    '2026-11-21T10:00:00.000Z',
    '2026-11-21T10:00:00.000Z',
    '2026-11-21T10:01:30.000Z',
  ])
})

test('spec 4.2: a key is revoked by its id without a body, once or again, and then fails authentication', async () => {
  await using relay = await startSpecRelay()
  const { body: created } = await relay.post(KEYS, {})

  const revoked = [
    await relay.request('DELETE', `${KEYS}/${created.id}`),
    await relay.request('DELETE', `${KEYS}/${created.id}`),
  ]

  for (const { status, body } of revoked) {
    expect([status, body]).toEqual([200, { id: created.id, deleted: true }])
  }
  const after = await relay.request('GET', KEYS, undefined, credentials(created))
  expect([after.status, after.body.error.code]).toEqual([401, 'unauthorized'])
  expect((await relay.request('GET', KEYS)).status).toBe(200)
})

test('spec 5.4, 5.6: a client makes its next key and rotates to it without one refused request', async () => {
  await using relay = await startSpecRelay()
  const { body: old } = await relay.post(KEYS, { name: 'old' })
  const probe = async (key: typeof old) =>
    (await rawRequest(relay, '/api/v1/messages', { headers: credentials(key) })).status

  const created = await relay.request('POST', KEYS, { name: 'new' }, credentials(old))
  const both = [await probe(old), await probe(created.body)]
  await relay.request('DELETE', `${KEYS}/${old.id}`, undefined, credentials(created.body))

  expect([created.status, created.body.created_by]).toEqual([201, old.id])
  expect(both).toEqual([200, 200])
  expect([await probe(old), await probe(created.body)]).toEqual([401, 200])
})

/** What every list and every health finding says. */
async function everythingReadable(relay: SpecRelay): Promise<readonly unknown[]> {
  const paths = ['keys', 'phone-lines', 'messages', 'conversations', 'webhooks', 'health']
  return Promise.all(paths.map((path) => relay.get(`/api/v1/${path}`)))
}

const unauthorized = (reason: string) => ({
  error: {
    code: 'unauthorized',
    message: expect.stringMatching(/^Invalid or missing API credentials\. [A-Z].+[^ ]$/),
    details: expect.objectContaining({ reason }),
    doc_url: '/guide/errors#unauthorized',
    request_id: expect.stringMatching(/^req_/),
  },
})

test('spec 5.1, 5.3, 7: bad credentials of any kind are 401, with the specified body', async () => {
  await using relay = await startSpecRelay()
  const [{ body: one }, { body: revoked }] = [
    await relay.post('/api/v1/keys', {}),
    await relay.post('/api/v1/keys', { name: 'short-lived' }),
  ]
  const { key = '', secret = '' } = relay.key ?? {}
  const ask = (headers: Record<string, string>) =>
    rawRequest(relay, '/api/v1/messages', { headers })
  const statusBefore = (await ask(credentials(revoked))).status
  await relay.request('DELETE', `/api/v1/keys/${revoked.id}`)

  const bad: Readonly<Record<string, readonly [reason: string, Record<string, string>]>> = {
    'both headers are missing': ['missing', {}],
    'X-API-Key is missing': ['missing_key', { 'X-API-Secret': secret }],
    'X-API-Secret is missing': ['missing_secret', { 'X-API-Key': key }],
    'both are empty': ['missing', credentials({ key: '', secret: '' })],
    'the key is incorrect': ['wrong', credentials({ key: `${key}x`, secret })],
    'the secret is incorrect': ['wrong', credentials({ key, secret: `${secret}x` })],
    'the secret is cut short': ['wrong', credentials({ key, secret: secret.slice(0, -1) })],
    'the key is in capitals': ['malformed_key', credentials({ key: key.toUpperCase(), secret })],
    'the key is in quotes': ['malformed_key', credentials({ key: `"${key}"`, secret })],
    'they are swapped': ['swapped', credentials({ key: secret, secret: key })],
    'they come as a bearer token': ['wrong_header', { Authorization: `Bearer ${secret}` }],
    'the secret is that of another key': ['wrong', credentials({ key: one.key, secret })],
    'the key is revoked': ['revoked', credentials(revoked)],
    'the key is revoked and the secret is wrong': [
      'wrong',
      credentials({ key: revoked.key, secret }),
    ],
  }
  for (const [why, [reason, headers]] of Object.entries(bad)) {
    const { status, body } = await ask(headers)

    expect([why, status, body]).toEqual([why, 401, unauthorized(reason)])
  }
  expect([statusBefore, (await ask(credentials(relay.key))).status]).toEqual([200, 200])
})

test('an expired key says so to the holder of its secret, and to nobody else', async () => {
  await using relay = await startSpecRelay()
  const expires_at = '2026-11-21T10:01:00.000Z'
  const { body: made } = await relay.post('/api/v1/keys', { expires_at })
  const ask = (headers: Record<string, string>) =>
    rawRequest(relay, '/api/v1/messages', { headers })
  await relay.clock.advance(120_000)

  const own = await ask(credentials(made))
  const guessed = await ask(credentials({ key: made.key, secret: `${made.secret}x` }))

  expect(own.body.error.message).toBe(
    `Invalid or missing API credentials. This key expired at ${expires_at}. Create another one: hookline keys create`,
  )
  expect(own.body.error.details).toEqual({ reason: 'expired', ended_at: expires_at })
  expect(guessed.body).toEqual(unauthorized('wrong'))
})

test('spec 4, 5.1: every endpoint asks for the credentials, before it looks at anything else', async () => {
  await using relay = await startSpecRelay()
  const webhook = await relay.webhook()
  const calls: readonly (readonly [string, string, string?])[] = [
    ['POST', '/api/v1/keys', '{}'],
    ['GET', '/api/v1/keys'],
    ['DELETE', `/api/v1/keys/${relay.key?.id}`],
    ['GET', '/api/v1/phone-lines'],
    ['POST', '/api/v1/messages/send', '{"to":"+15550001111","text":"hello"}'],
    ['POST', '/api/v1/messages/send', 'not JSON'],
    ['GET', '/api/v1/messages?limit=oops'],
    ['POST', '/api/v1/webhooks', '{"url":"https://a.example.com","events":["message.read"]}'],
    ['GET', `/api/v1/webhooks/${webhook.id}`],
    ['PUT', `/api/v1/webhooks/${webhook.id}`, '{"is_active":false}'],
    ['DELETE', `/api/v1/webhooks/${webhook.id}`],
    ['GET', '/api/v1/conversations'],
    ['GET', '/api/v1/health'],
    ['PATCH', '/api/v1/no-such-route', '{}'],
  ]

  for (const [method, path, body] of calls) {
    const headers = { 'Content-Type': 'application/json' }
    const init = { method, headers, ...(body === undefined ? {} : { body }) }
    const answer = await rawRequest(relay, path, init)

    expect([path, answer.status, answer.body]).toEqual([path, 401, unauthorized('missing')])
  }
  expect((await relay.get('/api/v1/messages')).data).toEqual([])
  expect(await relay.get(`/api/v1/webhooks/${webhook.id}`)).toMatchObject({ is_active: true })
  expect((await relay.get('/api/v1/keys')).data).toHaveLength(1)
})

test('spec 7: an error is an object with code and message, both strings, whatever went wrong', async () => {
  await using relay = await startSpecRelay()
  const wrong: readonly (readonly [string, string, unknown?])[] = [
    ['POST', '/api/v1/messages/send', {}],
    ['POST', '/api/v1/messages/send', { to: 'nobody', text: 'hello' }],
    ['GET', '/api/v1/messages?limit=0'],
    ['GET', '/api/v1/webhooks/wh_unknown'],
    ['PUT', '/api/v1/messages', {}],
    ['GET', '/api/v1/no-such-route'],
  ]

  for (const [method, path, body] of wrong) {
    const answer = await relay.request(method, path, body)

    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(Object.keys(answer.body)).toEqual(['error'])
    expect(answer.body.error.code).toMatch(/^[a-z_]+$/)
    expect(answer.body.error.message).toBeString()
  }
})
