// Webhooks and deliveries as the dashboard shows them.

import type { InboxRequest, SeenDelivery, SentRequest, WebhookDay } from '../api/dashboard.ts'
import type { Message } from '../api/messages.ts'
import { DASHBOARD } from '../api/operations/dashboard.ts'
import { webhookFormat } from '../compat/apis.ts'
import { RelayError } from '../domain/errors.ts'
import { type DisabledReason, WEBHOOKS_MAX } from '../domain/webhook.ts'
import { parseIsoTime } from '../system/iso-time.ts'
import { VERSION } from '../system/version.ts'
import { hintFor } from '../webhooks/hints.ts'
import type { TestInbox } from '../webhooks/test-inbox.ts'
import { bind } from './bind.ts'
import { deliveryFilter } from './deliveries.ts'
import { pageOfQuery } from './input.ts'
import type { Relay } from './relay.ts'
import { linesOf } from './request-context.ts'

export function webhookViewBindings({ reading, webhooks }: Pick<Relay, 'reading' | 'webhooks'>) {
  const { inbox } = webhooks
  return [
    bind(DASHBOARD.listSeenDeliveries, ({ request, params, query }) => {
      const { url } = webhooks.get(params.id)
      const filter = { ...deliveryFilter(query), lineIds: linesOf(request, query) }
      const list = webhooks.listDeliveries(params.id, filter, pageOfQuery(query))
      return { ...list, data: list.data.map(({ id }) => seenDelivery(webhooks, id, url)) }
    }),
    bind(DASHBOARD.newTestInbox, () => ({ url: inbox.newUrl() })),
    bind(DASHBOARD.listInbox, ({ params }) => ({ data: inbox.list(params.id) })),
    bind(DASHBOARD.getInboxEntry, ({ params }) => readable(inbox.read(params.id, params.entry))),
    bind(DASHBOARD.listWebhookDays, () => ({ data: daysOf(webhooks, inbox) })),
    bind(DASHBOARD.listMessageDeliveries, ({ params }) => deliveriesOf(webhooks, params.id)),
    bind(DASHBOARD.getSeenDelivery, ({ params }) => seenDelivery(webhooks, params.id)),
    bind(DASHBOARD.getSentRequest, ({ params }) => sentRequest(webhooks, reading, params.id)),
  ]
}

type Webhooks = Relay['webhooks']

/** The reads that a `SeenDelivery` needs. */
type DeliveryReads = Pick<Webhooks, 'get' | 'getDelivery' | 'describe'>

/** Adds line breaks to a body that is JSON. */
function readable({ headers, body }: InboxRequest): InboxRequest {
  try {
    return { headers, body: readableBody(body) }
  } catch {
    return { headers, body }
  }
}

function deliveriesOf(webhooks: Webhooks, messageId: string) {
  const data = webhooks
    .list(ALL_WEBHOOKS)
    .data.flatMap(
      ({ id }) => webhooks.listDeliveries(id, { messageId }, { limit: 200, cursor: null }).data,
    )
  return { data: data.map(({ id }) => seenDelivery(webhooks, id)) }
}

type ListedDelivery = ReturnType<Webhooks['listDeliveries']>['data'][number]

export const ALL_WEBHOOKS = { limit: WEBHOOKS_MAX, cursor: null }

const RESUME = 'Events are kept for 30 days. Fix the problem, and resume the webhook.'

const STOPPED: Readonly<Record<DisabledReason, string>> = {
  gone: `Endpoint returned 410 Gone twice. ${RESUME}`,
  failing: `The endpoint accepted nothing for five days. ${RESUME}`,
  secret_unreadable:
    "The file secret.key doesn't match its signing secret. Restore the old file and resume the webhook, " +
    'or create a new secret.',
}

export function daysOf(
  webhooks: Pick<Webhooks, 'list' | 'listDeliveries' | 'receiver'> & DeliveryReads,
  inbox: Pick<TestInbox, 'isAt'>,
): readonly WebhookDay[] {
  return webhooks.list(ALL_WEBHOOKS).data.map(({ id, url, disabled_reason }) => {
    const read = (limit: number) => webhooks.listDeliveries(id, {}, { limit, cursor: null })
    const { data, has_more } = read(50)
    // While an endpoint fails, its newest deliveries wait untried behind the failing ones.
    const isDeeper = has_more && newestTried(data) === undefined
    const newest = newestTried(isDeeper ? read(200).data : data)
    const isFailing = newest !== undefined && newest.status !== 'succeeded'
    const failing = isFailing ? seenDelivery(webhooks, newest.id, url) : null
    const stopped = disabled_reason === null ? null : STOPPED[disabled_reason]
    const is_test_inbox = inbox.isAt(url)
    return { webhook_id: id, ...webhooks.receiver(id), failing, is_test_inbox, stopped }
  })
}

function newestTried(deliveries: readonly ListedDelivery[]): ListedDelivery | undefined {
  return deliveries.find(({ attempt_count }) => attempt_count > 0)
}

const CAUSES: Readonly<Record<string, string>> = {
  scheduled: 'scheduled',
  probe: 'checking if the endpoint is back',
  manual: 'requested by you',
}

/** `knownUrl` is the webhook's URL, if the caller has it. Throws `not_found`. */
function seenDelivery(
  webhooks: DeliveryReads,
  id: string,
  knownUrl: string | null = null,
): SeenDelivery {
  const delivery = webhooks.getDelivery(id, { isTrusted: true })
  const url = knownUrl ?? webhooks.get(delivery.webhook_id).url
  const attempts = delivery.attempts.map((attempt) => ({
    ...attempt,
    hint: hintFor(attempt, url),
    duration: durationWords(attempt.duration_ms),
    cause: CAUSES[attempt.trigger] ?? attempt.trigger,
  }))
  return { ...delivery, attempts, ...webhooks.describe(id) }
}

/** Such as "84 ms" or "1.2 s". */
export function durationWords(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`
}

/** The request of the latest attempt. Throws `not_found`. */
function sentRequest(webhooks: Webhooks, reading: Relay['reading'], id: string): SentRequest {
  const delivery = webhooks.getDelivery(id, { isTrusted: true })
  const { url, format } = webhooks.get(delivery.webhook_id)
  const { contentType } = webhookFormat(format ?? null) ?? { contentType: 'application/json' }
  const attempt = delivery.attempts.at(-1)
  const body = webhooks.getSentBody(id)
  const message = delivery.message_id === null ? null : messageOf(reading, delivery.message_id)
  return {
    headers:
      attempt === undefined
        ? ''
        : headersOf({ delivery, attempt, url, version: VERSION, contentType }),
    body: body === null ? null : readableBody(body),
    conversation_id: message?.conversation_id ?? null,
  }
}

/** The message; null if it is no longer kept. */
function messageOf({ messages }: Relay['reading'], id: string): Message | null {
  try {
    return messages.get(id)
  } catch (error) {
    if (error instanceof RelayError && error.code === 'not_found') return null
    throw error
  }
}

type Sent = {
  readonly delivery: { readonly event_id: string }
  readonly attempt: { readonly started_at: string }
  readonly url: string
  readonly version: string
  readonly contentType: string
}

/** The request line and headers, without the signature. */
export function headersOf({ delivery, attempt, url, version, contentType }: Sent): string {
  const timestamp = Math.floor((parseIsoTime(attempt.started_at) ?? 0) / 1_000)
  return [
    `POST ${url}`,
    `content-type: ${contentType}`,
    `user-agent: Hookline/${version}`,
    `webhook-id: ${delivery.event_id}`,
    `webhook-timestamp: ${timestamp}`,
    'webhook-signature: v1,… (made with the secret, and not kept)',
  ].join('\n')
}

/** Adds line breaks to a JSON body; returns any other body, such as a form, as it is. */
export function readableBody(body: string): string {
  return body.startsWith('{') ? JSON.stringify(JSON.parse(body), null, 2) : body
}
