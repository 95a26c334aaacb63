import { expect, test } from 'bun:test'

import type { WebhookDay } from '../../src/api/dashboard.ts'
import type { Webhook } from '../../src/api/webhooks.ts'
import { daysOf, durationWords } from '../../src/http/dashboard-webhooks.ts'
import { DELIVERY, WEBHOOK } from './dashboard-samples.ts'

const NOW = Date.parse('2026-11-21T12:00:00.000Z')
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

type Told = Omit<typeof DELIVERY, 'id' | 'status' | 'attempt_count' | 'created_at'> & {
  readonly id: string
  readonly status: 'pending' | 'succeeded' | 'exhausted'
  readonly attempt_count: number
  readonly created_at: string
}

test('the last 24 hours are told in figures', () => {
  const deliveries = [
    delivery({ status: 'pending' }),
    delivery({ status: 'succeeded' }),
    delivery({ status: 'exhausted' }),
    delivery({ status: 'succeeded', created_at: '2026-11-20T11:59:00.000Z' }),
  ]

  expect(dayOf(deliveries)).toEqual({
    webhook_id: WEBHOOK.id,
    words: '1 of 3 delivered',
    ...RECEIVER,
    is_test_inbox: false,
    failing: null,
    stopped: null,
  })
})

test('where the day has more than was looked at, that is said', () => {
  const deliveries = Array.from({ length: 51 }, () => delivery({ status: 'succeeded' }))

  expect(dayOf(deliveries).words).toBe('50 of the last 50 delivered')
})

test('a webhook without a delivery, or without one today, says so', () => {
  const old = delivery({ created_at: '2026-11-01T10:00:00.000Z' })

  expect(dayOf([]).words).toBe('No events yet')
  expect(dayOf([old]).words).toBe('None in 24 hours')
})

test('a webhook fails when the newest delivery that was tried was not taken, and it is told why', () => {
  const failed = delivery({ id: 'dlv_2', attempt_count: 1 })
  const waiting = delivery({ id: 'dlv_3' })
  const taken = delivery({ id: 'dlv_1', status: 'succeeded', attempt_count: 1 })

  const { failing } = dayOf([waiting, failed, taken])

  expect(failing?.id).toBe('dlv_2')
  expect(failing?.attempts).toMatchObject([
    { hint: { title: 'Your endpoint failed (500)' }, duration: '84 ms', cause: 'scheduled' },
  ])
  expect(dayOf([waiting, taken, failed]).failing).toBeNull()
})

test('behind many that wait untried, the one that failed is still found', () => {
  const waiting = Array.from({ length: 60 }, (_, place) => delivery({ id: `dlv_w${place}` }))
  const failed = delivery({ id: 'dlv_2', attempt_count: 1 })

  expect(dayOf([...waiting, failed]).failing?.id).toBe('dlv_2')
})

test('why a webhook was stopped is told with what is to be done', () => {
  const reasons = ['gone', 'failing', 'secret_unreadable'] as const

  const told = reasons.map((disabled_reason) => dayOf([], { disabled_reason }).stopped)

  expect(told).toEqual([
    expect.stringContaining('410 Gone'),
    expect.stringContaining('nothing for five days'),
    expect.stringContaining('secret.key'),
  ])
})

test('a duration is told in the unit that fits', () => {
  expect([3, 999, 1_234, 10_000].map(durationWords)).toEqual(['3 ms', '999 ms', '1.2 s', '10.0 s'])
})

/** What is told of a webhook that has just these deliveries, newest first. */
function dayOf(
  deliveries: readonly Told[],
  { disabled_reason = null }: { readonly disabled_reason?: Webhook['disabled_reason'] } = {},
): WebhookDay {
  const webhooks = {
    list: () => ({ data: [{ ...WEBHOOK, disabled_reason }], has_more: false, next_cursor: null }),
    get: () => WEBHOOK,
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
  const [day] = daysOf({ webhooks }, NOW)
  if (day === undefined) throw new Error('Nothing is told of the webhook.')
  return day
}

function delivery(told: Partial<Told>): Told {
  return { ...DELIVERY, ...told }
}
