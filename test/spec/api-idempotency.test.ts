// `Idempotency-Key`: a repeat is answered, never sent again; across restarts, crashes and twins.

import { expect, test } from 'bun:test'

import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { guidOf, refuses, ScriptedDriver } from '../support/scripted-driver.ts'
import { startScripted } from '../support/scripted-relay.ts'
import { TestClock } from '../support/test-clock.ts'
import { startRelay, type Answer, type Json } from '../support/test-relay.ts'
import {
  credentials,
  NOT_ON_IMESSAGE,
  READER,
  startSpecRelay,
  type SpecRelay,
} from './spec-relay.ts'

const KEY = { 'Idempotency-Key': 'order-1042-ready' }
const BODY = { to: READER, text: 'Your order is ready.' }
const DAY = 86_400_000

test('api, idempotency: a repeat gets the same answer word for word, and says that it is one', async () => {
  await using relay = await startSpecRelay()

  const first = await relay.send(BODY, KEY)
  await relay.clock.advance(60_000)
  const again = await relay.send({ ...BODY, phone_line_id: null }, KEY)

  expect([first.status, replayed(first)]).toEqual([200, null])
  expect([again.status, replayed(again)]).toEqual([200, 'true'])
  expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body))
  expect((await relay.get('/api/v1/messages')).data).toHaveLength(1)
})

test('api, idempotency: a refusal for good is repeated word for word too', async () => {
  await using relay = await startSpecRelay()

  const first = await relay.send({ to: NOT_ON_IMESSAGE, text: 'hello' }, KEY)
  const again = await relay.send({ to: NOT_ON_IMESSAGE, text: 'hello' }, KEY)

  expect([first.status, again.status]).toEqual([422, 422])
  expect(again.body).toEqual(first.body)
  expect([replayed(first), replayed(again)]).toEqual([null, 'true'])
})

test('api, idempotency: an answer of 202 is repeated as it was, however far the message came', async () => {
  await using relay = await startScripted({ lines: ['offline'] })

  const first = await relay.send(BODY, KEY)
  await relay.device.goOnline()
  await relay.clock.advance(5_000)
  const again = await relay.send(BODY, KEY)

  expect((await relay.message(first.body.id)).status).toBe('sent')
  expect([again.status, again.body, replayed(again)]).toEqual([202, first.body, 'true'])
  expect(relay.device.sent).toHaveLength(1)
})

test('api, idempotency: the same key with other values is 409, and nothing is sent', async () => {
  await using relay = await startSpecRelay({ lines: 2 })
  const [first] = await relay.lines()
  await relay.send(BODY, KEY)

  const others = [
    await relay.send({ ...BODY, text: 'Something else.' }, KEY),
    await relay.send({ ...BODY, to: '+15550002222' }, KEY),
    await relay.send({ ...BODY, phone_line_id: first.id }, KEY),
  ]

  expect(others.map(({ status, body }) => `${status} ${body.error.code}`)).toEqual(
    Array(3).fill('409 idempotency_conflict'),
  )
  expect((await relay.get('/api/v1/messages')).data).toHaveLength(1)
})

test('api, idempotency: keys are one space for the whole relay, whichever API key asks', async () => {
  await using relay = await startSpecRelay()
  const { body: other } = await relay.post('/api/v1/keys', {})

  const first = await relay.send(BODY, KEY)
  const again = await relay.send(BODY, { ...KEY, ...credentials(other) })

  expect([again.body, replayed(again)]).toEqual([first.body, 'true'])
})

test('api, idempotency: twins at the same moment are one message, with one answer', async () => {
  await using relay = await startSpecRelay()

  const answers = await Promise.all(Array.from({ length: 10 }, () => relay.send(BODY, KEY)))

  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
  expect(answers.filter((answer) => replayed(answer) === null)).toHaveLength(1)
  expect((await relay.get('/api/v1/messages')).data).toHaveLength(1)
})

test('api, idempotency: twins that ask for different things do not both get an answer', async () => {
  await using relay = await startSpecRelay()

  const answers = await Promise.all([
    relay.send(BODY, KEY),
    relay.send({ ...BODY, text: 'Something else.' }, KEY),
  ])

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]))
  expect((await relay.get('/api/v1/messages')).data).toHaveLength(1)
})

test('api, idempotency: what was not accepted is not remembered', async () => {
  await using relay = await startScripted()
  await relay.limit(0)

  const answers = [
    await relay.send({ to: 'nobody', text: 'hello' }, KEY),
    await relay.send(BODY, { ...KEY, 'X-API-Secret': 'wrong' }),
    await relay.send(BODY, KEY),
  ]
  await relay.limit(1)
  answers.push(await relay.send(BODY, KEY))

  expect(answers.map((answer) => [answer.status, replayed(answer)])).toEqual([
    [400, null],
    [401, null],
    [429, null],
    [200, null],
  ])
  expect(relay.device.sent).toHaveLength(1)
})

test('api, idempotency: a key is kept for 7 days, and free after that', async () => {
  await using relay = await startSpecRelay()
  const first = await relay.send(BODY, KEY)

  relay.clock.doze(7 * DAY - 2 * 3_600_000)
  await relay.clock.advance(3_600_000)
  const within = await relay.send(BODY, KEY)
  relay.clock.doze(2 * 3_600_000)
  await relay.clock.advance(3_600_000)
  await untilForgotten(relay)
  const after = await relay.send(BODY, KEY)

  expect([within.body.id, replayed(within)]).toEqual([first.body.id, 'true'])
  expect([after.status, replayed(after)]).toEqual([200, null])
  expect(after.body.id).not.toBe(first.body.id)
})

/** The night's back-up goes before it, in a thread of its own and in real time. */
async function untilForgotten({ clock, db }: SpecRelay): Promise<void> {
  const count = db.sqlite.query<{ count: number }, []>('SELECT count(*) AS count FROM idempotency')
  for (let looks = 0; looks < 400 && count.get()?.count !== 0; looks += 1) {
    await Bun.sleep(10)
    await clock.advance(1_000)
  }
}

test('api, idempotency: a restart forgets nothing', async () => {
  using folder = new ScratchFolder()
  const before = await startOn(folder.file('relay.db'))
  const first = await before.relay.send(BODY, KEY)
  await before.relay[Symbol.asyncDispose]()

  const after = await startOn(folder.file('relay.db'))
  await using relay = after.relay
  const headers = { ...KEY, ...credentials(before.relay.key) }
  const again = await relay.send(BODY, headers)
  const other = await relay.send({ ...BODY, text: 'Something else.' }, headers)

  expect([again.status, replayed(again), again.body]).toEqual([200, 'true', first.body])
  expect(other.status).toBe(409)
  expect([before.device.sent.length, after.device.given.length]).toEqual([1, 0])
})

test('api, idempotency: a key left open by a crash is answered from the message as it is now', async () => {
  using folder = new ScratchFolder()
  const { id, headers } = await crashWhileSending(folder, 'crashed.db')

  const { relay: started, device } = await startOn(folder.file('crashed.db'))
  await using relay = started
  await device.settle(id, { outcome: 'accepted', guid: guidOf(77) })
  await device.report(guidOf(77), 'delivered', relay.clock.now())
  const again = await relay.send(BODY, headers)

  const read = await relay.request('GET', `/api/v1/messages/${id}`, undefined, headers)
  expect(read.body.status).toBe('delivered')
  expect([again.status, replayed(again)]).toEqual([200, 'true'])
  expect(again.body).toEqual({ ...read.body, status: 'sent' })
  expect(device.given).toEqual([])
})

test('api, idempotency: where nobody can say whether it left before the crash, the repeat says so', async () => {
  using folder = new ScratchFolder()
  const { id, headers } = await crashWhileSending(folder, 'crashed.db')

  const { relay: started, device } = await startOn(folder.file('crashed.db'))
  await using relay = started
  const again = await relay.send(BODY, headers)
  await relay.clock.advance(3_600_000)

  expect([again.status, again.body.id, again.body.status]).toEqual([202, id, 'uncertain'])
  expect(replayed(again)).toBe('true')
  expect(device.given).toEqual([])
})

test('api, idempotency: a message that a crash left in the queue goes out once, and the repeat reports it', async () => {
  using folder = new ScratchFolder()
  const { id, headers } = await crashWhileSending(folder, 'crashed.db', { isPast: false })

  const { relay: started, device } = await startOn(folder.file('crashed.db'))
  await using relay = started
  const again = await relay.send(BODY, headers)

  expect([again.status, again.body.id, again.body.status]).toEqual([200, id, 'sent'])
  expect(device.sent.map((message) => String(message.id))).toEqual([id])
})

test('api, idempotency: what the line refuses again and again is remembered as first answered', async () => {
  await using relay = await startScripted({ script: refuses })

  const first = await relay.send(BODY, KEY)
  await relay.clock.advance(120_000)
  const again = await relay.send(BODY, KEY)

  expect([first.status, first.body.queued_reason]).toEqual([202, 'retry'])
  expect((await relay.message(first.body.id)).status).toBe('failed')
  expect([again.status, again.body]).toEqual([202, first.body])
  expect(relay.device.given).toHaveLength(4)
})

/** A relay with one relay.device on the database file at `path`. */
async function startOn(path: string) {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  const database = openDatabase(path, { version: 'test' })
  const onClose = () => closeDatabase(database.db)
  const relay = await startRelay({ drivers: [driver], database, onClose, clock: new TestClock() })
  return { relay, device }
}

/** Leaves the file `name` as a process does that is killed while its device has a message in hand. */
async function crashWhileSending(
  folder: ScratchFolder,
  name: string,
  { isPast = true } = {},
): Promise<{ readonly id: Json; readonly headers: Record<string, string> }> {
  const { relay, device } = await startOn(folder.file('first.db'))
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  device.script = async (_message, pointOfNoReturn) => {
    if (isPast) await pointOfNoReturn('note')
    await released
    return { outcome: 'not_sent', reason: 'withdrawn', blame: 'line' }
  }
  const pending = relay.send(BODY, KEY)
  await relay.clock.advance(1_000)
  const { data } = await relay.get('/api/v1/messages')
  relay.db.sqlite.run(`VACUUM INTO '${folder.file(name)}'`)
  device.script = refuses
  release()
  await relay[Symbol.asyncDispose]()
  await pending
  return { id: data[0].id, headers: { ...KEY, ...credentials(relay.key) } }
}

function replayed({ headers }: Answer): string | null {
  return headers.get('Idempotency-Replayed')
}
