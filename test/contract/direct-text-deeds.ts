// All that clients and webhooks of direct text messages see, byte for byte, while a relay goes through
// the same deeds each time: the same seed, the same clock, the same guids.

import { deviceHandle } from '../../src/domain/handle.ts'
import { timestamp } from '../../src/domain/ids.ts'
import type { LineEvent } from '../../src/lines/driver.ts'
import { guidOf, refuses, ScriptedDriver, type SendScript } from '../support/scripted-driver.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'
import { startRelay, type Json, type TestRelay } from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'

const PERSON = '+12025550177'
const OTHER = '+12025550188'
const EVENTS = ['received', 'sent', 'delivered', 'read', 'failed'].map((step) => `message.${step}`)

const acceptsAs =
  (guid: string): SendScript =>
  async (_message, pointOfNoReturn) => {
    await pointOfNoReturn('note')
    return { outcome: 'accepted', guid }
  }

const forgets: SendScript = async (_message, pointOfNoReturn) => {
  await pointOfNoReturn('note')
  return { outcome: 'unknown', reason: 'no_row' }
}

const rejects: SendScript = async () => ({
  outcome: 'not_sent',
  reason: 'not_on_imessage',
  blame: 'message',
})

function received(guid: string, more: { readonly text: string; readonly isHistory?: true }) {
  const at = timestamp(TEST_START - 5_000)
  const message = { guid, handle: deviceHandle(PERSON), at, isFromMe: false, service: 'iMessage' }
  const checkpoint = `after ${guid}`
  return {
    type: 'message',
    message: { ...message, isHistory: false, ...more },
    checkpoint,
  } as const satisfies LineEvent
}

/** Asks the relay, and adds each answer to `bodies`. */
function askerOf(relay: TestRelay, bodies: [string, string][]) {
  return async (method: string, path: string, body?: unknown, key?: string): Promise<Json> => {
    const headers = {
      'X-API-Key': relay.key?.key ?? '',
      'X-API-Secret': relay.key?.secret ?? '',
      'Content-Type': 'application/json',
      ...(key === undefined ? {} : { 'Idempotency-Key': key }),
    }
    const url = `http://localhost${path}`
    const text = body === undefined ? null : JSON.stringify(body)
    const peer = { address: '127.0.0.1', isControl: false, liftTimeout: () => {} }
    const request = new Request(url, { method, headers, body: text })
    const answer = await relay.app.http.fetch(request, peer)
    const content = await answer.text()
    // Each error names its request, whose id says nothing of the message.
    const stable = content.replace(/"request_id":"[^"]*"/, '"request_id":"…"')
    bodies.push([`${method} ${path}`, `${answer.status} ${stable}`])
    return JSON.parse(content)
  }
}

/** The texts, each with the name of what it is. */
export async function directTextBodies(): Promise<readonly (readonly [string, string])[]> {
  const bodies: [string, string][] = []
  const clock = new TestClock()
  const sink = new WebhookSink(clock)
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  await using relay = await startRelay({ drivers: [driver], clock, post: sink.post, seed: 19 })

  const ask = askerOf(relay, bodies)
  const send = (to: string, text: string, key?: string) =>
    ask('POST', '/api/v1/messages/send', { to, text }, key)

  await device.emit(received(guidOf(899), { text: 'before any webhook' }))
  const hook = { url: 'https://receiver.example/hook', events: EVENTS }
  const webhook = await ask('POST', '/api/v1/webhooks', hook)
  await device.emit(received(guidOf(900), { text: 'from before', isHistory: true }))
  await device.emit(received(guidOf(901), { text: 'Grüße 👋 \u2028 "quoted"' }))
  await device.emit(received(guidOf(901), { text: 'the same row again' }))
  device.script = acceptsAs(guidOf(902))
  const sent = await send(PERSON, 'On my way.', 'order-1')
  await send(PERSON, 'On my way.', 'order-1')
  await clock.advance(2_000)
  await device.report(guidOf(902), 'delivered', clock.now())
  await device.report(guidOf(902), 'read', clock.now() + 500)
  device.script = rejects
  await send(OTHER, 'Is this iMessage?')
  device.script = forgets
  const lost = await send(OTHER, 'Lost on the way.')
  await clock.advance(601_000)
  device.script = refuses
  await send('+12025550199', 'Try again.')
  await clock.advance(5_000)
  await device.report(guidOf(902), 'read', clock.now(), { service: 'SMS' })
  await ask('POST', `/api/v1/messages/${lost.id}/resolve`, { status: 'sent' })
  await clock.advance(1_000)

  await ask('GET', `/api/v1/messages/${sent.id}`)
  for (const query of ['', '?limit=2', `?handle=%2B12025550177`, '?direction=inbound']) {
    await ask('GET', `/api/v1/messages${query}`)
  }
  await ask('GET', '/api/v1/messages?updated_since=2026-11-21T10:00:00.000Z')
  const conversations = await ask('GET', '/api/v1/conversations')
  const [first] = conversations.data
  await ask('GET', `/api/v1/conversations?handle=%2B12025550188`)
  await ask('GET', `/api/v1/messages?conversation_id=${first.id}`)
  await ask('PATCH', `/api/v1/conversations/${first.id}`, { automation_paused: true })
  await ask('GET', `/api/v1/conversations/${first.id}`)
  await ask('GET', '/api/v1/webhooks')
  await ask('POST', `/api/v1/webhooks/${webhook.id}/test`)
  const again = { since: '2026-11-21T10:00:00.000Z', include_earlier: true }
  await ask('POST', `/api/v1/webhooks/${webhook.id}/replay`, again)
  await ask('POST', '/api/v1/webhooks', { ...hook, url: 'https://late.example/' })
  const [, late] = (await ask('GET', '/api/v1/webhooks')).data.toReversed()
  await ask('POST', `/api/v1/webhooks/${late.id}/replay`, again)
  await clock.advance(5_000)
  await ask('GET', `/api/v1/webhooks/${webhook.id}/deliveries`)
  await ask('GET', '/api/v1/stats?days=1')
  for (const { url, id, body } of sink.posts) bodies.push([`${url} ${id}`, body])
  return bodies
}

/** The answers about keys, phone lines and webhooks to requests that name no field of a later version. */
export async function settingsBodies(): Promise<readonly (readonly [string, string])[]> {
  const bodies: [string, string][] = []
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  driver.add('+12025550802')
  const clock = new TestClock()
  await using relay = await startRelay({ drivers: [driver], clock, seed: 23 })
  const ask = askerOf(relay, bodies)

  for (const name of ['Booking system', null]) await ask('POST', '/api/v1/keys', { name })
  await ask('POST', '/api/v1/keys', {})
  await ask('POST', '/api/v1/keys', { name: 'x'.repeat(101) })
  const keys = await ask('GET', '/api/v1/keys')
  await ask('GET', `/api/v1/keys?limit=2`)
  await ask('DELETE', `/api/v1/keys/${keys.data[0].id}`)
  await ask('DELETE', '/api/v1/keys/key_unknown')
  await ask('GET', '/api/v1/keys')

  const lines = await ask('GET', '/api/v1/phone-lines')
  const line = `/api/v1/phone-lines/${lines.data[0].id}`
  await ask('PATCH', line, { label: 'Front desk', daily_contact_limit: 20 })
  await ask('PATCH', line, { daily_contact_limit: -1 })
  await device.goOffline()
  await ask('GET', '/api/v1/phone-lines')

  const hook = { url: 'https://receiver.example/hook', events: EVENTS }
  const webhook = await ask('POST', '/api/v1/webhooks', hook)
  const path = `/api/v1/webhooks/${webhook.id}`
  await ask('POST', '/api/v1/webhooks', { ...hook, events: [] })
  await ask('PUT', path, { ...hook, description: 'Bookings', is_active: false })
  await ask('GET', path)
  await ask('POST', `${path}/rotate-secret`)
  await ask('GET', '/api/v1/webhooks?limit=1')
  await ask('DELETE', path)
  await ask('GET', path)
  return bodies
}
