// What the relay reports to a page that watches: everything that the page lists. The stream itself is in
// `dashboard-events.test.ts`.

import { expect, test } from 'bun:test'

import { ScriptedDriver } from '../support/scripted-driver.ts'
import { settle, TestClock } from '../support/test-clock.ts'
import type { Json } from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'
import { startDashboard } from './dashboard-rig.ts'
import { EventReader } from './event-reader.ts'

const PERSON = '+12025550147'
const HOOK = 'https://shop.example.com/hooks'

/** A relay with one line, and a page that watches it. */
async function watched() {
  const clock = new TestClock()
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550188')
  const sink = new WebhookSink(clock)
  const disk = { freeBytes: Number.MAX_SAFE_INTEGER }
  const relay = await startDashboard({
    clock,
    drivers: [driver],
    post: sink.post,
    parts: { disk: { freeBytes: () => disk.freeBytes } },
  })
  const browser = await relay.claim()
  const page = new EventReader(await browser.fetch('GET', '/dashboard/events'))
  await settle()
  /** What the page heard since the last time, but for the use of the test's own key. */
  const hear = async (): Promise<readonly Json[]> => {
    await clock.advance(100)
    return page
      .take()
      .filter(({ event, data }) => event === 'change' && data.id !== relay.key?.id)
      .map(({ data }) => data)
  }
  // What the start itself changed, and what health says first.
  await clock.advance(60_000)
  await hear()
  const [line] = await relay.lines()
  return { ...relay, browser, device, disk, sink, page, hear, line }
}

test('a message is reported with its conversation, and the line if it used some of its budget', async () => {
  await using relay = await watched()

  const { body: first } = await relay.send({ to: PERSON, text: 'hello' })
  const afterFirst = await relay.hear()
  const { body: second } = await relay.send({ to: PERSON, text: 'and again' })
  const afterSecond = await relay.hear()

  const conversation_id = first.conversation_id
  const conversation = { what: 'conversation', id: conversation_id }
  expect(afterFirst).toBeArrayOfSize(3)
  expect(afterFirst).toContainEqual({ what: 'message', id: first.id, conversation_id })
  expect(afterFirst).toContainEqual(conversation)
  expect(afterFirst).toContainEqual({ what: 'line', id: relay.line.id })
  expect(afterSecond).toEqual([{ what: 'message', id: second.id, conversation_id }, conversation])
})

test('what comes of a message, one that a person writes, and a conversation taken over are reported', async () => {
  await using relay = await watched()
  const { body: sent } = await relay.send({ to: PERSON, text: 'hello' })
  await relay.hear()
  const { id, conversation_id } = sent

  await relay.device.report(sent.platform_guid, 'delivered', relay.clock.now())
  const delivered = await relay.hear()
  await relay.device.receive({ guid: '00000000-0000-4000-8000-00000000AAAA' })
  const received = await relay.hear()
  const { data } = await relay.get('/api/v1/messages?direction=inbound')
  await relay.patch(`/api/v1/conversations/${conversation_id}`, { automation_paused: true })
  const paused = await relay.hear()

  expect(delivered).toEqual([{ what: 'message', id, conversation_id }])
  const inbound = { id: data[0].id, conversation_id: data[0].conversation_id }
  expect(received).toContainEqual({ what: 'message', ...inbound })
  expect(received).toContainEqual({ what: 'conversation', id: inbound.conversation_id })
  expect(paused).toContainEqual({ what: 'conversation', id: conversation_id })
})

test('a line is reported when it goes away, when it is back, and when its settings change', async () => {
  await using relay = await watched()
  const { id } = relay.line

  await relay.device.goOffline()
  const gone = await relay.hear()
  await relay.device.goOnline()
  const back = await relay.hear()
  await relay.patch(`/api/v1/phone-lines/${id}`, { label: 'Shop' })
  const renamed = await relay.hear()

  const line = { what: 'line', id }
  const health = { what: 'health', id: 'health' }
  expect(gone).toEqual([line, health])
  expect(back).toEqual([line, health])
  expect(renamed).toContainEqual(line)
})

test('a webhook is reported from its creation to its end, with its secrets and what is thought of it', async () => {
  await using relay = await watched()
  const heard: (readonly Json[])[] = []
  const told = async () => heard.push(await relay.hear())
  relay.sink.answer = () => 500

  const { body } = await relay.post('/api/v1/webhooks', { url: HOOK, events: ['message.sent'] })
  await told()
  const path = `/api/v1/webhooks/${body.id}`
  await relay.put(path, { description: 'Till' })
  await told()
  await relay.post(`${path}/rotate-secret`, {})
  await told()
  await relay.send({ to: PERSON, text: 'hello' })
  const failing = await relay.hear()
  relay.sink.answer = () => 200
  await relay.clock.advance(6_000)
  const well = await relay.hear()
  await relay.request('DELETE', path)
  await told()

  const webhook = { what: 'webhook', id: body.id }
  expect(heard.slice(0, 3)).toEqual([[webhook], [webhook], [webhook]])
  expect(failing).toContainEqual(webhook)
  expect(well).toContainEqual(webhook)
  expect(heard[3]).toContainEqual(webhook)
})

test('a delivery is reported when it is made, at each attempt, and when a person asks for another', async () => {
  await using relay = await watched()
  relay.sink.answer = (_posted, index) => (index === 1 ? 200 : 'hang')
  const webhook = { url: HOOK, events: ['message.sent'] }
  const { body: hook } = await relay.post('/api/v1/webhooks', webhook)
  const read = async (): Promise<Json> =>
    (await relay.get(`/api/v1/webhooks/${hook.id}/deliveries`)).data[0]
  await relay.hear()

  await relay.send({ to: PERSON, text: 'hello' })
  const made = await relay.hear()
  await relay.clock.advance(10_000)
  const timedOut = await relay.hear()
  const failed = await read()
  await relay.clock.advance(6_000)
  const again = await relay.hear()
  const succeeded = await read()
  await relay.post(`/api/v1/webhook-deliveries/${failed.id}/redeliver`, {})
  const asked = await relay.hear()

  expect([failed.attempt_count, failed.status]).toEqual([1, 'pending'])
  expect([succeeded.attempt_count, succeeded.status]).toEqual([2, 'succeeded'])
  for (const told of [made, timedOut, again, asked]) {
    expect(told).toContainEqual({ what: 'delivery', id: failed.id })
  }
})

test('a key that is made, used and revoked, a setting that changes and a browser that logs in are reported', async () => {
  await using relay = await watched()

  const { body: made } = await relay.post('/api/v1/keys', { name: 'till' })
  const first = await relay.hear()
  await relay.request('GET', '/api/v1/messages', undefined, {
    'X-API-Key': made.key,
    'X-API-Secret': made.secret,
  })
  await relay.clock.advance(2_000)
  const used = await relay.hear()
  await relay.request('DELETE', `/api/v1/keys/${made.id}`)
  const revoked = await relay.hear()
  await relay.browser.put('/dashboard/api/settings/open_metrics', { value: 'on' })
  const afterSetting = await relay.hear()
  await relay.logIn()
  const afterLogIn = await relay.hear()

  const key = { what: 'key', id: made.id }
  expect(first).toContainEqual(key)
  expect(used).toContainEqual(key)
  expect(revoked).toContainEqual(key)
  expect(afterSetting).toEqual([{ what: 'setting', id: 'open_metrics' }])
  expect(afterLogIn).toEqual([{ what: 'session', id: 'all' }])
})

test('what is the matter is reported when it begins and when it is over, and not in between', async () => {
  await using relay = await watched()

  relay.disk.freeBytes = 0
  await relay.clock.advance(60_000)
  const begun = await relay.hear()
  await relay.clock.advance(60_000)
  const lasting = await relay.hear()
  relay.disk.freeBytes = Number.MAX_SAFE_INTEGER
  await relay.clock.advance(60_000)
  const over = await relay.hear()

  const health = [{ what: 'health', id: 'health' }]
  expect([begun, lasting, over]).toEqual([health, [], health])
})
