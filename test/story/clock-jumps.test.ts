// A wall clock that is set forward while the relay runs: nothing grows old by it, and nothing is dated
// in the future. What a start finds is in `clock-starts.test.ts`.

import { expect, test } from 'bun:test'

import { asOwner } from '../support/control-socket.ts'
import { refuses } from '../support/scripted-driver.ts'
import { startScripted } from '../support/scripted-relay.ts'
import { TEST_START } from '../support/test-clock.ts'
import { type TestRelay } from '../support/test-relay.ts'

const TO = '+15550001234'
const SECOND = 1_000
const HOUR = 3_600_000
const DAY = 24 * HOUR
const ASYNC = { Prefer: 'respond-async' }

async function startLine(state: 'online' | 'offline' = 'online') {
  const relay = await startScripted({ lines: [state] })
  await relay.clock.advance(SECOND)
  return relay
}

async function clockFinding(relay: TestRelay) {
  const [finding = null] = await relay.findings('clock_jumped')
  return finding
}

/** Sends `count` messages that wait for their line; gives what reads them. */
async function queueUp(relay: TestRelay, count: number) {
  const ids: string[] = []
  for (let i = 0; i < count; i += 1) {
    ids.push((await relay.send({ to: TO, text: `message ${i}` }, ASYNC)).body.id)
  }
  return async () => {
    const messages = await Promise.all(ids.map((id) => relay.message(id)))
    return [...new Set(messages.map(({ status }) => status))]
  }
}

test('a jump of a day expires nothing that waited for seconds, and the health catalogue says so for an hour', async () => {
  await using relay = await startLine('offline')
  const { clock, device } = relay
  const statuses = await queueUp(relay, 20)

  clock.step(25 * HOUR)
  await clock.advance(60 * SECOND)
  const doubted = await statuses()
  const finding = await clockFinding(relay)
  await clock.advance(2 * HOUR)
  const believed = await statuses()
  const later = await clockFinding(relay)
  await device.goOnline()
  await clock.advance(60 * SECOND)

  expect([doubted, believed, await statuses()]).toEqual([['queued'], ['queued'], ['sent']])
  expect(device.sent).toHaveLength(20)
  expect(finding).toMatchObject({
    severity: 'warning',
    title: "This machine's clock jumped forward by 25 hours",
    line_id: null,
    why: expect.stringMatching(/Until 2026-11-21T11:00:.*no message expires/s),
    fix: expect.stringContaining('no action is needed'),
  })
  expect(later).toBeNull()
})

test('what waits beside a jump expires after a day that passed', async () => {
  await using relay = await startLine('offline')
  const { clock } = relay
  const statuses = await queueUp(relay, 3)

  clock.step(8 * DAY)
  clock.doze(24 * HOUR - 60 * SECOND)
  await clock.advance(30 * SECOND)
  const early = await statuses()
  await clock.advance(60 * SECOND)

  expect([early, await statuses()]).toEqual([['queued'], ['expired']])
})

test('a machine that slept for a day has waited for a day', async () => {
  await using relay = await startLine('offline')
  const { clock } = relay
  const statuses = await queueUp(relay, 3)

  clock.doze(25 * HOUR)
  await clock.advance(60 * SECOND)

  expect(await statuses()).toEqual(['expired'])
  expect(await clockFinding(relay)).toBeNull()
})

test('a jump of eight days forgets no Idempotency-Key', async () => {
  await using relay = await startLine()
  const { clock, device } = relay
  const body = { to: TO, text: 'once' }
  const headers = { 'Idempotency-Key': 'once' }
  const first = await relay.send(body, headers)

  clock.step(8 * DAY)
  await clock.advance(2 * HOUR)
  const repeated = await relay.send(body, headers)
  clock.doze(6 * DAY)
  await clock.advance(2 * HOUR)
  const late = await relay.send(body, headers)

  expect([repeated.body.id, late.body.id]).toEqual([first.body.id, first.body.id])
  expect(device.sent).toHaveLength(1)
})

test('a jump of five days switches off no webhook that failed for seconds', async () => {
  await using relay = await startLine()
  const { clock, device, sink } = relay
  const url = 'http://192.168.1.20/hook'
  const { body } = await relay.post('/api/v1/webhooks', { url, events: ['message.received'] })
  sink.answer = () => 500
  for (let i = 0; i < 39; i += 1) await device.receive({ guid: `guid-${i}` })
  await clock.advance(17 * SECOND)

  clock.step(5.1 * DAY)
  await clock.advance(30 * 60 * SECOND)
  const doubted = await relay.get(`/api/v1/webhooks/${body.id}`)
  await clock.advance(2 * HOUR)
  const believed = await relay.get(`/api/v1/webhooks/${body.id}`)
  const failed = sink.posts.length
  sink.answer = () => 200
  await clock.advance(HOUR)

  expect(failed).toBeGreaterThan(10)
  expect([doubted.is_active, believed.is_active]).toEqual([true, true])
  expect(new Set(sink.posts.slice(failed).map(({ id }) => id)).size).toBe(39)
})

test('a jump of 400 days and back leaves no date in the future, and waits last as long as ever', async () => {
  await using relay = await startLine()
  const { clock, device } = relay

  clock.step(400 * DAY)
  await clock.advance(1_500)
  const during = (await relay.send({ to: TO, text: 'during' })).body
  clock.step(-400 * DAY)
  await clock.advance(SECOND)
  device.script = refuses
  const { body } = await relay.send({ to: TO, text: 'after' }, ASYNC)
  await clock.advance(37 * SECOND)
  const after = await relay.message(body.id)

  expect(Date.parse(during.created_at)).toBe(TEST_START + 2_500)
  expect(Date.parse(after.created_at)).toBe(TEST_START + 3_500)
  expect(Date.parse(after.updated_at)).toBe(TEST_START + 39_500)
  expect([after.status, after.error.code]).toEqual(['failed', 'line_refused'])
  expect(await clockFinding(relay)).toBeNull()
})

test('a jump of a day and back leaves the contacts of today and of tomorrow as they are', async () => {
  await using relay = await startLine()
  const { clock } = relay
  await relay.limit(1)
  const statusOf = async (to: string) => (await relay.send({ to, text: 'hello' })).status
  const today = [await statusOf('+15550001201'), await statusOf('+15550001202')]

  clock.step(DAY)
  await clock.advance(SECOND)
  const jumped = await statusOf('+15550001203')
  clock.step(-DAY)
  await clock.advance(SECOND)
  const back = await statusOf('+15550001204')
  clock.doze(DAY)

  expect([today, jumped, back]).toEqual([[200, 429], 429, 429])
  expect(await statusOf('+15550001205')).toBe(200)
})

test('a new time that stays is dated by after an hour, and nothing grows old by it', async () => {
  await using relay = await startLine()
  const { clock } = relay
  const setting = { body: { value: '30' } }
  await asOwner(relay, 'PUT', '/settings/message_retention_days', setting)
  const kept = (await relay.send({ to: TO, text: 'kept' })).body.id

  clock.step(400 * DAY)
  await clock.advance(30 * 60 * SECOND)
  const early = (await relay.send({ to: TO, text: 'early' })).body.created_at
  await clock.advance(31 * 60 * SECOND)
  const late = (await relay.send({ to: TO, text: 'late' })).body.created_at
  clock.doze(29 * DAY)
  await clock.advance(2 * HOUR)
  const before = (await relay.message(kept)).status
  clock.doze(DAY)
  await clock.advance(2 * HOUR)

  expect([early, late].map((at) => Math.round((Date.parse(at) - TEST_START) / DAY))).toEqual([
    0, 400,
  ])
  expect([before, (await relay.message(kept)).error?.code]).toEqual(['sent', 'not_found'])
})

test('webhooks are signed with the time of the wall clock, which receivers compare with theirs', async () => {
  await using relay = await startLine()
  const { clock, device, sink } = relay
  const url = 'http://192.168.1.20/hook'
  await relay.post('/api/v1/webhooks', { url, events: ['message.received'] })

  clock.step(25 * HOUR)
  await device.receive({ guid: 'guid-1' })
  await clock.advance(SECOND)

  const [post] = sink.posts
  expect(Number(post?.timestamp)).toBe(Math.floor((TEST_START + SECOND + 25 * HOUR) / 1_000))
})

test('dates that a wrong clock led into the future come back an hour after it is right', async () => {
  await using relay = await startLine()
  const { clock, device } = relay
  clock.step(400 * DAY)
  await clock.advance(62 * 60 * SECOND)
  const ahead = (await relay.send({ to: TO, text: 'ahead' })).body
  clock.step(-400 * DAY)
  await clock.advance(60 * SECOND)
  const finding = await clockFinding(relay)

  await clock.advance(62 * 60 * SECOND)
  const after = (await relay.send({ to: TO, text: 'after' })).body
  const changes = await relay.get('/api/v1/messages?updated_since=2026-11-01T00:00:00Z')

  expect(finding.title).toBe('The latest records are dated 400 days in the future')
  expect(Date.parse(after.created_at)).toBe(clock.now())
  expect(changes.data.map(({ id }: { id: string }) => id)).toEqual([ahead.id, after.id])
  expect((await relay.message(ahead.id)).created_at).toBe(ahead.created_at)
  expect(device.sent).toHaveLength(2)
  expect(await clockFinding(relay)).toBeNull()
})

test('while a jump is in doubt, a message waits for the end of hours that are quiet by the wall clock', async () => {
  await using relay = await startLine()
  const { clock, device } = relay
  const [line] = await relay.lines()
  await relay.patch(`/api/v1/phone-lines/${line.id}`, {
    quiet_hours: { from: '11:00', to: '11:30' },
  })

  clock.step(25 * HOUR)
  const { body } = await relay.send({ to: TO, text: 'by the wall clock' }, ASYNC)
  await clock.advance(29 * 60 * SECOND)
  const early = device.sent.length
  await clock.advance(2 * 60 * SECOND)

  expect([body.queued_reason, early, device.sent.length]).toEqual(['quiet_hours', 0, 1])
})
