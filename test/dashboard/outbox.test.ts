import { expect, test } from 'bun:test'

import type { Message } from '../../src/api/messages.ts'
import type { AnyCall, Answer, OperationId } from '../../src/dashboard/api.ts'
import {
  createOutbox,
  draftOf,
  isWhole,
  sendOnce,
  tidyHandle,
  type Draft,
} from '../../src/dashboard/outbox.ts'
import { fakeApi, UNREACHABLE, ok } from './page-rig.ts'
import { message } from './samples.ts'

const DRAFT: Draft = { to: '+12025550147', text: 'Your table is ready.', lineId: null }

test('a message is the same send for the relay while its answer is awaited', async () => {
  const { api, keys } = apiOf(ok(message()), ok(message()))
  const send = createOutbox(api)

  await Promise.all([send(DRAFT), send({ ...DRAFT })])

  expect(keys).toHaveLength(2)
  expect(keys[1]).toBe(keys[0] ?? '')
})

const FAILED = { ok: false, failure: UNREACHABLE } as const
const NEXT: readonly (readonly [
  what: string,
  isSame: boolean,
  answer: Answer<Message>,
  change: Partial<Draft>,
])[] = [
  ['the same draft after a failure', true, FAILED, {}],
  ['the same draft after a success', false, ok(message()), {}],
  ['another recipient after a failure', false, FAILED, { to: '+12025550148' }],
  ['another text after a failure', false, FAILED, { text: 'Another' }],
  ['another line after a failure', false, FAILED, { lineId: 'line_1' }],
  ['another file after a failure', false, FAILED, { attachments: ['att_1', 'att_2'] }],
]

for (const [what, isSame, answer, change] of NEXT) {
  test(`${what} is ${isSame ? 'the same' : 'another'} send for the relay`, async () => {
    const { api, keys } = apiOf(answer, ok(message()))
    const send = createOutbox(api)
    const draft = { ...DRAFT, attachments: ['att_1'] }

    await send(draft)
    await send({ ...draft, ...change })

    expect(new Set(keys).size).toBe(isSame ? 1 : 2)
  })
}

const BODIES: readonly (readonly [
  what: string,
  draft: Partial<Draft>,
  id: OperationId,
  call: AnyCall,
])[] = [
  [
    'files and a text',
    { attachments: ['att_1', 'att_2'] },
    'sendMessage',
    {
      body: {
        to: DRAFT.to,
        text: DRAFT.text,
        attachments: [{ id: 'att_1' }, { id: 'att_2' }],
        phone_line_id: null,
      },
    },
  ],
  [
    'files without a word',
    { text: ' ', attachments: ['att_1'] },
    'sendMessage',
    { body: { to: DRAFT.to, attachments: [{ id: 'att_1' }], phone_line_id: null } },
  ],
  [
    'a text by one line',
    { lineId: 'line_1' },
    'sendMessage',
    { body: { to: DRAFT.to, text: DRAFT.text, phone_line_id: 'line_1' } },
  ],
  [
    'a text to a group',
    { groupId: 'conv_1' },
    'sendInConversation',
    { params: { id: 'conv_1' }, body: { text: DRAFT.text } },
  ],
  [
    'a text by a service',
    { service: 'SMS' },
    'sendMessage',
    { body: { to: DRAFT.to, text: DRAFT.text, phone_line_id: null, service: 'SMS' } },
  ],
]

for (const [what, draft, id, call] of BODIES) {
  test(`${what} is posted by ${id}, to be answered as soon as it is written down`, async () => {
    const calls: unknown[] = []
    const api = fakeApi((to, call) => {
      calls.push([to, call])
      return FAILED
    })

    await sendOnce(api, { ...DRAFT, ...draft }, 'key')

    const headers = { 'idempotency-key': 'key', prefer: 'respond-async' }
    expect(calls).toEqual([[id, { ...call, headers }]])
  })
}

test('a message that was sent in part is sent again without the parts that arrived', () => {
  const file = { filename: 'a.jpg', mime_type: 'image/jpeg', size: 1, state: 'available' } as const
  const failed = message({
    status: 'failed',
    direction: 'outbound',
    text: 'See you.',
    attachments: [
      { ...file, id: 'att_1', url: '/1', sent: true },
      { ...file, id: 'att_2', url: '/2', sent: false },
    ],
  })

  expect(draftOf(failed)).toEqual({
    to: '+12025550123',
    text: 'See you.',
    lineId: 'line_1',
    attachments: ['att_2'],
  })
})

test('a message to a group is sent again to the group, by the service that was asked for', () => {
  const failed = message({ conversation_type: 'group', service_requested: 'SMS' })

  expect(draftOf(failed)).toMatchObject({ groupId: 'conv_1', service: 'SMS' })
})

function apiOf(...answers: readonly Answer<Message>[]) {
  const keys: string[] = []
  const api = fakeApi((_id, { headers }) => {
    keys.push(headers?.['idempotency-key'] ?? '')
    return answers[keys.length - 1] ?? FAILED
  })
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
