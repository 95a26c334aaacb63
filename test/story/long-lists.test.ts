// No list examines more than 5,000 rows for a page: a filter that leaves little gives short pages, or empty
// ones, and every page says where the list goes on. Rows are counted, not time.

import { expect, test } from 'bun:test'

import { callOperation } from '../../src/api/client.ts'
import { LONG, askOf, numberOf, openLongLists, pagesOf } from '../support/long-lists.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import type { Json } from '../support/test-relay.ts'

const idsIn = (pages: readonly Json[]) =>
  pages.flatMap(({ data }) => data.map(({ id }: Json) => id))
const idOf = (kind: string, i: number) => `${kind}_${String(i).padStart(26, '0')}`
const HANDLE = encodeURIComponent(numberOf(1))
const LAST_HANDLE = encodeURIComponent(numberOf(LONG))

/** Filters that fit the last row of a list alone; three pages go through it, or one if an index has the filter. */
const FILTERS: readonly [path: string, found: string, pages: number][] = [
  ['messages?service=SMS', idOf('msg', 1), 3],
  ['messages?type=all&service=SMS', idOf('msg', 1), 3],
  ['messages?direction=outbound&status=received', '', 1],
  ['messages?direction=outbound&service=SMS', '', 4],
  ['messages?status=read&service=SMS', '', 3],
  ['messages?status=read&direction=inbound', '', 3],
  ['messages?direction=inbound', idOf('msg', 1), 1],
  ['messages?type=group', idOf('msg', 2), 1],
  ['messages?type=all&status=failed', idOf('msg', 2), 1],
  ['messages?queued_reason=approval', idOf('msg', 3), 1],
  ['messages?status=queued&queued_reason=approval', idOf('msg', 3), 1],
  [`messages?handle=${HANDLE}`, idOf('msg', 1), 1],
  ['messages?service=SMS&created_before=2026-11-21T10:00:03.000Z', idOf('msg', 1), 1],
  ['messages?type=all&updated_since=1970-01-01T00:00:00.000Z&service=SMS', idOf('msg', 1), 3],
  [`messages?updated_since=1970-01-01T00:00:00.000Z&handle=${HANDLE}`, idOf('msg', 1), 3],
  ['messages?type=group&updated_since=1970-01-01T00:00:00.000Z', idOf('msg', 2), 3],
  ['conversations?type=group', idOf('conv', 2), 3],
  ['conversations?type=group&unread=true', '', 3],
  ['conversations?type=group&unanswered=true', '', 3],
  [`conversations?handle=${HANDLE}`, idOf('conv', 1), 1],
  ['audit?action=key.revoked', idOf('aud', 1), 3],
  ['audit?actor=cli&action=key.revoked', idOf('aud', 1), 3],
  [`audit?about=${idOf('key', 1)}`, idOf('aud', 1), 3],
  ['audit?since=2026-11-21T11:00:00.000Z&actor=cli', idOf('aud', 1), 3],
  ['webhooks/HOOK/deliveries?status=exhausted', idOf('dlv', 1), 1],
  ['webhooks/HOOK/deliveries?status=pending', '', 1],
  ['webhooks/HOOK/deliveries?event=message.failed', idOf('dlv', 1), 3],
  ['webhooks/HOOK/deliveries?event=message.failed&status=exhausted', idOf('dlv', 1), 1],
  ['webhooks/HOOK/deliveries?event=message.failed&status=succeeded', '', 3],
  [`webhooks/HOOK/deliveries?handle=${LAST_HANDLE}`, idOf('dlv', 1), 3],
  [`webhooks/HOOK/deliveries?handle=${LAST_HANDLE}&status=exhausted`, idOf('dlv', 1), 1],
  [`webhooks/HOOK/deliveries?handle=${LAST_HANDLE}&event=message.failed`, idOf('dlv', 1), 3],
]

test('a filter that fits the last row of a list goes through 5,000 rows for a page, and finds it', async () => {
  const { relay, webhook } = await openLongLists()
  await using _ = relay

  for (const [path, found, count] of FILTERS) {
    const pages = await pagesOf(askOf(relay), path.replace('HOOK', webhook))

    expect([path, idsIn(pages), pages.length]).toEqual([path, found === '' ? [] : [found], count])
  }
})

/** What a key that is limited to the quiet line may see: the last row alone. */
const OF_THE_QUIET_LINE: readonly [path: string, found: string, pages: number][] = [
  ['messages', idOf('msg', 1), 1],
  ['messages?service=iMessage', '', 1],
  ['messages?status=read', '', 3],
  ['messages?updated_since=1970-01-01T00:00:00.000Z', idOf('msg', 1), 3],
  ['conversations', idOf('conv', 1), 1],
  ['contacts', numberOf(1), 3],
  ['contacts?tag=rare', numberOf(1), 3],
  ['contacts?q=zo', numberOf(1), 3],
  ['contacts?q=130', numberOf(1), 3],
  ['contacts?q=anna', '', 3],
  ['opt-outs', numberOf(1), 3],
  [`opt-outs?handle=${HANDLE}`, numberOf(1), 1],
]

test('what a key may not see counts among the rows of a page', async () => {
  const { relay, ofQuiet } = await openLongLists()
  await using _ = relay
  const ask = (path: string) => ofQuiet.get(`/${path}`)

  for (const [path, found, count] of OF_THE_QUIET_LINE) {
    const pages = await pagesOf(ask, path)

    const seen = pages.flatMap(({ data }) => data.map(({ id, handle }: Json) => id ?? handle))
    expect([path, seen, pages.length]).toEqual([path, found === '' ? [] : [found], count])
  }
  const keys = await pagesOf(ask, 'keys')
  expect(idsIn(keys)).toEqual([ofQuiet.made.id, idOf('key', LONG)])
  expect(keys.length).toBe(3)
  const exported = await (
    await relay.fetch('/api/v1/contacts/export', { headers: ofQuiet.headers })
  ).text()
  expect(exported.match(/\+1303/g)?.length).toBe(1)
  expect((await ask('search?q=Hello')).messages.length).toBe(1)
  expect((await ask('search?q=zoe')).people.map(({ handle }: Json) => handle)).toEqual([
    numberOf(1),
  ])
})

test('a page of events without any that is wanted says where to go on, and a reader that waits gets it', async () => {
  const { relay, quiet } = await openLongLists()
  await using _ = relay
  const failed = [idOf('evt', LONG)]

  const pages = await pagesOf(askOf(relay), 'events?types=message.failed', 'after')
  const ofLine = await pagesOf(askOf(relay), `events?phone_line_id=${quiet}`, 'after')
  const waited = await relay.request('GET', '/api/v1/events?types=message.failed', undefined, {
    prefer: 'wait=30',
  })

  expect([idsIn(pages), pages.length]).toEqual([failed, 3])
  expect([idsIn(ofLine), ofLine.length]).toEqual([failed, 3])
  expect(idsIn([waited.body])).toEqual(failed)
})

test('pages of any filter are, one behind the other, what the whole list has of it', async () => {
  const { relay, busy, quiet } = await openLongLists()
  await using _ = relay
  const random = new SeededRandom(7)
  // Far apart, so that a page meets few of them, or none.
  relay.db.sqlite.run(
    `UPDATE messages SET service = iif(seq % 4999 = 0, 'SMS', service), direction = iif(seq % 7 = 0, 'inbound', direction),
       status = iif(seq % 7 = 0, 'received', status),
       line_seq = iif(seq % 1000 < 3, (SELECT max(seq) FROM lines), line_seq)`,
  )
  const all: Json[] = (await pagesOf(askOf(relay), 'messages?type=all')).flatMap(({ data }) => data)
  const choices: Readonly<Record<string, readonly string[]>> = {
    service: ['SMS', 'iMessage', 'RCS'],
    direction: ['inbound', 'outbound'],
    status: ['read', 'received', 'queued'],
    phone_line_id: [busy, quiet, ...new Set(all.map(({ phone_line_id }) => phone_line_id))],
  }

  for (let round = 0; round < 10; round += 1) {
    const chosen = Object.keys(choices).filter(() => random.below(2) === 0)
    const filter = chosen.map((name) => [name, random.of(choices[name] ?? [])] as const)
    const query = new URLSearchParams(Object.fromEntries(filter))
    query.set('type', 'all')
    const pages = await pagesOf(askOf(relay), `messages?${query.toString()}`)

    const wanted = all.filter((message) => filter.every(([name, value]) => message[name] === value))
    expect([query.toString(), idsIn(pages)]).toEqual([query.toString(), wanted.map(({ id }) => id)])
  }
})

test('a client that shows one page, as the command line and agents do, gets it full, in as many requests as that takes', async () => {
  const { relay } = await openLongLists()
  await using _ = relay
  const asked: string[] = []
  const fetch = (path: string, { method }: RequestInit) => {
    asked.push(path)
    return relay.fetch(path, { ...(method && { method }), headers: relay.credentials })
  }
  const query = { service: 'SMS', limit: '20' }

  const { body } = await callOperation(fetch, 'listMessages', { query })

  expect(body).toMatchObject({ data: [{ service: 'SMS' }], has_more: false, next_cursor: null })
  expect(asked.length).toBe(3)
})

test('a replay that ends at its 100,000 says that more may wait, and a smaller one does not', async () => {
  const { relay, webhook } = await openLongLists()
  await using _ = relay
  const replay = async (request: object) =>
    (await relay.post(`/api/v1/webhooks/${webhook}/replay`, { dry_run: true, ...request })).body
  const all = { since: '1970-01-01T00:00:00Z', include_earlier: true }
  relay.db.sqlite.run(
    `WITH RECURSIVE n(i) AS (SELECT 20001 UNION ALL SELECT i + 1 FROM n WHERE i < 120001)
     INSERT INTO events (seq, id, name, body, created_at)
     SELECT i, printf('evt_%026d', i), 'message.sent', body, created_at + i FROM n, events e WHERE e.seq = 1`,
  )

  const whole = await replay(all)
  const some = await replay({ ...all, events: ['message.failed'] })

  expect(whole).toEqual({ replayed: 0, would_replay: 100_000, has_more: true })
  expect(some.has_more).toBeUndefined()
})

test('the messages of groups come newest first, each once, of few groups and of many', async () => {
  for (const apart of [400, 80]) {
    const { relay } = await openLongLists()
    await using _ = relay
    relay.db.sqlite.run(`UPDATE messages SET is_group = seq % ${apart} < 2 AND seq > 2`)
    relay.db.sqlite.run(
      `INSERT OR REPLACE INTO groups SELECT seq, 'chat' || seq, NULL, '[]', 'active' FROM messages WHERE is_group = 1`,
    )
    const all = (await pagesOf(askOf(relay), 'messages?type=all')).flatMap(({ data }) => data)

    const pages = await pagesOf(askOf(relay), 'messages?type=group&service=iMessage')

    const wanted = all.filter((message: Json) => message.conversation_type === 'group')
    expect(idsIn(pages)).toEqual(wanted.map(({ id }: Json) => id))
    expect(wanted.length).toBeGreaterThan(50)
  }
})

test('messages of a person whose conversation moved to another line are listed once', async () => {
  const { relay } = await openLongLists()
  await using _ = relay
  relay.db.sqlite.run(`UPDATE conversations SET handle = '${numberOf(1)}' WHERE seq = 7`)
  relay.db.sqlite.run('UPDATE messages SET conversation_seq = 7 WHERE seq = 1')
  relay.db.sqlite.run('UPDATE conversations SET moved_to = 7, last_seq = 0 WHERE seq = 1')

  const pages = await pagesOf(askOf(relay), `messages?handle=${HANDLE}`)

  expect(idsIn(pages)).toEqual([idOf('msg', 7), idOf('msg', 1)])
})
