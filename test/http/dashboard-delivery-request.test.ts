// What the page shows as the request of a delivery is held against what the relay really sends.

import { expect, test } from 'bun:test'

import { EVENT_NAMES } from '../../src/domain/webhook.ts'
import { bodyOf, headersOf } from '../../src/http/dashboard-delivery-request.ts'
import type { MessageResource } from '../../src/messages/resource.ts'
import { payloadOf } from '../../src/webhooks/payload.ts'
import { MESSAGE } from './http-rig.ts'

type Stored = Parameters<typeof payloadOf>[1]

for (const name of EVENT_NAMES) {
  test(`the body of ${name} is what the relay sends, but for line breaks`, () => {
    const direction = name === 'message.received' ? 'inbound' : 'outbound'
    const told = message({ direction, error: { code: 'expired', message: 'Too late.' } })

    const body = bodyOf(name, told)

    expect(JSON.stringify(JSON.parse(body))).toBe(payloadOf(name, stored(told)))
  })
}

test('a message that failed after it was sent says so in its body', () => {
  const told = message({ direction: 'outbound', sent_at: null })

  expect(JSON.parse(bodyOf('message.failed', told)).message).toMatchObject({
    isFromMe: true,
    isSent: false,
    isDelivered: false,
    isRead: false,
  })
})

test('the headers are those of the attempt, without a signature', () => {
  const text = headersOf({
    delivery: { event_id: 'evt_7' },
    attempt: { started_at: '2026-11-21T10:00:01.999Z' },
    url: 'https://shop.example.com/hook',
    version: '1.2.3',
  })

  expect(text.split('\n')).toEqual([
    'POST https://shop.example.com/hook',
    'content-type: application/json',
    'user-agent: Hookline/1.2.3',
    'webhook-id: evt_7',
    'webhook-timestamp: 1795255201',
    'webhook-signature: v1,… (made with the secret, and not kept)',
  ])
})

function message(told: Partial<MessageResource>): MessageResource {
  return { ...MESSAGE, ...told }
}

function stored(told: MessageResource): Stored {
  const time = (text: string | null) => (text === null ? null : Date.parse(text))
  return {
    ...told,
    lineId: told.phone_line_id,
    sentAt: time(told.sent_at),
    deliveredAt: time(told.delivered_at),
    readAt: time(told.read_at),
  } as unknown as Stored // Ids, handles and times of a test need no brand.
}
