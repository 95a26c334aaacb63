// A person and programs on one number: what a pause says, and whom the setting keeps out. Every source
// of a message, the dashboard too, is gone through in test/messages/automation-pause.test.ts.

import { expect, test } from 'bun:test'

import { asOwner } from '../support/control-socket.ts'
import { startScripted } from '../support/scripted-relay.ts'
import { type Answer, type Json, type TestRelay } from '../support/test-relay.ts'
import { ECHO, READER, startSpecRelay } from './spec-relay.ts'

const CONVERSATIONS = '/api/v1/conversations'
const UNKNOWN = 'conv_01k5c3qv7yfxn8t2w9r4d6m0ab'
const HELLO = { to: READER, text: 'hello' }
const KEY = { 'Idempotency-Key': 'order-1042-ready' }

type Relay = Pick<TestRelay, 'app' | 'patch' | 'send'>

function pause(relay: Relay, id: string, isPaused = true): Promise<Answer> {
  return relay.patch(`${CONVERSATIONS}/${id}`, { automation_paused: isPaused })
}

function enforce(relay: Relay, value = 'on'): Promise<Json> {
  return asOwner(relay, 'PUT', '/settings/enforce_automation_pause', { body: { value } })
}

/** Sends, and pauses the conversation that comes of it; gives its id. */
async function startPaused(relay: Relay, more: Json = {}): Promise<string> {
  const { body } = await relay.send({ ...HELLO, ...more })
  await pause(relay, body.conversation_id)
  return body.conversation_id
}

test('api, automation pause: PATCH sets and lifts it, and answers the conversation as it is then', async () => {
  await using relay = await startSpecRelay()
  const { body } = await relay.send(HELLO)
  const read = () => relay.get(`${CONVERSATIONS}/${body.conversation_id}`)
  const before = await read()
  await relay.clock.advance(60_000)

  const set = await pause(relay, body.conversation_id)
  const whilePaused = [await read(), ...(await relay.get(CONVERSATIONS)).data]
  const lifted = await pause(relay, body.conversation_id, false)

  const message = await relay.message(body.id)
  const paused = { ...before, automation_paused: true, last_message: message }
  expect([set.status, set.body]).toEqual([200, paused])
  expect(whilePaused).toEqual([paused, paused])
  expect([lifted.status, lifted.body]).toEqual([200, { ...paused, automation_paused: false }])
  expect(await read()).toEqual(lifted.body)
})

test('api, automation pause: it stays while messages come and go', async () => {
  await using relay = await startSpecRelay()
  const id = await startPaused(relay, { to: ECHO })
  await relay.clock.advance(5_000)
  await relay.send({ to: ECHO, text: 'and again' })
  await relay.clock.advance(5_000)

  const { message_count: count, automation_paused: isPaused } = await relay.get(
    `${CONVERSATIONS}/${id}`,
  )

  expect([count, isPaused]).toEqual([4, true])
})

test('api, automation pause: a body that does not fit is 400, and an unknown conversation 404', async () => {
  await using relay = await startSpecRelay()
  const { body } = await relay.send(HELLO)
  const path = `${CONVERSATIONS}/${body.conversation_id}`
  const bodies = [
    {},
    { automation_paused: null },
    { automation_paused: 'true' },
    { automation_paused: 1 },
    { automation_paused: true, service: 'SMS' },
    undefined,
  ]

  const statuses: number[] = []
  for (const changes of bodies) statuses.push((await relay.patch(path, changes)).status)
  const unknown = [await pause(relay, UNKNOWN), await pause(relay, 'conv_oops')]

  expect(statuses).toEqual(Array(bodies.length).fill(400))
  expect(unknown.map((answer) => `${answer.status} ${answer.body.error.code}`)).toEqual(
    Array(2).fill('404 not_found'),
  )
  expect((await relay.get(path)).automation_paused).toBe(false)
})

for (const isPinned of [false, true]) {
  const how = isPinned ? 'with its phone_line_id' : 'without a phone_line_id'
  test(`api, automation pause: if it is enforced, a send ${how} is 409, and leaves nothing`, async () => {
    await using relay = await startScripted({ kind: 'mac' })
    const id = await startPaused(relay)
    await enforce(relay)
    const [line] = await relay.lines()
    const kept = await relay.get('/api/v1/messages')
    const pin = isPinned ? { phone_line_id: relay.line.id } : {}

    const { status, headers, body } = await relay.send({ ...HELLO, ...pin })

    expect([status, headers.get('Retry-After')]).toEqual([409, null])
    expect(body).toMatchObject({
      error: {
        code: 'automation_paused',
        message:
          'A person answers this conversation: send when its automation_paused is false again.',
        details: { conversation_id: id },
      },
    })
    expect(await relay.get('/api/v1/messages')).toEqual(kept)
    expect(await relay.lines()).toEqual([line])
    expect(relay.device.given).toHaveLength(1)
  })
}

test('api, automation pause: other conversations, and new ones, are free if it is enforced', async () => {
  await using relay = await startSpecRelay()
  const id = await startPaused(relay)
  await relay.send({ to: ECHO, text: 'hello' })
  await enforce(relay)

  const known = await relay.send({ to: ECHO, text: 'again' })
  const fresh = await relay.send({ to: '+15550002222', text: 'hello' })

  expect([known.status, fresh.status]).toEqual([200, 200])
  const { data } = await relay.get(CONVERSATIONS)
  const paused = data.filter((conversation: Json) => conversation.automation_paused)
  expect([data.length, paused.map((conversation: Json) => conversation.id)]).toEqual([3, [id]])
})

test('api, automation pause: it keeps nobody out without the setting, and ends with the pause and with the setting', async () => {
  await using relay = await startSpecRelay()
  const id = await startPaused(relay)
  const statuses: number[] = []
  const attempt = async () => statuses.push((await relay.send(HELLO)).status)

  await attempt()
  await enforce(relay)
  await attempt()
  await pause(relay, id, false)
  await attempt()
  await pause(relay, id)
  await attempt()
  await enforce(relay, 'off')
  await attempt()

  expect(statuses).toEqual([200, 409, 200, 409, 200])
})

test('api, automation pause: a send that names no line is judged on the line that it would take', async () => {
  await using relay = await startSpecRelay({ lines: 2 })
  const [first, second] = await relay.lines()
  const id = await startPaused(relay, { phone_line_id: first.id })
  await enforce(relay)

  const onFirst = await relay.send(HELLO)
  const pinned = await relay.send({ ...HELLO, phone_line_id: second.id })
  await relay.patch(`/api/v1/phone-lines/${first.id}`, { is_enabled: false })
  const onSecond = await relay.send(HELLO)

  expect([onFirst.status, onFirst.body.error.details]).toEqual([409, { conversation_id: id }])
  expect([pinned.status, pinned.body.phone_line_id]).toEqual([200, second.id])
  expect([onSecond.status, onSecond.body.phone_line_id]).toEqual([200, second.id])
})

test('api, automation pause: a message that was accepted before goes out', async () => {
  await using relay = await startScripted({ lines: ['offline'], kind: 'mac' })
  const { status, body } = await relay.send(HELLO)
  await enforce(relay)

  await pause(relay, body.conversation_id)
  await relay.device.goOnline()
  await relay.clock.advance(1_000)

  expect([status, (await relay.message(body.id)).status]).toEqual([202, 'sent'])
})

test('api, automation pause: under an Idempotency-Key the refusal is not remembered, and what was accepted is', async () => {
  await using relay = await startSpecRelay()
  const id = await startPaused(relay)
  await enforce(relay)

  const refused = await relay.send(HELLO, KEY)
  await pause(relay, id, false)
  const accepted = await relay.send(HELLO, KEY)
  await pause(relay, id)
  const again = await relay.send(HELLO, KEY)

  expect([refused.status, replayed(refused)]).toEqual([409, null])
  expect([accepted.status, replayed(accepted)]).toEqual([200, null])
  expect([again.status, replayed(again), again.body]).toEqual([200, 'true', accepted.body])
})

function replayed({ headers }: Answer): string | null {
  return headers.get('Idempotency-Replayed')
}
