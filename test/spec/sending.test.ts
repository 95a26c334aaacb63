// Sections 2.3, 3.2 and 4.4: what a client sends, which line it goes by, what it is answered and after how long, and
// everything for which a send is refused.

import { expect, test } from 'bun:test'

import { startScripted } from '../support/scripted-relay.ts'
import { startRelay } from '../support/test-relay.ts'
import {
  LINE_NUMBER,
  NOT_ON_IMESSAGE,
  READER,
  SLOW,
  UPPER_CASE_UUID,
  startSpecRelay,
  untilAnswered,
} from './spec-relay.ts'

const LINES = '/api/v1/phone-lines'

test('spec 2.3, 3.2, 4.4: the send response has the fields of a message in their shapes, and no further one', async () => {
  await using relay = await startSpecRelay()
  const [line] = await relay.lines()
  const now = '2026-11-21T10:00:00.000Z'

  const { status, body } = await relay.send({ to: READER, text: 'Your table is ready.' })

  expect(status).toBe(200)
  expect(body).toEqual({
    id: expect.stringMatching(/^msg_[0-9a-z]{26}$/),
    guid: expect.stringMatching(UPPER_CASE_UUID),
    platform_guid: expect.stringMatching(UPPER_CASE_UUID),
    direction: 'outbound',
    status: 'sent',
    service: 'iMessage',
    to: READER,
    from: LINE_NUMBER,
    handle: READER,
    text: 'Your table is ready.',
    phone_line_id: line.id,
    phone_number: LINE_NUMBER,
    conversation_id: expect.stringMatching(/^conv_[0-9a-z]{26}$/),
    source: 'api',
    queued_reason: null,
    error: null,
    created_at: now,
    updated_at: now,
    sent_at: now,
    delivered_at: null,
    read_at: null,
  })
})

test('spec 2.3: id and guid stay what the answer said, and the rest is what the device said since', async () => {
  await using relay = await startSpecRelay()
  const { body: sent } = await relay.send({ to: READER, text: 'hello' })
  await relay.clock.advance(2_000)

  const { status, body } = await relay.request('GET', `/api/v1/messages/${sent.id}`)

  expect(status).toBe(200)
  expect(body).toEqual({
    ...sent,
    status: 'read',
    updated_at: '2026-11-21T10:00:00.800Z',
    delivered_at: '2026-11-21T10:00:00.400Z',
    read_at: '2026-11-21T10:00:00.800Z',
  })
})

test('spec 2.3: two messages never share an id or a guid, not even with the same words', async () => {
  await using relay = await startSpecRelay()

  const answers = await Promise.all(
    Array.from({ length: 20 }, () => relay.send({ to: READER, text: 'again' })),
  )

  expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(200))
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(20)
  expect(new Set(answers.map(({ body }) => body.guid)).size).toBe(20)
})

test('spec 2.3: text comes back as it was given, to the last character, up to 20,000 code points', async () => {
  await using relay = await startSpecRelay()
  const texts = ['Grüße 👩‍👩‍👧', ' a  b ', 'two\nlines\ttab', '{"not":"parsed"}', "o'clock; DROP --"]

  for (const text of [...texts, '😀'.repeat(20_000)]) {
    const { body } = await relay.send({ to: READER, text })

    expect(body.text).toBe(text)
    expect((await relay.message(body.id)).text).toBe(text)
  }
  expect((await relay.send({ to: READER, text: 'x'.repeat(20_001) })).status).toBe(400)
})

test('spec 4.4: without phone_line_id the first available online line is used', async () => {
  await using relay = await startSpecRelay({ lines: 3 })
  const [first, second] = await relay.lines()
  const send = async (more = {}) => {
    const { status, body } = await relay.send({ to: READER, text: 'hello', ...more })
    return [status, body.error?.code ?? body.phone_line_id, body.phone_number]
  }

  const before = await send()
  await relay.patch(`${LINES}/${first.id}`, { is_enabled: false })

  expect(before).toEqual([200, first.id, first.phone_number])
  expect(await send()).toEqual([200, second.id, second.phone_number])
  expect(await send({ phone_line_id: first.id })).toEqual([409, 'phone_line_disabled', undefined])
})

test('spec 4.4: the line that phone_line_id names is used, whichever it is', async () => {
  await using relay = await startSpecRelay({ lines: 3 })

  for (const line of await relay.lines()) {
    const { status, body } = await relay.send({
      to: READER,
      text: 'hello',
      phone_line_id: line.id,
    })

    expect([status, body.phone_line_id, body.phone_number, body.from]).toEqual([
      200,
      line.id,
      line.phone_number,
      line.phone_number,
    ])
  }
})

const INCOMPLETE: readonly (readonly [body: Record<string, unknown>, path: string])[] = [
  [{ text: 'hello' }, 'to'],
  [{ to: READER }, 'text'],
  [{ to: 15_550_001_111, text: 'hello' }, 'to'],
  [{ to: READER, text: ['hello'] }, 'text'],
  [{ to: READER, text: '' }, 'text'],
  [{ to: READER, text: 'hello', phone_line_id: 1 }, 'phone_line_id'],
]

test('spec 4.4: where a field is missing or of a wrong type, nothing is sent, and the answer is 400 and names it', async () => {
  await using relay = await startSpecRelay()

  for (const [body, path] of INCOMPLETE) {
    const answer = await relay.send(body)

    expect([body, answer.status, answer.body.error.code]).toEqual([body, 400, 'invalid_request'])
    expect(answer.body.error.details.issues).toContainEqual({ path, message: expect.any(String) })
  }
  expect((await relay.get('/api/v1/messages')).data).toEqual([])
})

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
  expect(body).toMatchObject({
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
    expect(body).toMatchObject({ error: { code: 'no_phone_line', message: expect.any(String) } })
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
    const [issue] = body.error.details.issues
    expect([issue.path, body.error.message.startsWith(issue.message.slice(0, -1))]).toEqual([
      'to',
      true,
    ])
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
