// Sections 2.4 and 6: which events there are, when they come, and what is in them.

import { expect, test } from 'bun:test'

import { guidOf, ScriptedDriver } from '../support/scripted-driver.ts'
import { TestClock } from '../support/test-clock.ts'
import { startRelay } from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'
import { ECHO, EVENTS, HOOK_URL, NEVER_DELIVERED, READER, startSpecRelay } from './spec-relay.ts'

const FLAGS: Readonly<Record<string, object>> = {
  'message.received': { isFromMe: false, isSent: true, isDelivered: true, isRead: false },
  'message.sent': { isFromMe: true, isSent: true, isDelivered: false, isRead: false },
  'message.delivered': { isFromMe: true, isSent: true, isDelivered: true, isRead: false },
  'message.read': { isFromMe: true, isSent: true, isDelivered: true, isRead: true },
}

for (const event of EVENTS) {
  test(`spec 2.4, 6: ${event} has the specified payload, its flags, and nothing else`, async () => {
    await using relay = await startSpecRelay()
    const [line] = await relay.lines()
    await relay.webhook([event])

    const { body: sent } = await relay.send({ to: ECHO, text: 'hello' })
    await relay.clock.advance(2_000)

    const [newest] = (await relay.get('/api/v1/messages')).data
    const message = event === 'message.received' ? newest : sent
    expect(relay.posted()).toEqual([
      {
        event,
        phone_line_id: line.id,
        message: {
          id: message.id,
          guid: message.guid,
          text: 'hello',
          handle: ECHO,
          chatIdentifier: ECHO,
          service: 'iMessage',
          ...FLAGS[event],
        },
      },
    ])
  })
}

test('spec 2.4: the id of an inbound message is the one under which it is read', async () => {
  await using relay = await startSpecRelay()
  await relay.webhook(['message.received'])

  await relay.send({ to: ECHO, text: 'hello' })
  await relay.clock.advance(2_000)

  const [posted] = relay.posted()
  expect(await relay.message(posted.message.id)).toMatchObject({
    direction: 'inbound',
    guid: posted.message.guid,
    text: posted.message.text,
    handle: posted.message.handle,
  })
})

test('spec 6: a message that is sent, delivered and read is announced in that order, each once', async () => {
  await using relay = await startSpecRelay()
  await relay.webhook()

  await relay.send({ to: READER, text: 'hello' })
  await relay.clock.advance(3_600_000)

  expect(relay.posted().map(({ event }) => event)).toEqual([
    'message.sent',
    'message.delivered',
    'message.read',
  ])
})

test('spec 6: nothing is announced that did not happen', async () => {
  await using relay = await startSpecRelay()
  await relay.webhook()

  await relay.send({ to: NEVER_DELIVERED, text: 'hello' })
  await relay.clock.advance(3_600_000)

  expect(relay.posted().map(({ event }) => event)).toEqual(['message.sent'])
})

test('spec 6: message.sent comes when the message is confirmed as dispatched, not before', async () => {
  const { device, clock, sink, relay } = await startWithDevice()
  await using _ = relay
  await relay.post('/api/v1/webhooks', { url: HOOK_URL, events: EVENTS })
  const { promise: confirmed, resolve: confirm } = Promise.withResolvers<void>()
  device.script = async (_message, pointOfNoReturn) => {
    await pointOfNoReturn(null)
    await confirmed
    return { outcome: 'accepted', guid: guidOf(1) }
  }

  await relay.send({ to: READER, text: 'hello' }, { Prefer: 'respond-async' })
  await clock.advance(10_000)
  const before = eventsIn(sink)
  confirm()
  await clock.advance(1_000)

  expect(before).toEqual([])
  expect(eventsIn(sink)).toEqual(['message.sent'])
})

test('spec 6: message.delivered and message.read come when the device says so', async () => {
  const { device, clock, sink, relay } = await startWithDevice()
  await using _ = relay
  await relay.post('/api/v1/webhooks', { url: HOOK_URL, events: EVENTS })
  const { body } = await relay.send({ to: READER, text: 'hello' })
  await clock.advance(60_000)
  const posted = [eventsIn(sink)]

  await device.report(body.platform_guid, 'delivered', clock.now())
  await clock.advance(60_000)
  posted.push(eventsIn(sink))
  await device.report(body.platform_guid, 'read', clock.now())
  await clock.advance(60_000)
  posted.push(eventsIn(sink))

  expect(posted).toEqual([
    ['message.sent'],
    ['message.sent', 'message.delivered'],
    ['message.sent', 'message.delivered', 'message.read'],
  ])
})

test('spec 6: message.received comes when a message arrives on a line, with that line', async () => {
  await using relay = await startSpecRelay({ lines: 2 })
  const [first, second] = await relay.lines()
  await relay.webhook(['message.received'])

  await relay.send({ to: first.phone_number, text: 'back', phone_line_id: second.id })
  await relay.send({ to: second.phone_number, text: 'forth', phone_line_id: first.id })
  await relay.clock.advance(2_000)

  const posted = relay
    .posted()
    .map(({ phone_line_id, message }): [string, string] => [phone_line_id, message.handle])
  expect(posted).toHaveLength(2)
  expect(new Map(posted)).toEqual(
    new Map([
      [first.id, second.phone_number],
      [second.id, first.phone_number],
    ]),
  )
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

async function startWithDevice() {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  const clock = new TestClock()
  const sink = new WebhookSink(clock)
  const relay = await startRelay({ drivers: [driver], clock, post: sink.post })
  return { device, clock, sink, relay }
}

function eventsIn(sink: WebhookSink): string[] {
  return sink.posts.map(({ body }) => JSON.parse(body).event)
}
