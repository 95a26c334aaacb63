// The owner's address book, and finding what was written, on the real relay.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import { EVENT_NAMES } from '../../src/domain/webhook.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { startRelay, type Json, type TestRelay } from '../support/test-relay.ts'

const ANNA = '+12025550701'
const BOB = '+12025550702'

async function oneLine(): Promise<TestRelay> {
  const driver = new ScriptedDriver()
  driver.add('+12025550801')
  return startRelay({ drivers: [driver] })
}

const put = (relay: TestRelay, handle: string, fields: object) =>
  relay.put(`/api/v1/contacts/${encodeURIComponent(handle)}`, fields)

const search = (relay: TestRelay, q: string, more = ''): Promise<Json> =>
  relay.get(`/api/v1/search?q=${encodeURIComponent(q)}${more}`)

const upload = async (relay: TestRelay, file: string | Uint8Array, query = ''): Promise<Json> => {
  const { key } = relay
  const response = await relay.app.http.fetch(
    new Request(`http://localhost/api/v1/contacts/import${query}`, {
      method: 'POST',
      headers: { 'X-API-Key': key?.key ?? '', 'X-API-Secret': key?.secret ?? '' },
      body: file,
    }),
    { address: '127.0.0.1', isControl: false, liftTimeout() {} },
  )
  return response.json()
}

const namesIn = (found: Json): string[] => found.data.map((contact: Json) => contact.name)

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

test('an exported table brings every contact back', async () => {
  await using relay = await oneLine()
  await put(relay, ANNA, { name: '=HYPERLINK("x")', note: 'two\nlines', tags: ['vip', 'tea'] })
  await put(relay, BOB, { name: '-Bob-' })
  const before = await relay.get('/api/v1/contacts')
  const { key } = relay
  const table = await relay.app.http.fetch(
    new Request('http://localhost/api/v1/contacts/export', {
      headers: { 'X-API-Key': key?.key ?? '', 'X-API-Secret': key?.secret ?? '' },
    }),
    { address: '127.0.0.1', isControl: false, liftTimeout() {} },
  )
  const bytes = new Uint8Array(await table.arrayBuffer())

  await using other = await oneLine()
  const report = await upload(other, bytes)

  expect(new TextDecoder().decode(bytes)).toContain(`"'=HYPERLINK(""x"")",'${ANNA}`)
  expect(report).toMatchObject({ imported: 2, failed: 0 })
  const plain = ({ data }: Json) =>
    data.map(({ handle, name, note, tags }: Json) => [handle, name, note, tags])
  expect(plain(await other.get('/api/v1/contacts')).toSorted()).toEqual(plain(before).toSorted())
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

test('a table of contacts comes in with its bad rows named, and again without a change', async () => {
  await using relay = await oneLine()
  await put(relay, ANNA, { name: 'Ann', note: 'Likes tea', tags: ['vip'] })
  const table = [
    'First Name,Last Name,Phone,E-mail,Notes,Labels',
    'Anna,Miller,(202) 555-0701,,,friends',
    '"Bob ""the"" Builder",,+49 170 1234567,bob@example.com,"two\nlines",',
    'Carl,Nobody,12,,,',
    ',,+12025550703,,,',
    'Dora,Doe,,,,',
  ].join('\r\n')

  const report = await upload(relay, table)
  const again = await upload(relay, table)

  expect(report).toMatchObject({ imported: 2, updated: 1, skipped: 0, failed: 3 })
  expect(report.errors.map(({ row }: Json) => row)).toEqual([4, 5, 6])
  expect(again).toMatchObject({ imported: 0, updated: 0, skipped: 3, failed: 3 })
  const anna = await relay.get(`/api/v1/contacts/${encodeURIComponent(ANNA)}`)
  expect(anna).toMatchObject({ name: 'Anna Miller', note: 'Likes tea', tags: ['vip', 'friends'] })
  const bob = await relay.get('/api/v1/contacts/bob@example.com')
  expect(bob).toMatchObject({ name: 'Bob "the" Builder', note: 'two\nlines' })
})

test("national numbers go by the lines' country or the one that is named, never by a guess", async () => {
  await using relay = await oneLine()
  expect((await upload(relay, 'Anna;0170 1234567\n', '?country=de')).imported).toBe(1)
  expect((await relay.get('/api/v1/contacts/+491701234567')).name).toBe('Anna')
  const report = await upload(relay, 'Eve;4917012345678\n', '?country=DE')
  expect(report).toMatchObject({ imported: 0, failed: 1 })
  expect(report.errors[0].why).toContain('may be +4917012345678 or')
  expect((await upload(relay, 'a', '?country=Germany')).error.code).toBe('invalid_request')

  await using several = await twoCountries()
  const { errors } = await upload(several, 'Anna;(202) 555-0701\n')
  expect(errors[0].why).toContain('has no country code')
})

async function twoCountries(): Promise<TestRelay> {
  const driver = new ScriptedDriver()
  driver.add('+12025550801')
  driver.add('+491701234500')
  return startRelay({ drivers: [driver] })
}

test('vCards come in: folded, quoted-printable, of several numbers, with a photo left aside', async () => {
  await using relay = await oneLine()
  const cards = [
    'BEGIN:VCARD',
    'VERSION:3.0',
    'FN:Anna Ma',
    ' ria Miller',
    'item1.TEL;TYPE=CELL:(202) 555-0701',
    'TEL;VALUE=uri:tel:+1-202-555-0702;ext=5',
    'EMAIL:Anna@Example.com',
    String.raw`NOTE:Likes tea\, and\ncake`,
    'CATEGORIES:vip,friends',
    'PHOTO;ENCODING=b:' + 'A'.repeat(60),
    ' ' + 'B'.repeat(60),
    'END:VCARD',
    'BEGIN:VCARD',
    'VERSION:2.1',
    'N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCll=',
    'er;J=C3=B6rg',
    'TEL;CELL:+49 170 1234567',
    'END:VCARD',
    'BEGIN:VCARD',
    'FN:Nobody',
    'END:VCARD',
  ].join('\r\n')

  const report = await upload(relay, cards)

  expect(report).toMatchObject({ imported: 4, failed: 1, errors: [{ row: 3 }] })
  const anna = await relay.get('/api/v1/contacts/+12025550701')
  expect(anna).toMatchObject({
    name: 'Anna Maria Miller',
    note: 'Likes tea, and\ncake',
    tags: ['vip', 'friends'],
  })
  expect((await relay.get('/api/v1/contacts/+491701234567')).name).toBe('Jörg Müller')
  expect((await relay.get('/api/v1/contacts/anna@example.com')).name).toBe('Anna Maria Miller')
})

test('a file in Latin-1 and one in UTF-16 are read as what they are', async () => {
  await using relay = await oneLine()
  const latin = Buffer.from('Name;Telefon\nJörg;+491701234567\n', 'latin1')
  const wide = Buffer.from('\uFEFFName\tPhone\nZoë\t+12025550709\n', 'utf16le')

  expect((await upload(relay, latin)).imported).toBe(1)
  expect((await upload(relay, wide)).imported).toBe(1)

  expect((await relay.get('/api/v1/contacts/+491701234567')).name).toBe('Jörg')
  expect((await relay.get('/api/v1/contacts/+12025550709')).name).toBe('Zoë')
})

test('a row of hundreds of numbers is reported, and costs the next one nothing', async () => {
  await using relay = await oneLine()
  const numbers = Array.from({ length: 101 }, (_, place) => `+1202555${1_000 + place}`).join(';')
  const report = await upload(relay, `Name,Phone\nMany,"${numbers}"\nAnna,${ANNA}\n`)

  expect(report).toMatchObject({ imported: 1, failed: 1 })
  const why = 'has more than 100 phone numbers and email addresses'
  expect(report.errors).toEqual([{ row: 2, why }])
})

test('a file of more than 10 MiB is refused, and nothing of it is kept', async () => {
  await using relay = await oneLine()
  const answer = await upload(relay, 'Anna,+12025550701\n'.repeat(600_000))

  expect(answer.error.code).toBe('payload_too_large')
  expect(namesIn(await relay.get('/api/v1/contacts'))).toEqual([])
})
