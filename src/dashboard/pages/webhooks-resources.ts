// What the API answers about webhooks, typed by its schemas.

import type { Static } from 'typebox'

import type * as schemas from '../../http/webhook-schemas.ts'

export type { Webhook } from '../resources.ts'
export type CreatedWebhook = Static<typeof schemas.CreatedWebhook>
export type RotatedSecret = Static<typeof schemas.RotatedSecret>
export type ReplayAnswer = Static<typeof schemas.ReplayAnswer>
export type Delivery = Static<typeof schemas.Delivery>
export type SeenDelivery = Static<typeof schemas.DeliveryWithAttempts>
export type Attempt = SeenDelivery['attempts'][number]
