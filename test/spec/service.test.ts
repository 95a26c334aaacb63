// Sections 1 and 9: JSON over HTTP, under one versioned path.

import { expect, test } from 'bun:test'

import {
  credentials,
  ISO_TIME,
  LINE_NUMBER,
  rawRequest,
  READER,
  startSpecRelay,
} from './spec-relay.ts'

const SEND = '/api/v1/messages/send'

test('spec 1: a client sends and receives through its lines, and webhooks tell of it as it happens', async () => {
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
