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

/** For the network. */
export function publicRoutes(core: Core, relay: Relay, streamsEnd: AbortSignal): AnyElysia {
  const { attachments, kinds, serverUrl, webhooks } = relay
  const guard = guardOf(core)
  const api = routesOf(apiBindings(core, relay, streamsEnd), guard)
  const whole = new Elysia().use(api).use(routesOf(shortcutBindings(kinds.calls), guard))
  const documents = {
    api: openApiDocument(api, kinds.kinds, serverUrl),
    // The page calls the relay that it was loaded from, under the same name.
    whole: openApiDocument(whole, kinds.kinds, () => '/'),
  }
  const routes: AnyElysia = frame(core, relay)
    .use(whole)
    .use(mcpRoutes(core, (request) => routes.fetch(request), streamsEnd))
    .use(linkRoutes(attachments))
    .use(inboxRoutes(webhooks))
    .use(swaggerRoutes(documents))
    .use(pageRoutes())
    .use(guideRoutes())
  return routes
}

/** For the control socket: the API, and the owner's routes. */
export function ownersRoutes(core: Core, relay: Relay, streamsEnd: AbortSignal): AnyElysia {
  const { access, boxes, confirmHealthy, kinds, options } = relay
  const bindings = [
    ...apiBindings(core, relay, streamsEnd),
    ...ownersBindings(core, relay),
    ...rolloutBindings(boxes),
    ...controlBindings({ access, confirmHealthy, kinds, options }),
  ]
  return frame(core, relay).use(routesOf(bindings, guardOf(core)))
}

/** For a browser that is signed in: the API, the owner's routes, and those of the page. */
export function dashboardRoutes(core: Core, relay: Relay, streamsEnd: AbortSignal): AnyElysia {
  const { access, address, backups, config, days, health, hosts, kinds, lines } = relay
  const { charts, reading, restoring, webhooks } = relay
  const bindings = [
    ...apiBindings(core, relay, streamsEnd),
    ...ownersBindings(core, relay),
    ...sessionBindings({ access, hosts }),
    ...aboutBindings({ config, kinds, address }),
    ...dashboardHealthBindings({ kinds, lines, webhooks, health, days }),
    ...messageViewBindings({ reading, lines }),
    ...webhookViewBindings({ reading, webhooks }),
    ...chartBindings(charts),
    ...qrBindings(),
    ...downloadBindings(core, backups),
    ...restoreBindings(restoring),
    ...dashboardEventBindings(core, access, streamsEnd),
  ]
  const [mayCall, mayCallHere] = [guardOf(core), sessionGuard({ webhooks, lines })]
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
  const { attachments, authenticate, config, contacts, conversationChanges } = relay
  const { credentials, decisions, disk, eventLog } = relay
  const { health, hosts, kinds, life, lines, charts, metrics, optOuts, reading, sender, webhooks } =
    relay
  return [
    ...sendBindings({ config, kinds, sender }),
    ...messageBindings(reading, decisions),
    ...attachmentBindings(attachments),
    ...conversationBindings(reading, conversationChanges),
    ...recipientBindings(reading),
    ...contactBindings(contacts),
    ...optOutBindings(optOuts),
    ...searchBindings(reading),
    ...statsBindings(charts),
    ...phoneLineBindings(lines),
    ...lineActionBindings({ lines, kinds }),
    ...eventBindings(core, { authenticate, eventLog }, streamsEnd),
    ...webhookBindings(webhooks),
    ...deliveryBindings(webhooks),
    ...replayBindings(webhooks),
    ...keyBindings(credentials),
    ...bridgeBindings(credentials),
    ...auditBindings(core),
    ...healthBindings(core, { life, disk, metrics, health, authenticate, hosts }),
  ]
}

function ownersBindings(core: Core, relay: Relay): readonly Binding[] {
  const { access, backups, boxes, lines } = relay
  const { conversationChanges, recent, setSnooze, updates } = relay
  return [
    ...ownerBindings(core, { conversationChanges, lines, recent, setSnooze, updates }),
    ...backupBindings(backups),
    ...memberBindings(access),
    ...boxBindings({ boxes, lines }),
  ]
}
