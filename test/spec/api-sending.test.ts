// Sending: how long an answer is waited for, and everything for which a send is refused.

import { expect, test } from 'bun:test'

import { accepts } from '../support/scripted-driver.ts'
import { startScripted } from '../support/scripted-relay.ts'
import { startRelay } from '../support/test-relay.ts'
import {
  NOT_ON_IMESSAGE,
  READER,
  SLOW,
  startSpecRelay,
  untilAnswered,
  UPPER_CASE_UUID,
} from './spec-relay.ts'

const LINES = '/api/v1/phone-lines'
const OWN_NUMBER = '+12025550801'

// The person at SLOW is reached after 30 seconds.
const WAITS: readonly (readonly [prefer: string | null, status: number, afterMs: number])[] = [
  [null, 202, 15_000],
  ['wait=40', 200, 30_000],
  ['respond-async', 202, 0],
  ['wait=soon', 202, 15_000],
  ['return=minimal, wait=7', 202, 7_000],
]

for (const [prefer, status, afterMs] of WAITS) {
  test(`api, sending: with Prefer: ${prefer} the answer is ${status} after ${afterMs} ms`, async () => {
    await using relay = await startSpecRelay()

    const pending = relay.send({ to: SLOW, text: 'hello' }, prefer === null ? {} : { prefer })
    const { answer, afterMs: after } = await untilAnswered(relay, pending)

    expect([answer.status, after]).toEqual([status, afterMs])
    expect(answer.body.status === 'sent').toBe(status === 200)
    await relay.clock.advance(60_000)
    const { data } = await relay.get('/api/v1/messages')
    expect(data.map((message: { status: string }) => message.status)).toEqual(['read'])
  })
}

test('api, sending: nobody waits longer than 60 seconds', async () => {
  await using relay = await startScripted()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  relay.device.script = async (...send) => {
    await released
    return accepts(...send)
  }

  const pending = relay.send({ to: READER, text: 'hello' }, { Prefer: 'wait=3600' })
  const { answer, afterMs } = await untilAnswered(relay, pending)
  release()

  expect([answer.status, afterMs]).toEqual([202, 60_000])
})

test('api, sending: a message that waits for its line is answered at once, and says why', async () => {
  await using relay = await startScripted({ lines: ['offline'] })

  const pending = relay.send({ to: READER, text: 'hello' }, { Prefer: 'wait=30' })
  const { answer, afterMs } = await untilAnswered(relay, pending)

  expect([answer.status, afterMs]).toEqual([202, 0])
  expect(answer.body).toMatchObject({
    guid: expect.stringMatching(UPPER_CASE_UUID),
    platform_guid: null,
    status: 'queued',
    queued_reason: 'line_offline',
    service: 'iMessage',
    phone_number: OWN_NUMBER,
    sent_at: null,
  })
  expect(answer.body.phone_line_id).toStartWith('line_')
  expect(answer.body.conversation_id).toStartWith('conv_')
})

test('api, sending: a message that the line refuses for good is 422 send_failed, and stays readable', async () => {
  await using relay = await startSpecRelay()

  const { status, body } = await relay.send({ to: NOT_ON_IMESSAGE, text: 'hello' })

  const { message_id } = body.error.details
  expect(status).toBe(422)
  expect(body).toEqual({
    error: {
      code: 'send_failed',
      message: 'The recipient is not on iMessage.',
      details: { message_id, reason: 'not_on_imessage' },
    },
  })
  expect(await relay.message(message_id)).toMatchObject({
    status: 'failed',
    to: NOT_ON_IMESSAGE,
    text: 'hello',
    error: { code: 'not_on_imessage', message: 'The recipient is not on iMessage.' },
    sent_at: null,
  })
})

test('api, sending: a relay without any line, or with disabled ones only, answers 503 no_phone_line', async () => {
  await using none = await startRelay()
  await using disabled = await startSpecRelay({ lines: 2 })
  for (const line of await disabled.lines()) {
    await disabled.patch(`${LINES}/${line.id}`, { is_enabled: false })
  }

  for (const relay of [none, disabled]) {
    const { status, body } = await relay.send({ to: READER, text: 'hello' })

    expect(status).toBe(503)
    expect(body).toEqual({ error: { code: 'no_phone_line', message: expect.any(String) } })
    expect((await relay.get('/api/v1/messages')).data).toEqual([])
  }
})

test('api, sending: a phone_line_id that names no line is 404, whatever it is', async () => {
  await using relay = await startSpecRelay()
  const ids = ['line_01k5c3qv7yfxn8t2w9r4d6m0ab', 'oops', '', relay.key?.id]

  for (const phone_line_id of ids) {
    const { status, body } = await relay.send({ to: READER, text: 'hello', phone_line_id })

    expect([status, body.error.code]).toEqual([404, 'phone_line_not_found'])
  }
  expect((await relay.get('/api/v1/messages')).data).toEqual([])
})

test('api, sending: a line that is disabled goes on receiving', async () => {
  await using relay = await startSpecRelay({ lines: 2 })
  const [first, second] = await relay.lines()
  await relay.patch(`${LINES}/${first.id}`, { is_enabled: false })

  await relay.send({ to: first.phone_number, text: 'hello' })
  await relay.clock.advance(2_000)

  const { data } = await relay.get(`/api/v1/messages?phone_line_id=${first.id}`)
  expect(data).toMatchObject([{ direction: 'inbound', handle: second.phone_number }])
})

const NOBODY = [
  '',
  '+',
  'nobody',
  '15550001111',
  '0015550001111',
  '+0155500011',
  '+155500',
  '+1555000111122223',
  '+1 555 000 1111',
  '+1555000111a',
  ' +15550001111',
  '+15550001111\n',
  '+１５５５０００１１１１',
  '@example.com',
  'ann@',
  'ann@example.com, bob@example.com',
]

test('api, sending: who is neither a number in E.164 nor an e-mail address is invalid_recipient', async () => {
  await using relay = await startSpecRelay()

  for (const to of NOBODY) {
    const { status, body } = await relay.send({ to, text: 'hello' })

    expect([to, status, body.error.code]).toEqual([to, 400, 'invalid_recipient'])
    expect(body.error.details.issues).toEqual([{ path: 'to', message: body.error.message }])
  }
  expect((await relay.get('/api/v1/messages')).data).toEqual([])
})

test('api, sending: an e-mail address is taken once the line has a conversation with it', async () => {
  await using relay = await startScripted({ lines: ['online', 'online'] })
  const [first, second] = await relay.lines()
  const send = async (to: string, lineId?: string) => {
    const answer = await relay.send({ to, text: 'hello', ...(lineId && { phone_line_id: lineId }) })
    return [answer.status, answer.body.error?.code ?? answer.body.phone_line_id]
  }

  const before = await send('ann@example.com')
  await relay.device.receive({ guid: 'in-1', handle: 'ann@example.com' as never })

  expect(before).toEqual([400, 'invalid_recipient'])
  expect(await send('ann@example.com')).toEqual([200, first?.id])
  expect(await send('Ann@Example.com', first?.id)).toEqual([200, first?.id])
  expect(await send('ann@example.com', second?.id)).toEqual([400, 'invalid_recipient'])
  expect(await send('bob@example.com')).toEqual([400, 'invalid_recipient'])
})

test("api, sending: a real line sends neither to the relay's own lines nor to the test number", async () => {
  await using relay = await startScripted({ lines: ['online', 'online'], kind: 'mac' })

  for (const to of [OWN_NUMBER, '+12025550802', '+12025550100']) {
    const { status, body } = await relay.send({ to, text: 'hello' })

    expect([to, status, body.error.code]).toEqual([to, 400, 'invalid_recipient'])
  }
  expect(relay.devices.map((device) => device.given)).toEqual([[], []])
})
