// A message that left by another service than iMessage: the device says so, with its outcome or seconds
// later, and it is shown wherever the message is, but in the answer of its send.

import { expect, test } from 'bun:test'

import type { SendOutcome } from '../../src/lines/driver.ts'
import { ends, guidOf } from '../support/scripted-driver.ts'
import { startScripted } from '../support/scripted-relay.ts'

const FRIEND = '+12025550777'
const GUID = guidOf(1)

async function startWithWebhook(outcome: SendOutcome) {
  const relay = await startScripted({ script: ends(outcome) })
  const events = ['message.sent', 'message.delivered']
  await relay.post('/api/v1/webhooks', { url: 'https://hooks.example/in', events })
  return {
    ...relay,
    /** The service in the message, in the lists, in the conversation and in the bodies of webhooks. */
    shown: async (id: string) => {
      await relay.clock.advance(60_000)
      const [message, list] = [await relay.message(id), await relay.get('/api/v1/messages')]
      const [conversation] = (await relay.get('/api/v1/conversations')).data
      return {
        message: message.service,
        listed: list.data.map((one: { service: string }) => one.service),
        conversation: [conversation.service, conversation.last_message.service],
        posted: relay.sink.posts.map(({ body }) => JSON.parse(body).message.service),
      }
    },
  }
}

test('what left by SMS is shown so everywhere, and the answer of the send says iMessage', async () => {
  await using relay = await startWithWebhook({
    outcome: 'accepted',
    guid: GUID,
    service: 'SMS',
  })

  const { body } = await relay.send({ to: FRIEND, text: 'hello' })

  expect(body).toMatchObject({ status: 'sent', service: 'iMessage' })
  expect(await relay.shown(body.id)).toEqual({
    message: 'SMS',
    listed: ['SMS'],
    conversation: ['SMS', 'SMS'],
    posted: ['SMS'],
  })
})

test('a device that names no service leaves the message what it was', async () => {
  await using relay = await startWithWebhook({ outcome: 'accepted', guid: null })

  const { body } = await relay.send({ to: FRIEND, text: 'hello' })

  expect(await relay.shown(body.id)).toEqual({
    message: 'iMessage',
    listed: ['iMessage'],
    conversation: ['iMessage', 'iMessage'],
    posted: ['iMessage'],
  })
})

test('a fallback to SMS that comes after the message was sent changes it, and announces nothing twice', async () => {
  await using relay = await startWithWebhook({
    outcome: 'accepted',
    guid: GUID,
    service: 'iMessage',
  })
  const { device } = relay
  const { body } = await relay.send({ to: FRIEND, text: 'hello' })
  await relay.clock.advance(4_000)

  await device.report(GUID, 'sent', relay.clock.now(), { service: 'SMS' })

  expect(await relay.shown(body.id)).toEqual({
    message: 'SMS',
    listed: ['SMS'],
    conversation: ['SMS', 'SMS'],
    posted: ['iMessage'],
  })
  const since = new Date(relay.clock.now() - 60_000).toISOString()
  const { data } = await relay.get(`/api/v1/messages?updated_since=${since}`)
  expect(data).toMatchObject([{ id: body.id, status: 'sent', service: 'SMS' }])
})

test('a message that is held gets its service with the receipt that settles it', async () => {
  await using relay = await startWithWebhook({ outcome: 'held', guid: GUID, service: 'iMessage' })
  const { device } = relay
  const { body } = await relay.send({ to: FRIEND, text: 'hello' }, { Prefer: 'respond-async' })
  await relay.clock.advance(4_000)

  await device.report(GUID, 'delivered', relay.clock.now(), { service: 'RCS' })

  expect(await relay.shown(body.id)).toMatchObject({ message: 'RCS', posted: ['RCS', 'RCS'] })
})

test('receipts that come before their guid keep the service for it', async () => {
  await using relay = await startWithWebhook({ outcome: 'accepted', guid: GUID })
  const { device } = relay
  await device.report(GUID, 'sent', relay.clock.now())
  await device.report(GUID, 'sent', relay.clock.now(), { service: 'SMS' })

  const { body } = await relay.send({ to: FRIEND, text: 'hello' })

  expect(await relay.shown(body.id)).toMatchObject({ message: 'SMS', conversation: ['SMS', 'SMS'] })
})

test('an earlier message that turns out an SMS does not rename a conversation that went on', async () => {
  await using relay = await startWithWebhook({ outcome: 'accepted', guid: GUID })
  const { device } = relay
  const { body } = await relay.send({ to: FRIEND, text: 'hello' })
  await device.receive({ guid: guidOf(2) })

  await device.report(GUID, 'sent', relay.clock.now(), { service: 'SMS' })

  expect(await relay.shown(body.id)).toMatchObject({
    message: 'SMS',
    listed: ['iMessage', 'SMS'],
    conversation: ['iMessage', 'iMessage'],
  })
})
