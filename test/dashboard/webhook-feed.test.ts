import { expect, test } from 'bun:test'

import type { Api } from '../../src/dashboard/api.ts'
import { deliverySource } from '../../src/dashboard/pages/webhooks-feed.ts'
import type { SeenDelivery } from '../../src/dashboard/pages/webhooks-resources.ts'
import { attempt, delivery } from './webhook-samples.ts'

const SIGNAL = new AbortController().signal

test('deliveries are listed with their attempts, and those of one are read once', async () => {
  const tried = delivery({ id: 'dlv_2', attempt_count: 1, attempts: [attempt()] })
  const fresh = delivery({ id: 'dlv_1' })
  const { api, asked } = relayWith([tried, fresh])
  const source = deliverySource(api, 'wh_1', '')

  const first = await source.page(null, 50, SIGNAL)
  await source.page(null, 50, SIGNAL)

  expect(first).toEqual({
    ok: true,
    value: { data: [tried, fresh], has_more: false, next_cursor: null },
  })
  expect(asked).toEqual([
    'webhooks/wh_1/deliveries?limit=50',
    'webhook-deliveries/dlv_2',
    'webhooks/wh_1/deliveries?limit=50',
  ])
})

test('one that was tried again is read again', async () => {
  const tried = delivery({ attempt_count: 1, attempts: [attempt()] })
  const again = { ...tried, attempt_count: 2, attempts: [attempt(), attempt({ number: 2 })] }
  const held = [tried]
  const { api } = relayWith(held)
  const source = deliverySource(api, 'wh_1', '')
  await source.page(null, 50, SIGNAL)

  held[0] = again
  const page = await source.page(null, 50, SIGNAL)

  expect(page.ok && page.value.data).toEqual([again])
})

test('the filter and the cursor go to the relay', async () => {
  const { api, asked } = relayWith([])

  await deliverySource(api, 'wh_1', 'exhausted').page('abc', 50, SIGNAL)

  expect(asked).toEqual(['webhooks/wh_1/deliveries?status=exhausted&cursor=abc&limit=50'])
})

test('only changes of deliveries concern the list', () => {
  const source = deliverySource(relayWith([]).api, 'wh_1', '')

  expect(source.concerned({ what: 'delivery', id: 'dlv_1' })).toBe('dlv_1')
  expect(source.concerned({ what: 'message', id: 'msg_1' })).toBeNull()
})

/** A relay that lists deliveries without their attempts, and tells those of one. */
function relayWith(held: readonly SeenDelivery[]) {
  const asked: string[] = []
  const get = async (path: string) => {
    asked.push(path)
    const one = held.find(({ id }) => path === `webhook-deliveries/${id}`)
    const data = held.map((each) => ({ ...each, attempts: undefined }))
    return { ok: true, value: one ?? { data, has_more: false, next_cursor: null } }
  }
  return { api: { get } as unknown as Api, asked } // Nothing else is asked of it.
}
