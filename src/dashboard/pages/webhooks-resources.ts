// What the relay answers about webhooks, typed by the schemas of the API; and what it tells this page
// beside that.

import type { Static } from 'typebox'

import type * as schemas from '../../http/webhook-schemas.ts'

export type CreatedWebhook = Static<typeof schemas.CreatedWebhook>
export type RotatedSecret = Static<typeof schemas.RotatedSecret>
export type RetryAnswer = Static<typeof schemas.RetryAnswer>
export type ReplayAnswer = Static<typeof schemas.ReplayAnswer>
export type ReplayState = Static<typeof schemas.ReplayState>
export type StoppedReplay = Static<typeof schemas.StoppedReplay>
export type Delivery = Static<typeof schemas.Delivery>

export type Attempt = Static<typeof schemas.DeliveryWithAttempts>['attempts'][number] & {
  /** Why the receiver did not take it, and what can be done about that; null where it did. */
  readonly hint: { readonly title: string; readonly advice: string } | null
  /** How long it took, and why it was made just then: "84 ms", "by the schedule". */
  readonly duration: string
  readonly cause: string
}

export type SeenDelivery = Delivery & { readonly attempts: readonly Attempt[] }

/** How it went lately with a webhook. */
export type WebhookDay = {
  readonly webhook_id: string
  /** "41 of 43 delivered". */
  readonly words: string
  readonly waiting: number
  /** The newest delivery that was tried, where that failed so far. */
  readonly failing: SeenDelivery | null
  /** Why the relay delivers no more, and what is to be done; null while it does. */
  readonly stopped: string | null
}

/** The request of a delivery, as far as it can be told. */
export type SentRequest = {
  readonly headers: string
  /** Null where its event is not kept any more. */
  readonly body: string | null
  readonly conversation_id: string | null
}
