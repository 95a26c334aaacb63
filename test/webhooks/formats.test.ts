// Webhooks in the form of a compatible API: their bodies, their signatures, and what is refused.

import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'

import type { EventPayload } from '../../src/api/webhooks.ts'
import { COMPAT_APIS } from '../../src/compat/apis.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { storeMessages } from '../support/stored-rows.ts'
import { codeOf, messageOf, OWNER, startRig, type Rig } from '../support/webhook-rig.ts'

const HOUR = 3_600_000
const URL = 'https://receiver.example/sms'

async function formatted(rig: Rig, format: string, events: readonly string[]) {
  return rig.subscriptions.create({ url: URL, events, format }, OWNER)
}

test('a received message arrives as a received SMS, in the form and with the signature of SMS Gate', async () => {
  await using rig = await startRig()
  const webhook = await formatted(rig, 'sms', ['message.received'])

  const message = await rig.event()

  const [posted] = rig.sink.to(URL)
  const { headers, body = '', id } = posted ?? {}
  expect(JSON.parse(body)).toEqual({
    deviceId: 'line_a',
    event: 'sms:received',
    id,
    webhookId: webhook.id,
    payload: {
      messageId: message.id,
      phoneNumber: '+12025550147',
      sender: '+12025550147',
      recipient: '+12025550101',
      simNumber: null,
      message: message.text,
      receivedAt: new Date(message.createdAt).toISOString(),
    },
  })
  const timestamp = headers?.['x-timestamp'] ?? ''
  const expected = createHmac('sha256', webhook.secret)
    .update(body + timestamp)
    .digest('hex')
  expect(headers?.['x-signature']).toBe(expected)
  expect(timestamp).toBe(headers?.['webhook-timestamp'] ?? '')
})

test('what becomes of a message is said in the events of SMS Gate', async () => {
  await using rig = await startRig()
  const events = ['message.sent', 'message.delivered', 'message.failed']
  await formatted(rig, 'sms', events)
  const inbound = messageOf(1, { conversation: 'a', at: rig.clock.now(), ids: rig.ids })
  const error = { code: 'not_registered', message: 'No iMessage there.' }
  const message = { ...inbound, direction: 'outbound', status: 'sent', error } as const
  const { id, status, direction, text, guid, conversationId: conversation } = message
  storeMessages(rig.db.sqlite, [{ id, status, direction, text, guid, conversation }])

  for (const name of ['message.sent', 'message.delivered', 'message.failed'] as const) {
    await rig.publish(name, message)
  }

  const payload = {
    messageId: id,
    phoneNumber: '+12025550147',
    sender: '+12025550101',
    recipient: '+12025550147',
    simNumber: null,
  }
  const at = new Date(rig.clock.now()).toISOString()
  const posted = rig.sink.to(URL).map(({ body }) => JSON.parse(body))
  expect(posted.map((body) => body.event)).toEqual(['sms:sent', 'sms:delivered', 'sms:failed'])
  expect(posted.map((body) => body.payload)).toEqual([
    { ...payload, partsCount: 1, sentAt: expect.stringContaining(at.slice(0, 16)) },
    { ...payload, partsCount: 1, deliveredAt: expect.stringContaining(at.slice(0, 16)) },
    { ...payload, reason: error.message, failedAt: expect.stringContaining(at.slice(0, 16)) },
  ])
})

test('a received message arrives as the REST API of signal-cli posts it', async () => {
  await using rig = await startRig()
  await formatted(rig, 'signal-cli', ['message.received'])

  const { text, createdAt } = await rig.event()

  const [posted] = rig.sink.to(URL)
  const { params, ...rpc } = JSON.parse(posted?.body ?? '')
  expect(rpc).toEqual({ jsonrpc: '2.0', method: 'receive' })
  expect(params.account).toBe('+12025550101')
  expect(params.envelope).toMatchObject({
    source: '+12025550147',
    sourceNumber: '+12025550147',
    dataMessage: { message: text, timestamp: params.envelope.timestamp },
  })
  expect(Math.abs(params.envelope.timestamp - createdAt)).toBeLessThan(1_000)
})

test('each attempt has the same bytes and the same id, and the page shows them', async () => {
  await using rig = await startRig()
  const { id } = await formatted(rig, 'sms', ['message.received'])
  rig.sink.answer = () => 500

  const message = await rig.event()
  await rig.clock.advance(2 * HOUR)
  rig.db.sqlite.run("UPDATE messages SET text = 'edited' WHERE id = ?", [message.id])
  rig.db.sqlite.run('UPDATE lines SET deleted_at = 1')
  await rig.clock.advance(20 * HOUR)

  const posts = rig.sink.to(URL)
  expect(posts.length).toBeGreaterThan(5)
  expect(new Set(posts.map(({ body }) => body)).size).toBe(1)
  expect(new Set(posts.map((posted) => posted.id)).size).toBe(1)
  const [delivery] = rig.deliveries(id)
  expect(rig.subscriptions.getSentBody(delivery?.id ?? '')).toBe(posts[0]?.body ?? '')
})

test('after its secret was changed, a webhook of SMS Gate is signed with the new one', async () => {
  await using rig = await startRig()
  const { id } = await formatted(rig, 'sms', ['message.received'])
  const { secret } = await rig.subscriptions.rotateSecret(id, OWNER)

  await rig.event()

  const [{ headers, body } = { headers: {} as Record<string, string>, body: '' }] = rig.sink.to(URL)
  const text = body + (headers['x-timestamp'] ?? '')
  expect(headers['x-signature']).toBe(createHmac('sha256', secret).update(text).digest('hex'))
})

test('a test event has the form of the webhook', async () => {
  await using rig = await startRig()
  const { id } = await formatted(rig, 'sms', ['message.received'])

  await rig.subscriptions.sendTest(id)
  await rig.clock.advance(1_000)

  const body = JSON.parse(rig.sink.to(URL)[0]?.body ?? '')
  expect([body.event, body.id.startsWith('evt_test_')]).toEqual(['sms:received', true])
})

test('a webhook without a format, and one in the format of the relay, get the own form', async () => {
  await using rig = await startRig()
  const plain = await rig.webhook('https://receiver.example/plain', ['message.received'])
  const named = await formatted(rig, 'hookline', ['message.received'])

  await rig.event()

  const [first, second] = rig.sink.posts
  expect(first?.body ?? '').toBe(second?.body ?? 'none')
  expect(Object.keys(first?.headers ?? {})).not.toContain('x-signature')
  expect([plain, named].map((webhook) => 'format' in webhook)).toEqual([false, false])
})

test('an unknown format, and an event that a format lacks, are refused with what there is', async () => {
  await using rig = await startRig()
  const { id, format } = await formatted(rig, 'sms', ['message.received'])
  const change = { events: ['message.received', 'message.read'] }
  const said = async (act: () => Promise<unknown>) => {
    const error = await act().then(
      () => null,
      (thrown: unknown) => thrown,
    )
    return JSON.stringify(error)
  }

  const unknown = () => formatted(rig, 'pigeon', ['message.received'])
  const lacking = () => formatted(rig, 'signal-cli', ['message.sent'])
  const changed = () => rig.subscriptions.update(id, change, OWNER)

  expect(format).toBe('sms')
  expect(await codeOf(unknown)).toBe('invalid_request')
  expect(await said(unknown)).toContain('hookline, sms, signal-cli')
  expect(await codeOf(lacking)).toBe('invalid_request')
  expect(await said(lacking)).toContain('in the format signal-cli')
  expect(await said(changed)).toContain('not in it: message.read')
})

/** The bodies of a failed message in every form, without those that aren't sent. */
function failureBodies(code: string): readonly string[] {
  const message = {
    id: `msg_${'0'.repeat(26)}`,
    handle: '+12025550147',
    text: 'hi',
    isFromMe: true,
  }
  const error = { code, message: 'A sentence.' }
  const event = {
    event: 'message.failed',
    phone_line_id: 'line_a',
    message: { ...message, error },
  } as unknown as EventPayload // A form reads no other field.
  const at = { at: rigTime, time: new Date(rigTime).toISOString() }
  const sent = { ...at, id: 'evt_1', webhookId: 'wh_1', event, line: null, account: '', relay: '' }
  return COMPAT_APIS.flatMap(({ webhook }) => {
    const isSent = webhook?.events.includes('message.failed') && webhook.says?.(event) !== false
    return isSent === true ? [webhook?.body(sent) ?? ''] : []
  })
}
const rigTime = 1_800_000_000_000
const FAILED_WORD = /\bERROR\b|failed\b/

test('a message that may have arrived, or did in part, is failed in no form', () => {
  const certain = failureBodies('not_on_imessage')
  const doubtful = ['outcome_unknown', 'restored', 'partly_sent'].flatMap(failureBodies)

  expect(certain.map((body) => FAILED_WORD.test(body))).toEqual([true, true, true])
  expect(doubtful.length).toBeGreaterThan(0)
  expect(doubtful.filter((body) => FAILED_WORD.test(body))).toEqual([])
})

test('what SMS Gate has no event for is not sent there, and not by a replay', async () => {
  await using rig = await startRig()
  const { id } = await formatted(rig, 'sms', ['message.failed'])
  await rig.webhook('https://receiver.example/own', ['message.failed'])
  const inbound = messageOf(1, { conversation: 'a', at: rig.clock.now(), ids: rig.ids })
  const error = { code: 'outcome_unknown', message: 'Nobody knows.' }
  const message = { ...inbound, direction: 'outbound', status: 'uncertain', error } as const
  const { status, direction, text, guid, conversationId: conversation } = message
  storeMessages(rig.db.sqlite, [{ id: message.id, status, direction, text, guid, conversation }])

  await rig.publish('message.failed', message)
  const replayed = await rig.subscriptions.replay(
    id,
    { since: timestamp(0), events: null, lineId: null, isDryRun: false, includesEarlier: true },
    OWNER,
  )
  await rig.clock.advance(HOUR)

  expect(replayed).toBe(0)
  expect(rig.sink.posts.map(({ url }) => url)).toEqual(['https://receiver.example/own'])
})
