// How it went lately with each webhook, out of its newest deliveries.

import type { WebhookDay } from '../api/dashboard.ts'
import { grouped } from '../domain/number-words.ts'
import type { DisabledReason } from '../domain/webhook.ts'
import { parseIsoTime } from '../system/iso-time.ts'
import { seenDelivery } from './dashboard-deliveries.ts'
import type { DeliveryActions } from './deliveries.ts'
import type { WebhookActions } from './webhooks.ts'

type Tools = {
  readonly webhooks: Pick<WebhookActions, 'list' | 'get'> &
    Pick<DeliveryActions, 'listDeliveries' | 'getDelivery'>
}

type Delivery = ReturnType<DeliveryActions['listDeliveries']>['data'][number]

/** A relay has a handful of webhooks. */
const WEBHOOKS_MAX = 200
const LOOKED_AT = 50
/** While a receiver fails the newest ones wait untried, behind those that it fails at. */
const LOOKED_AT_FOR_TRIED = 200
const DAY_MS = 86_400_000

const RESUME = 'Events are kept for 30 days. Fix the problem, and turn the webhook back on.'

const STOPPED: Readonly<Record<DisabledReason, string>> = {
  gone: `Endpoint returned 410 Gone twice. ${RESUME}`,
  failing: `The endpoint accepted nothing for five days. ${RESUME}`,
  secret_unreadable:
    "The file secret.key doesn't match its signing secret. Restore the old file and turn the webhook " +
    'back on, or create a new secret.',
}

/** `now` is in milliseconds since 1970. */
export function daysOf({ webhooks }: Tools, now: number): readonly WebhookDay[] {
  return webhooks
    .list({ limit: WEBHOOKS_MAX, cursor: null })
    .data.map(({ id, disabled_reason }) => {
      const read = (limit: number) => webhooks.listDeliveries(id, {}, { limit, cursor: null })
      const { data, has_more } = read(LOOKED_AT)
      const isDeeper = has_more && newestTried(data) === undefined
      const newest = newestTried(isDeeper ? read(LOOKED_AT_FOR_TRIED).data : data)
      const isFailing = newest !== undefined && newest.status !== 'succeeded'
      const failing = isFailing ? seenDelivery({ webhooks }, newest.id) : null
      const stopped = disabled_reason === null ? null : STOPPED[disabled_reason]
      return { webhook_id: id, ...summaryOf(data, has_more, now), failing, stopped }
    })
}

function newestTried(deliveries: readonly Delivery[]): Delivery | undefined {
  return deliveries.find(({ attempt_count }) => attempt_count > 0)
}

/** `hasMore`: there are older ones than `deliveries`. `now` is in milliseconds since 1970. */
function summaryOf(
  deliveries: readonly Delivery[],
  hasMore: boolean,
  now: number,
): Pick<WebhookDay, 'words' | 'waiting'> {
  const ofDay = deliveries.filter(
    ({ created_at }) => (parseIsoTime(created_at) ?? 0) >= now - DAY_MS,
  )
  if (deliveries.length === 0) return { words: 'No events yet', waiting: 0 }
  if (ofDay.length === 0) return { words: 'None in 24 hours', waiting: 0 }
  const count = (status: string) => ofDay.filter((one) => one.status === status).length
  const isCut = hasMore && ofDay.length === deliveries.length
  const all = isCut ? `the last ${grouped(ofDay.length)}` : grouped(ofDay.length)
  return { words: `${grouped(count('succeeded'))} of ${all} delivered`, waiting: count('pending') }
}
