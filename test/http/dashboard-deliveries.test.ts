// What the page gets of a webhook's deliveries. That a body is what was sent stands in
// dashboard-views.test.ts, beside a receiver.

import { expect, test } from 'bun:test'

import type { WebhookDay } from '../../src/api/dashboard.ts'
import type { Webhook } from '../../src/api/webhooks.ts'
import {
  daysOf,
  durationWords,
  headersOf,
  readableBody,
} from '../../src/http/dashboard-webhooks.ts'
import { delivery, webhook } from '../dashboard/samples.ts'

const ATTEMPT = {
  number: 1,
  trigger: 'scheduled',
  started_at: '2026-11-21T10:00:00.000Z',
  duration_ms: 84,
  status_code: 500,
  error: null,
  response_excerpt: null,
} as const

const RECEIVER = { waiting: 70, failing_since: null, next_probe_at: null }

test('a webhook fails when the newest delivery that was tried was not taken, and the answer says why', () => {
  const failed = delivery({ id: 'dlv_2', attempt_count: 1 })
  const waiting = delivery({ id: 'dlv_3' })
  const taken = delivery({ id: 'dlv_1', status: 'succeeded', attempt_count: 1 })
  const many = Array.from({ length: 60 }, (_, place) => delivery({ id: `dlv_w${place}` }))

  const { failing } = dayOf([waiting, failed, taken])

  expect(failing?.id).toBe('dlv_2')
  expect(failing?.attempts).toMatchObject([
    { hint: { title: 'Your endpoint failed (500)' }, duration: '84 ms', cause: 'scheduled' },
  ])
  expect(dayOf([waiting, taken, failed]).failing).toBeNull()
  // Behind many that wait untried it is still found.
  expect(dayOf([...many, failed]).failing?.id).toBe('dlv_2')
})

test('why a webhook was stopped is reported with what is to be done', () => {
  const reasons = ['gone', 'failing', 'secret_unreadable'] as const

  const told = reasons.map((disabled_reason) => dayOf([], { disabled_reason }).stopped)

  expect(told).toEqual([
    expect.stringContaining('410 Gone'),
    expect.stringContaining('nothing for five days'),
    expect.stringContaining('secret.key'),
  ])
})

test('a duration is reported in the unit that fits', () => {
  expect([3, 999, 1_234, 10_000].map(durationWords)).toEqual(['3 ms', '999 ms', '1.2 s', '10.0 s'])
})

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
    contentType: 'application/json',
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

/** What is reported of a webhook that has just these deliveries, newest first. */
function dayOf(
  deliveries: readonly ReturnType<typeof delivery>[],
  { disabled_reason = null }: { readonly disabled_reason?: Webhook['disabled_reason'] } = {},
): WebhookDay {
  const webhooks = {
    list: () => ({ data: [webhook({ disabled_reason })], has_more: false, next_cursor: null }),
    get: () => webhook(),
    listDeliveries: (_id: string, _filter: object, { limit }: { readonly limit: number }) => ({
      data: deliveries.slice(0, limit),
      has_more: deliveries.length > limit,
      next_cursor: null,
    }),
    inbox: { isAt: () => false },
    receiver: () => RECEIVER,
    describe: () => ({ person: null, schedule: { made: 1, of: 12 } }),
    getDelivery: (id: string) => {
      const found = deliveries.find((one) => one.id === id)
      if (found === undefined) throw new Error(`There is no ${id}.`)
      return { ...found, attempts: [ATTEMPT] }
    },
  }
  const [day] = daysOf(webhooks, webhooks.inbox)
  if (day === undefined) throw new Error('Nothing is told of the webhook.')
  return day
}
