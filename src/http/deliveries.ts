// Deliveries, retries of failed deliveries, and replays of events since a time.

import type { QueryOf } from '../api/operation.ts'
import { WEBHOOKS } from '../api/operations/webhooks.ts'
import type { RetryRequest } from '../api/webhooks.ts'
import { CALL_MAX } from '../webhooks/replay.ts'
import { bind } from './bind.ts'
import { pageOfQuery, readHandle, timeIn } from './input.ts'
import type { Relay } from './relay.ts'
import { callerOf, linesOf } from './request-context.ts'

export function deliveryFilter(query: QueryOf<typeof WEBHOOKS.listWebhookDeliveries>) {
  return {
    status: query.status,
    event: query.event,
    handle: readHandle(query.handle),
    messageId: query.message_id,
    createdAfter: query.created_after,
    createdBefore: query.created_before,
  }
}

export function deliveryBindings(webhooks: Relay['webhooks']) {
  return [
    bind(WEBHOOKS.testWebhook, ({ params }) => webhooks.sendTest(params.id)),
    bind(WEBHOOKS.listWebhookDeliveries, ({ request, params, query }) => {
      const filter = { ...deliveryFilter(query), lineIds: linesOf(request, query) }
      return webhooks.listDeliveries(params.id, filter, pageOfQuery(query))
    }),
    bind(WEBHOOKS.getWebhookDelivery, ({ request, params }) => {
      const isTrusted = callerOf(request).kind !== 'key'
      return webhooks.getDelivery(params.id, { isTrusted })
    }),
    bind(WEBHOOKS.redeliverWebhookDelivery, ({ params }) => webhooks.redeliver(params.id)),
  ]
}

const moreAfter = (count: number) => (count < CALL_MAX ? {} : { has_more: true as const })

export function replayBindings(webhooks: Relay['webhooks']) {
  return [
    bind(WEBHOOKS.retryFailedDeliveries, async ({ params, body, set, origin }) => {
      const retry = retryIn(body)
      const count = await webhooks.retryFailed(params.id, retry, origin)
      if (retry.isDryRun) return { retried: 0, would_retry: count, ...moreAfter(count) }
      set.status = 202
      return { retried: count, ...moreAfter(count) }
    }),
    bind(WEBHOOKS.replayWebhook, async ({ params, body, set, origin }) => {
      const includesEarlier = body.include_earlier ?? false
      const replay = { ...retryIn(body), since: timeIn('since', body.since), includesEarlier }
      const count = await webhooks.replay(params.id, replay, origin)
      if (replay.isDryRun) return { replayed: 0, would_replay: count, ...moreAfter(count) }
      set.status = 202
      return { replayed: count, ...moreAfter(count) }
    }),
    bind(WEBHOOKS.getReplay, ({ params }) => ({ waiting: webhooks.countReplayed(params.id) })),
    bind(WEBHOOKS.stopReplay, async ({ params, origin }) => ({
      stopped: await webhooks.stopReplay(params.id, origin),
    })),
  ]
}

function retryIn(body: RetryRequest) {
  const { events = null, phone_line_id: lineId = null, dry_run: isDryRun = false } = body
  return { events, lineId, isDryRun }
}
