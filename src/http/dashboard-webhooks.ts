// What the page is told of webhooks beside the API.

import { Elysia } from 'elysia'
import { Type } from 'typebox'

import { DeliveryStatus } from '../api/webhooks.ts'
import type { Clock } from '../system/clock.ts'
import { seenDelivery, sentRequest, type SeenDeliveryTools } from './dashboard-deliveries.ts'
import { daysOf } from './dashboard-webhook-days.ts'
import { callerOf } from './exchange.ts'
import { BY_ID, plainCall } from './operation.ts'
import { PAGE_QUERY, pageOfQuery, readQuery } from './query.ts'

type Tools = SeenDeliveryTools & Parameters<typeof daysOf>[0] & { readonly clock: Clock }

const DeliveryQuery = Type.Object({
  ...PAGE_QUERY,
  status: Type.Optional(DeliveryStatus),
})

/** Behind the door of the dashboard. */
export function webhookViewRoutes(tools: Tools) {
  const { webhooks, clock } = tools
  return new Elysia({ prefix: '/dashboard' })
    .get(
      '/webhooks/:id/deliveries',
      ({ request, params }) => {
        callerOf(request)
        const query = readQuery(request, DeliveryQuery)
        const page = pageOfQuery(query)
        const { url } = webhooks.get(params.id)
        const list = webhooks.listDeliveries(params.id, { status: query.status }, page)
        return { ...list, data: list.data.map(({ id }) => seenDelivery(tools, id, url)) }
      },
      BY_ID,
    )
    .onBeforeHandle(plainCall)
    .get('/webhook-days', () => ({ data: daysOf(tools, clock.now()) }))
    .get('/webhook-deliveries/:id', ({ params }) => seenDelivery(tools, params.id), BY_ID)
    .get('/webhook-deliveries/:id/request', ({ params }) => sentRequest(tools, params.id), BY_ID)
}
