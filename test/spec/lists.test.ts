// Sections 2.6, 4.5 and 4.9: lists of messages and of conversations; and of all lists their pages, which
// neither skip nor repeat, their filters, and how a client catches up on changes.

import { expect, test } from 'bun:test'

import type { Json } from '../support/test-relay.ts'
import { ECHO, LINE_NUMBER, READER, startSpecRelay, type SpecRelay } from './spec-relay.ts'

const MESSAGES = '/api/v1/messages'

const LISTS = ['keys', 'bridges', 'phone-lines', 'messages', 'conversations', 'webhooks']

test('spec 4.5, 4.9: every list refuses a limit that is no number from 1 to 200, and a cursor that it did not give', async () => {
  await using relay = await startSpecRelay()
  const { id } = await relay.webhook()

  for (const path of [...LISTS, `webhooks/${id}/deliveries`]) {
    const ask = async (name: string, value: string) => {
      const { status, body } = await relay.request('GET', `/api/v1/${path}?${name}=${value}`)
      return [path, name, value, status, body.error?.details.issues[0].path]
    }

    for (const limit of ['0', '-1', '201', '1.5', 'ten', '', '1e2']) {
      expect(await ask('limit', limit)).toEqual([path, 'limit', limit, 400, 'limit'])
    }
    for (const cursor of ['oops', '0', 'MS4yLjM', "'"]) {
      expect(await ask('cursor', cursor)).toEqual([path, 'cursor', cursor, 400, 'cursor'])
    }
    for (const limit of ['1', '200']) {
      expect(await ask('limit', limit)).toEqual([path, 'limit', limit, 200, undefined])
    }
  }
})

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
  expect(await relay.get(`/api/v1/conversations/${newest.conversation_id}`)).toEqual(body.data[0])
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

test('api, lists: without a limit a page has 50 entries', async () => {
  await using relay = await startSpecRelay()
  for (let i = 0; i < 51; i += 1) await relay.send({ to: READER, text: String(i) })

  const page = await relay.get(MESSAGES)

  expect([page.data.length, page.has_more]).toEqual([50, true])
})

test('api, lists: paging through messages neither skips nor repeats while new ones arrive', async () => {
  await using relay = await startSpecRelay()
  for (let i = 0; i < 20; i += 1) await relay.send({ to: READER, text: `old ${i}` })

  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page: Json = await relay.get(`${MESSAGES}?limit=3${after(cursor)}`)
    seen.push(...page.data.map(({ text }: Json) => text))
    cursor = page.next_cursor
    await relay.send({ to: READER, text: 'new' })
    await relay.send({ to: ECHO, text: 'new' })
    await relay.clock.advance(1_000)
  } while (cursor !== null)

  expect(seen).toEqual(Array.from({ length: 20 }, (_, i) => `old ${19 - i}`))
})

test('api, lists: messages of one millisecond are paged like any others', async () => {
  await using relay = await startSpecRelay()
  const answers = await Promise.all(
    Array.from({ length: 9 }, (_, i) => relay.send({ to: `+155500044${10 + i}`, text: 'x' })),
  )

  const pages = await pagesOf(relay, `${MESSAGES}?limit=2`)

  expect(pages.map((page) => page.length)).toEqual([2, 2, 2, 2, 1])
  const ids = new Set(pages.flat().map(({ id }) => id))
  expect(ids).toEqual(new Set(answers.map(({ body }) => body.id)))
})

test('api, lists: a conversation that gets a message moves to the top', async () => {
  await using relay = await startSpecRelay()
  for (let i = 1; i <= 4; i += 1) await relay.send({ to: `+1555000555${i}`, text: 'first' })

  const first = await relay.get('/api/v1/conversations?limit=2')
  await relay.send({ to: '+15550005551', text: 'again' })
  const second = await relay.get(`/api/v1/conversations?limit=2&cursor=${first.next_cursor}`)
  const anew = await relay.get('/api/v1/conversations')

  const handles = [first, second, anew].map(({ data }) =>
    data.map(({ handle }: Json) => handle.at(-1)),
  )
  expect(handles).toEqual([['4', '3'], ['2'], ['1', '4', '3', '2']])
})

test('api, lists: phone lines come oldest first, page by page, which is the order of routing', async () => {
  await using relay = await startSpecRelay({ lines: 5 })

  const pages = await pagesOf(relay, '/api/v1/phone-lines?limit=2')

  expect(pages.map((page) => page.map(({ phone_number }) => phone_number.at(-1)))).toEqual([
    ['1', '2'],
    ['3', '4'],
    ['5'],
  ])
})

test('api, lists: messages are filtered by line, conversation, handle, direction, status and time', async () => {
  await using relay = await startSpecRelay({ lines: 2 })
  const [first, second] = await relay.lines()
  await relay.send({ to: READER, text: 'a', phone_line_id: first.id })
  await relay.clock.advance(5_000)
  await relay.send({ to: ECHO, text: 'b', phone_line_id: first.id })
  await relay.clock.advance(5_000)
  const { body } = await relay.send({ to: READER, text: 'c', phone_line_id: second.id })
  const texts = async (query: string) =>
    (await relay.get(`${MESSAGES}?${query}`)).data.map(({ text }: Json) => text).join('')

  expect(await texts('')).toBe('cbba')
  expect(await texts(`phone_line_id=${second.id}`)).toBe('c')
  expect(await texts(`conversation_id=${body.conversation_id}`)).toBe('c')
  expect(await texts(`handle=${encodeURIComponent(READER)}`)).toBe('ca')
  expect(await texts(`handle=${READER}`)).toBe('ca')
  expect(await texts('direction=inbound')).toBe('b')
  expect(await texts('direction=outbound')).toBe('cba')
  expect(await texts('status=read')).toBe('ba')
  expect(await texts('status=sent')).toBe('c')
  expect(await texts('created_after=2026-11-21T10:00:00.000Z')).toBe('cbb')
  expect(await texts('created_before=2026-11-21T10:00:05.000Z')).toBe('a')
  expect(await texts('created_after=2026-11-21T12:00:00%2B02:00&direction=outbound')).toBe('cb')
  expect(await texts(`handle=${READER}&phone_line_id=${second.id}&direction=inbound`)).toBe('')
})

test('api, lists: updated_since is inclusive and comes oldest change first', async () => {
  await using relay = await startSpecRelay()
  await relay.send({ to: READER, text: 'one' })
  await relay.clock.advance(1_000)
  const { body: two } = await relay.send({ to: '+15550000190', text: 'two' })
  await relay.clock.advance(1_000)
  await relay.send({ to: READER, text: 'three' })
  await relay.clock.advance(1_000)

  const changes = async (since: string) =>
    (await relay.get(`${MESSAGES}?updated_since=${since}`)).data.map(({ text }: Json) => text)

  expect(await changes('2026-11-21T00:00:00.000Z')).toEqual(['one', 'two', 'three'])
  expect(await changes(two.updated_at)).toEqual(['two', 'three'])
  expect(await changes('2026-11-21T10:30:00.000Z')).toEqual([])
  const since = '2026-11-21T00:00:00.000Z'
  expect(await changes(`${since}&created_after=${two.created_at}`)).toEqual(['three'])
  expect(await changes(`${since}&created_before=${two.created_at}`)).toEqual(['one'])
})

test('api, lists: a client that was away catches up by updated_since without a gap', async () => {
  await using relay = await startSpecRelay()
  const known = new Map<string, string>()
  let since = '2026-11-21T10:00:00.000Z'
  const catchUp = async () => {
    let cursor: string | null = null
    do {
      const page: Json = await relay.get(
        `${MESSAGES}?updated_since=${since}&limit=2${after(cursor)}`,
      )
      for (const { id, status } of page.data) known.set(id, status)
      const last = page.data.at(-1)
      cursor = page.next_cursor
      if (cursor === null && last !== undefined) since = last.updated_at
      // Between two pages things go on: what was listed already may change and come again.
      await relay.clock.advance(150)
    } while (cursor !== null)
  }

  for (let round = 0; round < 8; round += 1) {
    await relay.send({ to: ECHO, text: String(round) })
    await relay.send({ to: READER, text: String(round) })
    await relay.clock.advance(round * 100)
    await catchUp()
  }
  await relay.clock.advance(5_000)
  await catchUp()

  const { data } = await relay.get(`${MESSAGES}?limit=200`)
  expect(known).toEqual(new Map(data.map(({ id, status }: Json) => [id, status])))
  expect(known.size).toBe(24)
})

function textsOf(page: Json): string[] {
  return page.data.map(({ text }: Json) => text)
}

async function pagesOf(relay: SpecRelay, path: string): Promise<Json[][]> {
  const pages: Json[][] = []
  let cursor: string | null = null
  do {
    const page: Json = await relay.get(`${path}${after(cursor)}`)
    pages.push(page.data)
    cursor = page.next_cursor
  } while (cursor !== null)
  return pages
}

function after(cursor: string | null): string {
  return cursor === null ? '' : `&cursor=${cursor}`
}
