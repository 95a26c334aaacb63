// An Idempotency-Key belongs to the caller who sent it: the same words of another caller are another key.

import { expect, test } from 'bun:test'

import { asOwner } from '../support/control-socket.ts'
import { ANNA, BOB, errorOf, idsOf, makeKey, openShop } from '../support/limited-keys.ts'

const ONCE = { 'Idempotency-Key': 'order-12' }
const HI = { to: ANNA, text: 'hi' }

test('two keys that number their requests alike send two messages, and each repeats its own', async () => {
  await using relay = await openShop()
  const [shop, clinic] = [await makeKey(relay, {}), await makeKey(relay, {})]
  const send = (by: typeof shop, body: object = HI) => by.call('POST', '/messages/send', body, ONCE)

  const first = [await send(shop), await send(clinic, { to: BOB, text: 'other words' })]
  const again = [await send(shop), await send(clinic, { to: BOB, text: 'other words' })]
  const third = await asOwner(relay, 'POST', '/messages/send', { body: HI, headers: ONCE })

  expect(first.map(({ status, body }) => [status, body.text])).toEqual([
    [200, 'hi'],
    [200, 'other words'],
  ])
  expect(again.map(({ body }) => body)).toEqual(first.map(({ body }) => body))
  expect(third.id).not.toBe(first[0]?.body.id)
  expect((await relay.get('/api/v1/messages')).data).toHaveLength(3)
})

test('a key whose messages wait for approval holds up no message of another key', async () => {
  await using relay = await openShop()
  const agent = await makeKey(relay, { rules: { approval: 'always' } })
  const shop = await makeKey(relay, {})

  const held = await agent.call('POST', '/messages/send', HI, ONCE)
  const sent = await shop.call('POST', '/messages/send', HI, ONCE)

  expect([held.body.queued_reason, sent.body.status]).toEqual(['approval', 'sent'])
  expect(sent.headers.get('idempotency-replayed')).toBeNull()
})

test('a request that asks for something else beside its words is another request', async () => {
  await using relay = await openShop()
  const key = await makeKey(relay, {})
  const send = (more: object, headers: object = {}) =>
    key.call('POST', '/messages/send', { ...HI, ...more }, { ...ONCE, ...headers })
  const first = await send({})

  const answers = [
    await send({}, { Prefer: 'urgent' }),
    await send({ service: 'auto' }),
    await send({}, { Prefer: 'wait=1' }),
  ]

  expect(answers.map((answer) => errorOf(answer).slice(0, 2))).toEqual([
    [409, 'idempotency_conflict'],
    [409, 'idempotency_conflict'],
    [200, undefined],
  ])
  expect(answers[2]?.body).toEqual(first.body)
})

test('a record of which nobody can say whose it was is a conflict for everybody, and nothing is sent', async () => {
  await using relay = await openShop()
  relay.db.sqlite.run(
    `INSERT INTO idempotency (caller, key, fingerprint, message_id, answer, body, created_at)
     VALUES ('', 'order-12', 'print', 'msg_old', 'sent', '{"id":"msg_old"}', 0)`,
  )
  const key = await makeKey(relay, {})

  const answers = [
    await key.call('POST', '/messages/send', HI, ONCE),
    await relay.send({ to: BOB, text: 'hi' }, ONCE),
  ]

  expect(answers.map((answer) => errorOf(answer).slice(0, 2))).toEqual([
    [409, 'idempotency_conflict'],
    [409, 'idempotency_conflict'],
  ])
  expect((await relay.get('/api/v1/messages')).data).toEqual([])
})

test('a message knows the key that sent it', async () => {
  await using relay = await openShop()
  const [line] = await idsOf(relay)
  const key = await makeKey(relay, { phone_line_ids: [line] })
  await key.send(ANNA)
  await asOwner(relay, 'POST', '/messages/send', { body: { to: BOB, text: 'hi' } })

  const rows = relay.db.sqlite.query('SELECT key_id FROM messages ORDER BY seq').all()

  expect(rows).toEqual([{ key_id: key.made.id }, { key_id: null }])
})
