// What the page shows as the request of a delivery. That its body is what was sent stands in
// dashboard-views.test.ts, beside a receiver.

import { expect, test } from 'bun:test'

import { headersOf, readableBody } from '../../src/http/dashboard-webhooks.ts'

test('a body is shown as it was sent, but for line breaks', () => {
  const sent = '{"event":"message.sent","message":{"text":"a\\nb"}}'

  const body = readableBody(sent)

  expect(JSON.stringify(JSON.parse(body))).toBe(sent)
  expect(body.split('\n')[1]).toBe('  "event": "message.sent",')
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
