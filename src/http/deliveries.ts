// Deliveries: single ones, those that failed, and events since a time.

import { Elysia } from 'elysia'
import { type Static, Type } from 'typebox'

import type { Page, PageRequest } from '../api/paging.ts'
import { NoBody, TIME_WANTED } from '../api/schema.ts'
import {
  Delivery,
  DeliveryList,
  DeliveryStatus,
  DeliveryWithAttempts,
  ReplayAnswer,
  ReplayRequest,
  ReplayState,
  RetryAnswer,
  RetryRequest,
  StoppedReplay,
} from '../api/webhooks.ts'
import type { Origin } from '../domain/audit.ts'
import { invalidRequest } from '../domain/errors.ts'
import type { Timestamp } from '../domain/ids.ts'
import type { EventName } from '../domain/webhook.ts'
import { parseIsoTime } from '../system/iso-time.ts'
import { mayTake, takes } from './body.ts'
import { BY_ID, operation } from './operation.ts'
import { PAGE_QUERY, pageOfQuery, readQuery } from './query.ts'
import { callerOf, originOf } from './request-context.ts'

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

type Retry = {
  readonly events: readonly EventName[] | null
  readonly lineId: string | null
  /** Counts, and changes nothing. */
  readonly isDryRun: boolean
}

type Replay = Retry & {
  readonly since: Timestamp
  /** Whether events from before the webhook was made go too. */
  readonly includesEarlier: boolean
}

/** Each says how many deliveries it is about. */
export type ReplayActions = {
  retryFailed(webhookId: string, retry: Retry, origin: Origin): Promise<number>
  replay(webhookId: string, replay: Replay, origin: Origin): Promise<number>
  /** What still waits of both. */
  countReplayed(webhookId: string): number
  stopReplay(webhookId: string, origin: Origin): Promise<number>
}

const ERRORS = ['not_found', 'phone_line_not_found', 'webhook_inactive', 'storage_full'] as const

const RETRY = operation({
  id: 'retryFailedDeliveries',
  summary: 'Retry failed deliveries',
  description:
    'Sends every delivery of this webhook that was given up again, with a whole new schedule: at ' +
    'most 100,000 in one call.',
  tag: 'Webhooks',
  answers: { 200: RetryAnswer, 202: RetryAnswer },
  errors: ERRORS,
})

const REPLAY = operation({
  id: 'replayWebhook',
  summary: 'Send past events',
  description:
    'Sends what was given up since a time, and what the webhook has no delivery of. Events from ' +
    'before the webhook was created stay unsent unless `include_earlier` is true. At most 100,000 ' +
    'in one call; the same call again goes on with the rest.',
  tag: 'Webhooks',
  answers: { 200: ReplayAnswer, 202: ReplayAnswer },
  errors: ERRORS,
})

const STATE = operation({
  id: 'getReplay',
  summary: 'Read how much of a replay waits',
  description: 'Deliveries that a replay or a retry put on their way and that are still pending.',
  tag: 'Webhooks',
  answers: { 200: ReplayState },
  errors: ['not_found'],
})

const STOP = operation({
  id: 'stopReplay',
  summary: 'Stop a replay',
  description:
    'Stops what still waits of replays and retries. A delivery that had failed before is given up ' +
    'again; an event that was not sent yet is as if it had never been replayed. Requests that are ' +
    'out at this moment are not called back.',
  tag: 'Webhooks',
  answers: { 200: StoppedReplay },
  errors: ['not_found', 'storage_full'],
})

export function replayRoutes(replays: ReplayActions) {
  return new Elysia({ prefix: '/api/v1/webhooks/:id' })
    .post(
      '/retry-failed',
      async ({ request, params, body, set }) => {
        const retry = retryIn(body)
        const count = await replays.retryFailed(params.id, retry, originOf(request))
        if (retry.isDryRun) return { retried: 0, would_retry: count }
        set.status = 202
        return { retried: count }
      },
      { ...BY_ID, ...mayTake(RetryRequest), ...RETRY },
    )
    .post(
      '/replay',
      async ({ request, params, body, set }) => {
        const includesEarlier = body.include_earlier ?? false
        const replay = { ...retryIn(body), since: sinceIn(body.since), includesEarlier }
        const count = await replays.replay(params.id, replay, originOf(request))
        if (replay.isDryRun) return { replayed: 0, would_replay: count }
        set.status = 202
        return { replayed: count }
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

function retryIn(body: Static<typeof RetryRequest>): Retry {
  const { events = null, phone_line_id: lineId = null, dry_run: isDryRun = false } = body
  return { events, lineId, isDryRun }
}

function sinceIn(text: string): Timestamp {
  const since = parseIsoTime(text)
  if (since !== null) return since
  throw invalidRequest({ path: 'since', message: TIME_WANTED })
}
