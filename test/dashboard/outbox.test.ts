import { expect, test } from 'bun:test'

import type { Answer, CallOptions } from '../../src/dashboard/api.ts'
import {
  createOutbox,
  isWhole,
  sendOnce,
  tidyHandle,
  type Draft,
} from '../../src/dashboard/outbox.ts'
import type { Message } from '../../src/dashboard/resources.ts'
import { UNREACHABLE, ok } from './page-rig.ts'
import { message } from './samples.ts'

const DRAFT: Draft = { to: '+12025550147', text: 'Your table is ready.', lineId: null }

test('a message is the same send for the relay while its answer is awaited', async () => {
  const { api, keys } = apiOf(ok(message()), ok(message()))
  const send = createOutbox(api)

  await Promise.all([send(DRAFT), send({ ...DRAFT })])

  expect(keys).toHaveLength(2)
  expect(keys[1]).toBe(keys[0] ?? '')
})

test('a try again after a failure is the same send for the relay', async () => {
  const { api, keys } = apiOf({ ok: false, failure: UNREACHABLE }, ok(message()))
  const send = createOutbox(api)

  await send(DRAFT)
  await send({ ...DRAFT })

  expect(keys).toHaveLength(2)
  expect(keys[1]).toBe(keys[0] ?? '')
})

test('the same text once more after a success is a new message', async () => {
  const { api, keys } = apiOf(ok(message()), ok(message()))
  const send = createOutbox(api)

  await send(DRAFT)
  await send(DRAFT)

  expect(new Set(keys).size).toBe(2)
})

const CHANGES: readonly (readonly [what: string, change: Partial<Draft>])[] = [
  ['recipient', { to: '+12025550148' }],
  ['text', { text: 'Another' }],
  ['line', { lineId: 'line_1' }],
]

for (const [what, change] of CHANGES) {
  test(`with another ${what} after a failure it is another message`, async () => {
    const { api, keys } = apiOf({ ok: false, failure: UNREACHABLE }, ok(message()))
    const send = createOutbox(api)

    await send(DRAFT)
    await send({ ...DRAFT, ...change })

    expect(new Set(keys).size).toBe(2)
  })
}

test('the relay is asked to answer as soon as it has written the message down', async () => {
  const calls: unknown[] = []
  const api = {
    post: async <T>(path: string, body?: unknown, options?: CallOptions): Promise<Answer<T>> => {
      calls.push({ path, body, headers: options?.headers })
      return { ok: false, failure: UNREACHABLE }
    },
  }

  await sendOnce(api, { ...DRAFT, lineId: 'line_1' }, 'again-msg_1')

  expect(calls).toEqual([
    {
      path: 'messages/send',
      body: { to: '+12025550147', text: 'Your table is ready.', phone_line_id: 'line_1' },
      headers: { 'idempotency-key': 'again-msg_1', prefer: 'respond-async' },
    },
  ])
})

function apiOf(...answers: readonly Answer<Message>[]) {
  const keys: string[] = []
  const api = {
    post: async <T>(_path: string, _body?: unknown, options?: CallOptions): Promise<Answer<T>> => {
      keys.push(options?.headers?.['idempotency-key'] ?? '')
      return answers[keys.length - 1] as Answer<T> // Only messages are posted here.
    },
  }
  return { api, keys }
}

test('a handle is taken as people write it', () => {
  const typed = [' +1 (202) 555-0147 ', '0049 30 123/456', '+1.202.555.0147', ' Ann@Example.COM ']

  expect(typed.map(tidyHandle)).toEqual([
    '+12025550147',
    '+4930123456',
    '+12025550147',
    'ann@example.com',
  ])
})

test('a part of a handle is not asked about', () => {
  expect(['', '+1202', '2025550147', 'ann@', 'ann@example'].map(isWhole)).toEqual([
    false,
    false,
    false,
    false,
    false,
  ])
  expect(['+12025550147', 'ann@example.com'].map(isWhole)).toEqual([true, true])
})
