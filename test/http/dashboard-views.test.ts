// What the page gets ready to be shown, by the real relay: to whom, and from what.

import { expect, test } from 'bun:test'

import { ScriptedDriver } from '../support/scripted-driver.ts'
import { TestClock } from '../support/test-clock.ts'
import { WebhookSink } from '../support/webhook-sink.ts'
import { outcome, startDashboard } from './dashboard-rig.ts'

const STATE = '/dashboard/state'
const CHECKS = '/dashboard/checks'
const DAYS = '/dashboard/webhook-days'
const HOOK = 'https://shop.example.com/hook'

test('the state names what is wrong and the page that fixes it, and the checks are those of each line', async () => {
  const driver = new ScriptedDriver()
  driver.add('+12025550801')
  const other = driver.add('+12025550802')
  await using relay = await startDashboard({ drivers: [driver] })
  const browser = await relay.claim()
  const [online, offline] = await relay.lines()
  await relay.clock.advance(60_000)
  await other.goOffline()

  const state = (await browser.get(STATE)).body
  const { data } = (await browser.get(CHECKS)).body

  expect({ ...state, findings: state.findings.length }).toEqual({
    tone: 'warn',
    title: '1 issue needs attention',
    lines: '1 of 2 lines ready',
    webhooks: 'no webhooks',
    findings: 1,
    snoozed: [],
  })
  expect(state.findings[0]).toMatchObject({
    cause: { code: 'line_offline', line_id: offline.id },
    consequences: [],
    place: { name: 'line', href: `#/lines/${offline.id}` },
  })
  expect(data.map((one: object) => ({ ...one, checks: undefined }))).toEqual([
    { line_id: null, offline_since: null, summary: 'All permissions are granted.' },
    {
      line_id: online.id,
      offline_since: null,
      summary: 'All checks passed. This line can send and receive.',
    },
    {
      line_id: offline.id,
      offline_since: '2026-11-21T10:01:00.000Z',
      summary: 'The line is offline.',
    },
  ])
  expect(data[1].checks.at(-1)).toEqual({
    state: 'ok',
    title: 'New contacts left for today',
    why: null,
    fix: null,
  })
})

test('a delivery comes with its attempts, why each failed, and what was sent', async () => {
  await using rig = await failingRig()
  const { browser, webhookId } = rig

  const listed = (await browser.get(`/dashboard/webhooks/${webhookId}/deliveries`)).body
  const [delivery] = listed.data
  const alone = (await browser.get(`/dashboard/webhook-deliveries/${delivery.id}`)).body
  const sent = (await browser.get(`/dashboard/webhook-deliveries/${delivery.id}/request`)).body
  const days = (await browser.get(DAYS)).body.data
  const path = `/dashboard/webhooks/${webhookId}/deliveries`
  const filtered = await Promise.all(
    ['pending', 'succeeded', 'lost'].map((status) =>
      browser.get(`${path}?status=${status}&limit=1`),
    ),
  )

  expect([listed.data.length, listed.has_more, listed.next_cursor]).toEqual([1, false, null])
  expect(filtered.map((answer) => answer.body.data?.length ?? outcome(answer))).toEqual([
    1,
    0,
    '400 invalid_request',
  ])
  expect(delivery.attempts).toMatchObject([
    {
      number: 1,
      status_code: 500,
      response_excerpt: 'no such table',
      hint: { title: 'Your endpoint failed (500)' },
    },
  ])
  expect(alone).toEqual(delivery)
  expect(JSON.parse(sent.body)).toEqual(JSON.parse(rig.sink.posts[0]?.body ?? ''))
  expect(sent.headers).toContain(`webhook-id: ${delivery.event_id}`)
  expect(sent.conversation_id).toStartWith('conv_')
  expect(days).toEqual([
    {
      webhook_id: webhookId,
      waiting: 1,
      failing_since: delivery.attempts[0].started_at,
      next_probe_at: null,
      failing: delivery,
      is_test_inbox: false,
      stopped: null,
    },
  ])
})

test('a delivery names its person, a message lists its deliveries, and the next probe is known', async () => {
  await using rig = await failingRig()
  const { browser } = rig
  await browser.put('/dashboard/api/contacts/+12025550700', { name: 'Ana' })
  const { data } = await rig.get('/api/v1/messages')

  const found = await browser.get(`/dashboard/messages/${data[0].id}/deliveries`)
  const none = await browser.get('/dashboard/messages/msg_0/deliveries')
  await rig.clock.advance(30 * 60_000)
  const [day] = (await browser.get(DAYS)).body.data
  const waitMs = Date.parse(day.next_probe_at) - rig.clock.now()

  expect(found.body.data).toMatchObject([
    {
      webhook_id: rig.webhookId,
      person: { handle: '+12025550700', name: 'Ana', is_group: false },
      schedule: { made: 1, of: 12 },
    },
  ])
  expect(none.body.data).toEqual([])
  // Only probes go out now.
  expect(waitMs).toBeWithin(1, 5 * 60_000 + 1)
})

test('what is not there is not reported, and nothing takes a parameter that it does not know', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()
  const ask = async (path: string) => outcome(await browser.get(path))
  const gone = ['webhooks/wh_0/deliveries', 'webhook-deliveries/x', 'webhook-deliveries/x/request']

  const unknown = await Promise.all(gone.map((path) => ask(`/dashboard/${path}`)))
  const asked = await Promise.all(
    [STATE, CHECKS, DAYS, '/dashboard/about'].map((path) => ask(`${path}?x=1`)),
  )

  expect(unknown).toEqual(Array(3).fill('404 not_found'))
  expect(asked).toEqual(Array(4).fill('400 invalid_request'))
})

/** A relay with a webhook whose receiver failed once. */
async function failingRig() {
  const clock = new TestClock()
  const sink = new WebhookSink(clock)
  // What a private target says is shown to the owner.
  sink.answer = () => ({
    result: 'answered',
    statusCode: 500,
    excerpt: 'no such table',
    retryAfterSeconds: null,
    isPrivateTarget: true,
  })
  const driver = new ScriptedDriver()
  driver.add('+12025550801')
  const relay = await startDashboard({ drivers: [driver], clock, post: sink.post })
  const browser = await relay.claim()
  const webhook = { url: HOOK, events: ['message.sent'] }
  const { body } = await browser.post('/dashboard/api/webhooks', webhook)
  await relay.send({ to: '+12025550700', text: 'Your table is ready.' })
  await clock.advance(1_000)
  return { ...relay, browser, sink, webhookId: String(body.id) }
}
