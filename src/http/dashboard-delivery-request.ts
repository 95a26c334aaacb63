// What went out in an attempt, as far as it can be told: the relay does not keep the signature.

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

/** The body that was sent, with line breaks for the reader. */
export function readableBody(body: string): string {
  return JSON.stringify(JSON.parse(body), null, 2)
}
