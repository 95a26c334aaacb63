// The whole relay with iPhones on its cable, from the socket of usbmuxd to the webhook. What the screens of
// a phone may show is in the driver's tests.

import { expect, test } from 'bun:test'

import { NUMBER, UDID } from '../support/iphone/fake-phones.ts'
import { FRIEND, OTHER_FRIEND, PhoneBox, startTwo } from './iphone-relay.ts'

const ASYNC = { Prefer: 'respond-async' }

test('a phone on the cable becomes a line; a text leaves through it, and its life is announced', async () => {
  const { box, phone } = await PhoneBox.with(UDID, NUMBER)
  await using _ = box
  const relay = await box.start()
  await box.isOnline(relay)

  const sent = await box.during(relay.send({ to: FRIEND, text: 'hello' }))
  const message = await box.becomes(relay, sent.body.id, 'read')

  const [line] = await relay.lines()
  expect(line).toMatchObject({
    driver: 'iphone',
    phone_number: NUMBER,
    status: 'online',
    status_reason: null,
    imessage_active: true,
    capabilities: {
      new_contacts: true,
      choose_service: false,
      delivered: true,
      read: true,
      guid: false,
      attachments: false,
    },
  })
  expect([sent.status, sent.body.status]).toEqual([200, 'sent'])
  expect(message).toMatchObject({ service: 'iMessage', from: NUMBER, to: FRIEND, error: null })
  expect(box.eventsOf('hello')).toEqual(['message.sent', 'message.delivered', 'message.read'])
  expect([phone.carried('hello'), phone.screen.touches]).toEqual([1, 1])
})

test('that a message was delivered is announced within seconds, while its chat is still open', async () => {
  const { box, phone } = await PhoneBox.with(UDID, NUMBER)
  await using _ = box
  phone.screen.deliveredAfterMs = 2_500
  phone.screen.readAfterMs = null
  const relay = await box.start()
  await box.isOnline(relay)

  const { body } = await relay.send({ to: FRIEND, text: 'hello' }, ASYNC)
  await box.becomes(relay, body.id, 'delivered')

  const [sent, delivered] = box.sink.posts
  expect(box.eventsOf('hello')).toEqual(['message.sent', 'message.delivered'])
  expect((delivered?.at ?? Infinity) - (sent?.at ?? 0)).toBeWithin(2_000, 5_000)
})

test('what somebody writes to the phone is stored, and announced once', async () => {
  const { box, phone } = await PhoneBox.with(UDID, NUMBER)
  await using _ = box
  const relay = await box.start()
  await box.isOnline(relay)

  phone.screen.receive(FRIEND, 'hello, you')
  await box.comesTo('it is announced', () => box.eventsOf('hello, you').length > 0)
  await box.passes(30_000)

  const [line] = await relay.lines()
  const { data } = await relay.get('/api/v1/messages')
  const seen = { direction: 'inbound', text: 'hello, you', handle: FRIEND, service: 'iMessage' }
  expect(data).toMatchObject([{ ...seen, phone_line_id: line.id, source: 'device' }])
  expect(box.sink.posts.map(({ body }) => JSON.parse(body))).toMatchObject([
    { event: 'message.received', phone_line_id: line.id, message: { text: 'hello, you' } },
  ])
})

test('a phone that does not trust the computer is reported with what to do, and is a line once it does', async () => {
  const { box, phone } = await PhoneBox.with(UDID, NUMBER)
  await using _ = box
  const { pairRecord } = phone.device
  phone.device.pairRecord = null
  const relay = await box.start()
  const findings = async () => (await relay.get('/api/v1/health')).data

  await box.comesTo('it is reported', async () => (await findings()).length > 0)
  const reported = await findings()
  const lines = await relay.lines()
  if (pairRecord !== null) phone.trust(pairRecord)
  await box.isOnline(relay)

  expect(reported).toMatchObject([
    {
      code: 'not_trusted',
      severity: 'error',
      fix: expect.stringContaining('Trust'),
      line_id: null,
    },
  ])
  expect(lines).toEqual([])
  expect(await findings()).toEqual([])
})

test('of two phones one carries the messages while the other is not plugged in', async () => {
  const { box, phone } = await PhoneBox.with(UDID, NUMBER)
  await using _ = box
  const { relay, line, first, second } = await startTwo({ box, phone })
  const carried = (text: string) => [first.carried(text), second.carried(text)]

  first.unplug()
  await box.isOnline(relay, 1)
  const away = await box.during(relay.send({ to: FRIEND, text: 'while it is out' }))
  first.plugIn(box.mux)
  await box.isOnline(relay, 2)
  const back = await box.during(relay.send({ to: OTHER_FRIEND, text: 'while it is in' }))

  expect([away.body.status, back.body.status]).toEqual(['sent', 'sent'])
  expect([away.body.phone_line_id === line.id, back.body.phone_line_id === line.id]).toEqual([
    false,
    true,
  ])
  expect(carried('while it is out')).toEqual([0, 1])
  expect(carried('while it is in')).toEqual([1, 0])
})
