// Every route once, with what it asks of the modules behind it and what it answers. Sending and bad
// input have files of their own.

import { expect, test } from 'bun:test'

import {
  ORIGIN,
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
    asked: [['keys.create', { name: null, origin: ORIGIN }]],
  },
  {
    name: 'spec 4.1: a key is created with a name',
    ask: ['POST', '/api/v1/keys', { body: { name: 'shop' } }],
    status: 201,
    body: CREATED_KEY,
    asked: [['keys.create', { name: 'shop', origin: ORIGIN }]],
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
    asked: [['keys.revoke', KEY_ID, ORIGIN]],
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
    asked: [['lines.patch', LINE_ID, { label: null, isEnabled: false }, ORIGIN]],
  },
  {
    name: 'a phone line is deleted',
    ask: ['DELETE', `/api/v1/phone-lines/${LINE_ID}`],
    status: 200,
    body: { id: LINE_ID, deleted: true },
    asked: [['lines.remove', LINE_ID, ORIGIN]],
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
    asked: [['messages.resolve', MESSAGE.id, 'failed', ORIGIN]],
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
    name: 'a conversation is told that a person answers it',
    ask: [
      'PATCH',
      `/api/v1/conversations/${CONVERSATION.id}`,
      { body: { automation_paused: true } },
    ],
    status: 200,
    body: CONVERSATION,
    asked: [['conversations.patch', CONVERSATION.id, { isAutomationPaused: true }]],
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
    asked: [['webhooks.create', { url: 'https://a.example', events: ['message.sent'] }, ORIGIN]],
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
    asked: [['webhooks.update', WEBHOOK.id, { isActive: false }, ORIGIN]],
  },
  {
    name: 'spec 4.8: a webhook is deleted',
    ask: ['DELETE', `/api/v1/webhooks/${WEBHOOK.id}`],
    status: 200,
    body: { id: WEBHOOK.id, deleted: true },
    asked: [['webhooks.remove', WEBHOOK.id, ORIGIN]],
  },
  {
    name: 'a webhook gets a new secret',
    ask: ['POST', `/api/v1/webhooks/${WEBHOOK.id}/rotate-secret`],
    status: 200,
    body: { id: WEBHOOK.id, secret: 'whsec_new' },
    asked: [['webhooks.rotateSecret', WEBHOOK.id, ORIGIN]],
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
