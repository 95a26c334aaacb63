// The shapes of webhooks and of what is delivered to them.

import { Type } from 'typebox'

import { DELIVERY_STATUSES, EVENT_NAMES } from '../domain/webhook.ts'
import { ISO_TIME, id, listOf, nullable, shape, time, toldWord, url, word } from './schema-parts.ts'
import { MessageError } from './schemas.ts'

const DESCRIPTION_LENGTH_MAX = 500
const URL_LENGTH_MAX = 2_048

const WEBHOOK_SETTINGS = {
  url: url({
    minLength: 1,
    maxLength: URL_LENGTH_MAX,
    description: 'Absolute, http or https. Private and loopback addresses are allowed.',
  }),
  events: Type.Array(word('EventName', EVENT_NAMES), {
    minItems: 1,
    maxItems: 50,
    description: 'What the webhook wants to hear of. `message.failed` is opt-in.',
    example: ['message.received', 'message.delivered'],
  }),
  is_active: Type.Boolean({ description: 'False pauses: new events are not queued for it.' }),
  description: nullable(Type.String({ maxLength: DESCRIPTION_LENGTH_MAX })),
}

export const WebhookCreation = shape('WebhookCreation', {
  url: WEBHOOK_SETTINGS.url,
  events: WEBHOOK_SETTINGS.events,
  is_active: Type.Optional(WEBHOOK_SETTINGS.is_active),
  description: Type.Optional(WEBHOOK_SETTINGS.description),
})

export const WebhookChanges = Type.Partial(Type.Object(WEBHOOK_SETTINGS), {
  title: 'WebhookChanges',
  additionalProperties: false,
  minProperties: 1,
})

const WEBHOOK_FIELDS = {
  id: id('wh', 'Identifies the webhook.'),
  url: url({ description: 'Where its deliveries go.' }),
  events: Type.Array(toldWord('EventName', EVENT_NAMES), { example: ['message.received'] }),
  is_active: Type.Boolean(),
  is_failing: Type.Optional(
    Type.Boolean({ description: 'True where the last attempt failed; left out otherwise.' }),
  ),
  description: nullable(Type.String()),
  disabled_reason: nullable(
    toldWord(
      'WebhookDisabledReason',
      ['gone', 'failing', 'secret_unreadable'],
      'Why the relay stopped delivering: 410 twice, days without success, or a lost secret key.',
    ),
  ),
  created_by: Type.String({ description: "A key's id, `cli` or `dashboard`." }),
  created_at: time('When it was made.'),
  updated_at: time('When it was last changed.'),
}

const SECRET = Type.String({
  description: 'Signs every delivery, after Standard Webhooks. Told in this answer only.',
  example: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDVGiBfBaeAfc=',
})

export const Webhook = shape('Webhook', WEBHOOK_FIELDS)
export const CreatedWebhook = shape('CreatedWebhook', { ...WEBHOOK_FIELDS, secret: SECRET })
export const WebhookList = listOf('WebhookList', Webhook)
export const RotatedSecret = shape('RotatedSecret', { id: WEBHOOK_FIELDS.id, secret: SECRET })

const RETRY_CHOICE = {
  events: Type.Optional(
    Type.Array(word('EventName', EVENT_NAMES), {
      minItems: 1,
      maxItems: 50,
      description: 'Only these events; without it, all.',
      example: ['message.received'],
    }),
  ),
  phone_line_id: Type.Optional(id('line', 'Only events of this line; without it, of all.')),
  dry_run: Type.Optional(
    Type.Boolean({ description: 'True counts what would be sent, and changes nothing.' }),
  ),
}
const WOULD = 'How many would go; in the answer to a dry run only.'

export const RetryRequest = shape('RetryFailedRequest', RETRY_CHOICE)
export const RetryAnswer = shape('RetryFailed', {
  retried: Type.Integer({ description: 'How many deliveries are on their way again.' }),
  would_retry: Type.Optional(Type.Integer({ description: WOULD })),
})
export const ReplayRequest = shape('ReplayRequest', {
  since: Type.String({ ...ISO_TIME, description: 'From when on, inclusive; with its zone.' }),
  include_earlier: Type.Optional(
    Type.Boolean({
      description:
        'True sends events from before the webhook was created, too. Without it they stay unsent.',
    }),
  ),
  ...RETRY_CHOICE,
})
export const ReplayAnswer = shape('Replay', {
  replayed: Type.Integer({ description: 'How many deliveries are on their way.' }),
  would_replay: Type.Optional(Type.Integer({ description: WOULD })),
})
export const ReplayState = shape('ReplayState', {
  waiting: Type.Integer({ description: 'How many replayed deliveries are still pending.' }),
})
export const StoppedReplay = shape('StoppedReplay', {
  stopped: Type.Integer({ description: 'How many deliveries will not be sent.' }),
})

const DELIVERY_FIELDS = {
  id: id('dlv', 'Identifies the delivery.'),
  webhook_id: id('wh', 'Where it goes.'),
  event_id: Type.String({
    description: 'Sent as `webhook-id`; the same in every attempt.',
    example: 'evt_01k5c3qv7yfxn8t2w9r4d6m0ab',
  }),
  event: toldWord('EventName', EVENT_NAMES),
  message_id: nullable(id('msg', 'The message it speaks of; null for a test.')),
  status: toldWord('DeliveryStatus', DELIVERY_STATUSES),
  attempt_count: Type.Integer({ description: 'Every try, probes and manual ones included.' }),
  next_attempt_at: nullable(time('When it is tried next.')),
  created_at: time('When the event was written down.'),
  completed_at: nullable(time('When it succeeded or was given up.')),
  last_status_code: Type.Optional(
    nullable(Type.Integer({ description: 'What the last attempt was answered.', example: 500 })),
  ),
  last_error: Type.Optional(
    nullable(
      Type.String({ description: 'Why the last attempt got no answer.', example: 'timeout' }),
    ),
  ),
}

const Attempt = shape('Attempt', {
  number: Type.Integer({ example: 1 }),
  trigger: toldWord('AttemptTrigger', ['scheduled', 'probe', 'manual']),
  started_at: time('When the request went out.'),
  duration_ms: Type.Integer({ example: 84 }),
  status_code: nullable(Type.Integer({ example: 200 })),
  error: nullable(Type.String({ description: 'Why there is no status.', example: 'timeout' })),
  response_excerpt: nullable(
    Type.String({
      description: 'The first 1 KiB of the answer. What a private target says is not told to keys.',
    }),
  ),
})

export const Delivery = shape('Delivery', DELIVERY_FIELDS)
export const DeliveryList = listOf('DeliveryList', Delivery)
export const DeliveryWithAttempts = shape('DeliveryWithAttempts', {
  ...DELIVERY_FIELDS,
  attempts: Type.Array(Attempt),
})

/** The body of every delivery: the very bytes that are signed. */
export const EventPayload = shape('EventPayload', {
  event: word('EventName', EVENT_NAMES),
  phone_line_id: id('line', 'The line concerned.'),
  message: shape('EventMessage', {
    id: id('msg', 'Identifies the message.'),
    guid: Type.String({ example: '3C2F8A54-6B1D-4E0A-9F57-1D0B6C9E7A42' }),
    text: Type.String({ example: 'On my way.' }),
    handle: Type.String({ description: "The counterpart's number.", example: '+12025550147' }),
    chatIdentifier: Type.String({ description: 'Equals `handle`.', example: '+12025550147' }),
    isFromMe: Type.Boolean(),
    service: Type.String({ example: 'iMessage' }),
    isSent: Type.Boolean(),
    isDelivered: Type.Boolean(),
    isRead: Type.Boolean(),
    error: Type.Optional(MessageError),
  }),
})
