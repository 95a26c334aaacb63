// The owner's address book, and finding what was written, on the real relay.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import { EVENT_NAMES } from '../../src/domain/webhook.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { startRelay, type Json, type TestRelay } from '../support/test-relay.ts'
import { namesIn, oneLine, put } from './people-stage.ts'

const ANNA = '+12025550701'
const BOB = '+12025550702'

const search = (relay: TestRelay, q: string, more = ''): Promise<Json> =>
  relay.get(`/api/v1/search?q=${encodeURIComponent(q)}${more}`)

test('a contact is added, replaced as a whole, listed, and deleted', async () => {
  await using relay = await oneLine()
  const added = await put(relay, ANNA, { name: ' Anna  Miller ', note: 'Likes tea', tags: ['vip'] })
  expect(added.status).toBe(200)
  expect(added.body).toMatchObject({ handle: ANNA, name: 'Anna Miller', tags: ['vip'] })

  await relay.clock.advance(1_000)
  const replaced = await put(relay, ANNA, { name: 'Anna M.' })
  expect(replaced.body).toMatchObject({ name: 'Anna M.', note: null, tags: [] })
  expect(replaced.body.created_at).toBe(added.body.created_at)
  expect(replaced.body.updated_at > added.body.updated_at).toBe(true)

  expect(await relay.get('/api/v1/contacts')).toMatchObject({
    data: [replaced.body],
    has_more: false,
    next_cursor: null,
  })
  const path = `/api/v1/contacts/${encodeURIComponent(ANNA)}`
  expect((await relay.request('DELETE', path)).body).toEqual({ handle: ANNA, deleted: true })
  expect((await relay.request('DELETE', path)).status).toBe(404)
  expect((await relay.request('GET', path)).status).toBe(404)
})

test('a list goes on behind its cursor, by tag and by name', async () => {
  await using relay = await oneLine()
  for (let i = 0; i < 7; i += 1) {
    const tags = i % 2 === 0 ? ['even', 'all'] : ['all']
    await put(relay, `+1202555071${i}`, { name: `Person ${i}`, tags })
  }

  const first = await relay.get('/api/v1/contacts?tag=even&limit=3')
  expect(namesIn(first)).toEqual(['Person 6', 'Person 4', 'Person 2'])
  const second = await relay.get(`/api/v1/contacts?tag=even&limit=3&cursor=${first.next_cursor}`)
  expect(namesIn(second)).toEqual(['Person 0'])
  expect(namesIn(await relay.get('/api/v1/contacts?tag=eve'))).toEqual([])
  const found = await relay.get('/api/v1/contacts?q=person&limit=5')
  const rest = await relay.get(`/api/v1/contacts?q=person&limit=5&cursor=${found.next_cursor}`)
  expect([...namesIn(found), ...namesIn(rest)]).toHaveLength(7)
  expect(namesIn(await relay.get('/api/v1/contacts?q=pe&tag=even'))).toHaveLength(4)
})

test('what is no handle, no name or too long is refused, and says so', async () => {
  await using relay = await oneLine()
  const bad = [
    ['0170 1234567', { name: 'Anna' }],
    ['Vodafone', { name: 'Anna' }],
    [ANNA, {}],
    [ANNA, { name: '' }],
    [ANNA, { name: '   ' }],
    [ANNA, { name: 'x'.repeat(201) }],
    [ANNA, { name: 'Anna', tags: ['a,b'] }],
    [ANNA, { name: 'Anna', tags: [' '] }],
    [ANNA, { name: 'Anna', phone: '1' }],
  ] as const
  for (const [handle, fields] of bad) {
    const { status, body } = await put(relay, handle, fields)
    expect([handle, fields, status]).toEqual([handle, fields, 400])
    expect(body.error.code).toBe('invalid_request')
  }
  expect(namesIn(await relay.get('/api/v1/contacts'))).toEqual([])
})

test('a sender without a number can be named once there is a conversation with it', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  await using relay = await startRelay({ drivers: [driver] })
  expect((await put(relay, '22000', { name: 'The bank' })).status).toBe(400)

  await device.receive({ guid: 'G1', handle: deviceHandle('22000'), text: 'Your code is 1234' })

  expect((await put(relay, '22000', { name: 'The bank' })).status).toBe(200)
})

test("the owner's name is in the conversation, and in no event", async () => {
  await using relay = await oneLine()
  await relay.post('/api/v1/webhooks', { url: 'https://hook.example.com/', events: EVENT_NAMES })
  const { body } = await relay.send({ to: ANNA, text: 'hello' })
  const path = `/api/v1/conversations/${body.conversation_id}`
  expect(await relay.get(path)).not.toHaveProperty('contact_name')

  await put(relay, ANNA, { name: 'Zebulon Quick' })
  await relay.send({ to: ANNA, text: 'again' })

  expect((await relay.get(path)).contact_name).toBe('Zebulon Quick')
  const events = relay.db.sqlite.query<{ body: string | null }, []>('SELECT * FROM events').all()
  expect(events.length).toBeGreaterThan(0)
  expect(JSON.stringify(events)).not.toContain('Zebulon')
})

test('a message carries the name of its person only where the caller asks for it', async () => {
  await using relay = await oneLine()
  await put(relay, ANNA, { name: 'Anna' })
  const { body } = await relay.send({ to: ANNA, text: 'Your table is ready.' })
  await relay.send({ to: BOB, text: 'Yours as well.' })

  const { data: plain } = await relay.get('/api/v1/messages')
  const { data: named } = await relay.get('/api/v1/messages?contact_names=true')
  const one = await relay.get(`/api/v1/messages/${body.id}?contact_names=true`)
  const refused = await relay.request('GET', `/api/v1/messages/${body.id}?contact_names=maybe`)

  expect(plain.some((message: Json) => 'contact_name' in message)).toBe(false)
  expect(named).toEqual([plain[0], { ...plain[1], contact_name: 'Anna' }])
  expect(one).toEqual(named[1])
  expect(refused.status).toBe(400)
})

test('a search of messages ends after 20 ms and says that it is not complete', async () => {
  await using relay = await oneLine()
  for (let number = 0; number < 30; number += 1) {
    await relay.send({ to: ANNA, text: `Table ${number} is ready.` })
  }

  const quick = await search(relay, 'bicycle')
  relay.clock.slowDown(1)
  const slow = await search(relay, 'bicycle')

  expect([quick.is_complete, slow.is_complete]).toEqual([true, false])
})

test('a message is found at once and after it was indexed, with its words marked', async () => {
  await using relay = await oneLine()
  const { body } = await relay.send({ to: ANNA, text: 'Is the Bicycle ready? My bicycle!' })
  await relay.send({ to: BOB, text: 'The table is ready.' })
  const wanted = [{ conversation_id: body.conversation_id, message: { id: body.id } }]

  const atOnce = await search(relay, 'BICYCLE')
  await relay.clock.advance(60_000)
  const later = await search(relay, 'bicycle ready')

  expect(relay.db.sqlite.query('SELECT count(*) AS rows FROM message_search').get()).toEqual({
    rows: 2,
  })
  for (const found of [atOnce, later]) {
    expect(found.is_complete).toBe(true)
    expect(found.messages).toMatchObject(wanted)
  }
  const { text, ranges } = later.messages[0].excerpt
  expect(ranges.map(({ offset, length }: Json) => text.slice(offset, offset + length))).toEqual([
    'Bicycle',
    'ready',
    'bicycle',
  ])
})

test('accents and case do not matter, and an excerpt counts code points', async () => {
  await using relay = await oneLine()
  const text = `${'🙂'.repeat(100)} Grüße an Frau Müller ${'x'.repeat(300)}`
  await relay.send({ to: ANNA, text })
  await relay.clock.advance(60_000)

  const [found] = (await search(relay, 'MULLER')).messages

  const points = Array.from(found.excerpt.text as string)
  expect(points.length).toBe(160)
  const [{ offset, length }] = found.excerpt.ranges
  expect(points.slice(offset, offset + length).join('')).toBe('Müller')
})

test('people are found by name, tag, and any end or part of the number', async () => {
  await using relay = await oneLine()
  await relay.send({ to: ANNA, text: 'first' })
  await relay.send({ to: BOB, text: 'second' })
  await put(relay, ANNA, { name: 'Anna Müller', tags: ['supplier'] })
  for (const q of ['anna', 'muller', 'suppl', '0701', '(202) 555-0701', '2025550701', 'an', ANNA]) {
    const found = await search(relay, q)
    expect([q, found.people.map(({ handle }: Json) => handle)]).toEqual([q, [ANNA]])
    expect([q, found.conversations.map(({ handle }: Json) => handle)]).toEqual([q, [ANNA]])
  }
  await relay.clock.advance(60_000)
  const found = await search(relay, '0702')
  expect(found.people).toEqual([])
  expect(found.conversations.map(({ handle }: Json) => handle)).toEqual([BOB])
  expect((await search(relay, '+1')).conversations).toHaveLength(2)
})

test('a person of exactly the name comes first, then names that begin so, then the latest of the others', async () => {
  await using relay = await oneLine()
  const people = [
    [1, 'Person 1202'],
    [2, 'Person 12020'],
    [3, 'Persón  1202 b'],
    [4, 'Some person 1202'],
    [5, 'Person 5'],
    [6, 'Person 6'],
  ] as const
  for (const [place, name] of people) await put(relay, `+1202555071${place}`, { name })

  const found = await search(relay, ' person  1202', '&limit=5')

  expect(namesIn({ data: found.people })).toEqual([
    'Person 1202',
    'Persón 1202 b',
    'Person 12020',
    'Person 6',
    'Person 5',
  ])
})

test('what was edited, unsent or deleted is found no more, and what it became is', async () => {
  await using relay = await oneLine()
  const { body } = await relay.send({ to: ANNA, text: 'the purple elephant' })
  await relay.clock.advance(60_000)
  const edit = relay.db.sqlite.query('UPDATE messages SET text = ? WHERE id = ?')

  edit.run('the orange zebra', body.id)
  expect((await search(relay, 'elephant')).messages).toEqual([])
  expect((await search(relay, 'zebra')).messages).toHaveLength(1)
  edit.run('', body.id)
  expect((await search(relay, 'zebra')).messages).toEqual([])
  await put(relay, ANNA, { name: 'Anna' })
  await put(relay, ANNA, { name: 'Berta' })
  expect((await search(relay, 'anna')).people).toEqual([])
  expect((await search(relay, 'berta')).people).toHaveLength(1)
})

test('a message that takes the place of one that was deleted is found', async () => {
  await using relay = await oneLine()
  await relay.send({ to: ANNA, text: 'purple elephant' })
  await relay.clock.advance(60_000)
  relay.db.sqlite.run('DELETE FROM messages')
  relay.db.sqlite.run('DELETE FROM conversations')

  await relay.send({ to: ANNA, text: 'orange zebra' })
  await relay.clock.advance(60_000)

  expect((await search(relay, 'elephant')).messages).toEqual([])
  expect((await search(relay, 'zebra')).messages).toHaveLength(1)
  expect((await search(relay, '0701')).conversations).toHaveLength(1)
  expect(relay.db.sqlite.query('SELECT count(*) AS rows FROM message_search').get()).toEqual({
    rows: 1,
  })
})

test('a query of any kind has an answer', async () => {
  await using relay = await oneLine()
  await relay.send({ to: ANNA, text: 'He said "50% off" AND (NOT 3*4) 日本語テスト 👍👍👍' })
  await relay.clock.advance(60_000)
  for (const q of ['"', '""" """', '50% off"', 'AND (NOT', '3*4)', '日本語', '👍👍👍', "'; DROP"]) {
    const { status, body } = await relay.request('GET', `/api/v1/search?q=${encodeURIComponent(q)}`)
    expect([q, status]).toEqual([q, 200])
    const isThere = ['50% off"', 'AND (NOT', '3*4)', '日本語', '👍👍👍'].includes(q)
    expect([q, body.messages.length]).toEqual([q, isThere ? 1 : 0])
  }
  for (const q of ['', ' ', '%00%00%00', 'a', '%F0%9F', '+', '-', '*'.repeat(200)]) {
    expect((await relay.request('GET', `/api/v1/search?q=${q}`)).status).toBe(200)
  }
  for (const query of ['', '?q=abc&limit=0', '?q=abc&page=1', `?q=${'x'.repeat(10_000)}`]) {
    expect((await relay.request('GET', `/api/v1/search${query}`)).status).toBe(400)
  }
})
