// Deliveries: single ones, those that failed, and events since a time.

import { Elysia } from 'elysia'
import { type Static, Type } from 'typebox'

import { id, NoBody, TIME_WANTED } from '../api/schema.ts'
import {
  Delivery,
  DeliveryList,
  DeliveryStatus,
  DeliveryWithAttempts,
  EventName,
  ReplayAnswer,
  ReplayRequest,
  ReplayState,
  RetryAnswer,
  RetryRequest,
  StoppedReplay,
} from '../api/webhooks.ts'
import { invalidRequest } from '../domain/errors.ts'
import type { Timestamp } from '../domain/ids.ts'
import { parseIsoTime } from '../system/iso-time.ts'
import type { createRedelivery } from '../webhooks/deliveries.ts'
import { CALL_MAX, type createReplay } from '../webhooks/replay.ts'
import { mayTake, takes } from './body.ts'
import { BY_ID, operation } from './operation.ts'
import { PAGE_QUERY, pageOfQuery, readHandle, readQuery, timeParameter } from './query.ts'
import { callerOf, linesOf, originOf } from './request-context.ts'

export type DeliveryActions = ReturnType<typeof createRedelivery>
export type ReplayActions = ReturnType<typeof createReplay>

export const DeliveryQuery = Type.Object({
  ...PAGE_QUERY,
  status: Type.Optional(DeliveryStatus),
  event: Type.Optional(EventName),
  handle: Type.Optional(
    Type.String({ description: 'The counterpart of the conversation.', example: '+12025550147' }),
  ),
  message_id: Type.Optional(id('msg', 'Deliveries of events of this message.')),
  created_after: timeParameter('Exclusive.'),
  created_before: timeParameter('Exclusive.'),
})

export function deliveryFilter(query: Static<typeof DeliveryQuery>) {
  return {
    status: query.status,
    event: query.event,
    handle: readHandle(query.handle),
    messageId: query.message_id,
    createdAfter: query.created_after,
    createdBefore: query.created_before,
  }
}

const TEST = operation('Webhooks', {
  id: 'testWebhook',
  summary: 'Send a test event',
  description: "A sample of the webhook's first event; its event id begins with `evt_test_`.",
  scope: 'webhooks:write',
  answers: { 202: Delivery },
  errors: ['not_found', 'webhook_inactive', 'storage_full'],
})

const LIST = operation('Webhooks', {
  id: 'listWebhookDeliveries',
  summary: 'List the deliveries of a webhook',
  description: 'Newest first.',
  scope: 'webhooks:read',
  query: DeliveryQuery,
  answers: { 200: DeliveryList },
  errors: ['not_found'],
})

const GET = operation('Webhooks', {
  id: 'getWebhookDelivery',
  summary: 'Read a delivery with its attempts',
  description: 'With the answer of the endpoint to each attempt.',
  scope: 'webhooks:read',
  answers: { 200: DeliveryWithAttempts },
  errors: ['not_found'],
})

const REDELIVER = operation('Webhooks', {
  id: 'redeliverWebhookDelivery',
  summary: 'Retry a delivery',
  description: 'At once, with the same event id.',
  scope: 'webhooks:write',
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
        const filter = { ...deliveryFilter(query), lineIds: linesOf(request) }
        return deliveries.listDeliveries(params.id, filter, pageOfQuery(query))
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

const ERRORS = ['not_found', 'phone_line_not_found', 'webhook_inactive', 'storage_full'] as const

const RETRY = operation('Webhooks', {
  id: 'retryFailedDeliveries',
  summary: 'Retry failed deliveries',
  description:
    'Retries every failed delivery of this webhook, with a new schedule of attempts: at most 100,000 ' +
    'in one call.',
  scope: 'webhooks:write',
  answers: { 200: RetryAnswer, 202: RetryAnswer },
  errors: ERRORS,
})

const REPLAY = operation('Webhooks', {
  id: 'replayWebhook',
  summary: 'Send past events',
  description:
    'Sends events since a time that failed, or that were never queued for this webhook. Events from ' +
    'before the webhook was created stay unsent unless `include_earlier` is true. At most 100,000 ' +
    'in one call; the same call again continues with the rest.',
  scope: 'webhooks:write',
  answers: { 200: ReplayAnswer, 202: ReplayAnswer },
  errors: ERRORS,
})

const STATE = operation('Webhooks', {
  id: 'getReplay',
  summary: 'Read the progress of a replay',
  description: 'How many deliveries of replays and retries are still pending.',
  scope: 'webhooks:read',
  answers: { 200: ReplayState },
  errors: ['not_found'],
})

const STOP = operation('Webhooks', {
  id: 'stopReplay',
  summary: 'Stop a replay',
  description:
    'Cancels pending deliveries of replays and retries. A delivery that had failed before is failed ' +
    'again; an event that was not sent yet is as if it had never been replayed. Requests in flight ' +
    'are not aborted.',
  scope: 'webhooks:write',
  answers: { 200: StoppedReplay },
  errors: ['not_found', 'storage_full'],
})

const moreAfter = (count: number) => (count < CALL_MAX ? {} : { has_more: true as const })

export function replayRoutes(replays: ReplayActions) {
  return new Elysia({ prefix: '/api/v1/webhooks/:id' })
    .post(
      '/retry-failed',
      async ({ request, params, body, set }) => {
        const retry = retryIn(body)
        const count = await replays.retryFailed(params.id, retry, originOf(request))
        if (retry.isDryRun) return { retried: 0, would_retry: count, ...moreAfter(count) }
        set.status = 202
        return { retried: count, ...moreAfter(count) }
      },
      { ...BY_ID, ...mayTake(RetryRequest), ...RETRY },
    )
    .post(
      '/replay',
      async ({ request, params, body, set }) => {
        const includesEarlier = body.include_earlier ?? false
        const replay = { ...retryIn(body), since: sinceIn(body.since), includesEarlier }
        const count = await replays.replay(params.id, replay, originOf(request))
        if (replay.isDryRun) return { replayed: 0, would_replay: count, ...moreAfter(count) }
        set.status = 202
        return { replayed: count, ...moreAfter(count) }
      },
      { ...BY_ID, ...takes(ReplayRequest), ...REPLAY },
    )
    .get('/replay', ({ params }) => ({ waiting: replays.countReplayed(params.id) }), {
      ...BY_ID,
      ...STATE,
    })
    .delete(
      '/replay',
      async ({ request, params }) => ({
        stopped: await replays.stopReplay(params.id, originOf(request)),
      }),
      { ...BY_ID, ...STOP },
    )
}

function retryIn(body: RetryRequest) {
  const { events = null, phone_line_id: lineId = null, dry_run: isDryRun = false } = body
  return { events, lineId, isDryRun }
}

function sinceIn(text: string): Timestamp {
  const since = parseIsoTime(text)
  if (since !== null) return since
  throw invalidRequest({ path: 'since', message: TIME_WANTED })
}
