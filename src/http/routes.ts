// All routes, and the methods of a path where no route fits.

import { Elysia, type AnyElysia } from 'elysia'

import type { Access } from '../access/access.ts'
import type { About } from '../api/dashboard.ts'
import type { Operation } from '../api/operation.ts'
import type { Backup, SetupLink } from '../api/owner.ts'
import type { Attachments } from '../attachments/attachments.ts'
import type { BoxActions } from '../boxes/admin.ts'
import type { Origin } from '../domain/audit.ts'
import type { Days } from '../domain/days.ts'
import { RelayError } from '../domain/errors.ts'
import type { SentenceOf } from '../domain/message.ts'
import { permissionsOf, requirePermission } from '../domain/permissions.ts'
import type { SetSnooze } from '../health/snoozes.ts'
import type { CreatedKinds, DeviceCalls, LineKind } from '../lines/line-kind.ts'
import type { Restoring } from '../maintenance/restoring.ts'
import type { ConversationChanges } from '../messages/conversations.ts'
import type { Decisions } from '../messages/decisions.ts'
import type { OptOuts } from '../messages/opt-outs.ts'
import type { Reading } from '../messages/reading.ts'
import type { Sender } from '../messages/send.ts'
import type { Charts } from '../stats/charts.ts'
import type { Db } from '../storage/database.ts'
import { isSeenBy } from '../storage/line-limits.ts'
import type { ChangeFeed } from '../system/change-feed.ts'
import type { Random } from '../system/random.ts'
import type { TestInbox } from '../webhooks/test-inbox.ts'
import { attachmentBindings, linkRoutes } from './attachments.ts'
import { type Attempt, type Binding, type Guard, routesOf } from './bind.ts'
import { type ContactTools, contactBindings, optOutBindings, searchBindings } from './contacts.ts'
import { controlBindings, type ControlActions } from './control.ts'
import { type BridgeActions, type KeyActions, bridgeBindings, keyBindings } from './credentials.ts'
import { sessionBindings } from './dashboard-auth.ts'
import { dashboardEventBindings } from './dashboard-events.ts'
import { dashboardHealthBindings } from './dashboard-health.ts'
import { pageRoutes } from './dashboard-page.ts'
import { requireRight } from './dashboard-rights.ts'
import {
  aboutBindings,
  contactCostBindings,
  messageViewBindings,
  qrBindings,
  unreadBindings,
} from './dashboard-views.ts'
import { webhookViewBindings } from './dashboard-webhooks.ts'
import {
  type DeliveryActions,
  type ReplayActions,
  deliveryBindings,
  replayBindings,
} from './deliveries.ts'
import { type EventTools, eventBindings } from './events.ts'
import type { SchemeOptions } from './hosts.ts'
import { guideRoutes } from './html-pages.ts'
import { mcpRoutes } from './mcp.ts'
import { conversationBindings, messageBindings, recipientBindings } from './messages.ts'
import { openApiDocument } from './openapi.ts'
import {
  boxBindings,
  downloadBindings,
  type LinkOf,
  memberBindings,
  ownerBindings,
  restoreBindings,
  rolloutBindings,
} from './owner-routes.ts'
import { lineActionBindings, phoneLineBindings, type PhoneLineActions } from './phone-lines.ts'
import { bridgeOf, callerOf, contextOf, viewerOf } from './request-context.ts'
import { type FailureTools, answerToFailure, respond } from './respond.ts'
import { sendBindings } from './sending.ts'
import { type HealthActions, type ListAudit, auditBindings, healthBindings } from './service.ts'
import { shortcutBindings } from './shortcuts.ts'
import { chartBindings, statsBindings } from './stats.ts'
import { swaggerRoutes } from './swagger.ts'
import { inboxRoutes, webhookBindings, type WebhookActions } from './webhooks.ts'

export type RouteTools = SchemeOptions &
  FailureTools &
  EventTools &
  ContactTools & {
    readonly version: string
    /** The address of the API for generated clients. */
    readonly serverUrl: () => string
    readonly db: Db
    readonly random: Random
    readonly keys: KeyActions
    readonly bridges: BridgeActions
    /** The lines of iPhones whose shortcuts call. */
    readonly bridge: DeviceCalls
    readonly kinds: readonly LineKind[]
    readonly actions: CreatedKinds['actions']
    readonly lines: PhoneLineActions
    readonly reading: Reading
    readonly decisions: Decisions
    readonly conversationChanges: ConversationChanges
    readonly sender: Sender
    readonly optOuts: OptOuts
    /** Wait of a send without a preference. */
    readonly defaultWaitMs: number
    readonly sentenceOf: SentenceOf
    readonly webhooks: WebhookActions &
      DeliveryActions &
      ReplayActions & { readonly inbox: TestInbox }
    readonly attachments: Attachments
    readonly listAudit: ListAudit
    readonly health: HealthActions
    readonly control: ControlActions
    readonly restoring: Restoring
    /** Back-ups of the data directory, newest first. */
    readonly listBackups: () => readonly Backup[]
    readonly setSnooze: SetSnooze
    readonly access: Access
    readonly createSetupLink: (origin: Origin) => Promise<SetupLink>
    readonly linkOf: LinkOf
    readonly changes: ChangeFeed
    readonly about: () => About
    readonly charts: Charts
    readonly days: Days
    readonly boxes: BoxActions
  }

/** For the network. */
export function publicRoutes(tools: RouteTools, streamsEnd: AbortSignal): AnyElysia {
  const guard = guardOf(tools)
  const api = routesOf(apiBindings(tools, streamsEnd), guard)
  const whole = new Elysia().use(api).use(routesOf(shortcutBindings(tools.bridge), guard))
  const documents = {
    api: openApiDocument(api, tools.kinds, tools.serverUrl),
    // The page calls the relay that it was loaded from, under the same name.
    whole: openApiDocument(whole, tools.kinds, () => '/'),
  }
  const routes: AnyElysia = frame(tools)
    .use(whole)
    .use(mcpRoutes(tools, (request) => routes.fetch(request), streamsEnd))
    .use(linkRoutes(tools))
    .use(inboxRoutes(tools.webhooks.inbox))
    .use(swaggerRoutes(documents))
    .use(pageRoutes())
    .use(guideRoutes())
  return routes
}

/** For the control socket: the API, and the owner's routes. */
export function ownersRoutes(tools: RouteTools, streamsEnd: AbortSignal): AnyElysia {
  const bindings = [
    ...apiBindings(tools, streamsEnd),
    ...ownersBindings(tools),
    ...rolloutBindings(tools),
    ...controlBindings({ ...tools, ...tools.control }),
  ]
  return frame(tools).use(routesOf(bindings, guardOf(tools)))
}

/** For a browser that is signed in: the API, the owner's routes, and those of the page. */
export function dashboardRoutes(tools: RouteTools, streamsEnd: AbortSignal): AnyElysia {
  const bindings = [
    ...apiBindings(tools, streamsEnd),
    ...ownersBindings(tools),
    ...sessionBindings(tools),
    ...aboutBindings(tools),
    ...dashboardHealthBindings(tools),
    ...messageViewBindings(tools.reading),
    ...contactCostBindings(tools.reading, tools.lines),
    ...unreadBindings(tools.reading),
    ...webhookViewBindings(tools),
    ...chartBindings(tools.charts),
    ...qrBindings(),
    ...downloadBindings({ ...tools, ...tools.control }),
    ...restoreBindings(tools),
    ...dashboardEventBindings({ ...tools, sessions: tools.access.sessions, streamsEnd }),
  ]
  const guard = guardOf(tools)
  const guardOfSessions: Guard = (operation, attempt) => {
    requireRight(tools, operation, attempt)
    guard(operation, attempt)
  }
  return frame(tools).use(routesOf(bindings, guardOfSessions))
}

/** The methods that the routes of `app` have for a path; empty where the path is unknown. */
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

function apiBindings(tools: RouteTools, streamsEnd: AbortSignal): readonly Binding[] {
  return [
    ...sendBindings(tools),
    ...messageBindings(tools.reading, tools.decisions),
    ...attachmentBindings(tools),
    ...conversationBindings(tools.reading, tools.conversationChanges),
    ...recipientBindings(tools.reading),
    ...contactBindings(tools),
    ...optOutBindings(tools.optOuts),
    ...searchBindings(tools.reading),
    ...statsBindings(tools.charts),
    ...phoneLineBindings(tools.lines),
    ...lineActionBindings(tools),
    ...eventBindings(tools, streamsEnd),
    ...webhookBindings(tools.webhooks),
    ...deliveryBindings(tools.webhooks),
    ...replayBindings(tools.webhooks),
    ...keyBindings(tools.keys),
    ...bridgeBindings(tools.bridges),
    ...auditBindings(tools.listAudit),
    ...healthBindings({ ...tools, ...tools.health }),
  ]
}

function ownersBindings(tools: RouteTools): readonly Binding[] {
  return [
    ...ownerBindings({ ...tools, ...tools.control }),
    ...memberBindings(tools.access, tools.linkOf),
    ...boxBindings(tools),
  ]
}

/** Credentials were checked at the entrance; an operation that it missed stays shut. */
function guardOf({ db }: RouteTools): Guard {
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
function frame(tools: FailureTools) {
  return new Elysia()
    .onError(({ code, error, request }) => {
      if (code === 'NOT_FOUND') return new Response(null, { status: 404 })
      return answerToFailure(error, contextOf(request).requestId, tools)
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
