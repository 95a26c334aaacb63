import { Type } from 'typebox'

import { type Callback, CHANGE, READ, NO_BODY, rows } from '../operation.ts'
import { PAGE_QUERY, PageQuery, textParameter, timeParameter } from '../query.ts'
import { Deleted, id } from '../schema.ts'
import * as api from '../webhooks.ts'

const TO = '{$request.body#/url}'

const EVENTS: readonly Callback[] = [
  {
    id: 'onEvent',
    summary: 'What a webhook gets',
    description:
      'Signed after Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature`. ' +
      'Answer 2xx; anything else is tried again, always with the same `webhook-id`.',
    to: TO,
    body: api.EventPayload,
  },
  {
    id: 'onGroupUpdated',
    summary: 'What a webhook gets of `group.updated`',
    description: 'A member came or went, or the group has another name or picture.',
    to: TO,
    body: api.GroupUpdate,
  },
  {
    id: 'onOptOutChanged',
    summary: 'What a webhook gets of `contact.opted_out` and `contact.opted_in`',
    description: 'A person wants no more messages, or wants them again.',
    to: TO,
    body: api.OptOutChange,
  },
  {
    id: 'onAlertChanged',
    summary: 'What a webhook gets of `alert.raised` and `alert.resolved`',
    description: 'A problem of the relay has lasted for the time that you chose, or is over.',
    to: TO,
    body: api.AlertChange,
  },
  {
    id: 'onUnplacedReaction',
    summary: 'What a webhook gets of a reaction to an unknown message',
    description: '`message.reaction` if the relay does not have the message.',
    to: TO,
    body: api.UnplacedReaction,
  },
]

const SHARED = { callers: 'keys', tag: 'Webhooks', limits: ['lines'] } as const
const READS = { ...SHARED, ...READ, scope: 'webhooks:read', compress: true } as const
const CHANGES = { ...SHARED, ...CHANGE, scope: 'webhooks:write' } as const

export const DeliveryQuery = Type.Object({
  ...PAGE_QUERY,
  status: Type.Optional(api.DeliveryStatus),
  event: Type.Optional(api.EventName),
  handle: textParameter('The counterpart of the conversation.', '+12025550147'),
  message_id: Type.Optional(id('msg', 'Deliveries of events of this message.')),
  created_after: timeParameter('Exclusive.'),
  created_before: timeParameter('Exclusive.'),
  site_id: Type.Optional(id('site', 'Deliveries of events of the lines of this site.')),
})

const ERRORS = ['not_found', 'phone_line_not_found', 'webhook_inactive', 'storage_full'] as const

export const WEBHOOKS = rows({
  createWebhook: {
    ...CHANGES,
    route: 'POST /webhooks',
    summary: 'Create a webhook',
    description: 'The signing secret is shown only in this answer.',
    callbacks: EVENTS,
    answers: { 201: api.CreatedWebhook },
    errors: ['storage_full'],
    body: api.WebhookCreation,
    audit: 'webhook.created',
  },
  listWebhooks: {
    ...READS,
    route: 'GET /webhooks',
    summary: 'List webhooks',
    description: 'Newest first, paused and disabled ones too.',
    query: PageQuery,
    answers: { 200: api.WebhookList },
  },
  getWebhook: {
    ...READS,
    route: 'GET /webhooks/:id',
    summary: 'Read a webhook',
    description: 'Without its secret.',
    answers: { 200: api.Webhook },
    errors: ['not_found'],
  },
  updateWebhook: {
    ...CHANGES,
    route: 'PUT /webhooks/:id',
    summary: 'Change a webhook',
    description: 'Fields that are left out stay as they are.',
    answers: { 200: api.Webhook },
    errors: ['not_found', 'storage_full'],
    body: api.WebhookChanges,
    password: 'if it leads elsewhere',
    audit: 'webhook.changed',
  },
  deleteWebhook: {
    ...CHANGES,
    route: 'DELETE /webhooks/:id',
    summary: 'Delete a webhook',
    description: 'At once and permanently: pending deliveries are not sent either.',
    answers: { 200: Deleted },
    errors: ['not_found'],
    audit: 'webhook.deleted',
  },
  rotateWebhookSecret: {
    ...CHANGES,
    route: 'POST /webhooks/:id/rotate-secret',
    summary: 'Give a webhook a new secret',
    description: 'The old one stays valid for 24 hours. The new one is shown only in this answer.',
    answers: { 200: api.RotatedSecret },
    errors: ['not_found', 'storage_full'],
    ...NO_BODY,
    audit: 'webhook.secret_rotated',
  },
  testWebhook: {
    ...CHANGES,
    route: 'POST /webhooks/:id/test',
    summary: 'Send a test event',
    description: "A sample of the webhook's first event; its event id begins with `evt_test_`.",
    answers: { 202: api.Delivery },
    errors: ['not_found', 'webhook_inactive', 'storage_full'],
    ...NO_BODY,
    password: 'no',
    audit: null,
  },
  listWebhookDeliveries: {
    ...READS,
    route: 'GET /webhooks/:id/deliveries',
    summary: 'List the deliveries of a webhook',
    description: 'Newest first.',
    query: DeliveryQuery,
    answers: { 200: api.DeliveryList },
    errors: ['not_found'],
  },
  getWebhookDelivery: {
    ...READS,
    route: 'GET /webhook-deliveries/:id',
    summary: 'Read a delivery with its attempts',
    description: 'With the answer of the endpoint to each attempt.',
    answers: { 200: api.DeliveryWithAttempts },
    errors: ['not_found'],
  },
  redeliverWebhookDelivery: {
    ...CHANGES,
    route: 'POST /webhook-deliveries/:id/redeliver',
    summary: 'Retry a delivery',
    description: 'At once, with the same event id.',
    answers: { 202: api.Delivery },
    errors: ['not_found', 'webhook_inactive', 'storage_full'],
    ...NO_BODY,
    password: 'no',
    audit: null,
  },
  retryFailedDeliveries: {
    ...CHANGES,
    route: 'POST /webhooks/:id/retry-failed',
    summary: 'Retry failed deliveries',
    description:
      'Retries every failed delivery of this webhook, with a new schedule of attempts: at most 100,000 ' +
      'in one call.',
    answers: { 200: api.RetryAnswer, 202: api.RetryAnswer },
    errors: ERRORS,
    body: api.RetryRequest,
    isBodyOptional: true,
    password: 'no',
    audit: 'webhook.retried',
  },
  replayWebhook: {
    ...CHANGES,
    route: 'POST /webhooks/:id/replay',
    summary: 'Send past events',
    description:
      'Sends events since a time that failed, or that were never queued for this webhook. Events from ' +
      'before the webhook was created stay unsent unless `include_earlier` is true. At most 100,000 ' +
      'in one call; the same call again continues with the rest.',
    answers: { 200: api.ReplayAnswer, 202: api.ReplayAnswer },
    errors: ERRORS,
    body: api.ReplayRequest,
    audit: 'webhook.replayed',
  },
  getReplay: {
    ...READS,
    route: 'GET /webhooks/:id/replay',
    summary: 'Read the progress of a replay',
    description: 'How many deliveries of replays and retries are still pending.',
    answers: { 200: api.ReplayState },
    errors: ['not_found'],
  },
  stopReplay: {
    ...CHANGES,
    route: 'DELETE /webhooks/:id/replay',
    summary: 'Stop a replay',
    description:
      'Cancels pending deliveries of replays and retries. A delivery that had failed before is failed ' +
      'again; an event that was not sent yet is as if it had never been replayed. Requests in flight ' +
      'are not aborted.',
    answers: { 200: api.StoppedReplay },
    errors: ['not_found', 'storage_full'],
    audit: 'webhook.replay_stopped',
  },
})
