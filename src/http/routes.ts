// All routes, and the methods that a path has.

import { Elysia, type AnyElysia } from 'elysia'

import type { Access } from '../access/access.ts'
import type { Operation } from '../api/operation.ts'
import type { OptionRow, SetupLink } from '../api/owner.ts'
import type { Attachments } from '../attachments/attachments.ts'
import type { BoxActions } from '../boxes/admin.ts'
import type { Config } from '../config.ts'
import type { Origin } from '../domain/audit.ts'
import type { Days } from '../domain/days.ts'
import { RelayError } from '../domain/errors.ts'
import { permissionsOf, requirePermission } from '../domain/permissions.ts'
import type { HealthCatalogue } from '../health/catalogue.ts'
import type { SetSnooze } from '../health/snoozes.ts'
import type { createUpdateCheck } from '../hosting/update-check.ts'
import type { Authenticate } from '../keys/last-used.ts'
import type { CreatedKinds } from '../lines/line-kind.ts'
import type { DiskWatch } from '../maintenance/storage-watch.ts'
import type { Contacts } from '../people/contacts.ts'
import type { Core } from '../storage/core.ts'
import type { Db } from '../storage/database.ts'
import { isSeenBy } from '../storage/line-limits.ts'
import type { RecentLines } from '../system/log.ts'
import type { Metrics } from '../system/metrics.ts'
import type { Signal } from '../system/signal.ts'
import type { EventLog } from '../webhooks/event-log.ts'
import { attachmentBindings, linkRoutes } from './attachments.ts'
import { type Attempt, type Binding, type Guard, routesOf } from './bind.ts'
import { contactBindings, optOutBindings, searchBindings } from './contacts.ts'
import { controlBindings } from './control.ts'
import { type Credentials, bridgeBindings, keyBindings } from './credentials.ts'
import { sessionBindings } from './dashboard-auth.ts'
import { dashboardEventBindings } from './dashboard-events.ts'
import { dashboardHealthBindings } from './dashboard-health.ts'
import { pageRoutes } from './dashboard-page.ts'
import { sessionGuard } from './dashboard-rights.ts'
import { aboutBindings, messageViewBindings, qrBindings } from './dashboard-views.ts'
import { webhookViewBindings } from './dashboard-webhooks.ts'
import { deliveryBindings, replayBindings } from './deliveries.ts'
import { eventBindings } from './events.ts'
import type { Hosts } from './hosts.ts'
import { guideRoutes } from './html-pages.ts'
import { mcpRoutes } from './mcp.ts'
import {
  type Reading,
  conversationBindings,
  messageBindings,
  recipientBindings,
} from './messages.ts'
import { openApiDocument } from './openapi.ts'
import {
  type LinkOf,
  type ListBackups,
  type Maintenance,
  backupBindings,
  boxBindings,
  downloadBindings,
  memberBindings,
  ownerBindings,
  restoreBindings,
  rolloutBindings,
} from './owner-routes.ts'
import { type LineActions, lineActionBindings, phoneLineBindings } from './phone-lines.ts'
import { bridgeOf, callerOf, contextOf, viewerOf } from './request-context.ts'
import { answerToFailure, respond } from './respond.ts'
import { type Send, sendBindings } from './sending.ts'
import { type Life, auditBindings, healthBindings } from './service.ts'
import { shortcutBindings } from './shortcuts.ts'
import { type Pictures, pictureBindings, statsBindings } from './stats.ts'
import { swaggerRoutes } from './swagger.ts'
import { type WebhookActions, inboxRoutes, webhookBindings } from './webhooks.ts'

/** What HTTP serves of a relay: its modules by name, and facts about this start. */
export type Relay = {
  readonly access: Access
  /** The address that the relay listens on. */
  readonly address: () => string
  readonly attachments: Attachments
  readonly authenticate: Authenticate
  readonly boxes: BoxActions
  readonly config: Config
  /** Called once this start is healthy, if an upgrade waits for that. */
  readonly confirmHealthy: (() => void) | undefined
  readonly contacts: Contacts
  readonly createSetupLink: (origin: Origin) => Promise<SetupLink>
  readonly credentials: Credentials
  readonly days: Days
  readonly disk: DiskWatch
  readonly doubtSignal: Signal
  readonly eventLog: EventLog
  readonly health: HealthCatalogue
  readonly hosts: Hosts
  readonly kinds: CreatedKinds
  readonly life: Life
  readonly lines: LineActions
  readonly linkOf: LinkOf
  readonly listBackups: ListBackups
  readonly maintenance: Maintenance
  readonly metrics: Metrics
  readonly options: readonly OptionRow[]
  readonly pictures: Pictures
  readonly reading: Reading
  readonly recent: RecentLines
  readonly send: Send
  /** The address of the API for generated clients. */
  readonly serverUrl: () => string
  readonly setSnooze: SetSnooze
  readonly updates: ReturnType<typeof createUpdateCheck>
  readonly webhooks: WebhookActions
}

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
  const { access, boxes, confirmHealthy, createSetupLink, kinds, options } = relay
  const { reports } = kinds
  const bindings = [
    ...apiBindings(core, relay, streamsEnd),
    ...ownersBindings(core, relay),
    ...rolloutBindings(boxes),
    ...controlBindings({ access, createSetupLink, options, reports, confirmHealthy }),
  ]
  return frame(core, relay).use(routesOf(bindings, guardOf(core)))
}

/** For a browser that is signed in: the API, the owner's routes, and those of the page. */
export function dashboardRoutes(core: Core, relay: Relay, streamsEnd: AbortSignal): AnyElysia {
  const { access, address, config, days, health, hosts, kinds, lines } = relay
  const { listBackups, maintenance, pictures, reading, webhooks } = relay
  const bindings = [
    ...apiBindings(core, relay, streamsEnd),
    ...ownersBindings(core, relay),
    ...sessionBindings({ access, hosts }),
    ...aboutBindings({ config, kinds, address }),
    ...dashboardHealthBindings({ kinds, lines, webhooks, health, days }),
    ...messageViewBindings({ reading, lines }),
    ...webhookViewBindings({ webhooks, messages: reading.messages }),
    ...pictureBindings(pictures),
    ...qrBindings(),
    ...downloadBindings(core, { maintenance, listBackups }),
    ...restoreBindings(maintenance),
    ...dashboardEventBindings(core, { sessions: access.sessions, streamsEnd }),
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
  const { attachments, authenticate, config, contacts, credentials, disk, eventLog } = relay
  const { health, hosts, kinds, life, lines, metrics, pictures, reading, send, webhooks } = relay
  const { sendWaitMs } = config
  const { sentenceOf } = kinds
  return [
    ...sendBindings({ send, sendWaitMs, sentenceOf }),
    ...messageBindings(reading.messages),
    ...attachmentBindings(attachments),
    ...conversationBindings(reading.conversations),
    ...recipientBindings(reading.beside),
    ...contactBindings(contacts),
    ...optOutBindings(reading.beside),
    ...searchBindings(reading.beside),
    ...statsBindings(pictures),
    ...phoneLineBindings(lines),
    ...lineActionBindings({ lines, kinds }),
    ...eventBindings(core, { eventLog, authenticate, streamsEnd }),
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
  const { access, boxes, lines, linkOf, listBackups, maintenance } = relay
  const { reading, recent, setSnooze, updates } = relay
  const { conversations } = reading
  return [
    ...ownerBindings(core, { lines, conversations, setSnooze, recent, updates }),
    ...backupBindings({ maintenance, listBackups }),
    ...memberBindings({ access, linkOf }),
    ...boxBindings({ boxes, lines }),
  ]
}

/** Credentials were checked at the entrance; an operation that it missed stays shut. */
function guardOf({ db }: Core): Guard {
  return (operation, attempt) => {
    const { request } = attempt
    contextOf(request).operation = operation
    if (operation.callers === 'everyone') return
    if (operation.callers === 'bridges') bridgeOf(request)
    else if (operation.callers !== 'browsers' || operation.isOpen !== true) callerOf(request)
    if (operation.callers !== 'keys') return
    if (operation.scope !== 'any')
      requirePermission(permissionsOf(callerOf(request)), operation.scope)
    if (operation.limits.includes('lines')) requireOnLines(db, operation, attempt)
  }
}

/** The form of every answer. Elysia's own messages, and those of unknown errors, are never shown. */
function frame({ log }: Core, { doubtSignal }: Relay) {
  return new Elysia()
    .onError(({ code, error, request }) => {
      if (code === 'NOT_FOUND') return new Response(null, { status: 404 })
      return answerToFailure(error, contextOf(request).requestId, { log, doubtSignal })
    })
    .mapResponse(({ responseValue, set, request }) => {
      if (responseValue instanceof Response) return
      const status = typeof set.status === 'number' ? set.status : 200
      const { requestId } = contextOf(request)
      return respond(JSON.stringify(responseValue), { status, requestId })
    })
}

/** For a key of certain lines, things of all others are unknown. */
function requireOnLines(
  db: Db,
  { errors = [] }: Operation,
  { request, params: { id } }: Attempt,
): void {
  if (id === undefined || isSeenBy(db, viewerOf(request), id)) return
  const kind = id.slice(0, id.indexOf('_'))
  const named = kind === 'att' ? 'attachment_not_found' : 'phone_line_not_found'
  const isNamed = (kind === 'att' || kind === 'line') && errors.includes(named)
  const thing = THINGS[kind] ?? 'thing'
  throw new RelayError(isNamed ? named : 'not_found', `There is no ${thing} with this id.`)
}

const THINGS: Readonly<Record<string, string>> = {
  msg: 'message',
  conv: 'conversation',
  att: 'attachment',
  line: 'phone line',
  wh: 'webhook',
  dlv: 'delivery',
}
