// What the page is told ready to be shown: it would otherwise carry the knowledge for that in its script.

import { Elysia } from 'elysia'

import { checkRoutes } from './dashboard-checks.ts'
import { contactCostRoutes } from './dashboard-contact-cost.ts'
import { stateRoutes } from './dashboard-state.ts'
import { webhookViewRoutes } from './dashboard-webhooks.ts'

type Tools = Parameters<typeof checkRoutes>[0] &
  Parameters<typeof contactCostRoutes>[0] &
  Parameters<typeof stateRoutes>[0] &
  Parameters<typeof webhookViewRoutes>[0]

/** Behind the door of the dashboard: whoever asks is signed in. */
export function viewRoutes(tools: Tools) {
  return new Elysia()
    .use(stateRoutes(tools))
    .use(checkRoutes(tools))
    .use(contactCostRoutes(tools))
    .use(webhookViewRoutes(tools))
}
