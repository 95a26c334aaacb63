// All routes, and the methods that a path has.

import { Elysia, type AnyElysia } from 'elysia'

import type { Core } from '../storage/core.ts'
import { attachmentBindings, linkRoutes } from './attachments.ts'
import { type Binding, type Guard, frame, guardOf, routesOf } from './bind.ts'
import { contactBindings, optOutBindings, searchBindings } from './contacts.ts'
import { controlBindings } from './control.ts'
import { bridgeBindings, keyBindings } from './credentials.ts'
import { sessionBindings } from './dashboard-auth.ts'
import { dashboardEventBindings } from './dashboard-events.ts'
import { dashboardHealthBindings } from './dashboard-health.ts'
import { pageRoutes } from './dashboard-page.ts'
import { sessionGuard } from './dashboard-rights.ts'
import { aboutBindings, messageViewBindings, qrBindings } from './dashboard-views.ts'
import { webhookViewBindings } from './dashboard-webhooks.ts'
import { deliveryBindings, replayBindings } from './deliveries.ts'
import { eventBindings } from './events.ts'
import { guideRoutes } from './html-pages.ts'
import { mcpRoutes } from './mcp.ts'
import { conversationBindings, messageBindings, recipientBindings } from './messages.ts'
import { openApiDocument } from './openapi.ts'
import {
  backupBindings,
  boxBindings,
  downloadBindings,
  memberBindings,
  ownerBindings,
  restoreBindings,
  rolloutBindings,
} from './owner-routes.ts'
import { lineActionBindings, phoneLineBindings } from './phone-lines.ts'
import type { Relay } from './relay.ts'
import { sendBindings } from './sending.ts'
import { auditBindings, healthBindings } from './service.ts'
import { shortcutBindings } from './shortcuts.ts'
import { chartBindings, statsBindings } from './stats.ts'
import { swaggerRoutes } from './swagger.ts'
import { inboxRoutes, webhookBindings } from './webhooks.ts'

/** The routes for the network. */
export function publicRoutes(core: Core, relay: Relay, streamsEnd: AbortSignal): AnyElysia {
  const { kinds, serverUrl } = relay
  const guard = guardOf(core)
  const api = routesOf(apiBindings(core, relay, streamsEnd), guard)
  const whole = new Elysia().use(api).use(routesOf(shortcutBindings(kinds.calls), guard))
  const documents = {
    api: openApiDocument(api, kinds.kinds, serverUrl),
    // The page calls the relay that it was loaded from.
    whole: openApiDocument(whole, kinds.kinds, () => '/'),
  }
  const routes: AnyElysia = frame(core, relay)
    .use(whole)
    .use(mcpRoutes(core, (request) => routes.fetch(request), streamsEnd))
    .use(linkRoutes(relay.attachments))
    .use(inboxRoutes(relay.webhooks))
    .use(swaggerRoutes(documents))
    .use(pageRoutes())
    .use(guideRoutes())
  return routes
}

/** The routes for the control socket: the API, and the owner's operations. */
export function ownersRoutes(core: Core, relay: Relay, streamsEnd: AbortSignal): AnyElysia {
  const bindings = [
    ...apiBindings(core, relay, streamsEnd),
    ...ownersBindings(core, relay),
    ...rolloutBindings(relay.boxes),
    ...controlBindings(relay),
  ]
  return frame(core, relay).use(routesOf(bindings, guardOf(core)))
}

/** The routes for browsers: the API, the owner's operations, and those of the page. */
export function dashboardRoutes(core: Core, relay: Relay, streamsEnd: AbortSignal): AnyElysia {
  const bindings = [
    ...apiBindings(core, relay, streamsEnd),
    ...ownersBindings(core, relay),
    ...sessionBindings(relay),
    ...aboutBindings(relay),
    ...dashboardHealthBindings(relay),
    ...messageViewBindings(relay),
    ...webhookViewBindings(relay),
    ...chartBindings(relay.charts),
    ...qrBindings(),
    ...downloadBindings(core, relay.backups),
    ...restoreBindings(relay.restoring),
    ...dashboardEventBindings(core, relay.access, streamsEnd),
  ]
  const [mayCall, mayCallHere] = [guardOf(core), sessionGuard(relay)]
  const guard: Guard = (operation, attempt) => {
    mayCallHere(operation, attempt)
    mayCall(operation, attempt)
  }
  return frame(core, relay).use(routesOf(bindings, guard))
}

/** The methods that the routes of `app` have for a path; empty if the path is unknown. */
export function methodsAt(app: AnyElysia): (path: string) => readonly string[] {
  const known = app.routes.map((route) => ({
    method: route.method,
    path: new RegExp(`^${route.path.replace(/\/$/, '').replaceAll(/:[a-z]+/g, '[^/]+')}/?$`),
  }))
  return (path) => {
    const methods = known.filter((route) => route.path.test(path)).map((route) => route.method)
    return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  }
}

function apiBindings(core: Core, relay: Relay, streamsEnd: AbortSignal): readonly Binding[] {
  const { credentials, reading, webhooks } = relay
  return [
    ...sendBindings(relay),
    ...messageBindings(relay),
    ...attachmentBindings(relay.attachments),
    ...conversationBindings(relay),
    ...recipientBindings(reading),
    ...contactBindings(relay.contacts),
    ...optOutBindings(relay.optOuts),
    ...searchBindings(reading),
    ...statsBindings(relay.charts),
    ...phoneLineBindings(relay.lines),
    ...lineActionBindings(relay),
    ...eventBindings(core, relay, streamsEnd),
    ...webhookBindings(webhooks),
    ...deliveryBindings(webhooks),
    ...replayBindings(webhooks),
    ...keyBindings(core, relay),
    ...bridgeBindings(credentials),
    ...auditBindings(core),
    ...healthBindings(core, relay),
  ]
}

function ownersBindings(core: Core, relay: Relay): readonly Binding[] {
  return [
    ...ownerBindings(core, relay),
    ...backupBindings(relay.backups),
    ...memberBindings(relay.access),
    ...boxBindings(relay),
  ]
}
