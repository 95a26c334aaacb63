// Sections 2.4 and 6: which events there are, when they come, and what is in them.

import { expect, test } from 'bun:test'

import { guidOf } from '../support/scripted-driver.ts'
import { startScripted } from '../support/scripted-relay.ts'
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
