import { Elysia } from 'elysia'
import { Type } from 'typebox'

import type { Page, PageRequest } from '../api/paging.ts'
import { NoBody } from '../api/schema.ts'
import { Delivery, DeliveryList, DeliveryStatus, DeliveryWithAttempts } from '../api/webhooks.ts'
import { mayTake } from './body.ts'
import { callerOf } from './exchange.ts'
import { BY_ID, operation } from './operation.ts'
import { PAGE_QUERY, pageOfQuery, readQuery } from './query.ts'

type DeliveryFilter = { readonly status?: Delivery['status'] | undefined }

export type DeliveryActions = {
  /** A sample of the webhook's first event, on its way at once. */
  sendTest(webhookId: string): Promise<Delivery>
  listDeliveries(webhookId: string, filter: DeliveryFilter, page: PageRequest): Page<Delivery>
  /** What a private target answered is told to trusted callers only. */
  getDelivery(id: string, reader: { readonly isTrusted: boolean }): DeliveryWithAttempts
  /** The body that each attempt sends; null where its event is not kept any more. */
  getSentBody(id: string): string | null
  redeliver(id: string): Promise<Delivery>
}

const DeliveryQuery = Type.Object({
  ...PAGE_QUERY,
  status: Type.Optional(DeliveryStatus),
})

const TEST = operation({
  id: 'testWebhook',
  summary: 'Send a test event',
  description: "A sample of the webhook's first event; its event id begins with `evt_test_`.",
  tag: 'Webhooks',
  answers: { 202: Delivery },
  errors: ['not_found', 'webhook_inactive', 'storage_full'],
})

const LIST = operation({
  id: 'listWebhookDeliveries',
  summary: 'List the deliveries of a webhook',
  description: 'Newest first.',
  tag: 'Webhooks',
  query: DeliveryQuery,
  answers: { 200: DeliveryList },
  errors: ['not_found'],
})

const GET = operation({
  id: 'getWebhookDelivery',
  summary: 'Read a delivery with its attempts',
  description: 'With what the receiver answered each time.',
  tag: 'Webhooks',
  answers: { 200: DeliveryWithAttempts },
  errors: ['not_found'],
})

const REDELIVER = operation({
  id: 'redeliverWebhookDelivery',
  summary: 'Send a delivery again',
  description: 'With the same event id, at once.',
  tag: 'Webhooks',
  answers: { 202: Delivery },
  errors: ['not_found', 'webhook_inactive', 'storage_full'],
})

export function deliveryRoutes(deliveries: DeliveryActions) {
  return new Elysia({ prefix: '/api/v1' })
    .post(
      '/webhooks/:id/test',
      ({ params, set }) => {
        set.status = 202
        return deliveries.sendTest(params.id)
      },
      { ...BY_ID, ...mayTake(NoBody), ...TEST },
    )
    .get(
      '/webhooks/:id/deliveries',
      ({ request, params }) => {
        const query = readQuery(request, DeliveryQuery)
        return deliveries.listDeliveries(params.id, { status: query.status }, pageOfQuery(query))
      },
      { ...BY_ID, ...LIST },
    )
    .get(
      '/webhook-deliveries/:id',
      ({ request, params }) => {
        const isTrusted = callerOf(request).kind !== 'key'
        return deliveries.getDelivery(params.id, { isTrusted })
      },
      { ...BY_ID, ...GET },
    )
    .post(
      '/webhook-deliveries/:id/redeliver',
      ({ params, set }) => {
        set.status = 202
        return deliveries.redeliver(params.id)
      },
      { ...BY_ID, ...mayTake(NoBody), ...REDELIVER },
    )
}
