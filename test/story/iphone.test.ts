// The whole relay with an iPhone, from its screen to the webhook. What the screens of a phone may show is in
// the driver's tests.

import { expect, test } from 'bun:test'

import { NUMBER, UDID } from '../support/iphone/fake-phones.ts'
import { FRIEND, PhoneBox } from './iphone-relay.ts'

test('a phone on the cable becomes a line; a text leaves through it, and its life is announced', async () => {
  await using box = await PhoneBox.online()
  const { relay, screen } = box

  const sent = await box.during(relay.send({ to: FRIEND, text: 'hello' }))
  const message = await box.becomes(sent.body.id, 'read')

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
  expect([screen.carried('hello'), screen.touches]).toEqual([1, 1])
})

test('what a person writes to the phone is stored, and announced once', async () => {
  await using box = await PhoneBox.online()
  const { relay, screen } = box

  screen.receive(FRIEND, 'hello, you')
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
  await using box = new PhoneBox()
  const { cable } = box.rig
  cable.attach(UDID, null)
  cable.refuse(UDID, 'not_trusted')
  await box.start()
  const findings = async () => (await box.relay.get('/api/v1/health')).data

  await box.comesTo('it is reported', async () => (await findings()).length > 0)
  const reported = await findings()
  const lines = await box.relay.lines()
  cable.tell(UDID, {})
  await box.isOnline()

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
