// Sections 1 and 9, and what holds for every call: JSON over HTTP under one versioned path, request ids, methods,
// unknown ids and fields, and what errors reveal.

import { expect, test } from 'bun:test'

import {
  ISO_TIME,
  LINE_NUMBER,
  READER,
  SLOW,
  credentials,
  rawRequest,
  startSpecRelay,
} from './spec-relay.ts'

const SEND = '/api/v1/messages/send'

test('spec 1: a client sends and receives through its lines, and webhooks report each step as it happens', async () => {
  await using relay = await startSpecRelay({ lines: 2 })
  const [first, second] = await relay.lines()
  await relay.webhook()

  const { status } = await relay.send({
    to: second.phone_number,
    text: 'from one line to the other',
    phone_line_id: first.id,
  })
  await relay.clock.advance(2_000)

  expect(status).toBe(200)
  const { data } = await relay.get(`/api/v1/messages?phone_line_id=${second.id}`)
  expect(data).toMatchObject([
    {
      direction: 'inbound',
      handle: LINE_NUMBER,
      text: 'from one line to the other',
      phone_line_id: second.id,
    },
  ])
  expect(relay.posted().map(({ event, phone_line_id }) => [event, phone_line_id])).toEqual([
    ['message.sent', first.id],
    ['message.received', second.id],
    ['message.delivered', first.id],
    ['message.read', first.id],
  ])
})

test('spec 1: every answer is JSON, whatever the route, the method and the outcome', async () => {
  await using relay = await startSpecRelay()
  const webhook = await relay.webhook()
  const calls: readonly (readonly [string, string, unknown?])[] = [
    ['POST', SEND, { to: READER, text: 'hello' }],
    ['POST', SEND, { to: READER }],
    ['GET', '/api/v1/messages'],
    ['GET', '/api/v1/conversations'],
    ['GET', '/api/v1/phone-lines'],
    ['POST', '/api/v1/keys', {}],
    ['DELETE', '/api/v1/keys/key_unknown'],
    ['POST', '/api/v1/webhooks', { url: 'https://a.example.com', events: ['message.read'] }],
    ['PUT', `/api/v1/webhooks/${webhook.id}`, { is_active: false }],
    ['DELETE', `/api/v1/webhooks/${webhook.id}`],
    ['GET', '/api/v1/nothing'],
  ]

  for (const [method, path, body] of calls) {
    const answer = await relay.request(method, path, body)

    expect(answer.headers.get('Content-Type')).toBe('application/json')
    expect(answer.body).toBeObject()
  }
})

test('spec 1: a body goes with Content-Type application/json, and with no other', async () => {
  await using relay = await startSpecRelay()
  const body = JSON.stringify({ to: READER, text: 'Grüße 👋' })
  const send = (type: string) =>
    rawRequest(relay, SEND, {
      method: 'POST',
      headers: { ...credentials(relay.key), 'Content-Type': type },
      body,
    })

  const accepted = await send('application/json')
  const refused = await send('text/plain')

  expect([accepted.status, accepted.body.text]).toEqual([200, 'Grüße 👋'])
  expect([refused.status, refused.body.error.code]).toEqual([415, 'unsupported_media_type'])
  expect((await relay.get('/api/v1/messages')).data).toHaveLength(1)
})

test('spec 1: times are ISO 8601 in UTC with milliseconds, in every resource', async () => {
  await using relay = await startSpecRelay()
  await relay.webhook()
  await relay.send({ to: READER, text: 'hello' })
  await relay.clock.advance(2_000)
  const paths = ['messages', 'conversations', 'phone-lines', 'webhooks', 'keys']

  const lists = await Promise.all(paths.map((path) => relay.get(`/api/v1/${path}`)))

  const times = lists.flatMap(({ data }) => timesIn(data[0]))
  expect(times.length).toBeGreaterThan(10)
  expect(times.filter((time) => !ISO_TIME.test(time))).toEqual([])
})

test('spec 9: every endpoint lives under /api/v1/, and under no other path', async () => {
  await using relay = await startSpecRelay()
  const routes: readonly (readonly [string, string])[] = [
    ['POST', '/messages/send'],
    ['GET', '/messages'],
    ['GET', '/conversations'],
    ['GET', '/phone-lines'],
    ['POST', '/keys'],
    ['DELETE', '/keys/key_unknown'],
    ['POST', '/webhooks'],
    ['PUT', '/webhooks/wh_unknown'],
    ['DELETE', '/webhooks/wh_unknown'],
  ]

  for (const [method, path] of routes) {
    const body = method === 'GET' || method === 'DELETE' ? undefined : {}
    const inside = await relay.request(method, `/api/v1${path}`, body)
    const outside = await Promise.all(
      ['', '/v1', '/api', '/api/v2', '/API/V1'].map((prefix) =>
        relay.request(method, prefix + path, body, { Host: 'localhost' }),
      ),
    )

    expect(inside.body.error?.message).not.toBe('There is no such route.')
    expect(outside.map(({ body }) => body.error.code)).toEqual(Array(5).fill('not_found'))
  }
})

/** The values of all fields that are named after a time, at any depth. */
function timesIn(resource: object): string[] {
  return Object.entries(resource).flatMap(([name, value]) => {
    if (typeof value === 'object' && value !== null) return timesIn(value)
    return name.endsWith('_at') && value !== null ? [String(value)] : []
  })
}

const JSON_TYPE = { 'Content-Type': 'application/json' }

test('api, everywhere: every answer has an X-Request-Id of its own, whatever became of the call', async () => {
  await using relay = await startSpecRelay()
  const origin = 'https://elsewhere.example.com'
  const known = { ...credentials(relay.key), 'X-Request-Id': 'mine', Origin: origin }
  const local = { Host: 'localhost' }
  const post = { method: 'POST', headers: { ...known, ...JSON_TYPE } }
  const calls: readonly (readonly [number, string, Parameters<typeof rawRequest>[2]?])[] = [
    [200, '/api/v1/messages', { headers: known }],
    [200, SEND, { ...post, body: JSON.stringify({ to: READER, text: 'hello' }) }],
    [201, '/api/v1/keys', { method: 'POST', headers: known }],
    [400, SEND, { ...post, body: '{' }],
    [401, '/api/v1/messages'],
    [404, '/api/v1/nowhere', { headers: known }],
    [404, '/api/v1/messages/msg_unknown', { headers: known }],
    [405, '/api/v1/messages', { method: 'DELETE', headers: known }],
    [413, SEND, { ...post, body: JSON.stringify({ to: READER, text: 'x'.repeat(300_000) }) }],
    [415, SEND, { method: 'POST', headers: { ...known, 'Content-Type': 'text/plain' }, body: 'x' }],
    [421, '/healthz', { headers: { Host: 'rebound.example.com' } }],
    [200, '/healthz', { headers: local }],
    [200, '/readyz', { headers: local }],
    [200, '/metrics', { headers: local }],
    [200, '/swagger', { headers: local }],
    [200, '/swagger/json', { headers: local }],
    [200, '/', { headers: local }],
    [404, '/nowhere', { headers: local }],
  ]

  const answers = await Promise.all(calls.map(([, path, init]) => rawRequest(relay, path, init)))

  expect(answers.map(({ status }) => status)).toEqual(calls.map(([status]) => status))
  const ids = answers.map(({ headers }) => headers.get('X-Request-Id') ?? '')
  expect(ids.filter((id) => !/^req_\w+$/.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(calls.length)
  const cors = answers.flatMap(({ headers }) => [...headers.keys()].filter(isOfCors))
  expect(cors).toEqual([])
})

test('api, everywhere: a full disk and a stop are 503 with Retry-After, and a waiting send is answered', async () => {
  const relay = await startSpecRelay()
  relay.fillDisk()
  const full = await relay.send({ to: READER, text: 'x'.repeat(15_000) })
  relay.freeDisk()
  await relay.clock.advance(30_000)
  const waiting = relay.send({ to: SLOW, text: 'hello' })
  await relay.clock.advance(1_000)

  const stopped = relay[Symbol.asyncDispose]()
  const late = await relay.send({ to: READER, text: 'too late' })

  expect((await waiting).status).toBe(202)
  expect([full, late].map(({ status, body }) => [status, body.error.code])).toEqual([
    [503, 'storage_full'],
    [503, 'stopping'],
  ])
  const waits = [full, late].map(({ headers }) => Number(headers.get('Retry-After')))
  expect(waits.filter((seconds) => seconds > 0)).toHaveLength(2)
  await stopped
})

test('api, everywhere: a known path with another method is 405, with Allow', async () => {
  await using relay = await startSpecRelay()
  const wrong: readonly (readonly [string, string, string])[] = [
    ['PUT', '/api/v1/keys', 'POST, GET, HEAD'],
    ['GET', '/api/v1/keys/key_some', 'DELETE'],
    ['POST', '/api/v1/phone-lines', 'GET, HEAD'],
    ['GET', '/api/v1/phone-lines/line_some', 'PATCH, DELETE'],
    ['DELETE', '/api/v1/messages', 'GET, HEAD'],
    ['POST', '/api/v1/conversations', 'GET, HEAD'],
    ['PATCH', '/api/v1/webhooks', 'POST, GET, HEAD'],
    ['PATCH', '/api/v1/webhooks/wh_some', 'GET, HEAD, PUT, DELETE'],
    ['GET', '/api/v1/webhooks/wh_some/test', 'POST'],
    ['POST', '/api/v1/health', 'GET, HEAD'],
  ]

  for (const [method, path, allow] of wrong) {
    const { status, headers, body } = await relay.request(method, path)

    expect([path, status, headers.get('Allow')]).toEqual([path, 405, allow])
    expect(body).toMatchObject({
      error: { code: 'method_not_allowed', message: `This path takes ${allow}.` },
    })
  }
})

const UNKNOWN = '01k5c3qv7yfxn8t2w9r4d6m0ab'
const BY_ID: readonly (readonly [string, (id: string) => string, string, unknown?])[] = [
  ['DELETE', (id) => `keys/${id}`, 'key'],
  ['PATCH', (id) => `phone-lines/${id}`, 'line', { label: 'x' }],
  ['DELETE', (id) => `phone-lines/${id}`, 'line'],
  ['GET', (id) => `messages/${id}`, 'msg'],
  ['POST', (id) => `messages/${id}/resolve`, 'msg', { status: 'sent' }],
  ['GET', (id) => `conversations/${id}`, 'conv'],
  ['GET', (id) => `webhooks/${id}`, 'wh'],
  ['PUT', (id) => `webhooks/${id}`, 'wh', { is_active: true }],
  ['DELETE', (id) => `webhooks/${id}`, 'wh'],
  ['POST', (id) => `webhooks/${id}/rotate-secret`, 'wh'],
  ['POST', (id) => `webhooks/${id}/test`, 'wh'],
  ['GET', (id) => `webhooks/${id}/deliveries`, 'wh'],
  ['POST', (id) => `webhooks/${id}/replay`, 'wh', { since: '2026-11-21T00:00:00Z' }],
  ['GET', (id) => `webhook-deliveries/${id}`, 'dlv'],
  ['POST', (id) => `webhook-deliveries/${id}/redeliver`, 'dlv'],
]

test('api, everywhere: an id in a path that is unknown, malformed or of another kind is 404', async () => {
  await using relay = await startSpecRelay()
  const [line] = await relay.lines()

  for (const [method, path, prefix, body] of BY_ID) {
    const other = prefix === 'line' ? (relay.key?.id ?? '') : line.id
    for (const id of [`${prefix}_${UNKNOWN}`, `${prefix}_oops`, 'oops', other, '%00', "' OR 1=1"]) {
      const answer = await relay.request(method, `/api/v1/${path(id)}`, body)

      expect([method, id, answer.status, answer.body.error?.code]).toEqual([
        method,
        id,
        404,
        'not_found',
      ])
    }
  }
})

test('api, everywhere: an unknown or malformed id in a filter gives an empty list', async () => {
  await using relay = await startSpecRelay()
  await relay.send({ to: READER, text: 'hello' })
  const filters = ['messages?phone_line_id', 'messages?conversation_id', 'messages?handle']
  const others = ['conversations?phone_line_id', 'conversations?handle']

  for (const filter of [...filters, ...others]) {
    for (const id of [`line_${UNKNOWN}`, `conv_${UNKNOWN}`, 'oops']) {
      const { status, body } = await relay.request('GET', `/api/v1/${filter}=${id}`)

      expect([status, body]).toEqual([200, { data: [], has_more: false, next_cursor: null }])
    }
  }
})

test('api, everywhere: a change without any field is 400, and changes nothing', async () => {
  await using relay = await startSpecRelay()
  const [line] = await relay.lines()
  const { secret: _, ...webhook } = await relay.webhook()

  const answers = [
    await relay.patch(`/api/v1/phone-lines/${line.id}`, {}),
    await relay.put(`/api/v1/webhooks/${webhook.id}`, {}),
  ]

  expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual([
    [400, 'invalid_request'],
    [400, 'invalid_request'],
  ])
  expect(await relay.get(`/api/v1/webhooks/${webhook.id}`)).toEqual(webhook)
  expect((await relay.lines())[0]).toEqual(line)
})

test('api, everywhere: unknown fields and parameters are refused and named', async () => {
  await using relay = await startSpecRelay({ lines: 2 })
  const [, second] = await relay.lines()

  const answers = [
    await relay.send({ to: READER, text: 'hello', phone_line: second.id }),
    await relay.post('/api/v1/webhooks', { url: 'https://a.example', events: [], active: true }),
    await relay.post('/api/v1/keys', { label: 'shop' }),
    await relay.request('GET', '/api/v1/messages?line_id=x'),
    await relay.request('GET', '/api/v1/messages?limit=1&limit=2'),
    await relay.request('GET', '/api/v1/messages/msg_some?limit=1'),
  ]

  expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(400))
  const paths = answers.map(({ body }) =>
    body.error.details.issues.map(({ path }: { path: string }) => path),
  )
  expect(paths[0]).toEqual(['phone_line'])
  expect(paths[1]).toContain('active')
  expect(paths.slice(2)).toEqual([['label'], ['line_id'], ['limit'], ['limit']])
  expect((await relay.get('/api/v1/messages')).data).toEqual([])
})

test('api, everywhere: no error reveals the machine or of what the relay is made of', async () => {
  await using relay = await startSpecRelay()

  const errors = [
    await relay.send({ to: "'; DROP TABLE messages", text: 'hello' }),
    await relay.request('GET', "/api/v1/messages?cursor=' OR 1=1"),
    await relay.request('GET', '/api/v1/messages?limit=9999999999'),
    await relay.request('POST', '/api/v1/webhooks', { url: 'https://[::1', events: ['x'] }),
    await relay.request('GET', '/api/v1/../../etc/passwd'),
  ]

  for (const { status, body } of errors) {
    expect(status).toBeWithin(400, 500)
    expect(JSON.stringify(body)).not.toMatch(
      /SQLITE|SELECT|node_modules|\.ts\b|\bat \w+ \(|\/src\//,
    )
  }
})

function isOfCors(header: string): boolean {
  return header.startsWith('access-control-')
}
