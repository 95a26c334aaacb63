// A line goes away with messages in its queue: those that may leave by another line do, whatever waits before them.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import { makeKey } from '../support/limited-keys.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import {
  guidOf,
  ScriptedDriver,
  TEXTS_ONLY,
  type ScriptedDevice,
} from '../support/scripted-driver.ts'
import { startRelay, type TestRelay } from '../support/test-relay.ts'

const SECOND = 1_000
const ASYNC = { Prefer: 'respond-async' }

type Before = (stage: Stage) => Promise<(index: number) => Promise<unknown>>

type Stage = { readonly relay: TestRelay; readonly first: ScriptedDevice; readonly lineId: string }

/** Two lines that are both away, the first of which takes what is sent now, and the sends that it takes. */
async function startAway(before: Before) {
  const folder = new ScratchFolder()
  const driver = new ScriptedDriver()
  const first = driver.add('+12025550801')
  first.capabilities = { ...TEXTS_ONLY, choose_service: true, attachments: true, groups: 'reply' }
  const second = driver.add('+12025550802', false)
  const relay = await startRelay({ drivers: [driver], folder: folder.path })
  const [line] = await relay.lines()
  const lineId = String(line.id)
  const send = await before({ relay, first, lineId })
  await first.goOffline()
  return {
    relay,
    first,
    second,
    lineId,
    send,
    async [Symbol.asyncDispose]() {
      await relay[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

/** As many are sent by the API, each to another person; more are copies of them. */
const GROUPS = 65

/** Copies stored messages, each into a conversation of its own, until there are `count`. */
function multiplyMessages({ db: { sqlite } }: TestRelay, count: number): void {
  const copy = (table: string, changed: Readonly<Record<string, string>>) => {
    const names = sqlite.query<{ name: string }, []>(
      `SELECT name FROM pragma_table_info('${table}')`,
    )
    const columns = names.all().flatMap(({ name }) => (name === 'seq' ? [] : [name]))
    const values = columns.map((name) => changed[name] ?? name)
    return sqlite.query<{ seq: number }, Record<string, string | number>>(
      `INSERT INTO ${table} (${columns.join()}) SELECT ${values.join()} FROM ${table}
       WHERE seq = $from RETURNING seq`,
    )
  }
  const ids = "substr(id, 1, length(id) - 6) || printf('%06d', $number)"
  const conversation = copy('conversations', { id: ids, handle: "handle || '-' || $number" })
  const message = copy('messages', {
    id: ids,
    guid: "guid || '-' || $number",
    conversation_seq: '$own',
  })
  const stored = sqlite.query<{ seq: number; own: number }, []>(
    "SELECT seq, conversation_seq AS own FROM messages WHERE status = 'queued' ORDER BY seq",
  )
  const originals = stored.all()
  sqlite.transaction(() => {
    for (let number = originals.length; number < count; number += 1) {
      const { seq = 0, own: from = 0 } = originals[number % originals.length] ?? {}
      const own = conversation.get({ from, number })?.seq ?? 0
      message.get({ from: seq, number, own })
    }
  })()
}

function waiting({ db }: TestRelay): number {
  const sql = "SELECT count(*) AS count FROM messages WHERE status = 'queued'"
  return db.sqlite.query<{ count: number }, []>(sql).get()?.count ?? 0
}

const person = (index: number) => `+1303${String(5_550_000 + index)}`

/** Messages that no other line may take, each to a person of its own. */
const IMMOVABLE: Readonly<Record<string, Before>> = {
  'of a key that is limited to it': async ({ relay, lineId }) => {
    const key = await makeKey(relay, { name: 'one line', phone_line_ids: [lineId] })
    return (index) =>
      key.call('POST', '/messages/send', { to: person(index), text: 'limited' }, ASYNC)
  },
  'that named it':
    async ({ relay, lineId }) =>
    (index) =>
      relay.send({ to: person(index), text: 'pinned', phone_line_id: lineId }, ASYNC),
  'by a service that only it can choose':
    async ({ relay }) =>
    (index) =>
      relay.send({ to: person(index), text: 'by SMS', service: 'SMS' }, ASYNC),
  'with a file that only it can send': async ({ relay }) => {
    const headers = { ...relay.credentials, 'Content-Type': 'text/plain' }
    const upload = await relay.fetch('/api/v1/attachments', { method: 'POST', headers, body: 'x' })
    const attachments = [{ id: ((await upload.json()) as { readonly id: string }).id }]
    return (index) => relay.send({ to: person(index), text: 'a file', attachments }, ASYNC)
  },
  'to groups of its device': async ({ relay, first, lineId }) => {
    await relay.patch(`/api/v1/phone-lines/${lineId}`, { relay_groups: true })
    for (let index = 0; index < GROUPS; index += 1) {
      const participants = [person(index), person(index + 1)].map(deviceHandle)
      const group = { chatGuid: `iMessage;+;chat${index}`, identifier: `chat${index}`, name: null }
      const handle = deviceHandle(person(index))
      await first.receive({ guid: guidOf(index + 1), handle, group: { ...group, participants } })
    }
    const { data } = await relay.get(`/api/v1/conversations?type=group&limit=${GROUPS}`)
    return (index) =>
      relay.request(
        'POST',
        `/api/v1/conversations/${data[index].id}/messages`,
        { text: 'all' },
        ASYNC,
      )
  },
}

for (const [what, before] of Object.entries(IMMOVABLE)) {
  for (const count of [1, 64, 65, 10_000]) {
    test(`behind ${count} messages ${what}, a free message goes by another line`, async () => {
      await using stage = await startAway(before)
      const { relay, first, second, send } = stage
      for (let index = 0; index < Math.min(count, GROUPS); index += 1) await send(index)
      multiplyMessages(relay, count)
      const free = await relay.send({ to: '+12025550700', text: 'free' }, ASYNC)

      await second.goOnline()
      // More than a batch takes the loop several turns.
      for (let turn = 0; turn < 60 && second.sent.length === 0; turn += 1) {
        await relay.clock.advance(SECOND)
      }

      expect(waiting(relay)).toBe(count)
      expect(second.sent.map(({ text }) => text)).toEqual(['free'])
      expect(first.sent).toEqual([])
      expect(await relay.message(free.body.id)).toMatchObject({
        status: 'sent',
        phone_number: '+12025550802',
      })
    })
  }
}

test('messages that may not move are looked at again when a line comes back that may take them', async () => {
  const driver = new ScriptedDriver()
  const devices = [1, 2, 3].map((number) => driver.add(`+1202555080${number}`, false))
  await using relay = await startRelay({ drivers: [driver] })
  await relay.limit(1_000)
  const lines = await relay.lines()
  const phone_line_ids = [lines[0].id, lines[2].id]
  const key = await makeKey(relay, { name: 'two lines', phone_line_ids })
  for (let index = 0; index < 130; index += 1) {
    await key.call('POST', '/messages/send', { to: person(index), text: 'limited' }, ASYNC)
  }

  await devices[1]?.goOnline()
  await relay.clock.advance(SECOND)
  const early = devices.map(({ sent }) => sent.length)
  await devices[2]?.goOnline()
  await relay.clock.advance(60 * SECOND)

  expect(early).toEqual([0, 0, 0])
  expect(devices.map(({ sent }) => sent.length)).toEqual([0, 0, 130])
})
