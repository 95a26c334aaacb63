// Keys, lines and webhooks beyond the specification: deletions, revocations, secrets, redelivery.

import { expect, test } from 'bun:test'

import { Webhook } from 'standardwebhooks'

import type { Json } from '../support/test-relay.ts'
import {
  credentials,
  EVENTS,
  HOOK_URL,
  ISO_TIME,
  NOT_ON_IMESSAGE,
  READER,
  startSpecRelay,
} from './spec-relay.ts'

const KEYS = '/api/v1/keys'
const WEBHOOKS = '/api/v1/webhooks'
const SINCE = { since: '2026-11-21T00:00:00.000Z' }

test('api, keys: a revocation lists what the key created and what still lives', async () => {
  await using relay = await startSpecRelay()
  const { body: key } = await relay.post(KEYS, { name: 'stolen' })
  const asKey = async (path: string, body: unknown) =>
    (await relay.request('POST', path, body, credentials(key))).body.id
  const hook = { url: HOOK_URL, events: EVENTS }
  const keys = [await asKey(KEYS, {}), await asKey(KEYS, {})]
  const webhooks = [await asKey(WEBHOOKS, hook), await asKey(WEBHOOKS, hook)]
  await relay.request('DELETE', `${KEYS}/${keys[0]}`)
  await relay.request('DELETE', `${WEBHOOKS}/${webhooks[0]}`)

  const { body } = await relay.request('DELETE', `${KEYS}/${key.id}`)

  expect(body).toEqual({
    id: key.id,
    deleted: true,
    created: { keys: [keys[1]], webhooks: [webhooks[1]], bridges: [], messages: [] },
  })
})

test('api, keys: a name of 100 characters is taken, and one more is 400', async () => {
  await using relay = await startSpecRelay()

  const fits = await relay.post(KEYS, { name: '😀'.repeat(100) })
  const tooLong = await relay.post(KEYS, { name: 'x'.repeat(101) })

  expect([fits.status, tooLong.status]).toEqual([201, 400])
})

const FORBIDDEN = [
  'http://169.254.169.254/latest/meta-data',
  'http://2852039166/',
  'http://0xa9fea9fe/',
  'http://[fe80::1]/',
  'http://[::ffff:169.254.169.254]/',
  'http://100.100.100.200/',
  'http://0.0.0.0/',
  'http://[::]/',
  'http://224.0.0.1/',
  'http://255.255.255.255/',
  'https://user:password@example.com/',
  'example.com/hooks',
  'file:///etc/passwd',
]

test('api, webhooks: a url to which nothing may go is 400, at creation and at a change', async () => {
  await using relay = await startSpecRelay()
  const { id } = await relay.webhook()

  for (const url of FORBIDDEN) {
    const answers = [
      await relay.post(WEBHOOKS, { url, events: EVENTS }),
      await relay.put(`${WEBHOOKS}/${id}`, { url }),
    ]

    expect([url, ...answers.map(({ status }) => status)]).toEqual([url, 400, 400])
  }
  expect((await relay.get(WEBHOOKS)).data).toMatchObject([{ id, url: HOOK_URL }])
})

test('api, webhooks: after a rotation the old secret and the new one both sign', async () => {
  await using relay = await startSpecRelay()
  const old = await relay.webhook(['message.sent'])

  const { status, body } = await relay.post(`${WEBHOOKS}/${old.id}/rotate-secret`, {})
  await relay.send({ to: READER, text: 'hello' })
  await relay.clock.advance(0)

  expect([status, Object.keys(body), body.id]).toEqual([200, ['id', 'secret'], old.id])
  const [posted] = relay.sink.posts
  const signatures = [body.secret, old.secret].map((secret) =>
    new Webhook(secret).sign(
      posted?.id ?? '',
      new Date((posted?.timestamp ?? 0) * 1_000),
      posted?.body ?? '',
    ),
  )
  expect(posted?.headers['webhook-signature']).toBe(signatures.join(' '))
})

test('api, webhooks: a test event goes out at once, and is known by its id and its handle', async () => {
  await using relay = await startSpecRelay()
  const { id } = await relay.webhook(['message.delivered'])

  const { status, body } = await relay.post(`${WEBHOOKS}/${id}/test`, {})
  await relay.clock.advance(1_000)

  expect(status).toBe(202)
  expect(body).toEqual({
    id: expect.stringMatching(/^dlv_[0-9a-z]{26}$/),
    webhook_id: id,
    event_id: expect.stringMatching(/^evt_test_[0-9a-z]{26}$/),
    event: 'message.delivered',
    message_id: null,
    status: 'pending',
    attempt_count: 0,
    next_attempt_at: expect.stringMatching(ISO_TIME),
    created_at: expect.stringMatching(ISO_TIME),
    completed_at: null,
  })
  expect(relay.sink.posts.map((posted) => posted.id)).toEqual([body.event_id])
  expect(relay.posted()[0].message.handle).toBe('+12025550100')
})

test('api, webhooks: a delivery is read with its attempts, and sent again under the same id', async () => {
  await using relay = await startSpecRelay()
  const { id } = await relay.webhook(['message.sent'])
  relay.sink.answer = (_, index) => (index === 0 ? 500 : 200)
  await relay.send({ to: READER, text: 'hello' })
  await relay.clock.advance(10_000)
  const [listed] = (await relay.get(`${WEBHOOKS}/${id}/deliveries?status=succeeded`)).data

  const read = await relay.get(`/api/v1/webhook-deliveries/${listed.id}`)
  const again = await relay.post(`/api/v1/webhook-deliveries/${listed.id}/redeliver`, {})
  await relay.clock.advance(1_000)

  const { attempts, ...delivery } = read
  expect(delivery).toEqual(listed)
  const recorded = attempts.map(({ number, trigger, status_code }: Json) => [
    number,
    trigger,
    status_code,
  ])
  expect(recorded).toEqual([
    [1, 'scheduled', 500],
    [2, 'scheduled', 200],
  ])
  expect([again.status, again.body.event_id]).toEqual([202, listed.event_id])
  expect(relay.sink.posts.map((posted) => posted.id)).toEqual(Array(3).fill(listed.event_id))
})

test('api, events: they are written down without a webhook, so that a later one can have them', async () => {
  await using relay = await startSpecRelay()
  const { body: sent } = await relay.send({ to: READER, text: 'before there was a webhook' })
  await relay.clock.advance(3_600_000)
  const { id } = await relay.webhook(['message.sent', 'message.read'])

  const replay = (body: object) => relay.post(`${WEBHOOKS}/${id}/replay`, body)
  const unasked = await replay(SINCE)
  const { status, body } = await replay({ ...SINCE, include_earlier: true })
  await relay.clock.advance(1_000)
  const twice = await replay({ ...SINCE, include_earlier: true })

  expect([unasked.status, unasked.body]).toEqual([202, { replayed: 0 }])
  expect([status, body, twice.body]).toEqual([202, { replayed: 2 }, { replayed: 0 }])
  expect(relay.posted().map(({ event, message }) => [event, message.id])).toEqual([
    ['message.sent', sent.id],
    ['message.read', sent.id],
  ])
})

test('api, webhooks: a replay and a retry are counted first, carried out, and stopped', async () => {
  const environment = { HOOKLINE_WEBHOOK_RETRY_SCHEDULE: '1s' }
  await using relay = await startSpecRelay({ environment })
  const { id } = await relay.webhook(['message.sent'])
  relay.sink.answer = () => 500
  await relay.send({ to: READER, text: 'hello' })
  await relay.clock.advance(60_000)
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await relay.request(method, `${WEBHOOKS}/${id}/${path}`, body)
    return [answer.status, answer.body]
  }

  expect(await ask('POST', 'replay', { ...SINCE, dry_run: true })).toEqual([
    200,
    { replayed: 0, would_replay: 1 },
  ])
  expect(await ask('POST', 'retry-failed', { dry_run: true })).toEqual([
    200,
    { retried: 0, would_retry: 1 },
  ])
  expect(await ask('POST', 'retry-failed')).toEqual([202, { retried: 1 }])
  expect(await ask('GET', 'replay')).toEqual([200, { waiting: 1 }])
  // The attempt of a retry that is in flight already is not stopped.
  expect(await ask('DELETE', 'replay')).toEqual([200, { stopped: 0 }])
})

test('api, events: message.failed is opt-in by name, and adds the error', async () => {
  await using relay = await startSpecRelay()
  const [line] = await relay.lines()
  await relay.webhook(EVENTS, 'https://deaf.example.com/')
  await relay.webhook(['message.failed'])

  const { body } = await relay.send({ to: NOT_ON_IMESSAGE, text: 'hello' })
  await relay.clock.advance(1_000)

  const failed = await relay.message(body.error.details.message_id)
  expect(relay.posted('https://deaf.example.com/')).toEqual([])
  expect(relay.posted()).toEqual([
    {
      event: 'message.failed',
      phone_line_id: line.id,
      message: {
        id: failed.id,
        guid: failed.guid,
        text: 'hello',
        handle: NOT_ON_IMESSAGE,
        chatIdentifier: NOT_ON_IMESSAGE,
        isFromMe: true,
        service: 'iMessage',
        isSent: false,
        isDelivered: false,
        isRead: false,
        error: failed.error,
      },
    },
  ])
})
