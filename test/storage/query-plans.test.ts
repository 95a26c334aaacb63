// Every statement of a busy day goes by an index. Statements are recorded as they are prepared, so a
// new one is seen as soon as the day below makes it run. Small tables may be scanned and sorted.

import type { Database } from 'bun:sqlite'
import { expect, spyOn, test } from 'bun:test'

import type { KeyId } from '../../src/domain/ids.ts'
import { hasKeyMadeFor, keysMadeFor, liveKeyOf } from '../../src/storage/credentials.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { asOwner } from '../support/control-socket.ts'
import { guidOf, refuses, ScriptedDriver, type ScriptedDevice } from '../support/scripted-driver.ts'
import { TestClock } from '../support/test-clock.ts'
import { startRelay, type TestRelay } from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'

const SMALL =
  'about|alert_channels|boxes|contact_days|relay_runs|queue_samples|credentials|g|groups|l|lines|rejected_events|settings|snoozes|w|webhooks|webhook_secrets|json_each|newer'
const SCAN_THAT_MATTERS = new RegExp(`^SCAN (?!(${SMALL})\\b)`)
const SORT_THAT_MATTERS = /^USE TEMP B-TREE/
const ABOUT_WHAT_GROWS =
  /\b(attempts|contacts|conversations|deliveries|events|idempotency|known_guids|messages|waiting_receipts)\b/

type Exception = { readonly sql: RegExp; readonly step: RegExp; readonly why: string }

const ALLOWED: readonly Exception[] = [
  {
    sql: /^SELECT revision FROM messages ORDER BY updated_at DESC, revision DESC LIMIT 1$/,
    step: /^SCAN messages USING COVERING INDEX messages_by_change$/,
    why: 'The last entry of the index, once for each connection.',
  },
  {
    sql: /^SELECT kind, at, reason, service FROM waiting_receipts WHERE line_id = \$lineId AND guid = \$guid/,
    step: /^USE TEMP B-TREE FOR ORDER BY$/,
    why: 'A guid has four receipts at most.',
  },
  {
    sql: /^SELECT createdAt FROM \( SELECT created_at AS createdAt, queued_reason FROM messages INDEXED BY/,
    step: /^SCAN \(subquery-2\)$/,
    why: 'The bounded number of rows that the index gives.',
  },
  {
    sql: /from "deliveries" .* where false order by/,
    step: /^SCAN deliveries$/,
    why: 'A page without a delivery: no row is read.',
  },
  {
    sql: /FROM opt_outs o INDEXED BY opt_outs_by_handle WHERE handle = \+\$handle/,
    step: /^USE TEMP B-TREE FOR ORDER BY$/,
    why: 'A person has an opt-out for each line at most, and one for all.',
  },
  {
    sql: /FROM opt_outs o WHERE instr\(handle, '@'\) = 0/,
    step: /^SCAN o$/,
    why: 'Once after an upgrade: people who opted out are few.',
  },
  {
    sql: /^DELETE FROM \w+_search WHERE rowid IN/,
    step: /^SCAN \w+_search VIRTUAL TABLE INDEX 0:=$/,
    why: 'Rows of the index by their numbers, once after an upgrade.',
  },
  {
    sql: /FROM webhook_quarters q CROSS JOIN webhooks w .* GROUP BY w\.seq, outcome$/,
    step: /^USE TEMP B-TREE FOR GROUP BY$/,
    why: 'A few rows for each webhook and quarter of the time that is asked for.',
  },
  {
    sql: /^SELECT seq FROM (alerts|alert_notices) INDEXED BY \w+ WHERE/,
    step: /^SCAN (alerts USING (COVERING )?INDEX alerts_open|alert_notices USING (COVERING )?INDEX alert_notices_open)$/,
    why: 'A partial index of what is open now.',
  },
  {
    sql: /^WITH RECURSIVE (?:own|made) \(/,
    step: /^(?:SCAN (?:c|f|k|m|family|own|made|makers|older)\b|USE TEMP B-TREE FOR ORDER BY$)/,
    why: 'A person revokes a key: keys and webhooks are few, and an index gives the messages that wait.',
  },
  {
    sql: /^UPDATE conversations SET message_count = message_count - .* \(last_seq, is_unanswered\) = /,
    step: /^USE TEMP B-TREE FOR ORDER BY$/,
    why: 'The history that came after the last message that is none.',
  },
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

test('no statement of a busy day scans or sorts what grows, in a young database and in an old one', async () => {
  const { sqlite, texts } = await recordADay()

  const young = texts.flatMap((sql) => findings(sqlite, sql))
  growOld(sqlite)
  const old = texts.flatMap((sql) => findings(sqlite, sql))

  expect(texts.length).toBeGreaterThan(120)
  expect({ young, old }).toEqual({ young: [], old: [] })
})

test('a statement that scans or sorts is found', () => {
  const { sqlite } = openDatabase(':memory:', { version: 'test' }).db
  const scan = 'SELECT id FROM messages WHERE text = $text'
  const sort = 'SELECT id FROM messages WHERE id = $id OR status = $status ORDER BY text'

  expect(findings(sqlite, scan)).toEqual([`SCAN messages: ${scan}`])
  expect(findings(sqlite, sort)).toEqual([`USE TEMP B-TREE FOR ORDER BY: ${sort}`])
})

async function recordADay(): Promise<{
  readonly sqlite: Database
  readonly texts: readonly string[]
}> {
  const clock = new TestClock()
  const database = openDatabase(':memory:', { version: 'test' })
  const { sqlite } = database.db
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
  return { sqlite, texts: [...new Set(texts)].filter(isPlanned) }
}

function isPlanned(sql: string): boolean {
  return /^\s*(select|insert|update|delete|with)\b/i.test(sql)
}

function findings(sqlite: Database, sql: string): readonly string[] {
  const text = sql.replaceAll(/\s+/g, ' ').trim()
  const isSortWatched = ABOUT_WHAT_GROWS.test(text)
  return sqlite
    .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => detail)
    .filter((step) => {
      return SCAN_THAT_MATTERS.test(step) || (isSortWatched && SORT_THAT_MATTERS.test(step))
    })
    .filter((step) => !ALLOWED.some((one) => one.sql.test(text) && one.step.test(step)))
    .map((step) => `${step}: ${text}`)
}

/** Thousands of rows like those of the day, and statistics of them. */
function growOld(sqlite: Database): void {
  const varied: Readonly<Record<string, readonly string[]>> = {
    conversations: ['id', 'handle'],
    messages: ['id'],
    contacts: ['handle'],
    opt_outs: ['handle'],
    known_guids: ['guid', 'message_id'],
    waiting_receipts: ['guid'],
    idempotency: ['key'],
    audit: ['id'],
    events: ['id'],
  }
  for (const [table, columns] of Object.entries(varied)) copyRows(sqlite, table, columns)
  sqlite.run(
    `UPDATE messages SET conversation_seq = (SELECT min(c.seq) FROM conversations c
       WHERE c.seq > messages.seq % (SELECT max(seq) FROM conversations))`,
  )
  sqlite.run(
    `INSERT OR IGNORE INTO deliveries
       (id, webhook_seq, event_seq, status, created_at, completed_at)
     SELECT e.id || w.id, w.seq, e.seq, 'succeeded', e.created_at, e.created_at
     FROM events e, webhooks w`,
  )
  sqlite.run(
    `INSERT OR IGNORE INTO attempts
       (delivery_seq, number, "trigger", started_at, duration_ms, is_private_target)
     SELECT seq, 1, 'scheduled', created_at, 1, 0 FROM deliveries`,
  )
  const numbers =
    'WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 200)'
  sqlite.run(`${numbers} INSERT INTO timeline (at, kind, detail)
    SELECT at + n, kind, detail FROM timeline, numbers`)
  sqlite.run(`${numbers} INSERT INTO timeline_hours
    SELECT hour + n, line_seq, 1, 0, 0, 0, 0, 0 FROM timeline_hours, numbers WHERE TRUE
    ON CONFLICT DO NOTHING`)
  sqlite.run('ANALYZE')
}

function copyRows(sqlite: Database, table: string, varied: readonly string[]): void {
  const columns = sqlite
    .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`)
    .all()
    .map(({ name }) => name)
    .filter((name) => name !== 'seq')
  const values = columns.map((name) => (varied.includes(name) ? `${name} || '-' || n` : name))
  sqlite.run(
    `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 200)
     INSERT INTO ${table} (${columns.join()}) SELECT ${values.join()} FROM ${table}, numbers`,
  )
}

type Devices = { readonly first: ScriptedDevice; readonly second: ScriptedDevice }

async function writeMuch(relay: TestRelay, { first, second }: Devices): Promise<void> {
  const webhook = (url: string) => relay.post('/api/v1/webhooks', { url, events: ALL_EVENTS })
  const hook: string = (await webhook(HOOK)).body.id
  await webhook(GONE)
  const deleted: string = (await webhook(`${HOOK}/2`)).body.id
  await asOwner(relay, 'PUT', '/settings/announce_device_messages', { body: { value: 'on' } })
  await asOwner(relay, 'PUT', '/settings/message_retention_days', { body: { value: '30' } })
  await asOwner(relay, 'PUT', '/settings/enforce_automation_pause', { body: { value: 'on' } })

  // What goes well, with its receipts, and a receipt that comes before its guid.
  const sent = await relay.send({ to: TO, text: 'one' }, { 'Idempotency-Key': 'key' })
  await relay.send({ to: TO, text: 'one' }, { 'Idempotency-Key': 'key' })
  const talk = `/api/v1/conversations/${sent.body.conversation_id}`
  await relay.patch(talk, { automation_paused: false })
  await first.report(sent.body.platform_guid, 'read', relay.clock.now())
  await first.report(guidOf(70), 'delivered', relay.clock.now())
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

  // Someone opts out, is refused, and opts in again; another one by hand.
  await first.receive({ guid: guidOf(75), text: 'STOP' })
  await relay.send({ to: '+12025550777', text: 'no' })
  await first.receive({ guid: guidOf(76), text: 'START' })
  const optOut = '/api/v1/opt-outs/%2B12025550777'
  await relay.put(optOut, {})
  await relay.get('/api/v1/opt-outs')
  await relay.get('/api/v1/opt-outs?handle=%2B12025550777')

  // What happens to deliveries.
  await relay.clock.advance(HOUR)
  const { data } = await relay.get(`/api/v1/webhooks/${hook}/deliveries`)
  await relay.post(`/api/v1/webhook-deliveries/${data[0].id}/redeliver`, undefined)
  await relay.post(`/api/v1/webhooks/${hook}/test`, undefined)
  const since = '2026-11-21T00:00:00.000Z'
  await relay.post(`/api/v1/webhooks/${hook}/replay`, { since })
  await relay.get(`/api/v1/webhooks/${hook}/replay`)
  await relay.request('DELETE', `/api/v1/webhooks/${hook}/replay`)
  await relay.post(`/api/v1/webhooks/${hook}/retry-failed`, {})
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
  await readTwoPages(relay, '/api/v1/timeline?limit=1')
  for (const filter of ['', ...filters]) {
    await readTwoPages(relay, `/api/v1/messages?limit=1&${filter}`)
    await readTwoPages(
      relay,
      `/api/v1/messages?limit=1&updated_since=2026-11-21T00:00:00.000Z&${filter}`,
    )
  }
  for (const filter of [
    '',
    ...filters.filter((one) => /^(phone_line_id|handle)=[^&]+$/.test(one)),
  ]) {
    await readTwoPages(relay, `/api/v1/conversations?limit=1&${filter}`)
  }
  const ofDeliveries: readonly string[] = [
    '',
    'status=succeeded',
    'status=exhausted',
    'event=message.read',
    'status=succeeded&event=message.read',
    `handle=${encodeURIComponent(newest.handle)}`,
    `handle=${encodeURIComponent(newest.handle)}&status=pending&event=message.read`,
    `message_id=${newest.id}&status=pending`,
    `created_after=${newest.created_at}&created_before=${newest.created_at}&event=message.read`,
  ]
  for (const { id } of hooks) {
    for (const filter of ofDeliveries) {
      await readTwoPages(relay, `/api/v1/webhooks/${id}/deliveries?limit=1&${filter}`)
    }
  }
  const [delivery] = (await relay.get(`/api/v1/webhooks/${hooks[1].id}/deliveries`)).data
  await relay.get(`/api/v1/webhook-deliveries/${delivery.id}`)
  await relay.get(`/api/v1/messages/${newest.id}`)
  await relay.get(`/api/v1/conversations/${newest.conversation_id}`)
  for (const path of ['webhooks', 'keys', 'phone-lines', 'health']) {
    await relay.get(`/api/v1/${path}`)
  }
  await asOwner(relay, 'GET', '/settings')
  const metrics = await relay.app.http.fetch(new Request('http://localhost/metrics'), OWNER)
  expect(await metrics.text()).toContain('hookline_webhook_deliveries_pending')
}

async function readTwoPages(relay: TestRelay, path: string): Promise<void> {
  const { next_cursor: cursor } = await relay.get(path)
  if (cursor !== null) await relay.get(`${path}&cursor=${cursor}`)
}

test('keys for a compatible API are found by their index, not among all keys', () => {
  const { db } = openDatabase(':memory:', { version: 'test' })
  const query = spyOn(db.sqlite, 'query')
  liveKeyOf(db, 'key_1' as KeyId, 1)
  keysMadeFor(db, 'twilio', 1)
  hasKeyMadeFor(db, 'twilio', 1)
  const texts = query.mock.calls.map(([sql]) => sql)
  query.mockRestore()

  const plans = texts.map((sql) =>
    db.sqlite
      .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => detail)
      .join('; '),
  )

  expect(plans).toEqual(texts.map(() => expect.stringContaining('INDEX credentials_made_for')))
  expect(texts[2]).toEndWith('LIMIT 1')
})
