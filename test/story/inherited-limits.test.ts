// What a key takes over from another person keeps to the key's own limits: a message that it approves with other
// words, and a webhook that had more lines before.

import { expect, test } from 'bun:test'

import { ANNA, BOB, HOUR_MS, idsOf, makeKey, openShop } from '../support/limited-keys.ts'
import { TestClock } from '../support/test-clock.ts'
import { type Json } from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'

const SECOND = 1_000
const OLD = 'https://old.example/hook'
const NEW = 'https://new.example/hook'

test('a message with the words of another key stays on the lines of that key', async () => {
  await using relay = await openShop()
  const [first] = await idsOf(relay)
  for (const handle of [ANNA, BOB]) {
    await relay.devices[0]?.receive({ guid: handle, handle: handle as never })
  }
  const agent = await makeKey(relay, { rules: { approval: 'always' } })
  const clerk = await makeKey(relay, { phone_line_ids: [first] })
  const held = async (to: string) => (await agent.send(to)).body.id as string
  const [unchanged, changed] = [await held(ANNA), await held(BOB)]
  await relay.devices[0]?.goOffline()

  await clerk.call('POST', `/messages/${unchanged}/approve`, {})
  await clerk.call('POST', `/messages/${changed}/approve`, { text: 'other words' })
  await relay.clock.advance(60 * SECOND)

  const sent = relay.devices.flatMap((device) => device.sent.map(({ text }) => text))
  expect(sent).toEqual(['hi'])
  expect((await relay.message(changed)).status).toBe('queued')
})

test('a message with the words of another key waits for the end of the quiet hours of both', async () => {
  await using relay = await openShop()
  const quiet = (from: string, to: string) => ({ quiet_hours: { from, to } })
  const rules = { approval: 'always', ...quiet('09:00', '11:00') }
  const agent = await makeKey(relay, { rules })
  const clerk = await makeKey(relay, { rules: quiet('09:00', '12:00') })
  const held = await agent.send(ANNA, {})

  const approved = await clerk.call('POST', `/messages/${held.body.id}/approve`, { text: 'other' })
  await relay.clock.advance(1.5 * HOUR_MS)
  const early = relay.devices[0]?.sent.length
  await relay.clock.advance(HOUR_MS)

  expect([approved.status, approved.body.queued_reason]).toEqual([200, 'quiet_hours'])
  expect(Object.keys(approved.body.approval)).not.toContain('quietHours')
  expect([early, relay.devices[0]?.sent.map(({ text }) => text)]).toEqual([0, ['other']])
})

/** A webhook whose receiver fails, with an event of each of two lines that is still to be delivered. */
async function openFailing(answer: WebhookSink['answer']) {
  const clock = new TestClock()
  const sink = new WebhookSink(clock)
  sink.answer = answer
  const relay = await openShop({ clock, post: sink.post })
  const [first = '', second = ''] = await idsOf(relay)
  const hook = { url: OLD, events: ['message.received'] }
  const { id } = (await relay.post('/api/v1/webhooks', hook)).body
  await relay.devices[1]?.receive({ guid: 'b', handle: BOB as never, text: 'berries' })
  await relay.devices[0]?.receive({ guid: 'a', handle: ANNA as never, text: 'apples' })
  const change = (body: object, by: Pick<Awaited<ReturnType<typeof makeKey>>, 'call'>) =>
    by.call('PUT', `/webhooks/${id}`, body)
  const textsTo = (url: string) => sink.to(url).map(({ body }) => JSON.parse(body).message.text)
  const owner = {
    call: (method: string, path: string, body?: unknown) =>
      relay.request(method, `/api/v1${path}`, body),
  }
  const key = await makeKey(relay, { phone_line_ids: [first] })
  return { ...relay, id, first, second, owner, key, change, textsTo }
}

test('a webhook that has fewer lines now sends no event of the others, wherever it moves', async () => {
  await using stage = await openFailing(({ url }) => (url === OLD ? 500 : 200))
  const { clock, first, owner, key } = stage
  await clock.advance(SECOND)

  await stage.change({ phone_line_ids: [first] }, owner)
  const moved = await stage.change({ url: NEW }, key)
  await clock.advance(HOUR_MS)
  const { data } = await stage.get(`/api/v1/webhooks/${stage.id}/deliveries`)

  expect(moved.status).toBe(200)
  expect(stage.textsTo(NEW)).toEqual(['apples'])
  expect(data.map(({ status }: Json) => status)).toEqual(['succeeded', 'exhausted'])
})

test('nor one whose attempt was out meanwhile', async () => {
  await using stage = await openFailing(({ url }) => (url === OLD ? 'hang' : 200))
  const { clock, first, owner, key } = stage
  await clock.advance(SECOND)

  await stage.change({ phone_line_ids: [first] }, owner)
  await stage.change({ url: NEW }, key)
  await clock.advance(HOUR_MS)

  expect(stage.textsTo(OLD)).toEqual(['berries'])
  expect(stage.textsTo(NEW)).toEqual(['apples'])
})

test('its owner can still send them by hand, and a key of other lines cannot', async () => {
  await using stage = await openFailing(({ url }) => (url === OLD ? 500 : 200))
  const { clock, first, owner, key } = stage
  await clock.advance(SECOND)
  await stage.change({ phone_line_ids: [first], url: NEW }, owner)
  await clock.advance(HOUR_MS)
  const list = `/webhooks/${stage.id}/deliveries`
  const all = (await stage.get(`/api/v1${list}`)).data
  const ofOther = all.find(({ status }: Json) => status === 'exhausted').id
  const again = (by: Pick<typeof key, 'call'>) =>
    by.call('POST', `/webhook-deliveries/${ofOther}/redeliver`, {})

  const own = (await key.get(list)).data.map(({ id }: Json) => id)
  const tested = (await key.call('POST', `/webhooks/${stage.id}/test`, {})).body.id
  const seen = (await key.get(`/webhook-deliveries/${tested}`)).id
  const retried = await key.call('POST', `/webhooks/${stage.id}/retry-failed`, {})
  const statuses = [(await again(key)).status, (await again(owner)).status]
  await clock.advance(SECOND)

  expect(own).toEqual(all.map(({ id }: Json) => id).filter((id: string) => id !== ofOther))
  expect(seen).toBe(tested)
  expect([retried.body.retried, statuses]).toEqual([0, [404, 202]])
  expect(stage.textsTo(NEW)).toContain('berries')
})
