// What went out in an attempt, as far as it can be told: the relay keeps neither the signature nor a
// copy of the request.

import type { MessageResource } from '../messages/resource.ts'
import { parseIsoTime } from '../system/iso-time.ts'

type Sent = {
  readonly delivery: { readonly event_id: string }
  readonly attempt: { readonly started_at: string }
  readonly url: string
  /** The version of the relay. */
  readonly version: string
}

/** The request line and headers, without what is the secret's. */
export function headersOf({ delivery, attempt, url, version }: Sent): string {
  const timestamp = Math.floor((parseIsoTime(attempt.started_at) ?? 0) / 1_000)
  return [
    `POST ${url}`,
    'content-type: application/json',
    `user-agent: Hookline/${version}`,
    `webhook-id: ${delivery.event_id}`,
    `webhook-timestamp: ${timestamp}`,
    'webhook-signature: v1,… (made with the secret, and not kept)',
  ].join('\n')
}

/** The body, made of the message as `webhooks/payload.ts` makes it, with line breaks for the reader. */
export function bodyOf(event: string, message: MessageResource): string {
  const flags = flagsOf(event, message)
  const { isFromMe, isSent, isDelivered, isRead } = flags
  const told = {
    id: message.id,
    guid: message.guid,
    text: message.text,
    handle: message.handle,
    chatIdentifier: message.handle,
    isFromMe,
    service: message.service,
    isSent,
    isDelivered,
    isRead,
    ...(event === 'message.failed' ? { error: message.error } : {}),
  }
  return JSON.stringify({ event, phone_line_id: message.phone_line_id, message: told }, null, 2)
}

function flagsOf(event: string, message: MessageResource) {
  const isRead = event === 'message.read'
  const isDelivered = isRead || event === 'message.delivered' || event === 'message.received'
  if (event === 'message.failed') {
    return {
      isFromMe: message.direction === 'outbound',
      isSent: message.sent_at !== null,
      isDelivered: message.delivered_at !== null,
      isRead: message.read_at !== null,
    }
  }
  return { isFromMe: event !== 'message.received', isSent: true, isDelivered, isRead }
}
