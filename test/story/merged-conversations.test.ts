// Conversations from before devices' spellings were read: each becomes its person's, once, and can become what it
// was again. Nothing of that is announced.

import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { asOwner } from '../support/control-socket.ts'
import { eventually } from '../support/eventually.ts'
import { startScripted, type ScriptedRelay } from '../support/scripted-relay.ts'
import type { Json } from '../support/test-relay.ts'
import { ANNA, BOB, OPT_OUTS, pathOf, text } from './opt-outs-stage.ts'

const SPELLED = '2025550701'
const LOOK_MS = 20_000
const from = (handle: string) => `/api/v1/conversations?handle=${encodeURIComponent(handle)}`

/** What Bob wrote, as an earlier version would have it of Anna under another spelling. */
function spellAs({ db }: ScriptedRelay, spelling: string): void {
  for (const table of ['conversations', 'messages', 'contacts', 'opt_outs', 'people']) {
    db.sqlite.query(`UPDATE ${table} SET handle = $spelling WHERE handle = $bob`).run({
      spelling,
      bob: BOB,
    })
  }
}

async function conversationWith(relay: ScriptedRelay, handle: string): Promise<Json> {
  return (await relay.get(from(handle))).data[0]
}

/** The relay looks for such conversations now. */
async function merged(relay: ScriptedRelay, count = 1): Promise<void> {
  await eventually('conversations are merged', async () => {
    await relay.clock.advance(LOOK_MS)
    const { data } = await relay.get('/api/v1/audit?action=conversation.merged')
    return data.length === count ? true : null
  })
}

const separate = (relay: ScriptedRelay, id: string) =>
  asOwner(relay, 'POST', `/conversations/${id}/separate`)

const write = (relay: ScriptedRelay, handle: string, words: string) =>
  text(relay, words, { handle })

test('two conversations of one person become one, whose other id still reads and filters', async () => {
  await using relay = await startScripted()
  await write(relay, ANNA, 'one')
  await write(relay, BOB, 'two')
  const other = await conversationWith(relay, BOB)
  await relay.patch(`/api/v1/conversations/${other.id}`, { automation_paused: true })
  await relay.put(`/api/v1/contacts/${encodeURIComponent(BOB)}`, { name: 'Anna' })
  spellAs(relay, SPELLED)
  const announced = (await relay.eventNames()).length

  await merged(relay)

  const conversation = await conversationWith(relay, ANNA)
  expect((await relay.get('/api/v1/conversations')).data).toEqual([conversation])
  expect(conversation).toMatchObject({
    handle: ANNA,
    contact_name: 'Anna',
    message_count: 2,
    unread_count: 2,
    automation_paused: true,
    merged_from: [{ conversation_id: other.id, handle: SPELLED }],
  })
  expect(await relay.get(`/api/v1/conversations/${other.id}`)).toEqual({
    ...conversation,
    id: other.id,
    moved_to: conversation.id,
  })
  for (const filter of [
    `conversation_id=${other.id}`,
    `handle=%2B12025550701`,
    `handle=${SPELLED}`,
  ]) {
    const { data } = await relay.get(`/api/v1/messages?${filter}`)
    expect(data.map((message: Json) => [message.text, message.from])).toEqual([
      ['two', ANNA],
      ['one', ANNA],
    ])
  }
  expect((await conversationWith(relay, SPELLED)).id).toBe(conversation.id)
  expect((await relay.eventNames()).length).toBe(announced)
})

test('one person has opted out if either had, and START in any spelling ends it', async () => {
  await using relay = await startScripted()
  await write(relay, BOB, 'STOP')
  spellAs(relay, SPELLED)
  await write(relay, ANNA, 'hello')
  await merged(relay)

  expect((await relay.send({ to: ANNA, text: 'x' })).status).toBe(409)
  expect((await relay.get(OPT_OUTS)).data).toMatchObject([{ handle: ANNA, keyword: 'STOP' }])
  expect((await relay.get(`${OPT_OUTS}?handle=${SPELLED}`)).data).toHaveLength(1)

  await write(relay, '(202) 555-0701', 'START')

  expect((await relay.send({ to: ANNA, text: 'x' })).status).toBe(200)
  expect((await relay.get(OPT_OUTS)).data).toEqual([])
})

test('messages that wait under the old handle go to the person, in order and once', async () => {
  await using relay = await startScripted({ lines: ['offline'] })
  const send = (to: string, words: string, more = {}) =>
    relay.send({ to, text: words, ...more }, { Prefer: 'respond-async' })
  await send(BOB, 'one')
  spellAs(relay, '+1(202)5550701')
  await send(ANNA, 'two')
  const sendAt = new Date(relay.clock.now() + 3_600_000).toISOString()
  await send(BOB, 'later', { send_at: sendAt })
  spellAs(relay, '1 202 555 0701')
  await merged(relay, 2)

  await relay.device.goOnline()
  await relay.clock.advance(3_700_000)

  expect(relay.device.sent.map(({ to, text }) => [String(to), text])).toEqual([
    [ANNA, 'one'],
    [ANNA, 'two'],
    [ANNA, 'later'],
  ])
  expect((await relay.get('/api/v1/phone-lines')).data[0].new_contacts_today).toBe(1)
})

test('the owner separates what was merged, for good, and each side keeps what is its own', async () => {
  await using relay = await startScripted()
  await write(relay, BOB, 'STOP')
  const other = await conversationWith(relay, BOB)
  spellAs(relay, SPELLED)
  await write(relay, ANNA, 'hello')
  await merged(relay)
  await write(relay, SPELLED, 'spelled since')
  await write(relay, ANNA, 'own since')

  const parted = await separate(relay, other.id)
  await write(relay, SPELLED, 'spelled again')
  await relay.clock.advance(10 * LOOK_MS)

  const texts = async (handle: string) =>
    (await relay.get(`/api/v1/messages?handle=${encodeURIComponent(handle)}`)).data.map(
      (message: Json) => [message.text, message.handle],
    )
  expect([parted.id, parted.handle, parted.moved_to]).toEqual([other.id, SPELLED, undefined])
  expect(await texts(SPELLED)).toEqual([
    ['spelled again', SPELLED],
    ['spelled since', SPELLED],
    ['STOP', SPELLED],
  ])
  expect(await texts(ANNA)).toEqual([
    ['own since', ANNA],
    ['hello', ANNA],
  ])
  expect((await relay.get(OPT_OUTS)).data).toMatchObject([{ handle: SPELLED }])
  expect((await relay.send({ to: ANNA, text: 'x' })).status).toBe(200)
  expect((await separate(relay, other.id)).error.code).toBe('not_found')
  const trail = await relay.get('/api/v1/audit?about=conversation')
  expect(trail.data.map((entry: Json) => [entry.action, entry.actor.kind])).toEqual([
    ['conversation.separated', 'cli'],
    ['conversation.merged', 'relay'],
  ])
})

test('what an earlier version wrote in between, under the old spelling again, is merged as well', async () => {
  await using relay = await startScripted()
  await write(relay, ANNA, 'one')
  await write(relay, BOB, 'two')
  const { id } = await conversationWith(relay, BOB)
  spellAs(relay, SPELLED)
  await merged(relay)
  // The earlier version opens the conversation again, and the upgrade begins with another version.
  await write(relay, BOB, 'three')
  const { sqlite } = relay.db
  const reopened =
    'UPDATE conversations SET moved_to = NULL, last_seq = 3, message_count = 1 WHERE id = $id'
  sqlite.query(reopened).run({ id })
  sqlite
    .query(
      "UPDATE messages SET handle = $spelled, conversation_seq = (SELECT seq FROM conversations WHERE id = $id) WHERE text = 'three'",
    )
    .run({ id, spelled: SPELLED })
  sqlite.run("UPDATE about SET value = json_set(value, '$.version', 'other') WHERE name = 'people'")

  await merged(relay, 2)

  expect(await conversationWith(relay, ANNA)).toMatchObject({ message_count: 3 })
  expect(await separate(relay, id)).toMatchObject({ id, message_count: 2 })
})

test('a conversation is merged once the country of its line is known', async () => {
  await using relay = await startScripted()
  await write(relay, ANNA, 'hello')
  const setNumber = (number: string) =>
    relay.db.sqlite.query('UPDATE lines SET phone_number = $number').run({ number })
  await relay.clock.advance(LOOK_MS)
  setNumber('+4930901820')
  await write(relay, BOB, 'hi')
  spellAs(relay, SPELLED)
  await relay.clock.advance(5 * LOOK_MS)
  expect((await relay.get('/api/v1/conversations')).data).toHaveLength(2)

  setNumber('+12025550801')
  await merged(relay)

  expect((await relay.get('/api/v1/conversations')).data).toMatchObject([{ handle: ANNA }])
})

test('a merge that is undone leaves exactly what there was', async () => {
  const side = fc.constantFrom(ANNA, BOB)
  const step = fc.oneof(
    fc.tuple(fc.constantFrom('hello', 'STOP', 'START'), side),
    fc.tuple(fc.constantFrom('send', 'pause', 'read', 'name', 'opt out'), side),
  )
  const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), undone)
  await fc.assert(property, { numRuns: 20 })
}, 180_000)

async function undone(steps: readonly (readonly [what: string, who: string])[]): Promise<void> {
  await using relay = await startScripted()
  await write(relay, BOB, 'hi')
  for (const [what, who] of steps) await take(relay, what, who)
  spellAs(relay, SPELLED)
  const { id } = await conversationWith(relay, SPELLED)
  const before = stored(relay)

  await merged(relay)
  expect((await relay.get('/api/v1/conversations')).data).toHaveLength(1)
  expect(await separate(relay, id)).toMatchObject({ id, handle: SPELLED })

  expect(stored(relay)).toEqual(before)
}

async function take(relay: ScriptedRelay, what: string, who: string): Promise<void> {
  const conversation = await conversationWith(relay, who)
  const path = `/api/v1/conversations/${conversation?.id}`
  if (what === 'send') await relay.send({ to: who, text: 'x' })
  else if (what === 'name') {
    await relay.put(`/api/v1/contacts/${encodeURIComponent(who)}`, { name: who })
  } else if (what === 'opt out') {
    await relay.put(pathOf(who), { phone_line_id: relay.line.id })
  } else if (what !== 'pause' && what !== 'read') await write(relay, who, what)
  else if (conversation === undefined) return
  else if (what === 'pause') await relay.patch(path, { automation_paused: true })
  else await relay.post(`${path}/read`, { message_id: conversation.last_message.id })
}

/** Everything that a merge may change. */
function stored({ db }: ScriptedRelay): unknown {
  const tables = [
    'conversations',
    'messages',
    'contacts',
    'contact_days',
    'opt_outs',
    'people',
    'lines',
  ]
  return tables.map((table) => {
    const rows = db.sqlite
      .query<Json, []>(
        `SELECT * FROM ${table} ORDER BY ${table === 'opt_outs' ? 'handle, line_id' : '1, 2'}`,
      )
      .all()
    // An opt-out that comes back is the latest one.
    const seq = table === 'opt_outs' ? { seq: 0 } : {}
    return rows.filter((row) => row.spent !== 0).map((row) => ({ ...row, ...seq }))
  })
}
