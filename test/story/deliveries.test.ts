// Lists of deliveries: every combination of filters gives what a scan of all deliveries gives. And the end of
// a replay.

import { expect, test } from 'bun:test'

import { DELIVERY_STATUSES } from '../../src/domain/webhook.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'
import { startRelay, type Json, type TestRelay } from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'

const EVENTS = ['message.sent', 'message.read', 'message.failed'] as const
const PEOPLE = ['+12025550147', '+12025550148', 'ana@example.com']
const COUNT = 120
const MINUTE = 60_000

type Row = {
  readonly id: string
  readonly status: string
  readonly event: string
  readonly handle: string
  readonly messageId: string
  readonly at: number
}

test('every combination of filters lists what a scan finds, newest first, page by page', async () => {
  await using relay = await startRelay()
  const [first, other] = [await addWebhook(relay), await addWebhook(relay)]
  const random = new SeededRandom(11)
  storeLine(relay.db.sqlite)
  const rows = Array.from({ length: COUNT }, (_, n) => storeRow(relay, first, { n, random }))
  const [last] = rows.slice(-1)
  storeDelivery(relay, other, { ...last, id: idOf('dlv', COUNT) } as Row)
  const middle = rows[COUNT / 2]
  const choices: Readonly<Record<string, readonly (string | null)[]>> = {
    status: [null, ...DELIVERY_STATUSES],
    event: [null, 'message.read', 'group.updated'],
    handle: [null, PEOPLE[0] ?? '', '+12025550199'],
    message_id: [null, middle?.messageId ?? '', 'msg_unknown'],
    created_after: [null, isoAt(rows[40]?.at ?? 0)],
    created_before: [null, isoAt(rows[80]?.at ?? 0), '1970-01-01T00:00:00.000Z'],
  }
  const wrong: string[] = []

  for (const query of combinations(choices)) {
    const found = await listed(relay, first, query)
    const wanted = rows.filter((row) => isWanted(row, query)).map(({ id }) => id)
    if (found.join() !== wanted.toReversed().join()) wrong.push(String(query))
  }

  expect(wrong).toEqual([])
}, 180_000)

test('a stopped replay sends nothing but what was out already, and what was stopped can be sent later', async () => {
  const clock = new TestClock()
  const sink = new WebhookSink(clock)
  sink.answer = () => 'hang'
  const driver = new ScriptedDriver()
  driver.add('+12025550801')
  await using relay = await startRelay({ drivers: [driver], clock, post: sink.post })
  for (let i = 0; i < 40; i += 1) await relay.send({ to: '+12025550700', text: `${i}` })
  await clock.advance(60_000)
  const id = await addWebhook(relay)
  const path = `/api/v1/webhooks/${id}/replay`
  const all = { since: isoAt(TEST_START), include_earlier: true }

  const counted = (await relay.post(path, { ...all, dry_run: true })).body.would_replay
  const replayed = (await relay.post(path, all)).body.replayed
  await clock.advance(0)
  const { waiting } = await relay.get(path)
  const out = sink.posts.length
  const { stopped } = (await relay.request('DELETE', path)).body
  sink.answer = () => 200
  await clock.advance(60_000)
  const sent = new Set(sink.posts.map((post) => post.id)).size
  const again = (await relay.post(path, all)).body.replayed

  expect([counted > 20, replayed, waiting]).toEqual([true, counted, counted])
  expect([out > 0, out < counted, stopped]).toEqual([true, true, counted - out])
  expect([sent, again]).toEqual([out, counted - out])
}, 180_000)

test('a time or an event that is none is refused with the name of its parameter', async () => {
  await using relay = await startRelay()
  const id = await addWebhook(relay)

  const answer = await relay.request(
    'GET',
    `/api/v1/webhooks/${id}/deliveries?event=message.lost&created_after=yesterday`,
  )

  const paths = answer.body.error.details.issues.map((issue: Json) => issue.path)
  expect([answer.status, paths]).toEqual([400, ['event', 'created_after']])
})

async function addWebhook(relay: TestRelay): Promise<string> {
  const body = { url: 'https://shop.example.com/hooks', events: ['message.sent'] }
  return (await relay.post('/api/v1/webhooks', body)).body.id
}

type Place = { readonly n: number; readonly random: SeededRandom }

function storeRow(relay: TestRelay, webhookId: string, { n, random }: Place): Row {
  const handle = random.of(PEOPLE)
  const messageId = idOf('msg', n - (n % 3))
  const row = {
    id: idOf('dlv', n),
    status: random.of(DELIVERY_STATUSES),
    event: random.of(EVENTS),
    handle,
    messageId,
    at: TEST_START + Math.floor(n / 4) * MINUTE,
  }
  if (n % 3 === 0) {
    storeMessages(relay.db.sqlite, [{ id: messageId, status: 'sent', conversation: handle }])
  }
  storeDelivery(relay, webhookId, row)
  return row
}

function storeDelivery({ db }: TestRelay, webhookId: string, row: Row): void {
  const { sqlite } = db
  sqlite
    .query(
      `INSERT INTO events (id, name, message_id, conversation_id, body, created_at)
       VALUES ($id, $event, $messageId, $handle, '{}', $at)`,
    )
    .run({ id: row.id.replace('dlv', 'evt'), ...pick(row, ['event', 'messageId', 'handle', 'at']) })
  sqlite
    .query(
      `INSERT INTO deliveries (id, webhook_id, event_seq, event, conversation_id, status, created_at)
       VALUES ($id, $webhookId, (SELECT max(seq) FROM events), $event, $handle, $status, $at)`,
    )
    .run({ webhookId, ...pick(row, ['id', 'event', 'handle', 'status', 'at']) })
}

function pick(row: Row, names: readonly (keyof Row)[]) {
  return Object.fromEntries(names.map((name) => [name, row[name]]))
}

async function listed(relay: TestRelay, id: string, query: URLSearchParams): Promise<string[]> {
  const found: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = new URLSearchParams([...query, ['limit', '40']])
    if (cursor !== '') page.set('cursor', cursor)
    const answer: Json = await relay.get(`/api/v1/webhooks/${id}/deliveries?${String(page)}`)
    found.push(...answer.data.map((each: Json) => each.id))
    cursor = answer.next_cursor
  }
  return found
}

function isWanted(row: Row, query: URLSearchParams): boolean {
  const is = (name: string, value: string) => (query.get(name) ?? value) === value
  const [after, before] = [query.get('created_after'), query.get('created_before')]
  return (
    is('status', row.status) &&
    is('event', row.event) &&
    is('handle', row.handle) &&
    is('message_id', row.messageId) &&
    (after === null || row.at > Date.parse(after)) &&
    (before === null || row.at < Date.parse(before))
  )
}

function combinations(choices: Readonly<Record<string, readonly (string | null)[]>>) {
  let all: readonly (readonly [string, string][])[] = [[]]
  for (const [name, values] of Object.entries(choices)) {
    const given = values.filter((value) => value !== null)
    all = all.flatMap((chosen) => [
      chosen,
      ...given.map((value): [string, string][] => [...chosen, [name, value]]),
    ])
  }
  return all.map((chosen) => new URLSearchParams([...chosen]))
}

function idOf(prefix: string, n: number): string {
  return `${prefix}_01k5c3qv7y${String(Math.floor(n / 50)).padStart(2, '0')}${String(n).padStart(14, '0')}`
}

function isoAt(at: number): string {
  return new Date(at).toISOString()
}
