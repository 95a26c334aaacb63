// Sections 2.6, 4.5 and 4.9: lists of messages and of conversations.

import { expect, test } from 'bun:test'

import type { Json } from '../support/test-relay.ts'
import { ECHO, LINE_NUMBER, READER, startSpecRelay } from './spec-relay.ts'

test('spec 4.5: the list of messages holds what was sent and what came in, newest first', async () => {
  await using relay = await startSpecRelay()
  await relay.send({ to: READER, text: 'one' })
  await relay.clock.advance(5_000)
  await relay.send({ to: ECHO, text: 'two' })
  await relay.clock.advance(5_000)

  const { status, body } = await relay.request('GET', '/api/v1/messages')

  expect(status).toBe(200)
  expect(Object.keys(body)).toEqual(['data', 'has_more', 'next_cursor'])
  expect(body).toMatchObject({
    data: [
      { direction: 'inbound', from: ECHO, to: LINE_NUMBER, text: 'two', status: 'received' },
      { direction: 'outbound', from: LINE_NUMBER, to: ECHO, text: 'two', status: 'read' },
      { direction: 'outbound', from: LINE_NUMBER, to: READER, text: 'one', status: 'read' },
    ],
    has_more: false,
    next_cursor: null,
  })
})

test('spec 4.5: a listed message is the one that is read by its id, field by field', async () => {
  await using relay = await startSpecRelay()
  await relay.send({ to: ECHO, text: 'hello' })
  await relay.clock.advance(5_000)

  const { data } = await relay.get('/api/v1/messages')

  expect(data).toHaveLength(2)
  for (const message of data) expect(await relay.message(message.id)).toEqual(message)
})

test('spec 4.5: limit is the number of messages in the answer, the newest of them', async () => {
  await using relay = await startSpecRelay()
  for (let i = 1; i <= 5; i += 1) await relay.send({ to: READER, text: String(i) })

  const two = await relay.get('/api/v1/messages?limit=2')
  const all = await relay.get('/api/v1/messages?limit=200')

  expect(textsOf(two)).toEqual(['5', '4'])
  expect([two.has_more, typeof two.next_cursor]).toEqual([true, 'string'])
  expect(textsOf(all)).toEqual(['5', '4', '3', '2', '1'])
  expect([all.has_more, all.next_cursor]).toEqual([false, null])
})

for (const path of ['messages', 'conversations']) {
  for (const limit of ['0', '-1', '201', '1.5', 'ten', '', '1e2']) {
    test(`spec 4.5, 4.9: GET /${path} refuses limit "${limit}", which is no number it takes`, async () => {
      await using relay = await startSpecRelay()

      const answer = await relay.request('GET', `/api/v1/${path}?limit=${limit}`)

      expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request'])
      expect(answer.body.error.details.issues[0].path).toBe('limit')
    })
  }
}

test('spec 2.6, 4.9: a conversation is listed with its line, its counterpart and its last message', async () => {
  await using relay = await startSpecRelay()
  const [line] = await relay.lines()
  await relay.send({ to: ECHO, text: 'hello' })
  await relay.clock.advance(5_000)

  const { status, body } = await relay.request('GET', '/api/v1/conversations')

  expect(status).toBe(200)
  const [newest] = (await relay.get('/api/v1/messages')).data
  expect(body).toEqual({
    data: [
      {
        id: newest.conversation_id,
        phone_line_id: line.id,
        phone_number: LINE_NUMBER,
        handle: ECHO,
        chat_identifier: ECHO,
        service: 'iMessage',
        message_count: 2,
        last_message: newest,
        automation_paused: false,
        unread_count: 1,
        is_unanswered: true,
        created_at: '2026-11-21T10:00:00.000Z',
        updated_at: newest.created_at,
      },
    ],
    has_more: false,
    next_cursor: null,
  })
  expect(newest.direction).toBe('inbound')
})

test('spec 4.9: there is one conversation for each line and counterpart, the latest first', async () => {
  await using relay = await startSpecRelay({ lines: 2 })
  const [first, second] = await relay.lines()
  const send = (to: string, lineId: string) =>
    relay.send({ to, text: 'hello', phone_line_id: lineId })
  await send(READER, first.id)
  await send(READER, second.id)
  await send('+15550002222', first.id)
  await send(READER, first.id)

  const { data } = await relay.get('/api/v1/conversations')

  const listed = data.map((conversation: Json) => [
    conversation.phone_line_id,
    conversation.handle,
    conversation.message_count,
  ])
  expect(listed).toEqual([
    [first.id, READER, 2],
    [first.id, '+15550002222', 1],
    [second.id, READER, 1],
  ])
})

test('spec 4.9: limit is the number of conversations in the answer', async () => {
  await using relay = await startSpecRelay()
  for (let i = 1; i <= 3; i += 1) await relay.send({ to: `+1555000333${i}`, text: 'hello' })

  const page = await relay.get('/api/v1/conversations?limit=2')
  const rest = await relay.get(`/api/v1/conversations?limit=2&cursor=${page.next_cursor}`)

  const handles = [page, rest].map(({ data }) => data.map(({ handle }: Json) => handle))
  expect(handles).toEqual([['+15550003333', '+15550003332'], ['+15550003331']])
  expect([page.has_more, rest.has_more]).toEqual([true, false])
})

function textsOf(page: Json): string[] {
  return page.data.map(({ text }: Json) => text)
}
