// What the timeline says of single things. Random lives are in `timeline-lives.test.ts`.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import { startDashboard } from '../http/dashboard-rig.ts'
import { asOwner } from '../support/control-socket.ts'
import { ends, guidOf, ScriptedDriver } from '../support/scripted-driver.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'
import type { Json } from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

async function shop(startsAt = TEST_START) {
  const driver = new ScriptedDriver()
  const clock = new TestClock(startsAt)
  const sink = new WebhookSink(clock)
  const device = driver.add('+12025550801')
  const relay = await startDashboard({ drivers: [driver], clock, post: sink.post })
  const [{ id }] = (await relay.lines()) as readonly [Json]
  await relay.patch(`/api/v1/phone-lines/${id}`, { label: 'Front desk' })
  const timeline = async (query = ''): Promise<Json> => relay.get(`/api/v1/timeline?${query}`)
  const texts = async (query = '') => (await timeline(query)).data.map(({ text }: Json) => text)
  return { relay, clock, sink, device, id, timeline, texts }
}

test('a line that was off says for how long and why, and one that is off says that it still is', async () => {
  const { relay, clock, device, texts } = await shop()
  await using _ = relay
  await clock.advance(HOUR)
  await device.goOffline()
  await clock.advance(4 * MINUTE)
  await device.goOnline()
  await clock.advance(HOUR)
  await device.goOffline('locked')
  await clock.advance(MINUTE)

  expect((await texts()).slice(0, 2)).toEqual([
    'Front desk went off and is still off: locked.',
    'Front desk was off for 4 minutes: unplugged.',
  ])
})

test('a line that went off before the range and was off in it is in the range', async () => {
  const { relay, clock, device, timeline } = await shop()
  await using _ = relay
  await device.goOffline()
  await clock.advance(3 * HOUR)
  await device.goOnline()
  await clock.advance(HOUR)
  const since = (ms: number) => `since=${new Date(TEST_START + ms).toISOString()}`

  const inside = await timeline(since(2 * HOUR))
  const after = await timeline(since(3 * HOUR + MINUTE))

  expect(inside.data.map(({ kind }: Json) => kind)).toEqual(['line.off'])
  expect(inside.summary).toMatchObject({ lines_off: 1, off_seconds: 3_600 })
  expect(after.data).toEqual([])
  expect(after.summary).toMatchObject({ lines_off: 0, text: 'Quiet time: 0 messages received.' })
})

test('messages that fail are counted by the hour, and those that were sent after all', async () => {
  const { relay, clock, device, id, timeline } = await shop()
  await using _ = relay
  device.script = ends({ outcome: 'unknown', reason: 'timed_out' })
  for (const text of ['one', 'two']) {
    await relay.send({ to: '+12025550701', text }, { Prefer: 'respond-async' })
    await clock.advance(MINUTE)
  }
  const { data } = await relay.get('/api/v1/messages?status=uncertain')
  await relay.post(`/api/v1/messages/${data[0].id}/resolve`, { status: 'sent' })
  await clock.advance(0)

  const { data: entries, summary } = await timeline()
  const counted = entries.filter(({ kind }: Json) => kind === 'messages.unsent')
  const later = await timeline('since=2026-11-21T10:01:00Z')
  expect(data).toHaveLength(2)
  expect(counted).toMatchObject([
    {
      text: 'Between 10:00 and 11:00, messages of Front desk: 2 became uncertain and 1 turned out to be sent after all.',
      phone_line_id: id,
      at: '2026-11-21T10:00:00.000Z',
      until: '2026-11-21T11:00:00.000Z',
    },
  ])
  expect(later.data.map(({ kind }: Json) => kind)).toContain('messages.unsent')
  expect(summary.text).toBe('Not a quiet night: 2 messages became uncertain, 0 messages received.')
})

test('a webhook that fails and works again says after how long, and how much waited', async () => {
  const { relay, clock, sink, device, texts } = await shop()
  await using _ = relay
  const url = 'https://shop.example/'
  const made = { url, description: 'Shop', events: ['message.received'] }
  await relay.post('/api/v1/webhooks', made)
  sink.answer = () => 503
  for (let n = 0; n < 6; n += 1) {
    await device.receive({ guid: guidOf(n), handle: deviceHandle('+12025550701') })
    await clock.advance(5_000)
  }
  await clock.advance(10 * MINUTE)
  sink.answer = () => 200
  await clock.advance(HOUR)

  const ofWebhook = (await texts()).filter((text: string) => text.startsWith('Webhook Shop '))
  expect(ofWebhook).toHaveLength(3)
  expect(ofWebhook[0]).toMatch(
    /^Webhook Shop works again after 1\d minutes; 5 deliveries waited\.$/,
  )
  expect(ofWebhook.slice(1)).toEqual([
    'Webhook Shop began to fail.',
    'Webhook Shop added, by the key First key.',
  ])
})

test('opt-outs by a word and by hand name the person, also after they ended', async () => {
  const { relay, clock, device, texts } = await shop()
  await using _ = relay
  await relay.put('/api/v1/contacts/+12025550701', { name: 'Ada Lovelace' })
  for (const [n, text] of ['STOP', 'START'].entries()) {
    await device.receive({ guid: guidOf(n), handle: deviceHandle('+12025550701'), text })
    await clock.advance(MINUTE)
  }
  await relay.put('/api/v1/opt-outs/+12025550702', {})
  await clock.advance(0)

  expect((await texts()).filter((text: string) => /opt/i.test(text))).toEqual([
    '+1 202 555 0702 opted out, by a program.',
    'Ada Lovelace opted in again, by the word START.',
    'Ada Lovelace opted out, by the word STOP.',
  ])
})

test('a change names the thing and who changed it, and times are those of the zone of the relay', async () => {
  const { relay, clock, timeline } = await shop()
  await using _ = relay
  await asOwner(relay, 'PUT', '/settings/time_zone', { body: { value: 'Asia/Kolkata' } })
  await clock.advance(0)

  const { data, time_zone } = await timeline()
  expect(data.map(({ text }: Json) => text).slice(0, 2)).toEqual([
    'Setting time zone changed, on the command line.',
    'Line Front desk changed, by the key First key.',
  ])
  expect(time_zone).toBe('Asia/Kolkata')
})

test('a night over midnight is called one, and says how many wait for an answer', async () => {
  const { relay, clock, device, timeline } = await shop(Date.parse('2026-11-21T23:00:00Z'))
  await using _ = relay
  for (const n of [1, 2]) {
    await device.receive({ guid: guidOf(n), handle: deviceHandle(`+1202555070${n}`) })
    await clock.advance(MINUTE)
  }
  await clock.advance(HOUR)

  const { summary } = await timeline('since=2026-11-21T18:00:00Z')
  expect(summary).toMatchObject({
    text: 'Quiet night: 2 messages received, 2 to answer.',
    is_quiet: true,
  })
})
