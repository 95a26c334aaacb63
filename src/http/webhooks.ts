import { Elysia } from 'elysia'
import { Type } from 'typebox'

import { WEBHOOKS } from '../api/operations/webhooks.ts'
import { permissionsOf } from '../domain/permissions.ts'
import { INBOX_PATH } from '../domain/webhook-url.ts'
import { bind, bindRemoval, pathSchema } from './bind.ts'
import { anyBody, pageOfQuery } from './input.ts'
import type { Relay } from './relay.ts'
import { callerOf } from './request-context.ts'
import { respondTo } from './respond.ts'

export function webhookBindings(webhooks: Relay['webhooks']) {
  return [
    bind(WEBHOOKS.createWebhook, ({ request, body, origin }) =>
      webhooks.create(body, origin, permissionsOf(callerOf(request))),
    ),
    bind(WEBHOOKS.listWebhooks, ({ request, query }) =>
      webhooks.list(pageOfQuery(query), permissionsOf(callerOf(request)).limits),
    ),
    bind(WEBHOOKS.getWebhook, ({ params }) => webhooks.read(params.id)),
    bind(WEBHOOKS.updateWebhook, ({ request, params, body, origin }) =>
      webhooks.update(params.id, body, origin, permissionsOf(callerOf(request))),
    ),
    bindRemoval(WEBHOOKS.deleteWebhook, webhooks),
    bind(WEBHOOKS.rotateWebhookSecret, ({ params, origin }) =>
      webhooks.rotateSecret(params.id, origin),
    ),
  ]
}

/** Receives deliveries in a test inbox. */
export function inboxRoutes({ inbox }: Relay['webhooks']) {
  return new Elysia().post(
    `${INBOX_PATH}:token`,
    async ({ request, params }) => {
      const webhookId = inbox.webhookOf(params.token)
      inbox.receive(webhookId, request.headers, await anyBody(request))
      return respondTo(request, null, { status: 204 })
    },
    {
      parse: 'none',
      params: pathSchema(Type.Object({ token: Type.String() })),
      detail: { hide: true },
    },
  )
}
