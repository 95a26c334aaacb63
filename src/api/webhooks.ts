// Webhooks, their deliveries, and the events that are delivered.

import { Type } from 'typebox'

import { GROUP_CHANGES } from '../domain/conversation.ts'
import { REACTION_TYPES } from '../domain/message-extras.ts'
import { MISSED_MAX } from '../domain/webhook-state.ts'
import {
  ATTEMPT_TRIGGERS,
  DELIVERY_STATUSES,
  DISABLED_REASONS,
  EVENT_NAMES,
} from '../domain/webhook.ts'
import { Alert } from './alerts.ts'
import { MessageAttachment } from './attachments.ts'
import { OptOut } from './contacts.ts'
import { Approval, Edit, MessageError, Reply } from './messages.ts'
import {
  count,
  flag,
  ids,
  ISO_TIME,
  changesOf,
  enumOf,
  id,
  listOf,
  nullable,
  nullish,
  objectSchema,
  time,
  url,
  type Shape,
  text,
  limitIds,
} from './schema.ts'

export const EventName = enumOf('EventName', EVENT_NAMES)
export const DeliveryStatus = enumOf('DeliveryStatus', DELIVERY_STATUSES)

const REQUIRED = {
  url: url({
    minLength: 1,
    maxLength: 2_048,
    description: 'Absolute, http or https. Private and loopback addresses are allowed.',
  }),
  events: Type.Array(EventName, {
    minItems: 1,
    maxItems: 50,
    description: 'The events to deliver, and no others.',
    example: ['message.received', 'message.delivered'],
  }),
}
/** Fields with a default. */
const OPTIONAL = {
  is_active: flag('False pauses: nothing is delivered meanwhile.'),
  description: nullable(Type.String({ maxLength: 500 })),
  attachment_links: flag(
    'Payloads have a `download_url` for each file, which needs no key for 7 days.',
  ),
  phone_line_ids: nullable(
    limitIds('The only lines whose events it gets; null for all lines of its key.'),
  ),
  site_ids: nullable(
    limitIds(
      'The only sites whose events it gets, also after lines have moved; null for all sites of its key.',
    ),
  ),
}

export const WebhookCreation = objectSchema('WebhookCreation', {
  ...REQUIRED,
  ...Type.Partial(Type.Object(OPTIONAL)).properties,
  format: nullish(
    Type.String({
      example: 'sms',
      description:
        'The compatible API in whose form it gets its events, which is then fixed; `hookline`, the own form, if it ' +
        'is left out.',
    }),
  ),
  key_id: nullish(
    id(
      'key',
      'The key that signs its events and sends its replies, for a `format` with accounts. May be left out if there is only one.',
    ),
  ),
})

export const WebhookChanges = changesOf('WebhookChanges', { ...REQUIRED, ...OPTIONAL })
export type WebhookChanges = Shape<typeof WebhookChanges>

const WEBHOOK_FIELDS = {
  id: id('wh', 'Identifies the webhook.'),
  url: url({ description: 'Where its deliveries go.' }),
  events: Type.Array(EventName, { example: ['message.received'] }),
  is_active: Type.Boolean(),
  is_failing: Type.Optional(
    flag(
      'True after five failures in a row, and if this machine has no way to it. Left out otherwise.',
    ),
  ),
  description: nullable(Type.String()),
  format: Type.Optional(
    text('The compatible API in whose form it gets its events. Left out for the own form.', 'sms'),
  ),
  key_id: Type.Optional(id('key', 'The key that signs its events and sends its replies.')),
  attachment_links: Type.Optional(Type.Literal(true)),
  phone_line_ids: Type.Optional(ids('The only lines whose events it gets.')),
  site_ids: Type.Optional(ids('The only sites whose events it gets.')),
  is_public_only: Type.Optional(
    Type.Literal(true, {
      description: 'Set if a key without `webhooks:private` gave the address: it must be public.',
    }),
  ),
  disabled_reason: nullable(
    enumOf(
      'WebhookDisabledReason',
      DISABLED_REASONS,
      'Why the relay stopped delivering: 410 twice, days without success, or a lost secret key.',
    ),
  ),
  paused_at: Type.Optional(time('When it was paused. Along with `events_while_paused` only.')),
  events_while_paused: Type.Optional(
    Type.Integer({
      description: 'Events since then, while there are any and in the answer that resumes it.',
      maximum: MISSED_MAX,
    }),
  ),
  created_by: text("A key's id, `cli` or `dashboard`."),
  created_at: time('When it was created.'),
  updated_at: time('When it was last changed.'),
}

const SECRET = text(
  'Signs every delivery, as specified by Standard Webhooks. Shown only in this answer.',
  'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDVGiBfBaeAfc=',
)

export const Webhook = objectSchema('Webhook', WEBHOOK_FIELDS)
export type Webhook = Shape<typeof Webhook>

export const CreatedWebhook = objectSchema('CreatedWebhook', { ...WEBHOOK_FIELDS, secret: SECRET })
export type CreatedWebhook = Shape<typeof CreatedWebhook>

export const WebhookList = listOf('WebhookList', Webhook)

export const RotatedSecret = objectSchema('RotatedSecret', {
  id: WEBHOOK_FIELDS.id,
  secret: SECRET,
})
export type RotatedSecret = Shape<typeof RotatedSecret>

const RETRY_CHOICE = {
  events: Type.Optional(
    Type.Array(EventName, {
      minItems: 1,
      maxItems: 50,
      description: 'Only these events; all if it is left out.',
      example: ['message.received'],
    }),
  ),
  phone_line_id: Type.Optional(
    id('line', 'Only events of this line; of all lines if it is left out.'),
  ),
  dry_run: Type.Optional(flag('True only counts what would be sent.')),
}
const WOULD = 'How many would be sent; in the answer to a dry run only.'
const MORE = Type.Optional(
  Type.Literal(true, {
    description: 'The call ended at 100,000, and more may wait: call it again.',
  }),
)

export const RetryRequest = objectSchema('RetryFailedRequest', RETRY_CHOICE)
export type RetryRequest = Shape<typeof RetryRequest>

export const RetryAnswer = objectSchema('RetryFailed', {
  retried: count('How many deliveries are pending again.'),
  would_retry: Type.Optional(Type.Integer({ description: WOULD })),
  has_more: MORE,
})
export type RetryAnswer = Shape<typeof RetryAnswer>

export const ReplayRequest = objectSchema('ReplayRequest', {
  since: Type.String({ ...ISO_TIME, description: 'Inclusive; with its time zone.' }),
  include_earlier: Type.Optional(
    flag(
      'True also sends events from before the webhook was created. By default they stay unsent.',
    ),
  ),
  ...RETRY_CHOICE,
})

export const ReplayAnswer = objectSchema('Replay', {
  replayed: count('How many deliveries are pending now.'),
  would_replay: Type.Optional(Type.Integer({ description: WOULD })),
  has_more: MORE,
})
export type ReplayAnswer = Shape<typeof ReplayAnswer>

export const ReplayState = objectSchema('ReplayState', {
  waiting: count('How many replayed deliveries are still pending.'),
})
export type ReplayState = Shape<typeof ReplayState>

export const StoppedReplay = objectSchema('StoppedReplay', {
  stopped: count('How many deliveries will not be sent.'),
})
export type StoppedReplay = Shape<typeof StoppedReplay>

const DELIVERY_FIELDS = {
  id: id('dlv', 'Identifies the delivery.'),
  webhook_id: id('wh', 'Where it goes.'),
  event_id: id('evt', 'Sent as `webhook-id`; the same in every attempt.'),
  event: EventName,
  message_id: nullable(id('msg', 'The message of the event; null for a test.')),
  status: DeliveryStatus,
  attempt_count: count('All attempts, probes and manual ones included.'),
  next_attempt_at: nullable(time('When the next attempt is due.')),
  created_at: time('When the event was recorded.'),
  completed_at: nullable(time('When it succeeded or failed.')),
  last_status_code: nullish(count('The status of the last attempt.', 500)),
  last_error: nullish(text('Why the last attempt got no answer.', 'timeout')),
}

const Attempt = objectSchema('Attempt', {
  number: Type.Integer({ example: 1 }),
  trigger: enumOf('AttemptTrigger', ATTEMPT_TRIGGERS),
  started_at: time('When the request was sent.'),
  duration_ms: Type.Integer({ example: 84 }),
  status_code: nullable(Type.Integer({ example: 200 })),
  error: nullable(text('Why there is no status.', 'timeout')),
  response_excerpt: nullable(
    text('The first 1 KiB of the answer. API keys never see the answer of a private target.'),
  ),
})
export type Attempt = Shape<typeof Attempt>

export const Delivery = objectSchema('Delivery', DELIVERY_FIELDS)
export type Delivery = Shape<typeof Delivery>

export const DeliveryList = listOf('DeliveryList', Delivery)

export const DeliveryWithAttempts = objectSchema('DeliveryWithAttempts', {
  ...DELIVERY_FIELDS,
  attempts: Type.Array(Attempt),
})
export type DeliveryWithAttempts = Shape<typeof DeliveryWithAttempts>

const EVENT_FIELDS = { event: EventName, phone_line_id: id('line', 'The line concerned.') }

const EventGroup = objectSchema('EventGroup', {
  id: id('conv', 'Identifies the conversation.'),
  chat_guid: Type.String({ example: 'iMessage;+;chat831551415676550949' }),
  name: nullable(Type.String({ example: 'Family' })),
  participant_count: count('Without the owner.', 3),
})

const EventReaction = objectSchema('EventReaction', {
  action: enumOf('ReactionAction', ['added', 'removed']),
  type: enumOf('ReactionType', REACTION_TYPES),
  emoji: nullable(text('The character, for the type `emoji`.')),
  handle: text('Who reacted.', '+12025550147'),
  isFromMe: Type.Boolean(),
  part: count('The part of the message that it is about, from 0.'),
  occurred_at: time('When it was given or taken back.'),
})

const EventMessage = objectSchema('EventMessage', {
  id: id('msg', 'Identifies the message.'),
  guid: Type.String({ example: '3C2F8A54-6B1D-4E0A-9F57-1D0B6C9E7A42' }),
  text: Type.String({ example: 'On my way.' }),
  handle: text(
    "The counterpart's number; in a group the sender's, or the group for your own.",
    '+12025550147',
  ),
  chatIdentifier: text('Equals `handle`; in a group it is the group.', '+12025550147'),
  isFromMe: Type.Boolean(),
  service: Type.String({ example: 'iMessage' }),
  isSent: Type.Boolean(),
  isDelivered: Type.Boolean(),
  isRead: Type.Boolean(),
  error: Type.Optional(MessageError),
  // A direct text message has none of the fields below.
  attachments: Type.Optional(Type.Array(MessageAttachment)),
  replyTo: Type.Optional(Reply),
  edits: Type.Optional(Type.Array(Edit, { description: 'Of `message.edited`: earlier texts.' })),
  unsent_at: Type.Optional(time('Of `message.unsent`: when its sender took it back.')),
})

/** The body of most deliveries. The signature is over exactly its bytes. */
export const EventPayload = objectSchema('EventPayload', {
  ...EVENT_FIELDS,
  message: EventMessage,
  reaction: Type.Optional(EventReaction),
  attachment: Type.Optional(MessageAttachment),
  approval: Type.Optional(Approval),
  conversation: Type.Optional(EventGroup),
})
export type EventPayload = Shape<typeof EventPayload>

/** The body of a `message.reaction` if the relay doesn't have the message. */
export const UnplacedReaction = objectSchema('UnplacedReaction', {
  ...EVENT_FIELDS,
  // Several client generators can't handle a field that is always null.
  message: Type.Unsafe<null>(nullable(EventMessage)),
  target_guid: text("The device's guid of the message."),
  reaction: EventReaction,
  conversation: Type.Optional(EventGroup),
})

export const GroupUpdate = objectSchema('GroupUpdate', {
  ...EVENT_FIELDS,
  conversation: EventGroup,
  change: enumOf('GroupChange', GROUP_CHANGES),
  actor: nullable(text('Who did it; null for the owner of the line.')),
  target: nullable(text('The member that it is about.')),
  replaced: Type.Optional(
    text(
      'What the member had before, if a person changed the number: nobody came and nobody left.',
    ),
  ),
  name: nullable(text("The group's name now.", 'Family')),
  occurred_at: time('When it was done.'),
})

export const OptOutChange = objectSchema('OptOutChange', {
  event: EventName,
  phone_line_id: nullable(id('line', 'The line of the message, or of the opt-out.')),
  opt_out: OptOut,
})

export const AlertChange = objectSchema('AlertChange', {
  event: EventName,
  phone_line_id: nullable(id('line', 'The line that the alert is about.')),
  alert: Alert,
})

export type AnyEvent =
  | EventPayload
  | Shape<typeof UnplacedReaction>
  | Shape<typeof GroupUpdate>
  | Shape<typeof OptOutChange>
  | Shape<typeof AlertChange>
