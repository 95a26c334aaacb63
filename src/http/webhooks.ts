import { Elysia } from 'elysia'
import { Type } from 'typebox'

import { Deleted, NoBody } from '../api/schema.ts'
import {
  CreatedWebhook,
  EventPayload,
  GroupUpdate,
  OptOutChange,
  RotatedSecret,
  UnplacedReaction,
  Webhook,
  WebhookChanges,
  WebhookCreation,
  WebhookList,
} from '../api/webhooks.ts'
import { permissionsOf } from '../domain/permissions.ts'
import { INBOX_PATH } from '../domain/webhook-url.ts'
import type { WebhookInput, createSubscriptions } from '../webhooks/subscriptions.ts'
import type { TestInbox } from '../webhooks/test-inbox.ts'
import { anyBody, mayTake, takes } from './body.ts'
import { BY_ID, operation, type Callback } from './operation.ts'
import { PageQuery, readPage } from './query.ts'
import { callerOf, contextOf, linesOf, originOf } from './request-context.ts'
import { respond } from './respond.ts'
import { pathSchema } from './typebox.ts'

export type WebhookActions = ReturnType<typeof createSubscriptions>

const TO = '{$request.body#/url}'

/** The requests of deliveries. */
const EVENTS: readonly Callback[] = [
  {
    id: 'onEvent',
    summary: 'What a webhook gets',
    description:
      'Signed after Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature`. ' +
      'Answer 2xx; anything else is tried again, always with the same `webhook-id`.',
    to: TO,
    body: EventPayload,
  },
  {
    id: 'onGroupUpdated',
    summary: 'What a webhook gets of `group.updated`',
    description: 'A member came or went, or the group has another name or picture.',
    to: TO,
    body: GroupUpdate,
  },
  {
    id: 'onOptOutChanged',
    summary: 'What a webhook gets of `contact.opted_out` and `contact.opted_in`',
    description: 'A person wants no more messages, or wants them again.',
    to: TO,
    body: OptOutChange,
  },
  {
    id: 'onUnplacedReaction',
    summary: 'What a webhook gets of a reaction to an unknown message',
    description: '`message.reaction` where the relay does not have the message.',
    to: TO,
    body: UnplacedReaction,
  },
]

const CREATE = operation('Webhooks', {
  id: 'createWebhook',
  summary: 'Create a webhook',
  description: 'The signing secret is shown only in this answer.',
  scope: 'webhooks:write',
  callbacks: EVENTS,
  answers: { 201: CreatedWebhook },
  errors: ['storage_full'],
})

const LIST = operation('Webhooks', {
  id: 'listWebhooks',
  summary: 'List webhooks',
  description: 'Newest first, paused and disabled ones too.',
  scope: 'webhooks:read',
  query: PageQuery,
  answers: { 200: WebhookList },
})

const GET = operation('Webhooks', {
  id: 'getWebhook',
  summary: 'Read a webhook',
  description: 'Without its secret.',
  scope: 'webhooks:read',
  answers: { 200: Webhook },
  errors: ['not_found'],
})

const UPDATE = operation('Webhooks', {
  id: 'updateWebhook',
  summary: 'Change a webhook',
  description: 'Fields that are left out stay as they are.',
  scope: 'webhooks:write',
  answers: { 200: Webhook },
  errors: ['not_found', 'storage_full'],
})

const REMOVE = operation('Webhooks', {
  id: 'deleteWebhook',
  summary: 'Delete a webhook',
  description: 'At once and permanently: pending deliveries are not sent either.',
  scope: 'webhooks:write',
  answers: { 200: Deleted },
  errors: ['not_found'],
})

const ROTATE = operation('Webhooks', {
  id: 'rotateWebhookSecret',
  summary: 'Give a webhook a new secret',
  description: 'The old one stays valid for 24 hours. The new one is shown only in this answer.',
  scope: 'webhooks:write',
  answers: { 200: RotatedSecret },
  errors: ['not_found', 'storage_full'],
})

export function webhookRoutes(webhooks: WebhookActions) {
  return new Elysia({ prefix: '/api/v1/webhooks' })
    .post(
      '',
      ({ request, body, set }) => {
        set.status = 201
        const { url, events } = body
        const input = { ...settingsIn(body), url, events }
        return webhooks.create(input, originOf(request), permissionsOf(callerOf(request)))
      },
      { ...takes(WebhookCreation), ...CREATE },
    )
    .get('', ({ request }) => webhooks.list(readPage(request), linesOf(request)), LIST)
    .get('/:id', ({ params }) => webhooks.read(params.id), { ...BY_ID, ...GET })
    .put(
      '/:id',
      ({ request, params, body }) =>
        webhooks.update(
          params.id,
          settingsIn(body),
          originOf(request),
          permissionsOf(callerOf(request)),
        ),
      { ...BY_ID, ...takes(WebhookChanges), ...UPDATE },
    )
    .delete(
      '/:id',
      async ({ request, params }) => {
        await webhooks.remove(params.id, originOf(request))
        return { id: params.id, deleted: true as const }
      },
      { ...BY_ID, ...REMOVE },
    )
    .post(
      '/:id/rotate-secret',
      ({ request, params }) => webhooks.rotateSecret(params.id, originOf(request)),
      { ...BY_ID, ...mayTake(NoBody), ...ROTATE },
    )
}

function settingsIn(body: WebhookChanges): WebhookInput {
  const { url, events, is_active, description, attachment_links, phone_line_ids } = body
  return {
    url,
    events,
    isActive: is_active,
    description,
    attachmentLinks: attachment_links,
    lineIds: phone_line_ids,
  }
}

const TokenPath = Type.Object({ token: Type.String() })

/** What a webhook of the relay itself sends, for its owner to look at. */
export function inboxRoutes(inbox: TestInbox) {
  return new Elysia().post(
    `${INBOX_PATH}:token`,
    async ({ request, params }) => {
      const webhookId = inbox.webhookOf(params.token)
      inbox.receive(webhookId, request.headers, await anyBody(request))
      return respond(null, { status: 204, requestId: contextOf(request).requestId })
    },
    { parse: 'none', params: pathSchema(TokenPath), detail: { hide: true } },
  )
}
