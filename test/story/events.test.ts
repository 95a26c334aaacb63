// Events to read: pages, long polls and the stream, on the real relay. A reader that is killed again and again
// under load is in `test/executable/event-readers.test.ts`.

import { expect, test } from 'bun:test'

import type { Post } from '../../src/webhooks/post.ts'
import { EventReader } from '../http/event-reader.ts'
import { guidOf, ScriptedDriver } from '../support/scripted-driver.ts'
import { settle } from '../support/test-clock.ts'
import { startRelay, type Json } from '../support/test-relay.ts'

const DAY_MS = 86_400_000
/** Old rows are deleted once an hour. */
const PURGED_MS = 3_700_000
const UNKNOWN = `evt_${'0'.repeat(26)}`
const EVENTS = '/api/v1/events'
const PEER = { address: '127.0.0.1', isControl: false, liftTimeout: () => {} }

type Options = { readonly post?: Post }

/** A relay with two lines, and ways to make and to read events. */
async function openStage(options: Options = {}) {
  const driver = new ScriptedDriver()
  const [first, second] = [driver.add('+12025550801'), driver.add('+12025550802')]
  const relay = await startRelay({ drivers: [driver], ...options })
  const [one, two] = await relay.lines()
  let received = 0
  const credentials = { 'X-API-Key': relay.key?.key ?? '', 'X-API-Secret': relay.key?.secret ?? '' }
  const fetch = (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: { ...credentials, ...headers },
    })
    return relay.app.http.fetch(request, PEER)
  }
  return {
    ...relay,
    first,
    lineIds: [String(one?.id), String(two?.id)] as const,
    fetch,
    receive: async (device = first) => {
      received += 1
      await device.receive({ guid: guidOf(1_000 + received), text: `message ${received}` })
      await settle()
    },
    second,
    keyHeaders: async (limits: object) => {
      const { key, secret } = (await relay.post('/api/v1/keys', limits)).body
      return { 'X-API-Key': String(key), 'X-API-Secret': String(secret) }
    },
    list: async (query = '', headers: Record<string, string> = {}): Promise<Json> =>
      (await relay.request('GET', `${EVENTS}${query}`, undefined, headers)).body,
    stream: async (query = '', headers: Record<string, string> = {}) => {
      const reader = new EventReader(await fetch(`${EVENTS}/stream${query}`, headers))
      await settle()
      return reader
    },
  }
}

const idsIn = (page: Json): string[] => page.data.map(({ id }: Json) => id)
const namesIn = (page: Json): readonly string[] =>
  page.data.map(({ payload }: Json) => payload.event)

test('events are listed oldest first, with the id and the very body that a webhook got', async () => {
  const posts: [id: string, body: string][] = []
  const post: Post = async ({ headers, body }) => {
    posts.push([headers['webhook-id'] ?? '', body])
    return { result: 'answered', status: 200, excerpt: '', retryAfter: null } as never
  }
  await using stage = await openStage({ post })
  const events = ['message.received', 'message.sent']
  await stage.post('/api/v1/webhooks', { url: 'https://receiver.example/', events })

  await stage.receive()
  await stage.send({ to: '+12025550123', text: 'hello' })
  await stage.clock.advance(1_000)

  const page = await stage.list()
  expect(page).toMatchObject({ has_more: false, next_cursor: page.data[1].id })
  expect(page.data.map(({ id, payload }: Json) => [id, JSON.stringify(payload)])).toEqual(posts)
  expect(page.data[0].created_at).toBe('2026-11-21T10:00:00.000Z')
})

test('a reader that names a time gets what was recorded since, and one that names a later time what is to come', async () => {
  await using stage = await openStage()
  await stage.receive()
  await stage.clock.advance(1_000)
  const at = new Date(stage.clock.now()).toISOString()
  const later = new Date(stage.clock.now() + 60_000).toISOString()
  await stage.receive()

  const [since, all, none] = [
    await stage.list(`?after=${at}`),
    await stage.list('?after=2026-01-01T00:00:00Z'),
    await stage.list(`?after=${later}`),
  ]
  await stage.receive()
  const next = await stage.list(`?after=${none.next_cursor}`)

  const texts = (page: Json) => page.data.map(({ payload }: Json) => payload.message.text)
  expect([texts(since), texts(all), texts(none), texts(next)]).toEqual([
    ['message 2'],
    ['message 1', 'message 2'],
    [],
    ['message 3'],
  ])
})

test('pages are full and follow each other, whatever the filter leaves out', async () => {
  await using stage = await openStage()
  for (let i = 0; i < 5; i += 1) {
    await stage.receive(stage.first)
    await stage.receive(stage.second)
  }
  const filter = `phone_line_id=${stage.lineIds[1]}&types=message.received,message.read`

  const first = await stage.list(`?limit=3&${filter}`)
  const second = await stage.list(`?limit=3&${filter}&after=${first.next_cursor}`)
  const third = await stage.list(`?limit=3&${filter}&after=${second.next_cursor}`)

  const seen = [first, second, third].flatMap(({ data }) =>
    data.map(({ payload }: Json) => payload),
  )
  expect([first, second, third].map(({ data }) => data.length)).toEqual([3, 2, 0])
  expect([first.has_more, second.has_more, third.has_more]).toEqual([true, false, false])
  expect(seen.every(({ phone_line_id: id }) => id === stage.lineIds[1])).toBe(true)
  expect(await stage.list(`?types=message.read`)).toMatchObject({ data: [] })
  expect(await stage.list(`?phone_line_id=line_unknown`)).toMatchObject({ data: [] })
})

test('an event about an older message, whose id sorts first, is read after those that came before it', async () => {
  await using stage = await openStage()
  await stage.send({ to: '+12025550123', text: 'older' })
  await stage.clock.advance(60_000)
  await stage.send({ to: '+12025550124', text: 'newer' })
  const before = await stage.list()
  const { data } = await stage.get('/api/v1/messages?direction=outbound')

  await stage.first.report(data.at(-1).platform_guid, 'delivered', stage.clock.now())

  const after = await stage.list(`?after=${before.next_cursor}`)
  expect(namesIn(after)).toEqual(['message.delivered'])
  expect(String(idsIn(after)[0]) < String(before.next_cursor)).toBe(true)
})

test('a long poll is answered by the first event that it wants, or when its time is over', async () => {
  await using stage = await openStage()
  const wait = { prefer: 'wait=30' }
  const answered = stage.list('?after=latest&types=message.received', wait)
  await settle()
  await stage.send({ to: '+12025550123', text: 'unwanted' })
  await stage.receive()

  const found = await answered
  let isOver = false
  const silent = stage.list(`?after=${found.next_cursor}`, wait).finally(() => (isOver = true))
  await stage.clock.advance(29_999)
  expect([namesIn(found), isOver]).toEqual([['message.received'], false])
  await stage.clock.advance(1)

  expect(await silent).toEqual({ data: [], has_more: false, next_cursor: found.next_cursor })
})

test('after 30 days a reader learns what is gone, but never behind the newest event', async () => {
  await using stage = await openStage()
  const age = async (days: number) => {
    stage.db.sqlite.run('UPDATE events SET created_at = created_at - ?', [days * DAY_MS])
    await stage.clock.advance(PURGED_MS)
  }
  await stage.receive()
  await age(29)
  await stage.receive()
  const [first = '', second = ''] = idsIn(await stage.list())

  await age(2)
  const gone = await stage.request('GET', `${EVENTS}?after=${first}`)
  await age(60)
  const silent = await stage.list(`?after=${second}`)
  await stage.receive()
  const third = await stage.list(`?after=${second}`)

  expect([gone.status, gone.body.error.code]).toEqual([410, 'events_gone'])
  expect(gone.body.error.details).toEqual({ oldest: second })
  expect(silent).toEqual({ data: [], has_more: false, next_cursor: second })
  expect(idsIn(third)).toEqual((await stage.eventIds()).slice(1))
  expect((await stage.fetch(`${EVENTS}/stream?after=${UNKNOWN}`)).status).toBe(410)
})

test('a query that does not fit is 400, and names what', async () => {
  await using stage = await openStage()
  const asked = { after: '5', types: 'message.received,hello', limit: '0' }
  const paths: unknown[] = []

  for (const query of [...Object.entries(asked), ['types', '']]) {
    const { status, body } = await stage.request('GET', `${EVENTS}?${query.join('=')}`)
    paths.push([status, body.error.details.issues[0].path])
  }

  expect(paths).toEqual(['after', 'types', 'limit', 'types'].map((path) => [400, path]))
})

test('the stream begins now, gives each event as it is committed, and a comment in a silence', async () => {
  await using stage = await openStage()
  await stage.receive()
  const reader = await stage.stream()
  const [newest] = idsIn(await stage.list())
  const opening = reader.takeText()

  await stage.receive()
  const [event, ...more] = reader.take()
  await stage.clock.advance(14_999)
  const early = reader.takeText()
  await stage.clock.advance(1)

  expect(opening).toBe(`retry: 1000\nid: ${newest}\n\n`)
  const { data } = await stage.list(`?after=${newest}`)
  expect([event, more]).toEqual([
    { event: 'message.received', id: data[0].id, data: data[0].payload },
    [],
  ])
  expect([early, reader.takeText()]).toEqual(['', `: still here\nid: ${data[0].id}\n\n`])
  await reader.close()
})

test('a reader that was away resumes behind its last event, by the header before the address', async () => {
  await using stage = await openStage()
  for (let i = 0; i < 50; i += 1) await stage.receive()
  const all = idsIn(await stage.list())

  const byAddress = await stage.stream(`?after=${all[10]}`)
  const byHeader = await stage.stream(`?after=${all[0]}`, { 'last-event-id': all[40] ?? '' })
  const ids = (reader: EventReader) => reader.take().map(({ id }) => id)

  expect(ids(byAddress)).toEqual(all.slice(11))
  expect(ids(byHeader)).toEqual(all.slice(41))
  await Promise.all([byAddress.close(), byHeader.close()])
})

test('a key of one line reads the events of that line only, and one without the scope reads none', async () => {
  await using stage = await openStage()
  const [, lineId] = stage.lineIds
  const ofLine = await stage.keyHeaders({ scopes: ['read'], phone_line_ids: [lineId] })
  const sender = await stage.keyHeaders({ scopes: ['send'] })
  const reader = await stage.stream('?after=oldest', ofLine)
  await stage.receive(stage.first)
  await stage.receive(stage.second)

  const list = await stage.list('', ofLine)
  const elsewhere = await stage.list(`?phone_line_id=${stage.lineIds[0]}`, ofLine)
  const refused = [await stage.fetch(EVENTS, sender), await stage.fetch(`${EVENTS}/stream`, sender)]

  expect(list.data.map(({ payload }: Json) => payload.phone_line_id)).toEqual([lineId])
  expect(reader.take().map(({ id }) => id)).toEqual(idsIn(list))
  expect(elsewhere.data).toEqual([])
  expect(refused.map(({ status }) => status)).toEqual([403, 403])
  await reader.close()
})

test('a stream or a poll ends with its key, a stream with the relay too, and a reader that takes nothing is cut', async () => {
  await using stage = await openStage()
  const { key, secret, id } = (await stage.post('/api/v1/keys', {})).body
  const headers = { 'X-API-Key': String(key), 'X-API-Secret': String(secret) }
  const ofKey = await stage.stream('', headers)
  const stalled = (await stage.fetch(`${EVENTS}/stream`)).body?.getReader()
  await stalled?.read()
  const other = await stage.stream()

  const waiting = stage.fetch(`${EVENTS}?after=latest`, { ...headers, prefer: 'wait=60' })
  await stage.request('DELETE', `/api/v1/keys/${id}`)
  await stage.receive()
  const endedByKey = ofKey.isOver
  await stage.clock.advance(60_000)
  const ofStalled = await stalled?.read()
  stage.app.http.endStreams()
  await settle()

  expect((await waiting).status).toBe(401)
  expect([endedByKey, ofKey.takeText().includes('message.received')]).toEqual([true, false])
  expect(ofStalled?.done).toBe(true)
  expect(other.isOver).toBe(true)
})

test('a hundred readers at most wait at the same time; one more is asked to come again', async () => {
  await using stage = await openStage()
  const readers = []
  for (let i = 0; i < 100; i += 1) readers.push(await stage.stream())

  const refused = [
    await stage.fetch(`${EVENTS}/stream`),
    await stage.fetch(EVENTS, { prefer: 'wait=5' }),
  ]
  await readers[0]?.close()
  const next = await stage.fetch(EVENTS)
  const head = await stage.fetch(`${EVENTS}/stream`, {}, 'HEAD')

  expect(refused.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
    [429, '10'],
    [429, '10'],
  ])
  expect([next.status, head.status]).toEqual([200, 200])
  await Promise.all(readers.map((reader) => reader.close()))
})
