// Sections 2.3, 3.2 and 4.4: what a client sends, and what it is answered; and which line it goes by.

import { expect, test } from 'bun:test'

import { LINE_NUMBER, READER, startSpecRelay, UPPER_CASE_UUID } from './spec-relay.ts'

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
