// People who text that they want no more messages, on the real relay: what leaves then, and who is notified.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import { type ScriptedDevice } from '../support/scripted-driver.ts'
import { settle } from '../support/test-clock.ts'
import { type Json } from '../support/test-relay.ts'
import { ANNA, BOB, OPT_OUTS, hello, openRelay, set, text } from './opt-outs-stage.ts'

test('after STOP nothing is sent to the person any more, and others are written to as ever', async () => {
  await using relay = await openRelay()
  await hello(relay)
  await text(relay, 'Stop. Thank you')

  const refused = await hello(relay)
  const conversation = (await relay.get(`/api/v1/conversations?handle=%2B12025550701`)).data[0]
  const there = await relay.post(`/api/v1/conversations/${conversation.id}/messages`, { text: 'x' })
  const other = await relay.send({ to: BOB, text: 'hello' })

  expect([refused.status, refused.body.error]).toMatchObject([
    409,
    {
      code: 'recipient_opted_out',
      message: 'The recipient has opted out: nothing is sent to them until they text START.',
      details: { phone_line_id: null, opted_out_at: conversation.last_message.created_at },
    },
  ])
  expect([there.status, other.status]).toEqual([409, 200])
  expect(relay.device.given.map(({ to }) => String(to))).toEqual([ANNA, BOB])
  expect(conversation.opted_out).toBe(true)
  // Changes by hand are in the trail; a person's own word is in the list.
  expect((await relay.get('/api/v1/audit?about=opt_out')).data).toEqual([])
  const { last_message: message } = conversation
  expect((await relay.get(OPT_OUTS)).data).toEqual([
    {
      handle: ANNA,
      phone_line_id: null,
      keyword: 'STOP',
      message_id: message.id,
      source: 'keyword',
      created_at: message.created_at,
    },
  ])
})

test('START ends it, and what was refused meanwhile is not sent', async () => {
  await using relay = await openRelay()
  await text(relay, 'STOP')
  await hello(relay)
  await text(relay, 'Start, please')

  const sent = await hello(relay)
  const recipient = await relay.get('/api/v1/recipients/%2B12025550701')

  expect([sent.status, relay.device.given.length]).toEqual([200, 1])
  expect((await relay.get(OPT_OUTS)).data).toEqual([])
  expect(recipient).not.toHaveProperty('opted_out')
})

test('a sentence with the word in it, an own message, a group and the past mean nothing', async () => {
  await using relay = await openRelay()
  const [line] = await relay.lines()
  await relay.patch(`/api/v1/phone-lines/${line.id}`, { relay_groups: true })
  const group = {
    chatGuid: 'iMessage;+;chat1',
    identifier: 'chat1',
    name: 'Family',
    participants: [],
  }

  await text(relay, 'Please stop by at five')
  await text(relay, 'STOP', { isFromMe: true })
  await text(relay, 'STOP', { group: { ...group, participants: [deviceHandle(ANNA)] } })
  await text(relay, 'STOP', { isHistory: true })

  expect((await relay.get(OPT_OUTS)).data).toEqual([])
  expect((await hello(relay)).status).toBe(200)
})

test('a keyword by SMS counts, although SMS is not relayed', async () => {
  await using relay = await openRelay()

  await text(relay, 'STOP', { service: 'SMS' })

  expect(await relay.eventNames()).toEqual(['contact.opted_out'])
  expect((await hello(relay)).status).toBe(409)
})

test('the events are in the log in order, with the opt-out, and are not repeated', async () => {
  await using relay = await openRelay()
  const [line] = await relay.lines()

  for (const words of ['STOP', 'unsubscribe', 'unstop', 'start']) await text(relay, words)

  expect(await relay.eventNames()).toEqual([
    'message.received',
    'contact.opted_out',
    'message.received',
    'message.received',
    'contact.opted_in',
    'message.received',
  ])
  const { data } = await relay.get(
    '/api/v1/events?after=oldest&types=contact.opted_out,contact.opted_in',
  )
  const payloads = data.map(({ payload }: Json) => payload)
  expect(payloads).toMatchObject([
    {
      event: 'contact.opted_out',
      phone_line_id: line.id,
      opt_out: { handle: ANNA, keyword: 'STOP' },
    },
    {
      event: 'contact.opted_in',
      phone_line_id: line.id,
      opt_out: { handle: ANNA, keyword: 'UNSTOP' },
    },
  ])
})

test('the opt-out, its event and the message are one transaction', async () => {
  await using relay = await openRelay()
  relay.db.sqlite.run(`CREATE TEMP TRIGGER no_events BEFORE INSERT ON events
    WHEN NEW.name = 'contact.opted_out' BEGIN SELECT RAISE(ABORT, 'broken'); END`)

  await text(relay, 'STOP')

  expect((await relay.get(OPT_OUTS)).data).toEqual([])
  expect((await relay.get('/api/v1/messages')).data).toEqual([])
  expect(await relay.eventNames()).toEqual([])
})

test('queued, scheduled and held messages fail at once, and those to others stay', async () => {
  await using relay = await openRelay(['+12025550801', '+12025550802'])
  const [first, second] = relay.devices as [ScriptedDevice, ScriptedDevice]
  const [line] = await relay.lines()
  await first.goOffline()
  const pin = { phone_line_id: line.id }
  const queued = await hello(relay, pin)
  const behind = await hello(relay, { ...pin, text: 'behind' })
  const later = new Date(relay.clock.now() + 3_600_000).toISOString()
  const scheduled = await hello(relay, { ...pin, send_at: later })
  const rules = { recipients: 'anyone', approval: 'always' }
  const key = (await relay.post('/api/v1/keys', { name: 'agent', rules })).body
  const as = { 'X-API-Key': key.key, 'X-API-Secret': key.secret }
  const held = await relay.send({ to: ANNA, text: 'held', ...pin }, as)
  const other = await relay.send({ to: BOB, text: 'hello', ...pin })

  await text({ device: second }, 'STOP')
  const messages = await Promise.all(
    [queued, behind, scheduled, held, other].map(({ body }) => relay.message(body.id)),
  )
  await first.goOnline()
  await relay.clock.advance(2 * 3_600_000)

  const failed = { status: 'failed', error: { code: 'recipient_opted_out' }, queued_reason: null }
  expect(messages).toMatchObject([failed, failed, failed, failed, { status: 'queued' }])
  expect(messages[3].approval.state).toBe('canceled')
  expect(first.given.map(({ to }) => String(to))).toEqual([BOB])
  expect((await relay.eventNames()).filter((name) => name === 'message.failed')).toHaveLength(4)
})

test('one that a driver has in hand does not pass its point of no return', async () => {
  await using relay = await openRelay()
  const stopped = Promise.withResolvers<void>()
  const passed: boolean[] = []
  relay.device.script = async (_message, pointOfNoReturn) => {
    await stopped.promise
    passed.push(await pointOfNoReturn(null))
    return { outcome: 'not_sent', reason: 'withdrawn', blame: 'line' }
  }
  const sending = hello(relay)
  await settle()

  await text(relay, 'STOP')
  stopped.resolve()
  const { status, body } = await sending
  await relay.clock.advance(60_000)

  expect([passed, status, body.error.code]).toEqual([[false], 422, 'send_failed'])
  expect(body.error.details.reason).toBe('recipient_opted_out')
  expect(relay.device.given).toHaveLength(1)
})

test('a message that was accepted while opt-outs were only recorded fails before it leaves', async () => {
  await using relay = await openRelay()
  await set(relay, 'record')
  await text(relay, 'STOP')
  const allowed = await hello(relay)
  await relay.device.goOffline()
  const waiting = await hello(relay)

  await set(relay, 'enforce')
  await relay.device.goOnline()
  await relay.clock.advance(10_000)

  expect([allowed.status, waiting.status]).toEqual([200, 202])
  expect((await relay.message(waiting.body.id)).error.code).toBe('recipient_opted_out')
  expect(relay.device.sent).toHaveLength(1)
})

test('while opt-outs are only recorded, what is queued goes out', async () => {
  await using relay = await openRelay()
  await set(relay, 'record')
  await relay.device.goOffline()
  const waiting = await hello(relay)

  await text(relay, 'STOP')
  await relay.device.goOnline()
  await relay.clock.advance(10_000)

  expect((await relay.message(waiting.body.id)).status).toBe('sent')
  expect((await relay.get(OPT_OUTS)).data).toHaveLength(1)
})

test('with the setting off no keyword is recorded, and nobody is kept from anything', async () => {
  await using relay = await openRelay()
  await set(relay, 'off')

  await text(relay, 'STOP')

  expect(await relay.eventNames()).toEqual(['message.received'])
  expect((await hello(relay)).status).toBe(200)
})

test('a repeat of what was accepted before STOP gets its first answer', async () => {
  await using relay = await openRelay()
  const key = { 'Idempotency-Key': 'order-1042' }
  const first = await relay.send({ to: ANNA, text: 'hello' }, key)
  await text(relay, 'STOP')

  const again = await relay.send({ to: ANNA, text: 'hello' }, key)

  expect([again.status, again.body]).toEqual([200, first.body])
  expect(relay.device.given).toHaveLength(1)
})
