// All routes, and the methods that a path has.

import type { AnyElysia } from 'elysia'

import type { Core } from '../storage/core.ts'
import { once } from '../system/memoize.ts'
import { alertBindings, alertChangeBindings } from './alerts.ts'
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
import { guideRoutes } from './guide.ts'
import { manualFileRoutes } from './manual-page.ts'
import { mcpRoutes } from './mcp.ts'
import { conversationBindings, messageBindings, recipientBindings } from './messages.ts'
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
import { auditBindings, healthBindings, timelineBindings } from './service.ts'
import { shortcutBindings } from './shortcuts.ts'
import { siteBindings, siteChangeBindings } from './sites.ts'
import { chartBindings, statsBindings } from './stats.ts'
import { pathMeant } from './suggestions.ts'
import { swaggerRoutes } from './swagger.ts'
import { inboxRoutes, webhookBindings } from './webhooks.ts'

/** The routes for the network. */
export function publicRoutes(core: Core, relay: Relay, streamsEnd: AbortSignal): AnyElysia {
  const { kinds, serverUrl } = relay
  const guard = guardOf(core)
  const api = apiBindings(core, relay, streamsEnd)
  const whole = [...api, ...shortcutBindings(kinds.calls)]
  const operations = whole.map(({ operation }) => operation)
  const documentOf = async (bindings: readonly Binding[], server: string) =>
    (await import('./openapi.ts')).openApiDocument(bindings, kinds.kinds, server)
  const documents = {
    api: once(() => documentOf(api, serverUrl())),
    // The page calls the relay that it was loaded from.
    whole: once(() => documentOf(whole, '/')),
  }
  const routes: AnyElysia = frame(core, relay)
    .use(routesOf(whole, guard))
    .use(mcpRoutes(core, (request) => routes.fetch(request), streamsEnd))
    .use(linkRoutes(relay.attachments))
    .use(inboxRoutes(relay.webhooks))
    .use(swaggerRoutes(documents, operations))
    .use(manualFileRoutes())
    .use(pageRoutes())
    .use(guideRoutes(operations))
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

/** Facts about the routes, for errors about requests that match none of them. */
export type Paths = {
  /** The methods of a path; empty if the path is unknown. A name, as in `/messages/send`, is never an id. */
  methodsAt(path: string): readonly string[]
  /** True if the path is a name that doesn't take the method: Elysia takes such a name for an id. */
  isNamed(path: string, method: string): boolean
  /** The path that is most likely meant by an unknown one. */
  meant(path: string): string | undefined
  /** The only path directly below that takes the method, such as `/messages/send` for a POST to `/messages`. */
  below(path: string, method: string): string | undefined
}

export function pathsOf(app: AnyElysia): Paths {
  const known = app.routes.map(({ method, path: written }) => {
    const path = written.replace(/\/$/, '')
    const pattern = new RegExp(`^${path.replaceAll(/:[a-z]+/g, '[^/]+')}/?$`)
    return { method, path, pattern, isFixed: !path.includes(':') }
  })
  const methodsAt = (path: string) => {
    const matching = known.filter(({ pattern }) => pattern.test(path))
    const fixed = matching.filter(({ isFixed }) => isFixed)
    const routes = fixed.length > 0 ? fixed : matching
    return routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  }
  const isFixed = (path: string) => known.some((route) => route.isFixed && route.path === path)
  return {
    methodsAt,
    isNamed: (path, method) => isFixed(path) && !methodsAt(path).includes(method),
    meant(path) {
      const ofApi = known.filter((route) => route.path.startsWith('/api/v1/'))
      return pathMeant(
        path,
        ofApi.map((route) => route.path),
      )
    },
    below(path, asked) {
      const [only, ...others] = known.filter(
        ({ method, path: other, isFixed }) =>
          isFixed && method === asked && other.slice(0, other.lastIndexOf('/')) === path,
      )
      return others.length > 0 ? undefined : only?.path
    },
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
    ...contactBindings(relay),
    ...optOutBindings(relay.optOuts),
    ...searchBindings(reading),
    ...statsBindings(relay),
    ...phoneLineBindings(relay.lines),
    ...siteBindings(relay.sites),
    ...lineActionBindings(relay),
    ...eventBindings(core, relay, streamsEnd),
    ...webhookBindings(webhooks),
    ...deliveryBindings(webhooks),
    ...replayBindings(webhooks),
    ...keyBindings(core, relay),
    ...bridgeBindings(credentials),
    ...auditBindings(core),
    ...timelineBindings(relay.timeline),
    ...healthBindings(core, relay),
    ...alertBindings(relay.alerts),
    ...(relay.fakeBindings ?? []),
  ]
}

function ownersBindings(core: Core, relay: Relay): readonly Binding[] {
  return [
    ...ownerBindings(core, relay),
    ...backupBindings(relay.backups),
    ...memberBindings(relay.access),
    ...siteChangeBindings(relay.sites),
    ...boxBindings(relay),
    ...alertChangeBindings(relay.alerts),
  ]
}
