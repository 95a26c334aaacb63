import { expect, test } from 'bun:test'

import type { Api } from '../../src/dashboard/api.ts'
import type { SeenDelivery } from '../../src/dashboard/pages/webhooks-resources.ts'
import { daySummary, recentSource } from '../../src/dashboard/pages/webhooks-summary.ts'
import { attempt, delivery } from './webhook-samples.ts'

const NOW = Date.parse('2026-11-21T12:00:00.000Z')
const SIGNAL = new AbortController().signal

test('the last 24 hours are told in figures', () => {
  const data = [
    delivery({ status: 'pending' }),
    delivery({ status: 'succeeded' }),
    delivery({ status: 'exhausted' }),
    delivery({ status: 'succeeded', created_at: '2026-11-20T11:59:00.000Z' }),
  ]

  expect(daySummary(list(data), NOW)).toEqual({ words: '1 of 3 delivered', waiting: 1 })
})

test('where the day has more than was looked at, that is said', () => {
  const data = Array.from({ length: 50 }, () => delivery({ status: 'succeeded' }))

  expect(daySummary({ ...list(data), has_more: true }, NOW)).toEqual({
    words: '50 of the last 50 delivered',
    waiting: 0,
  })
})

test('a webhook without a delivery, or without one today, says so', () => {
  const old = delivery({ created_at: '2026-11-01T10:00:00.000Z' })

  expect(daySummary(list([]), NOW).words).toBe('Nothing was sent yet')
  expect(daySummary(list([old]), NOW).words).toBe('Nothing in 24 hours')
})

test('a webhook fails when the newest delivery that was tried was not taken', async () => {
  const failed = delivery({ id: 'dlv_2', attempt_count: 1, attempts: [attempt()] })
  const waiting = delivery({ id: 'dlv_3' })
  const taken = delivery({ id: 'dlv_1', status: 'succeeded', attempt_count: 1 })

  const failing = await recentOf([waiting, failed, taken])
  const well = await recentOf([waiting, taken, failed])

  expect(failing).toEqual(failed)
  expect(well).toBeNull()
})

test('behind many that wait untried, the one that failed is still found', async () => {
  const waiting = Array.from({ length: 60 }, (_, place) => delivery({ id: `dlv_w${place}` }))
  const failed = delivery({ id: 'dlv_2', attempt_count: 1, attempts: [attempt()] })

  expect(await recentOf([...waiting, failed])).toEqual(failed)
})

async function recentOf(deliveries: readonly SeenDelivery[]): Promise<SeenDelivery | null> {
  const answer = await recentSource(apiOf(deliveries), 'wh_1').load(SIGNAL)
  if (!answer.ok) throw new Error(answer.failure.message)
  return answer.value.failing
}

/** Answers as the relay does where it has just these deliveries, newest first. */
function apiOf(deliveries: readonly SeenDelivery[]): Api {
  const get = async (path: string) => {
    const limit = Number(new URLSearchParams(path.split('?')[1]).get('limit'))
    const one = deliveries.find(({ id }) => path === `webhook-deliveries/${id}`)
    const page = { ...list(deliveries.slice(0, limit)), has_more: deliveries.length > limit }
    return { ok: true, value: one ?? page }
  }
  return { get } as unknown as Api // Nothing else is asked of it.
}

function list(data: readonly SeenDelivery[]) {
  return { data, has_more: false, next_cursor: null }
}
