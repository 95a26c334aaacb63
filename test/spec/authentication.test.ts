// Sections 5.1 to 5.3 and 7: who is let in, and the one answer to everyone else.

import { expect, test } from 'bun:test'

import { credentials, rawRequest, startSpecRelay, type SpecRelay } from './spec-relay.ts'

const UNAUTHORIZED = {
  error: { code: 'unauthorized', message: 'Invalid or missing API credentials' },
}

type Credentials = { readonly key: string; readonly secret: string }

const BAD: readonly (readonly [string, (good: Credentials) => Readonly<Record<string, string>>])[] =
  [
    ['both headers are missing', () => ({})],
    ['X-API-Key is missing', ({ secret }) => ({ 'X-API-Secret': secret })],
    ['X-API-Secret is missing', ({ key }) => ({ 'X-API-Key': key })],
    ['both are empty', () => ({ 'X-API-Key': '', 'X-API-Secret': '' })],
    ['the key is incorrect', ({ key, secret }) => headersOf(`${key}x`, secret)],
    ['the secret is incorrect', ({ key, secret }) => headersOf(key, `${secret}x`)],
    ['the secret is cut short', ({ key, secret }) => headersOf(key, secret.slice(0, -1))],
    ['the letters of the key have another case', ({ key, secret }) => otherCase(key, secret)],
    ['they are swapped', ({ key, secret }) => headersOf(secret, key)],
    ['they come as a bearer token', ({ secret }) => ({ Authorization: `Bearer ${secret}` })],
  ]

for (const [name, headers] of BAD) {
  test(`spec 5.3, 7: the answer is 401 with the specified body where ${name}`, async () => {
    await using relay = await startSpecRelay()

    const answer = await rawRequest(relay, '/api/v1/messages', {
      headers: headers(credentialsOf(relay)),
    })

    expect(answer.status).toBe(401)
    expect(answer.body).toEqual(UNAUTHORIZED)
  })
}

test('spec 5.3, 7: a revoked key is 401 with the same body, from the very next request on', async () => {
  await using relay = await startSpecRelay()
  const { body: key } = await relay.post('/api/v1/keys', { name: 'short-lived' })
  const before = await rawRequest(relay, '/api/v1/messages', { headers: credentials(key) })

  await relay.request('DELETE', `/api/v1/keys/${key.id}`)

  const after = await rawRequest(relay, '/api/v1/messages', { headers: credentials(key) })
  expect(before.status).toBe(200)
  expect([after.status, after.body]).toEqual([401, UNAUTHORIZED])
})

test('spec 5.1: the secret of one key does not open another', async () => {
  await using relay = await startSpecRelay()
  const { body: one } = await relay.post('/api/v1/keys', {})
  const { body: other } = await relay.post('/api/v1/keys', {})

  const answer = await rawRequest(relay, '/api/v1/messages', {
    headers: headersOf(one.key, other.secret),
  })

  expect([answer.status, answer.body]).toEqual([401, UNAUTHORIZED])
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

    expect([path, answer.status, answer.body]).toEqual([path, 401, UNAUTHORIZED])
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

function credentialsOf({ key }: SpecRelay): Credentials {
  return { key: key?.key ?? '', secret: key?.secret ?? '' }
}

function headersOf(key: string, secret: string): Readonly<Record<string, string>> {
  return { 'X-API-Key': key, 'X-API-Secret': secret }
}

function otherCase(key: string, secret: string): Readonly<Record<string, string>> {
  return headersOf(key.toUpperCase(), secret)
}
