// Sections 5.1 to 5.3 and 7: who is let in, and the one answer to everyone else.

import { expect, test } from 'bun:test'

import { credentials, rawRequest, startSpecRelay } from './spec-relay.ts'

const UNAUTHORIZED = {
  error: { code: 'unauthorized', message: 'Invalid or missing API credentials' },
}

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

  const bad: Readonly<Record<string, Record<string, string>>> = {
    'both headers are missing': {},
    'X-API-Key is missing': { 'X-API-Secret': secret },
    'X-API-Secret is missing': { 'X-API-Key': key },
    'both are empty': credentials({ key: '', secret: '' }),
    'the key is incorrect': credentials({ key: `${key}x`, secret }),
    'the secret is incorrect': credentials({ key, secret: `${secret}x` }),
    'the secret is cut short': credentials({ key, secret: secret.slice(0, -1) }),
    'the letters of the key have another case': credentials({ key: key.toUpperCase(), secret }),
    'they are swapped': credentials({ key: secret, secret: key }),
    'they come as a bearer token': { Authorization: `Bearer ${secret}` },
    'the secret is that of another key': credentials({ key: one.key, secret }),
    'the key is revoked': credentials(revoked),
  }
  for (const [why, headers] of Object.entries(bad)) {
    const { status, body } = await ask(headers)

    expect([why, status, body]).toEqual([why, 401, UNAUTHORIZED])
  }
  expect([statusBefore, (await ask(credentials(relay.key))).status]).toEqual([200, 200])
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
