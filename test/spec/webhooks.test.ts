// Sections 2.5, 3.3 and 4.6 to 4.8: making, changing and deleting webhooks.

import { expect, test } from 'bun:test'

import { recordingLog } from '../support/recording-log.ts'
import { EVENTS, HOOK_URL, ISO_TIME, READER, startSpecRelay } from './spec-relay.ts'

const WEBHOOKS = '/api/v1/webhooks'
const OTHER_URL = 'https://other.example.com/hooks'

test('spec 2.5, 4.6: a creation answers the webhook and its signing secret', async () => {
  await using relay = await startSpecRelay()

  const { status, body } = await relay.post(WEBHOOKS, { url: HOOK_URL, events: EVENTS })

  expect(status).toBe(201)
  expect(body).toEqual({
    id: expect.stringMatching(/^wh_[0-9a-z]{26}$/),
    url: HOOK_URL,
    events: EVENTS,
    is_active: true,
    description: null,
    disabled_reason: null,
    created_by: relay.key?.id,
    created_at: expect.stringMatching(ISO_TIME),
    updated_at: expect.stringMatching(ISO_TIME),
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
  })
})

test('spec 2.5: the signing secret is shown only once', async () => {
  const { log, lines } = recordingLog()
  await using relay = await startSpecRelay({ log })
  const created = await relay.webhook()
  const path = `${WEBHOOKS}/${created.id}`
  await relay.post(`${path}/test`, {})
  await relay.clock.advance(1_000)

  const updated = await relay.put(path, { description: 'mine' })
  const { data: deliveries } = await relay.get(`${path}/deliveries`)
  const seen = JSON.stringify([
    updated.body,
    await relay.get(WEBHOOKS),
    await relay.get(path),
    await relay.get(`/api/v1/webhook-deliveries/${deliveries[0].id}`),
    await relay.get('/api/v1/health'),
    relay.sink.posts,
    lines,
    (await relay.request('DELETE', path)).body,
  ])

  expect(seen).toContain(created.id)
  expect(seen).not.toContain('whsec_')
  expect(seen).not.toContain(created.secret.slice('whsec_'.length))
})

const REFUSED: readonly (readonly [body: Record<string, unknown>, path: string])[] = [
  [{ events: EVENTS }, 'url'],
  [{ url: HOOK_URL }, 'events'],
  [{ url: HOOK_URL, events: [] }, 'events'],
  [{ url: HOOK_URL, events: ['message.sent', 'message.gone'] }, 'events'],
  [{ url: HOOK_URL, events: 'message.sent' }, 'events'],
  [{ url: 'ftp://shop.example.com', events: EVENTS }, 'url'],
  [{ url: '/hooks', events: EVENTS }, 'url'],
]

test('spec 2.5, 4.6: a webhook without a url or events that there are is 400, and none is made', async () => {
  await using relay = await startSpecRelay()

  for (const [body, path] of REFUSED) {
    const answer = await relay.post(WEBHOOKS, body)

    expect([body, answer.status, answer.body.error.code]).toEqual([body, 400, 'invalid_request'])
    expect(answer.body.error.details.issues[0].path).toStartWith(path)
  }
  expect((await relay.get(WEBHOOKS)).data).toEqual([])
})

test('spec 2.5: http urls are taken as https ones are', async () => {
  await using relay = await startSpecRelay()

  const answer = await relay.post(WEBHOOKS, { url: 'http://192.168.1.20:5678/n8n', events: EVENTS })

  expect([answer.status, answer.body.url]).toEqual([201, 'http://192.168.1.20:5678/n8n'])
})

test('spec 4.7: url, events and is_active can each be changed, and the others stay', async () => {
  await using relay = await startSpecRelay()
  const { secret: _, ...created } = await relay.webhook()
  const path = `${WEBHOOKS}/${created.id}`
  const changes = [{ url: OTHER_URL }, { events: ['message.read'] }, { is_active: false }]

  let expected = created
  for (const change of changes) {
    await relay.clock.advance(1_000)
    const { status, body } = await relay.put(path, change)

    expected = { ...expected, ...change, updated_at: body.updated_at }
    expect([status, body]).toEqual([200, expected])
    expect(await relay.get(path)).toEqual(expected)
  }
  expect(expected.updated_at > created.updated_at).toBe(true)
})

test('spec 4.7: a changed url and changed events are what counts from then on', async () => {
  await using relay = await startSpecRelay()
  const { id } = await relay.webhook(['message.sent'])
  await relay.send({ to: READER, text: 'before' })
  await relay.clock.advance(2_000)

  await relay.put(`${WEBHOOKS}/${id}`, { url: OTHER_URL, events: ['message.read'] })
  await relay.send({ to: READER, text: 'after' })
  await relay.clock.advance(2_000)

  const posted = [HOOK_URL, OTHER_URL].map((url) =>
    relay.posted(url).map(({ event, message }) => [event, message.text]),
  )
  expect(posted).toEqual([[['message.sent', 'before']], [['message.read', 'after']]])
})

test('spec 3.3, 4.7, 6.5: is_active false stops the deliveries of that webhook, and true starts them with what happens then', async () => {
  await using relay = await startSpecRelay()
  const { id } = await relay.webhook(['message.sent'])
  await relay.webhook(['message.sent'], OTHER_URL)
  const texts = (url: string) => relay.posted(url).map(({ message }) => message.text)

  const { body } = await relay.put(`${WEBHOOKS}/${id}`, { is_active: false })
  await relay.send({ to: READER, text: 'unheard' })
  await relay.clock.advance(600_000)
  const whilePaused = texts(HOOK_URL)
  await relay.put(`${WEBHOOKS}/${id}`, { is_active: true })
  await relay.send({ to: READER, text: 'heard' })
  await relay.clock.advance(600_000)

  expect([body.is_active, whilePaused]).toEqual([false, []])
  expect([HOOK_URL, OTHER_URL].map(texts)).toEqual([['heard'], ['unheard', 'heard']])
})

test('spec 3.3: what was pending when the webhook was paused is held, retries too', async () => {
  await using relay = await startSpecRelay()
  const { id } = await relay.webhook(['message.sent'])
  relay.sink.answer = () => 500
  await relay.send({ to: READER, text: 'held' })
  await relay.clock.advance(1_000)

  await relay.put(`${WEBHOOKS}/${id}`, { is_active: false })
  relay.sink.answer = () => 200
  await relay.clock.advance(3_600_000)
  const whilePaused = relay.sink.posts.length
  await relay.put(`${WEBHOOKS}/${id}`, { is_active: true })
  await relay.clock.advance(60_000)

  expect(whilePaused).toBe(1)
  expect(relay.posted().map(({ message }) => message.text)).toEqual(['held', 'held'])
})

test('spec 4.8: a deleted webhook is gone, and gets nothing more', async () => {
  await using relay = await startSpecRelay()
  const { id } = await relay.webhook(['message.sent'])
  relay.sink.answer = () => 500
  await relay.send({ to: READER, text: 'tried once' })
  await relay.clock.advance(1_000)

  const answer = await relay.request('DELETE', `${WEBHOOKS}/${id}`)
  await relay.send({ to: READER, text: 'never' })
  await relay.clock.advance(3_600_000)

  expect([answer.status, answer.body]).toEqual([200, { id, deleted: true }])
  expect(relay.posted().map(({ message }) => message.text)).toEqual(['tried once'])
  expect((await relay.get(WEBHOOKS)).data).toEqual([])
  expect((await relay.request('GET', `${WEBHOOKS}/${id}`)).status).toBe(404)
})
