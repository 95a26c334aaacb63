// Sections 2.4 and 6: which events there are, when they come and what is in them; how an event reaches its receiver,
// and that it is from here.

import { expect, test } from 'bun:test'

import { Webhook } from 'standardwebhooks'

import { guidOf } from '../support/scripted-driver.ts'
import { startScripted } from '../support/scripted-relay.ts'
import type { Answer, Posted } from '../support/webhook-sink.ts'
import { ECHO, EVENTS, HOOK_URL, NEVER_DELIVERED, READER, startSpecRelay } from './spec-relay.ts'

const FLAGS: Readonly<Record<string, object>> = {
  'message.received': { isFromMe: false, isSent: true, isDelivered: true, isRead: false },
  'message.sent': { isFromMe: true, isSent: true, isDelivered: false, isRead: false },
  'message.delivered': { isFromMe: true, isSent: true, isDelivered: true, isRead: false },
  'message.read': { isFromMe: true, isSent: true, isDelivered: true, isRead: true },
}

test('spec 2.4, 6: each event comes once and in order, with the specified payload, its flags, and nothing else', async () => {
  await using relay = await startSpecRelay()
  const [line] = await relay.lines()
  await relay.webhook()

  const { body: sent } = await relay.send({ to: ECHO, text: 'hello' })
  await relay.clock.advance(3_600_000)

  const [received] = (await relay.get('/api/v1/messages')).data
  expect(received.direction).toBe('inbound')
  const order = ['message.sent', 'message.delivered', 'message.read', 'message.received']
  expect(relay.posted()).toEqual(
    order.map((event) => ({
      event,
      phone_line_id: line.id,
      message: {
        id: (event === 'message.received' ? received : sent).id,
        guid: (event === 'message.received' ? received : sent).guid,
        text: 'hello',
        handle: ECHO,
        chatIdentifier: ECHO,
        service: 'iMessage',
        ...FLAGS[event],
      },
    })),
  )
})

test('spec 6: nothing is announced that did not happen', async () => {
  await using relay = await startSpecRelay()
  await relay.webhook()

  await relay.send({ to: NEVER_DELIVERED, text: 'hello' })
  await relay.clock.advance(3_600_000)

  expect(relay.posted().map(({ event }) => event)).toEqual(['message.sent'])
})

test('spec 6: message.sent, delivered and read come when the device says so, not before', async () => {
  await using relay = await startScripted()
  const { clock, device, sink } = relay
  await relay.post('/api/v1/webhooks', { url: HOOK_URL, events: EVENTS })
  const { promise: confirmed, resolve: confirm } = Promise.withResolvers<void>()
  device.script = async (_message, pointOfNoReturn) => {
    await pointOfNoReturn(null)
    await confirmed
    return { outcome: 'accepted', guid: guidOf(1) }
  }
  const posted: string[][] = []
  const look = async () => {
    await clock.advance(60_000)
    posted.push(sink.posts.map(({ body }) => JSON.parse(body).event))
  }

  await relay.send({ to: READER, text: 'hello' }, { Prefer: 'respond-async' })
  await look()
  confirm()
  await look()
  await device.report(guidOf(1), 'delivered', clock.now())
  await look()
  await device.report(guidOf(1), 'read', clock.now())
  await look()

  expect(posted).toEqual([
    [],
    ['message.sent'],
    ['message.sent', 'message.delivered'],
    ['message.sent', 'message.delivered', 'message.read'],
  ])
})

test('spec 6.1, 6.2: a webhook hears of what it subscribed to, and of nothing else', async () => {
  await using relay = await startSpecRelay()
  for (const event of EVENTS) await relay.webhook([event], `https://${event}.example.com/`)
  await relay.webhook(['message.sent', 'message.read'], 'https://two.example.com/')

  await relay.send({ to: ECHO, text: 'hello' })
  await relay.clock.advance(2_000)

  for (const event of EVENTS) {
    const posted = relay.posted(`https://${event}.example.com/`)
    expect(posted.map((payload) => payload.event)).toEqual([event])
  }
  expect(relay.posted('https://two.example.com/').map(({ event }) => event)).toEqual([
    'message.sent',
    'message.read',
  ])
})

const MINUTE = 60_000

test('spec 6.2: an event is an HTTP POST with a JSON body to the registered url, at once', async () => {
  await using relay = await startSpecRelay()
  await relay.webhook(['message.sent'])

  await relay.send({ to: READER, text: 'hello' })
  await relay.clock.advance(0)

  const [posted] = relay.sink.posts
  expect(relay.sink.posts).toHaveLength(1)
  expect(posted?.url).toBe(HOOK_URL)
  expect(posted?.headers).toMatchObject({ 'content-type': 'application/json' })
  expect(Object.keys(JSON.parse(posted?.body ?? ''))).toEqual(['event', 'phone_line_id', 'message'])
})

test('spec 6.3: any 2xx is a success, and the event does not come again', async () => {
  await using relay = await startSpecRelay()
  const { id } = await relay.webhook(['message.sent'])
  const statuses = [200, 201, 202, 204, 299]
  relay.sink.answer = (_, index) => statuses[index] ?? 500

  for (const _ of statuses) await relay.send({ to: READER, text: 'hello' })
  await relay.clock.advance(60 * MINUTE)

  expect(relay.sink.posts).toHaveLength(statuses.length)
  const { data } = await relay.get(`/api/v1/webhooks/${id}/deliveries`)
  expect(data).toMatchObject(statuses.map(() => ({ status: 'succeeded', attempt_count: 1 })))
})

const FAILURES: readonly Answer[] = [
  302,
  404,
  500,
  'hang',
  { result: 'failed', error: 'connection_refused', isPrivateTarget: false },
]

test('spec 6.3, 6.4: any other status, no answer and a closed port are failures, and the same event comes again', async () => {
  await using relay = await startSpecRelay()
  await relay.webhook(['message.sent'])

  for (const answer of FAILURES) {
    const before = relay.sink.posts.length
    relay.sink.answer = (_, index) => (index === before ? answer : 200)
    await relay.send({ to: READER, text: 'hello' })
    await relay.clock.advance(10 * MINUTE)

    const [first, second, ...more] = relay.sink.posts.slice(before)
    expect([second?.body, second?.id, second?.url]).toEqual([first?.body, first?.id, HOOK_URL])
    expect(more).toEqual([])
  }
})

test('spec 6.4: the waits between the retries grow exponentially', async () => {
  await using relay = await startSpecRelay()
  const { id } = await relay.webhook(['message.sent'])
  relay.sink.answer = () => 500

  await relay.send({ to: READER, text: 'hello' })
  await relay.clock.advance(16 * MINUTE)

  const [delivery] = (await relay.get(`/api/v1/webhooks/${id}/deliveries`)).data
  const { attempts } = await relay.get(`/api/v1/webhook-deliveries/${delivery.id}`)
  const times = (attempts as readonly { trigger: string; started_at: string }[])
    // Probes, which find out whether the receiver is back, go out between them.
    .filter(({ trigger }) => trigger === 'scheduled')
    .map(({ started_at }) => Date.parse(started_at))
  const waits = times.slice(1).map((at, i) => at - (times[i] ?? 0))
  expect(waits).toHaveLength(4)
  for (const [i, wait] of waits.entries()) {
    const planned = [5_000, 30_000, 120_000, 600_000][i] ?? 0
    expect(wait).toBeWithin(planned, planned * 1.2 + 1)
    if (i > 0) expect(wait).toBeGreaterThan(2 * (waits[i - 1] ?? 0))
  }
})

test('spec 6.4: a receiver that is back after an hour has missed nothing', async () => {
  await using relay = await startSpecRelay()
  await relay.webhook()
  relay.sink.answer = () => 503
  await relay.send({ to: READER, text: 'hello' })
  await relay.clock.advance(60 * MINUTE)
  const before = relay.sink.posts.length

  relay.sink.answer = () => 200
  await relay.clock.advance(10 * MINUTE)

  const events = relay.posted().slice(before)
  expect(events).toHaveLength(3)
  expect(new Set(events.map(({ event }) => event))).toEqual(
    new Set(['message.sent', 'message.delivered', 'message.read']),
  )
})

test('spec 6.4: one receiver that fails delays no other', async () => {
  await using relay = await startSpecRelay()
  await relay.webhook(['message.sent'], 'https://broken.example.com/')
  await relay.webhook(['message.sent'])
  relay.sink.answer = ({ url }) => (url === HOOK_URL ? 200 : 'hang')

  for (let i = 0; i < 20; i += 1) await relay.send({ to: READER, text: String(i) })
  await relay.clock.advance(0)

  expect(relay.posted().map(({ message }) => message.text)).toEqual(
    Array.from({ length: 20 }, (_, i) => String(i)),
  )
})

test('spec 6.6: the signing secret proves that a payload is from here, in each attempt, and no other secret does', async () => {
  await using relay = await startSpecRelay()
  const webhook = await relay.webhook(['message.sent'])
  const other = await relay.webhook(['message.read'], 'https://other.example.com/')
  relay.sink.answer = ({ url }) => (url === HOOK_URL && relay.sink.to(url).length < 3 ? 500 : 200)

  await relay.send({ to: READER, text: 'Grüße 👋' })
  await relay.clock.advance(MINUTE)

  const posts = relay.sink.to(HOOK_URL)
  expect(posts).toHaveLength(3)
  for (const posted of posts) {
    const signature = posted.headers['webhook-signature']
    const forged = { ...posted, body: posted.body.replace('Grüße', 'Grüsse') }
    expect(signature).toBe(signatureOf(posted, webhook.secret))
    expect(signature).not.toBe(signatureOf(forged, webhook.secret))
    expect(signature).not.toBe(signatureOf(posted, other.secret))
  }
})

/** What a receiver with the reference library expects in `webhook-signature`. */
function signatureOf({ id, timestamp, body }: Posted, secret: string): string {
  return new Webhook(secret).sign(id, new Date(timestamp * 1_000), body)
}
