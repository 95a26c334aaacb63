// Lists: limits, pages that neither skip nor repeat, filters, and catching up on changes.

import { expect, test } from 'bun:test'

import type { Json } from '../support/test-relay.ts'
import { ECHO, READER, startSpecRelay, type SpecRelay } from './spec-relay.ts'

const MESSAGES = '/api/v1/messages'

test('api, lists: every list refuses a limit below 1 or above 200, and takes what is between', async () => {
  await using relay = await startSpecRelay()
  const { id } = await relay.webhook()
  const lists = ['keys', 'bridges', 'phone-lines', 'messages', 'conversations', 'webhooks']

  for (const path of [...lists, `webhooks/${id}/deliveries`]) {
    const ask = async (limit: string) =>
      (await relay.request('GET', `/api/v1/${path}?limit=${limit}`)).status

    expect([path, await ask('0'), await ask('201'), await ask('-5'), await ask('x')]).toEqual([
      path,
      400,
      400,
      400,
      400,
    ])
    expect([await ask('1'), await ask('200')]).toEqual([200, 200])
  }
})

test('api, lists: every list refuses a cursor that it did not give', async () => {
  await using relay = await startSpecRelay()
  const { id } = await relay.webhook()
  const lists = ['keys', 'bridges', 'phone-lines', 'messages', 'conversations', 'webhooks']

  for (const path of [...lists, `webhooks/${id}/deliveries`]) {
    for (const cursor of ['oops', '0', 'MS4yLjM', "'"]) {
      const answer = await relay.request('GET', `/api/v1/${path}?cursor=${cursor}`)

      expect([path, cursor, answer.status]).toEqual([path, cursor, 400])
    }
  }
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
