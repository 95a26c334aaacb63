// Unread and unanswered conversations, compared with a count of their messages; and their export.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import type { Timestamp } from '../../src/domain/ids.ts'
import type { Tx } from '../../src/storage/database.ts'
import { deleteOldMessages } from '../../src/storage/retention.ts'
import { accepts, refuses } from '../support/scripted-driver.ts'
import { startScripted } from '../support/scripted-relay.ts'
import { seededRandom, type Json, type TestRelay } from '../support/test-relay.ts'

const PEOPLE = ['+12025550701', '+12025550702', '+12025550703'].map(deviceHandle)

type Row = { id: string; conversation: string; direction: string }

/** All messages, in the order of recording. */
function ledger({ db }: TestRelay): readonly Row[] {
  return db.sqlite
    .query<Row, []>(
      `SELECT m.id, c.id AS conversation, m.direction FROM messages m
       JOIN conversations c ON c.seq = m.conversation_seq ORDER BY m.seq`,
    )
    .all()
}

/** The ids of messages that a person has read, by the rules of the API alone. */
class Reader {
  readonly #read = new Set<string>()
  #seen = new Set<string>()

  /** An own message that became the last of its conversation marks the others. */
  look(rows: readonly Row[]): void {
    for (const own of rows.filter(({ direction }) => direction === 'outbound')) {
      const place = `${own.id} ${own.conversation}`
      const last = rows.findLast(({ conversation }) => conversation === own.conversation)
      if (!this.#seen.has(place) && last === own) this.mark(rows, own)
    }
    this.#seen = new Set(rows.map(({ id, conversation }) => `${id} ${conversation}`))
  }

  mark(rows: readonly Row[], last: Row): void {
    const until = rows.slice(0, rows.indexOf(last) + 1)
    for (const row of until) if (row.conversation === last.conversation) this.#read.add(row.id)
  }

  expected(rows: readonly Row[]) {
    const talks = Map.groupBy(rows, ({ conversation }) => conversation)
    return [...talks].map(([id, own]) => {
      const isUnread = (row: Row) => row.direction === 'inbound' && !this.#read.has(row.id)
      return [id, own.filter(isUnread).length, own.at(-1)?.direction === 'inbound'] as const
    })
  }
}

const byId = (a: readonly [string, ...unknown[]], b: readonly [string, ...unknown[]]) =>
  a[0] < b[0] ? -1 : 1

async function listed(relay: TestRelay, filter = '') {
  const { data } = await relay.get(`/api/v1/conversations?type=all&limit=200${filter}`)
  return data
    .map((each: Json) => [each.id, each.unread_count ?? 0, each.is_unanswered ?? false])
    .toSorted(byId) as (readonly [string, number, boolean])[]
}

for (const seed of [1, 2, 3]) {
  test(`unread counts are those of the messages, in whatever history (${seed})`, async () => {
    const random = seededRandom(seed)
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random.chance() * from.length)] as T // Never empty.
    await using relay = await startScripted({ seed })
    const { device: first } = relay
    const { devices } = relay
    await relay.limit(1_000)
    const reader = new Reader()
    const steps = [
      (n: number) => pick(devices).receive({ guid: `G${n}`, handle: pick(PEOPLE), text: `${n}` }),
      (n: number) =>
        pick(devices).receive({ guid: `G${n}`, handle: pick(PEOPLE), text: '', isFromMe: true }),
      // A message that its line refuses moves to the other one; if it was sent, all is read.
      async () => {
        const before = ledger(relay)
        const prefer = { prefer: 'respond-async' }
        const { body } = await relay.send({ to: pick(PEOPLE), text: 'hello' }, prefer)
        const last = before.findLast(({ conversation }) => conversation === body.conversation_id)
        if (last !== undefined) reader.mark(before, last)
      },
      async () => void (first.script = pick([accepts, refuses])),
      async () => {
        const rows = ledger(relay)
        if (rows.length === 0) return
        const last = pick(rows)
        const path = `/api/v1/conversations/${last.conversation}/read`
        expect((await relay.post(path, { message_id: last.id })).status).toBe(200)
        reader.mark(rows, last)
      },
      async () => {
        const before = (relay.clock.now() - 120_000) as Timestamp // As every time of the clock.
        deleteOldMessages(relay.db as Tx, before, 5) // Nothing else writes now.
      },
    ]
    for (let n = 0; n < 80; n += 1) {
      await pick(steps)(n)
      reader.look(ledger(relay))
      await relay.clock.advance(10_000)
      const rows = ledger(relay)
      reader.look(rows)

      const expected = reader.expected(rows).toSorted(byId)
      expect([n, await listed(relay)]).toEqual([n, expected])
      expect(await listed(relay, '&unread=true')).toEqual(expected.filter(([, count]) => count > 0))
      expect(await listed(relay, '&unanswered=true')).toEqual(expected.filter(([, , open]) => open))
    }
  })
}

test('a mark goes forward only, stays when repeated, and needs a message of the conversation', async () => {
  await using relay = await startScripted()
  for (const [place, handle] of [...PEOPLE, ...PEOPLE].entries()) {
    await relay.device.receive({ guid: `G${place}`, handle, text: 'x' })
  }
  const rows = ledger(relay)
  const [first, other, , second] = rows as [Row, Row, Row, Row] // Six were received.
  const mark = async (id: string) =>
    await relay.post(`/api/v1/conversations/${first.conversation}/read`, { message_id: id })

  const answers = []
  for (const id of [first.id, second.id, second.id, first.id]) answers.push(await mark(id))
  const wrong = [await mark(other.id), await mark('msg_x')]

  expect(answers.map(({ body }) => body.unread_count ?? 0)).toEqual([1, 0, 0, 0])
  expect(answers.at(-1)?.body).toMatchObject({ is_unanswered: true, message_count: 2 })
  expect(wrong.map(({ status, body }) => [status, body.error.code])).toEqual([
    [404, 'not_found'],
    [404, 'not_found'],
  ])
  const bad = await relay.request('GET', '/api/v1/conversations?unread=yes')
  expect(bad.body.error.message).toContain('unread: must be true or false')
})

test('an export has every message of its conversation once, and no formula', async () => {
  await using relay = await startScripted()
  const [handle = deviceHandle('')] = PEOPLE
  const texts = ['=1+1', '+49', '-2', '@SUM(A1)', 'a "quote", and\na line', 'שלום', 'plain']
  for (let n = 0; n < 450; n += 1) {
    await relay.device.receive({ guid: `G${n}`, handle, text: texts[n % texts.length] ?? '' })
  }
  await relay.device.receive({
    guid: 'other',
    handle: deviceHandle('+12025550799'),
    text: 'not this',
  })
  const { data } = await relay.get(`/api/v1/conversations?handle=${encodeURIComponent(handle)}`)
  const path = `/api/v1/conversations/${data[0].id}/export`
  const read = async (query: string) => {
    const response = await relay.fetch(`${path}${query}`, { headers: relay.credentials })
    return { type: response.headers.get('content-type'), text: await response.text() }
  }

  const json = await read('')
  const csv = await read('?format=csv')

  const { conversation, messages } = JSON.parse(json.text)
  const ids = ledger(relay).filter((row) => row.conversation === conversation.id)
  expect(messages.map(({ id }: Json) => id)).toEqual(ids.map(({ id }) => id))
  expect(messages[0]).toEqual(await relay.message(messages[0].id))
  expect(csv.type).toBe('text/csv; charset=utf-8')
  const cells = csv.text.split('\r\n')
  expect(cells).toHaveLength(452)
  expect(cells[0]).toBe('created_at,direction,from,to,text,attachments,status,service,id')
  expect(cells.slice(1, 8).map((line) => line.split(',').slice(4, -4).join(','))).toEqual([
    "'=1+1",
    "'+49",
    "'-2",
    "'@SUM(A1)",
    '"a ""quote"", and\na line"',
    'שלום',
    'plain',
  ])
  const audited = await relay.get('/api/v1/audit?action=conversation.exported')
  expect(audited.data.map(({ about }: Json) => about.id)).toEqual([
    conversation.id,
    conversation.id,
  ])
  expect((await relay.request('GET', `${path}?format=xls`)).status).toBe(400)
})
