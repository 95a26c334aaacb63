// A delivery as the page shows it: each attempt with why the receiver did not take it, and what was sent.

import type { SeenDelivery, SentRequest } from '../api/dashboard.ts'
import type { Message } from '../api/messages.ts'
import { RelayError } from '../domain/errors.ts'
import { hintFor } from './dashboard-delivery-hints.ts'
import { headersOf, readableBody } from './dashboard-delivery-request.ts'
import type { DeliveryActions } from './deliveries.ts'
import type { MessageActions } from './messages.ts'
import type { WebhookActions } from './webhooks.ts'

export type SeenDeliveryTools = {
  readonly version: string
  readonly webhooks: Pick<WebhookActions, 'get'> &
    Pick<DeliveryActions, 'getDelivery' | 'getSentBody'>
  readonly messages: Pick<MessageActions, 'get'>
}

const CAUSES: Readonly<Record<string, string>> = {
  scheduled: 'scheduled',
  probe: 'checking if the endpoint is back',
  manual: 'requested by you',
}

/** `knownUrl` is that of its webhook, for whoever reads many of one. Throws `not_found`. */
export function seenDelivery(
  { webhooks }: { readonly webhooks: Pick<SeenDeliveryTools['webhooks'], 'get' | 'getDelivery'> },
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
  return { ...delivery, attempts }
}

/** "84 ms", "1.2 s". */
export function durationWords(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`
}

/** The request of the latest attempt. Throws `not_found`. */
export function sentRequest(tools: SeenDeliveryTools, id: string): SentRequest {
  const { version, webhooks } = tools
  const delivery = webhooks.getDelivery(id, { isTrusted: true })
  const { url } = webhooks.get(delivery.webhook_id)
  const attempt = delivery.attempts.at(-1)
  const body = webhooks.getSentBody(id)
  const message = delivery.message_id === null ? null : messageOf(tools, delivery.message_id)
  return {
    headers: attempt === undefined ? '' : headersOf({ delivery, attempt, url, version }),
    body: body === null ? null : readableBody(body),
    conversation_id: message?.conversation_id ?? null,
  }
}

/** Null where it is not kept any more. */
function messageOf({ messages }: Pick<SeenDeliveryTools, 'messages'>, id: string): Message | null {
  try {
    return messages.get(id)
  } catch (error) {
    if (error instanceof RelayError && error.code === 'not_found') return null
    throw error
  }
}
