// Sections 2.3, 3.2 and 4.4: what a client sends, and what it is answered.

import { expect, test } from 'bun:test'

import {
  ISO_TIME,
  LINE_NUMBER,
  NOT_ON_IMESSAGE,
  READER,
  startSpecRelay,
  UPPER_CASE_UUID,
} from './spec-relay.ts'

const LINES = '/api/v1/phone-lines'

test('spec 2.3, 3.2, 4.4: the send response has the specified fields in their shapes', async () => {
  await using relay = await startSpecRelay()
  const [line] = await relay.lines()

  const { status, body } = await relay.send({ to: READER, text: 'Your table is ready.' })

  expect(status).toBe(200)
  const { id, guid, to, text, service, phone_line_id, phone_number, created_at } = body
  expect({
    id,
    guid,
    to,
    text,
    status: body.status,
    service,
    phone_line_id,
    phone_number,
    created_at,
  }).toEqual({
    id: expect.stringMatching(/^msg_[0-9a-z]{26}$/),
    guid: expect.stringMatching(UPPER_CASE_UUID),
    to: READER,
    text: 'Your table is ready.',
    status: 'sent',
    service: 'iMessage',
    phone_line_id: line.id,
    phone_number: LINE_NUMBER,
    created_at: '2026-11-21T10:00:00.000Z',
  })
})

test('spec 2.3: beside them it has the other fields of a message, and no further one', async () => {
  await using relay = await startSpecRelay()

  const { body } = await relay.send({ to: READER, text: 'hello' })

  expect(body).toEqual({
    id: expect.any(String),
    guid: expect.any(String),
    platform_guid: expect.stringMatching(UPPER_CASE_UUID),
    direction: 'outbound',
    status: 'sent',
    service: 'iMessage',
    to: READER,
    from: LINE_NUMBER,
    handle: READER,
    text: 'hello',
    phone_line_id: expect.any(String),
    phone_number: LINE_NUMBER,
    conversation_id: expect.stringMatching(/^conv_[0-9a-z]{26}$/),
    source: 'api',
    queued_reason: null,
    error: null,
    created_at: expect.stringMatching(ISO_TIME),
    updated_at: expect.stringMatching(ISO_TIME),
    sent_at: expect.stringMatching(ISO_TIME),
    delivered_at: null,
    read_at: null,
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

test('spec 2.3: id and guid stay what the answer said, however far the message comes', async () => {
  await using relay = await startSpecRelay()
  const { body } = await relay.send({ to: READER, text: 'hello' })

  await relay.clock.advance(2_000)

  const { id, guid, created_at } = body
  expect(await relay.message(id)).toMatchObject({ id, guid, created_at, status: 'read' })
})

test('spec 2.3: text comes back as it was given, to the last character', async () => {
  await using relay = await startSpecRelay()
  const texts = ['Grüße 👩‍👩‍👧', ' a  b ', 'two\nlines\ttab', '{"not":"parsed"}', "o'clock; DROP --"]

  for (const text of texts) {
    const { body } = await relay.send({ to: READER, text })

    expect(body.text).toBe(text)
    expect((await relay.message(body.id)).text).toBe(text)
  }
})

test('spec 4.4: without phone_line_id the first available online line is used', async () => {
  await using relay = await startSpecRelay({ lines: 3 })
  const [first, second] = await relay.lines()

  const before = await relay.send({ to: READER, text: 'hello' })
  await relay.patch(`${LINES}/${first.id}`, { is_enabled: false })
  const after = await relay.send({ to: READER, text: 'hello' })

  expect([before.body.phone_line_id, before.body.phone_number]).toEqual([
    first.id,
    first.phone_number,
  ])
  expect([after.body.phone_line_id, after.body.phone_number]).toEqual([
    second.id,
    second.phone_number,
  ])
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

const INCOMPLETE: readonly (readonly [string, Record<string, unknown>, string])[] = [
  ['to is missing', { text: 'hello' }, 'to'],
  ['text is missing', { to: READER }, 'text'],
  ['to is no string', { to: 15_550_001_111, text: 'hello' }, 'to'],
  ['text is no string', { to: READER, text: ['hello'] }, 'text'],
  ['text is empty', { to: READER, text: '' }, 'text'],
  ['phone_line_id is no string', { to: READER, text: 'hello', phone_line_id: 1 }, 'phone_line_id'],
]

for (const [name, body, path] of INCOMPLETE) {
  test(`spec 4.4: where ${name}, nothing is sent and the answer is 400 and names it`, async () => {
    await using relay = await startSpecRelay()

    const answer = await relay.send(body)

    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request'])
    expect(answer.body.error.details.issues).toContainEqual({ path, message: expect.any(String) })
    expect((await relay.get('/api/v1/messages')).data).toEqual([])
  })
}

test('spec 4.4: a recipient without its leading + is refused', async () => {
  await using relay = await startSpecRelay()

  const answer = await relay.send({ to: '15550001111', text: 'hello' })

  expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_recipient'])
  expect((await relay.get('/api/v1/messages')).data).toEqual([])
})

test('spec 3.2: only a message that left says sent', async () => {
  await using relay = await startSpecRelay()

  const refused = await relay.send({ to: NOT_ON_IMESSAGE, text: 'hello' })

  expect(refused.status).toBe(422)
  expect(refused.body.status).toBeUndefined()
  const { message_id } = refused.body.error.details
  expect((await relay.message(message_id)).status).toBe('failed')
})
