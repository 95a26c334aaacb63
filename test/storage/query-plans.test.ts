// Every statement of a busy day goes by an index, with an empty database and with one that has grown
// and been analysed. Statements are recorded as they are prepared, so a new one is seen by itself as
// soon as the day below makes it run. Small tables (webhooks, lines, keys, settings) may be scanned.

import type { Database } from 'bun:sqlite'
import { expect, spyOn, test } from 'bun:test'

import { openDatabase } from '../../src/storage/database.ts'
import { guidOf, refuses, ScriptedDriver, type ScriptedDevice } from '../support/scripted-driver.ts'
import { startRelay, type TestRelay } from '../support/test-relay.ts'
import { TestClock } from '../support/test-clock.ts'
import { WebhookSink } from '../support/webhook-sink.ts'

const GROWING = [
  'attempts',
  'contacts',
  'conversations',
  'deliveries',
  'events',
  'idempotency',
  'known_guids',
  'messages',
  'waiting_receipts',
]

type Exception = { readonly sql: RegExp; readonly step: RegExp; readonly why: string }

const ALLOWED: readonly Exception[] = [
]

const HOUR = 3_600_000
const TO = '+12025550700'
const HOOK = 'http://192.168.1.20/hook'
const GONE = 'http://192.168.1.21/gone'
const ALL_EVENTS = [
  'message.received',
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
]
const OWNER = { address: null, isControl: true, liftTimeout: () => {} }

for (const size of ['empty', 'large'] as const) {
  test(`no statement of a busy day scans a table that grows, nor sorts one (${size})`, async () => {
    const statements = await liveThroughADay(size)
    console.log(statements.length)
    for (const s of statements) console.log(s.sql.replace(/\s+/g,' ').slice(0,400), '\n   =>', s.steps.join(' | '))

    expect(statements.flatMap(findings)).toEqual([])
  })
}

type Statement = { readonly sql: string; readonly steps: readonly string[] }

async function liveThroughADay(size: 'empty' | 'large'): Promise<readonly Statement[]> {
  const clock = new TestClock()
  const database = openDatabase(':memory:', { version: 'test' })
  const { sqlite } = database.db
  if (size === 'large') fill(sqlite)
  const spies = [spyOn(sqlite, 'query'), spyOn(sqlite, 'prepare'), spyOn(sqlite, 'run')]
  const sink = new WebhookSink(clock)
  sink.answer = ({ url }, index) => {
    if (url === GONE) return 410
    return index % 3 === 0 ? 500 : 200
  }
  const driver = new ScriptedDriver()
  const devices = { first: driver.add('+12025550801'), second: driver.add('+12025550802', false) }
  {
    await using relay = await startRelay({ clock, database, drivers: [driver], post: sink.post })
    await writeMuch(relay, devices)
    await readMuch(relay)
    await clock.advance(3 * HOUR)
  }
  const texts = spies.flatMap((spy) => spy.mock.calls.map(([sql]) => sql))
  for (const spy of spies) spy.mockRestore()
  return [...new Set(texts)].filter(isPlanned).map((sql) => ({ sql, steps: planOf(sqlite, sql) }))
}

function isPlanned(sql: string): boolean {
  return /^\s*(select|insert|update|delete|with)\b/i.test(sql)
}

function planOf(sqlite: Database, sql: string): readonly string[] {
  return sqlite
    .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => detail)
}

function findings({ sql, steps }: Statement): readonly string[] {
  const text = sql.replaceAll(/\s+/g, ' ').trim()
  return steps
    .filter((step) => /^SCAN|TEMP B-TREE/.test(step))
    .filter((step) => !ALLOWED.some((one) => one.sql.test(text) && one.step.test(step)))
    .map((step) => `${step}: ${text}`)
}

type Devices = { readonly first: ScriptedDevice; readonly second: ScriptedDevice }

async function writeMuch(relay: TestRelay, { first, second }: Devices): Promise<void> {
  const webhook = (url: string) => relay.post('/api/v1/webhooks', { url, events: ALL_EVENTS })
  const hook: string = (await webhook(HOOK)).body.id
  await webhook(GONE)
  const deleted: string = (await webhook(`${HOOK}/2`)).body.id
  await control(relay, 'PUT', '/settings/announce_device_messages', { value: 'on' })
  await control(relay, 'PUT', '/settings/message_retention_days', { value: '30' })

  // What goes well, with its receipts, and a receipt that comes before its guid.
  const sent = await relay.send({ to: TO, text: 'one' }, { 'Idempotency-Key': 'key' })
  await relay.send({ to: TO, text: 'one' }, { 'Idempotency-Key': 'key' })
  await first.tell(sent.body.platform_guid, 'read', relay.clock.now())
  await first.tell(guidOf(70), 'delivered', relay.clock.now())
  first.script = async (_message, pointOfNoReturn) => {
    await pointOfNoReturn('note')
    return { outcome: 'held', guid: guidOf(70) }
  }
  await relay.send({ to: TO, text: 'two' })
  await first.receive({ guid: guidOf(71) })
  await first.receive({ guid: guidOf(72), isFromMe: true })
  await first.receive({ guid: guidOf(73), text: undefined as never })

  // What is uncertain, with a twin that waits for it, and one behind the twin.
  first.script = async (_message, pointOfNoReturn) => {
    await pointOfNoReturn('note')
    return { outcome: 'unknown', reason: 'timed_out' }
  }
  const lost = await relay.send({ to: TO, text: 'lost' })
  await relay.send({ to: TO, text: 'lost' }, { Prefer: 'respond-async' })
  await relay.send({ to: TO, text: 'behind' }, { Prefer: 'respond-async' })
  await relay.post(`/api/v1/messages/${lost.body.id}/resolve`, { status: 'sent' })

  // What is refused, moves to another line, and waits for the day's budget.
  first.script = refuses
  await relay.send({ to: '+12025550701', text: 'refused' })
  await relay.clock.advance(1_000)
  await second.goOnline()
  await relay.clock.advance(60_000)
  await first.goOffline()
  await relay.send({ to: '+12025550702', text: 'elsewhere' })
  await relay.limit(0)
  await relay.limit(50)

  // What happens to deliveries.
  await relay.clock.advance(HOUR)
  const { data } = await relay.get(`/api/v1/webhooks/${hook}/deliveries`)
  await relay.post(`/api/v1/webhook-deliveries/${data[0].id}/redeliver`, undefined)
  await relay.post(`/api/v1/webhooks/${hook}/test`, undefined)
  await relay.post(`/api/v1/webhooks/${hook}/replay`, { since: '2026-11-21T00:00:00.000Z' })
  await relay.post(`/api/v1/webhooks/${hook}/rotate-secret`, undefined)
  await relay.put(`/api/v1/webhooks/${hook}`, { description: 'mine' })
  await relay.request('DELETE', `/api/v1/webhooks/${deleted}`)
  const { id } = (await relay.post('/api/v1/keys', { name: 'other' })).body
  await relay.request('DELETE', `/api/v1/keys/${id}`)
  relay.clock.step(-HOUR)
  await relay.clock.advance(60_000)
}

async function readMuch(relay: TestRelay): Promise<void> {
  const { data } = await relay.get('/api/v1/messages?limit=1')
  const [newest] = data
  const { data: hooks } = await relay.get('/api/v1/webhooks')
  const filters: readonly string[] = [
    `phone_line_id=${newest.phone_line_id}`,
    `conversation_id=${newest.conversation_id}`,
    `handle=${encodeURIComponent(newest.handle)}`,
    'direction=inbound',
    'status=delivered',
    'status=failed&direction=outbound',
    `phone_line_id=${newest.phone_line_id}&status=read`,
    `phone_line_id=${newest.phone_line_id}&direction=inbound`,
    `created_after=${newest.created_at}`,
    `created_before=${newest.created_at}`,
    'status=delivered&created_after=2026-11-21T00:00:00.000Z',
  ]
  for (const filter of ['', ...filters]) {
    await readTwoPages(relay, `/api/v1/messages?limit=1&${filter}`)
    await readTwoPages(relay, `/api/v1/messages?limit=1&updated_since=2026-11-21T00:00:00.000Z&${filter}`)
  }
  for (const filter of ['', ...filters.filter((one) => /^(phone_line_id|handle)=[^&]+$/.test(one))]) {
    await readTwoPages(relay, `/api/v1/conversations?limit=1&${filter}`)
  }
  for (const { id } of hooks) {
    await readTwoPages(relay, `/api/v1/webhooks/${id}/deliveries?limit=1&`)
    await readTwoPages(relay, `/api/v1/webhooks/${id}/deliveries?limit=1&status=succeeded`)
  }
  const [delivery] = (await relay.get(`/api/v1/webhooks/${hooks[1].id}/deliveries`)).data
  await relay.get(`/api/v1/webhook-deliveries/${delivery.id}`)
  await relay.get(`/api/v1/messages/${newest.id}`)
  await relay.get(`/api/v1/conversations/${newest.conversation_id}`)
  for (const path of ['webhooks', 'keys', 'phone-lines', 'health']) {
    await relay.get(`/api/v1/${path}`)
  }
  await control(relay, 'GET', '/settings')
  await relay.app.http.fetch(new Request('http://localhost/metrics'), OWNER)
}

async function readTwoPages(relay: TestRelay, path: string): Promise<void> {
  const { next_cursor: cursor } = await relay.get(path)
  if (cursor !== null) await relay.get(`${path}&cursor=${cursor}`)
}

async function control(relay: TestRelay, method: string, path: string, body?: unknown) {
  const request = new Request(`http://localhost/api/v1${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
  })
  expect((await relay.app.http.fetch(request, OWNER)).status).toBe(200)
}
