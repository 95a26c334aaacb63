// `Idempotency-Key`: a repeat is answered, never sent again; across restarts, crashes and twins.

import { expect, test } from 'bun:test'

import type { MessageId } from '../../src/domain/ids.ts'
import { copyDatabase, vanishes } from '../support/ended-relay.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { ends, guidOf, refuses, type SendScript } from '../support/scripted-driver.ts'
import { startScripted } from '../support/scripted-relay.ts'
import { type Answer } from '../support/test-relay.ts'
import { NOT_ON_IMESSAGE, READER, startSpecRelay } from './spec-relay.ts'

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
  const { request_id: id, ...error } = again.body.error
  expect({ ...error, request_id: first.body.error.request_id }).toEqual(first.body.error)
  expect(id).not.toBe(first.body.error.request_id)
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
  const after = await relay.send(BODY, KEY)

  expect([within.body.id, replayed(within)]).toEqual([first.body.id, 'true'])
  expect([after.status, replayed(after)]).toEqual([200, null])
  expect(after.body.id).not.toBe(first.body.id)
})

test('api, idempotency: a restart forgets nothing', async () => {
  const before = await startScripted()
  const first = await before.send(BODY, KEY)
  await before[Symbol.asyncDispose]()

  const { database, key } = before
  await using relay = await startScripted({ database, key })
  const again = await relay.send(BODY, KEY)
  const other = await relay.send({ ...BODY, text: 'Something else.' }, KEY)

  expect([again.status, replayed(again), again.body]).toEqual([200, 'true', first.body])
  expect(other.status).toBe(409)
  expect([before.device.sent.length, relay.device.given.length]).toEqual([1, 0])
})

test('api, idempotency: a key left open by a crash is answered from the message as it is now', async () => {
  using folder = new ScratchFolder()
  await using relay = await crashWhileSending(folder, vanishes)
  const { device, id } = relay

  await device.settle(id, { outcome: 'accepted', guid: guidOf(77) })
  await device.report(guidOf(77), 'delivered', relay.clock.now())
  const again = await relay.send(BODY, KEY)

  const message = await relay.message(id)
  expect(message.status).toBe('delivered')
  expect([again.status, replayed(again)]).toEqual([200, 'true'])
  expect(again.body).toEqual({ ...message, status: 'sent' })
  expect(device.given).toEqual([])
})

test('api, idempotency: if nobody can say whether it left before the crash, the repeat says so', async () => {
  using folder = new ScratchFolder()
  await using relay = await crashWhileSending(folder, vanishes)

  const again = await relay.send(BODY, KEY)
  await relay.clock.advance(3_600_000)

  expect([again.status, again.body.id, again.body.status]).toEqual([202, relay.id, 'uncertain'])
  expect(replayed(again)).toBe('true')
  expect(relay.device.given).toEqual([])
})

test('api, idempotency: a message that a crash left in the queue goes out once, and the repeat reports it', async () => {
  using folder = new ScratchFolder()
  await using relay = await crashWhileSending(folder, () => new Promise(() => {}))

  const again = await relay.send(BODY, KEY)

  expect([again.status, again.body.id, again.body.status]).toEqual([200, relay.id, 'sent'])
  expect(relay.device.sent.map(({ id }) => id)).toEqual([relay.id])
})

test('api, idempotency: an answer that says more than that it was sent is repeated too', async () => {
  const script = ends({ outcome: 'held', guid: guidOf(70) })
  await using relay = await startScripted({ script })

  const sending = relay.send(BODY, KEY)
  await relay.clock.advance(10)
  await relay.device.report(guidOf(70), 'delivered', relay.clock.now())
  const first = await sending
  const again = await relay.send(BODY, KEY)

  expect(first.body.delivered_at).not.toBeNull()
  expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body))
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

/** A relay on what a process left that was killed while its device had a message in hand. */
async function crashWhileSending(folder: ScratchFolder, script: SendScript) {
  const before = await startScripted({ path: folder.file('before.db'), script })
  void before.send(BODY, KEY)
  await before.clock.advance(1_000)
  copyDatabase(folder, 'before.db', 'after.db')
  const relay = await startScripted({ path: folder.file('after.db'), key: before.key })
  const [{ id }] = (await relay.get('/api/v1/messages')).data
  return { ...relay, id: id as MessageId }
}

function replayed({ headers }: Answer): string | null {
  return headers.get('Idempotency-Replayed')
}
