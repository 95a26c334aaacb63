// Lists of deliveries: each filter, alone and with any other, gives what a scan of all deliveries gives.

import { expect, test } from 'bun:test'

import { DELIVERY_STATUSES } from '../../src/domain/webhook.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'
import { TEST_START } from '../support/test-clock.ts'
import { startRelay, type Json, type TestRelay } from '../support/test-relay.ts'

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

test('each filter, alone and with any other, lists what a scan finds, newest first, page by page', async () => {
  await using relay = await startRelay()
  const [first, other] = [await addWebhook(relay), await addWebhook(relay)]
  const random = new SeededRandom(11)
  storeLine(relay.db.sqlite)
  const rows = Array.from({ length: COUNT }, (_, n) => storeRow(relay, first, { n, random }))
  const [last] = rows.slice(-1)
  storeDelivery(relay, other, { ...last, id: idOf('dlv', COUNT) } as Row)
  const middle = rows[COUNT / 2]
  const filters = [
    ...DELIVERY_STATUSES.map((status) => ['status', status] as const),
    ...['message.read', 'group.updated'].map((event) => ['event', event] as const),
    ...['+12025550147', '+12025550199'].map((handle) => ['handle', handle] as const),
    ...[middle?.messageId ?? '', 'msg_unknown'].map((id) => ['message_id', id] as const),
    ['created_after', isoAt(rows[40]?.at ?? 0)] as const,
    ['created_before', isoAt(rows[80]?.at ?? 0)] as const,
    ['created_before', '1970-01-01T00:00:00.000Z'] as const,
  ]
  const pairs = filters.flatMap((one) => filters.map((other) => [one, other]))
  const wrong: string[] = []

  for (const pair of [
    [],
    ...pairs.filter(([one, other]) => one === other || one?.[0] !== other?.[0]),
  ]) {
    const query = new URLSearchParams(Object.fromEntries(pair))
    const found = await listed(relay, first, query)
    const wanted = rows.filter((row) => isWanted(row, query)).map(({ id }) => id)
    if (found.join() !== wanted.toReversed().join()) wrong.push(String(query))
  }

  expect(wrong).toEqual([])
})

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
      `INSERT INTO deliveries (id, webhook_seq, event_seq, status, created_at)
       VALUES ($id, (SELECT seq FROM webhooks WHERE id = $webhookId), (SELECT max(seq) FROM events), $status, $at)`,
    )
    .run({ webhookId, ...pick(row, ['id', 'status', 'at']) })
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

function idOf(prefix: string, n: number): string {
  return `${prefix}_01k5c3qv7y${String(Math.floor(n / 50)).padStart(2, '0')}${String(n).padStart(14, '0')}`
}

function isoAt(at: number): string {
  return new Date(at).toISOString()
}
