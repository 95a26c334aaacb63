// Every route once, with what it asks of the rooms behind it and what it answers. Sending and bad
// input have files of their own.

import { expect, test } from 'bun:test'

import {
  CONVERSATION,
  DELIVERY,
  KEY_ID,
  LINE,
  LINE_ID,
  MESSAGE,
  TIME,
  WEBHOOK,
  createRig,
  type Asked,
  type More,
} from './http-rig.ts'

type Story = {
  readonly name: string
  readonly ask: readonly [method: string, path: string, more?: More]
  readonly status: number
  readonly body: unknown
  readonly asked: readonly Asked[]
}

const FIRST_PAGE = { limit: 50, cursor: null }
const KEY_CALLER = { kind: 'key', keyId: KEY_ID }
const page = (item: unknown) => ({ data: [item], has_more: false, next_cursor: null })

const CREATED_KEY = {
  id: KEY_ID,
  name: null,
  key: 'hl_live_new',
  secret: 'hl_secret_new',
  created_by: KEY_ID,
  created_at: TIME,
  last_used_at: null,
}
const LISTED_KEY = {
  id: KEY_ID,
  name: null,
  key_hint: 'hl_live_abcdef',
  created_by: KEY_ID,
  created_at: TIME,
  last_used_at: null,
  revoked_at: null,
}

const STORIES: readonly Story[] = [
  {
    name: 'spec 4.1: a key is created without a body',
    ask: ['POST', '/api/v1/keys'],
    status: 201,
    body: CREATED_KEY,
    asked: [['keys.create', { name: null, createdBy: KEY_ID }]],
  },
  {
    name: 'spec 4.1: a key is created with a name',
    ask: ['POST', '/api/v1/keys', { body: { name: 'shop' } }],
    status: 201,
    body: CREATED_KEY,
    asked: [['keys.create', { name: 'shop', createdBy: KEY_ID }]],
  },
  {
    name: 'keys are listed without their secrets',
    ask: ['GET', '/api/v1/keys'],
    status: 200,
    body: page(LISTED_KEY),
    asked: [['keys.list', FIRST_PAGE]],
  },
  {
    name: 'spec 4.2: a key is revoked',
    ask: ['DELETE', `/api/v1/keys/${KEY_ID}`],
    status: 200,
    body: { id: KEY_ID, deleted: true },
    asked: [['keys.revoke', KEY_ID]],
  },
  {
    name: 'spec 4.3: phone lines are listed with the properties of section 2.2',
    ask: ['GET', '/api/v1/phone-lines'],
    status: 200,
    body: page(LINE),
    asked: [['lines.list']],
  },
  {
    name: 'a phone line is changed',
    ask: ['PATCH', `/api/v1/phone-lines/${LINE_ID}`, { body: { label: null, is_enabled: false } }],
    status: 200,
    body: LINE,
    asked: [['lines.patch', LINE_ID, { label: null, isEnabled: false }, KEY_CALLER]],
  },
  {
    name: 'a phone line is deleted',
    ask: ['DELETE', `/api/v1/phone-lines/${LINE_ID}`],
    status: 200,
    body: { id: LINE_ID, deleted: true },
    asked: [['lines.remove', LINE_ID]],
  },
  {
    name: 'spec 4.5: messages are listed with a limit',
    ask: ['GET', '/api/v1/messages?limit=200&cursor=abc'],
    status: 200,
    body: page(MESSAGE),
    asked: [['messages.list', {}, { limit: 200, cursor: 'abc' }]],
  },
  {
    name: 'messages are filtered',
    ask: [
      'GET',
      '/api/v1/messages?phone_line_id=l&conversation_id=c&handle=%2B1202&direction=inbound' +
        `&status=read&created_after=${TIME}&created_before=2026-11-21T12:00:00%2B01:00` +
        '&updated_since=2026-11-21T12:00:00+01:00',
    ],
    status: 200,
    body: page(MESSAGE),
    asked: [
      [
        'messages.list',
        {
          lineId: 'l',
          conversationId: 'c',
          handle: '+1202',
          direction: 'inbound',
          status: 'read',
          createdAfter: 1_795_255_200_000,
          createdBefore: 1_795_258_800_000,
          updatedSince: 1_795_258_800_000,
        },
        FIRST_PAGE,
      ],
    ],
  },
  {
    name: 'a handle whose plus nobody escaped is understood',
    ask: ['GET', '/api/v1/messages?handle=+12025550147'],
    status: 200,
    body: page(MESSAGE),
    asked: [['messages.list', { handle: '+12025550147' }, FIRST_PAGE]],
  },
  {
    name: 'a message is read',
    ask: ['GET', `/api/v1/messages/${MESSAGE.id}`],
    status: 200,
    body: MESSAGE,
    asked: [['messages.get', MESSAGE.id]],
  },
  {
    name: 'an uncertain message is settled',
    ask: ['POST', `/api/v1/messages/${MESSAGE.id}/resolve`, { body: { status: 'failed' } }],
    status: 200,
    body: MESSAGE,
    asked: [['messages.resolve', MESSAGE.id, 'failed', KEY_CALLER]],
  },
  {
    name: 'spec 4.9: conversations are listed',
    ask: ['GET', '/api/v1/conversations?limit=1&phone_line_id=l&handle=a@example.com'],
    status: 200,
    body: page(CONVERSATION),
    asked: [
      ['conversations.list', { lineId: 'l', handle: 'a@example.com' }, { limit: 1, cursor: null }],
    ],
  },
  {
    name: 'a conversation is read',
    ask: ['GET', `/api/v1/conversations/${CONVERSATION.id}`],
    status: 200,
    body: CONVERSATION,
    asked: [['conversations.get', CONVERSATION.id]],
  },
  {
    name: 'spec 4.6: a webhook is created, and its secret told',
    ask: [
      'POST',
      '/api/v1/webhooks',
      { body: { url: 'https://a.example', events: ['message.sent'] } },
    ],
    status: 201,
    body: { ...WEBHOOK, secret: 'whsec_new' },
    asked: [
      ['webhooks.create', { url: 'https://a.example', events: ['message.sent'] }, KEY_CALLER],
    ],
  },
  {
    name: 'webhooks are listed without their secrets',
    ask: ['GET', '/api/v1/webhooks'],
    status: 200,
    body: page(WEBHOOK),
    asked: [['webhooks.list', FIRST_PAGE]],
  },
  {
    name: 'a webhook is read',
    ask: ['GET', `/api/v1/webhooks/${WEBHOOK.id}`],
    status: 200,
    body: WEBHOOK,
    asked: [['webhooks.get', WEBHOOK.id]],
  },
  {
    name: 'spec 4.7: a webhook is paused, and nothing else of it changed',
    ask: ['PUT', `/api/v1/webhooks/${WEBHOOK.id}`, { body: { is_active: false } }],
    status: 200,
    body: WEBHOOK,
    asked: [['webhooks.update', WEBHOOK.id, { isActive: false }]],
  },
  {
    name: 'spec 4.8: a webhook is deleted',
    ask: ['DELETE', `/api/v1/webhooks/${WEBHOOK.id}`],
    status: 200,
    body: { id: WEBHOOK.id, deleted: true },
    asked: [['webhooks.remove', WEBHOOK.id]],
  },
  {
    name: 'a webhook gets a new secret',
    ask: ['POST', `/api/v1/webhooks/${WEBHOOK.id}/rotate-secret`],
    status: 200,
    body: { id: WEBHOOK.id, secret: 'whsec_new' },
    asked: [['webhooks.rotateSecret', WEBHOOK.id]],
  },
  {
    name: 'a webhook is tested',
    ask: ['POST', `/api/v1/webhooks/${WEBHOOK.id}/test`, { body: {} }],
    status: 202,
    body: DELIVERY,
    asked: [['webhooks.sendTest', WEBHOOK.id]],
  },
  {
    name: 'deliveries are listed by status',
    ask: ['GET', `/api/v1/webhooks/${WEBHOOK.id}/deliveries?status=pending`],
    status: 200,
    body: page(DELIVERY),
    asked: [['webhooks.listDeliveries', WEBHOOK.id, { status: 'pending' }, FIRST_PAGE]],
  },
  {
    name: 'what a webhook missed is sent again',
    ask: ['POST', `/api/v1/webhooks/${WEBHOOK.id}/replay`, { body: { since: TIME } }],
    status: 202,
    body: { replayed: 3 },
    asked: [['webhooks.replay', WEBHOOK.id, 1_795_255_200_000]],
  },
  {
    name: 'a delivery is read by a key, which is not trusted with what private targets say',
    ask: ['GET', `/api/v1/webhook-deliveries/${DELIVERY.id}`],
    status: 200,
    body: { ...DELIVERY, attempts: [] },
    asked: [['webhooks.getDelivery', DELIVERY.id, { isTrusted: false }]],
  },
  {
    name: 'a delivery is sent again',
    ask: ['POST', `/api/v1/webhook-deliveries/${DELIVERY.id}/redeliver`],
    status: 202,
    body: DELIVERY,
    asked: [['webhooks.redeliver', DELIVERY.id]],
  },
  {
    name: 'the health catalogue is read',
    ask: ['GET', '/api/v1/health'],
    status: 200,
    body: { data: [] },
    asked: [['health.findings']],
  },
]

for (const story of STORIES) {
  test(story.name, async () => {
    const rig = createRig()

    const response = await rig.call(...story.ask)

    expect(response.status).toBe(story.status)
    expect(await response.json()).toEqual(story.body)
    expect(rig.asked).toEqual(story.asked)
  })
}

test('every answer is JSON that nobody stores or takes for something else, and has its own id', async () => {
  const rig = createRig()
  const headers = { 'x-request-id': 'mine', origin: 'https://elsewhere.example' }

  const answers = await Promise.all([
    rig.call('GET', '/api/v1/keys', { headers }),
    rig.call('POST', '/api/v1/keys', { headers }),
    rig.call('GET', '/api/v1/nowhere', { headers }),
    rig.call('POST', '/api/v1/messages/send', { raw: '{', headers }),
  ])

  const ids = answers.map((answer) => answer.headers.get('x-request-id'))
  expect(new Set(ids).size).toBe(4)
  expect(ids.every((id) => /^req_[\w]+$/.test(id ?? ''))).toBe(true)
  for (const answer of answers) {
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
  }
})

test('a known path with another method is 405 and says which it takes', async () => {
  const rig = createRig()

  const answers = await Promise.all([
    rig.call('PUT', '/api/v1/keys'),
    rig.call('GET', '/api/v1/messages/send/'),
    rig.call('OPTIONS', `/api/v1/webhooks/${WEBHOOK.id}`),
    rig.call('GET', `/api/v1/phone-lines/${LINE_ID}`),
  ])

  expect(answers.map((answer) => [answer.status, answer.headers.get('allow')])).toEqual([
    [405, 'POST, GET, HEAD'],
    [200, null],
    [405, 'GET, HEAD, PUT, DELETE'],
    [405, 'PATCH, DELETE'],
  ])
  expect(await answers[0]?.json()).toEqual({
    error: { code: 'method_not_allowed', message: 'This path takes POST, GET, HEAD.' },
  })
})

test('HEAD answers as GET does, without the body', async () => {
  const rig = createRig()

  const response = await rig.call('HEAD', '/api/v1/keys')

  expect(response.status).toBe(200)
  expect(await response.text()).toBe('')
})

test('an unknown route is 404', async () => {
  const rig = createRig()

  for (const path of [
    '/api/v1',
    '/api/v1/nowhere',
    '/api/v1//keys',
    '/api/v1/KEYS',
    '/api/v2/keys',
    '/',
  ]) {
    const response = await rig.call('GET', path)
    expect(response.status).toBe(404)
    expect(await response.json()).toEqual({
      error: { code: 'not_found', message: 'There is no such route.' },
    })
  }
})

test('phone lines are paged in the order of routing', async () => {
  const lines = [1, 2, 3].map((n) => ({ ...LINE, id: `line_01k5c3qv7yfxn8t2w9r4d6m00${n}` }))
  const rig = createRig({
    lines: { ...createRigLines(), list: () => lines },
  })

  const first = (await (await rig.call('GET', '/api/v1/phone-lines?limit=2')).json()) as {
    next_cursor: string
  }
  const second = await rig.call('GET', `/api/v1/phone-lines?limit=2&cursor=${first.next_cursor}`)

  expect(first).toEqual({
    data: lines.slice(0, 2),
    has_more: true,
    next_cursor: first.next_cursor,
  } as never)
  expect(await second.json()).toEqual({ data: lines.slice(2), has_more: false, next_cursor: null })
})

test('an answer that does not fit its schema is 500, and nothing of it leaves', async () => {
  const rig = createRig({
    conversations: {
      list: () => ({ data: [], has_more: false, next_cursor: null }),
      get: () => ({ ...CONVERSATION, message_count: 1.5, text: 'a secret' }),
    },
  })

  const response = await rig.call('GET', `/api/v1/conversations/${CONVERSATION.id}`)

  expect(response.status).toBe(500)
  expect(await response.text()).not.toContain('secret')
  expect(rig.logged.map((line) => line.message)).toEqual(['request failed'])
  expect(JSON.stringify(rig.logged)).not.toContain('a secret')
})

test('an unknown error is 500 in the one shape, and logged under the id of the request', async () => {
  const rig = createRig({
    conversations: {
      list: () => {
        throw new Error('SELECT secret FROM /var/lib/hookline')
      },
      get: () => CONVERSATION,
    },
  })

  const response = await rig.call('GET', '/api/v1/conversations')

  expect(response.status).toBe(500)
  expect(await response.json()).toEqual({
    error: {
      code: 'internal_error',
      message: 'Something went wrong in the relay. Its log tells more, under this X-Request-Id.',
    },
  })
  expect(rig.logged.map((line) => line.fields['request_id'])).toEqual([
    response.headers.get('x-request-id'),
  ])
})

function createRigLines() {
  return {
    patch: () => Promise.resolve(LINE),
    remove: () => Promise.resolve(),
    adopt: () => Promise.resolve(LINE),
  }
}
