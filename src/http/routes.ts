// All routes, and the methods of a path where no route fits.

import { Elysia, type AnyElysia } from 'elysia'

import type { Access } from '../access/access.ts'
import type { About } from '../api/dashboard.ts'
import type { Backup, SetupLink } from '../api/owner.ts'
import type { Attachments } from '../attachments/attachments.ts'
import type { BoxActions } from '../boxes/admin.ts'
import type { Origin } from '../domain/audit.ts'
import type { Days } from '../domain/days.ts'
import { RelayError } from '../domain/errors.ts'
import type { SentenceOf } from '../domain/message.ts'
import type { SetSnooze } from '../health/snoozes.ts'
import type { CreatedKinds, DeviceCalls, LineKind } from '../lines/line-kind.ts'
import type { Restoring } from '../maintenance/restoring.ts'
import type { Db } from '../storage/database.ts'
import { isSeenBy } from '../storage/line-limits.ts'
import type { ChangeFeed } from '../system/change-feed.ts'
import type { Random } from '../system/random.ts'
import type { TestInbox } from '../webhooks/test-inbox.ts'
import { attachmentRoutes, linkRoutes } from './attachments.ts'
import {
  type ContactTools,
  type OptOutTools,
  type SearchTools,
  contactRoutes,
  optOutRoutes,
  searchRoutes,
} from './contacts.ts'
import { controlRoutes, type ControlActions } from './control.ts'
import { type BridgeActions, type KeyActions, bridgeOwnerRoutes, keyRoutes } from './credentials.ts'
import { sessionRoutes } from './dashboard-auth.ts'
import { dashboardEventRoutes } from './dashboard-events.ts'
import { dashboardHealthRoutes } from './dashboard-health.ts'
import { pageRoutes } from './dashboard-page.ts'
import { requireRight } from './dashboard-rights.ts'
import {
  type SendPreviews,
  aboutRoutes,
  contactCostRoutes,
  messageViewRoutes,
  qrRoutes,
  unreadRoutes,
} from './dashboard-views.ts'
import { webhookViewRoutes } from './dashboard-webhooks.ts'
import {
  type DeliveryActions,
  type ReplayActions,
  deliveryRoutes,
  replayRoutes,
} from './deliveries.ts'
import { type EventTools, eventRoutes } from './events.ts'
import type { SchemeOptions } from './hosts.ts'
import { guideRoutes } from './html-pages.ts'
import { mcpRoutes } from './mcp.ts'
import {
  type ConversationActions,
  type MessageActions,
  type RecipientActions,
  conversationRoutes,
  messageRoutes,
  recipientRoutes,
} from './messages.ts'
import { openApiDocument } from './openapi.ts'
import { REQUIRED_SCOPE, requireScope, type RouteScope } from './operation.ts'
import {
  boxRoutes,
  downloadRoutes,
  type LinkOf,
  memberRoutes,
  rolloutRoutes,
  ownerRoutes,
  restoreRoutes,
} from './owner-routes.ts'
import { lineActionRoutes, phoneLineRoutes, type PhoneLineActions } from './phone-lines.ts'
import { contextOf, viewerOf } from './request-context.ts'
import { type FailureTools, answerToFailure, respond } from './respond.ts'
import { type SendActions, sendRoutes } from './sending.ts'
import { type HealthActions, type ListAudit, auditRoutes, healthRoutes } from './service.ts'
import { bridgeRoutes } from './shortcuts.ts'
import { type Pictures, pictureRoutes, statsRoutes } from './stats.ts'
import { swaggerRoutes } from './swagger.ts'
import { inboxRoutes, webhookRoutes, type WebhookActions } from './webhooks.ts'

export type RouteTools = SchemeOptions &
  FailureTools &
  EventTools &
  ContactTools &
  OptOutTools &
  SearchTools &
  RecipientActions &
  SendPreviews & {
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
    readonly messages: MessageActions & SendActions
    /** Wait of a send without a preference. */
    readonly defaultWaitMs: number
    readonly sentenceOf: SentenceOf
    readonly conversations: ConversationActions
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
    readonly pictures: Pictures
    readonly days: Days
    readonly boxes: BoxActions
  }

/** For the network. */
export function publicRoutes(tools: RouteTools, streamsEnd: AbortSignal): AnyElysia {
  const api = apiRoutes(tools, streamsEnd)
  const whole = new Elysia().use(api).use(bridgeRoutes(tools.bridge))
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
  const { control } = tools
  return frame(tools)
    .use(apiRoutes(tools, streamsEnd))
    .use(ownerRoutes({ ...tools, ...control }))
    .use(memberRoutes(tools.access, tools.linkOf))
    .use(boxRoutes(tools))
    .use(rolloutRoutes(tools))
    .use(controlRoutes({ ...tools, ...control }))
}

/** For a browser that is signed in: the API, the owner's routes, and those of the page. */
export function dashboardRoutes(tools: RouteTools, streamsEnd: AbortSignal): AnyElysia {
  return frame(tools)
    .onBeforeHandle(requireRight(tools))
    .use(apiRoutes(tools, streamsEnd))
    .use(ownerRoutes({ ...tools, ...tools.control }))
    .use(memberRoutes(tools.access, tools.linkOf))
    .use(boxRoutes(tools))
    .use(sessionRoutes(tools))
    .use(aboutRoutes(tools))
    .use(dashboardHealthRoutes(tools))
    .use(messageViewRoutes(tools))
    .use(contactCostRoutes(tools))
    .use(unreadRoutes(tools))
    .use(webhookViewRoutes(tools))
    .use(pictureRoutes(tools.pictures))
    .use(qrRoutes())
    .use(downloadRoutes({ ...tools, ...tools.control }))
    .use(restoreRoutes(tools))
    .use(dashboardEventRoutes({ ...tools, ...tools.access, streamsEnd }))
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

function apiRoutes(tools: RouteTools, streamsEnd: AbortSignal): AnyElysia {
  const scopes = new Map<string, RouteScope>()
  const api = new Elysia()
    .onBeforeHandle(({ request, route, params }) => {
      const method = request.method === 'HEAD' ? 'GET' : request.method
      const scope = scopes.get(`${method} ${route}`)
      if (scope === undefined) return
      requireScope(request, scope)
      requireOnLines(tools.db, request, { route, ...params })
    })
    .use(sendRoutes({ ...tools, ...tools.messages }))
    .use(messageRoutes(tools.messages))
    .use(attachmentRoutes(tools))
    .use(conversationRoutes(tools.conversations))
    .use(recipientRoutes(tools))
    .use(contactRoutes(tools))
    .use(optOutRoutes(tools))
    .use(searchRoutes(tools))
    .use(statsRoutes(tools.pictures))
    .use(phoneLineRoutes(tools.lines))
    .use(lineActionRoutes(tools))
    .use(eventRoutes(tools, streamsEnd))
    .use(webhookRoutes(tools.webhooks))
    .use(deliveryRoutes(tools.webhooks))
    .use(replayRoutes(tools.webhooks))
    .use(keyRoutes(tools.keys))
    .use(bridgeOwnerRoutes(tools.bridges))
    .use(auditRoutes(tools.listAudit))
    .use(healthRoutes({ ...tools, ...tools.health }))
  for (const { method, path, hooks } of api.routes) {
    const scope = scopeIn(hooks)
    if (scope !== undefined) scopes.set(`${method} ${path}`, scope)
    else if (path.startsWith('/api/')) throw new Error(`${method} ${path} has no scope.`)
  }
  return api
}

/** The scope that a route declares. */
function scopeIn({ detail }: { readonly detail?: object | undefined }): RouteScope | undefined {
  const { [REQUIRED_SCOPE]: scope }: { [REQUIRED_SCOPE]?: RouteScope } = detail ?? {}
  return scope
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
  request: Request,
  { route, id }: { readonly route: string; readonly id?: string | undefined },
): void {
  if (id === undefined || isSeenBy(db, viewerOf(request), id)) return
  const kind = id.slice(0, id.indexOf('_'))
  const isAction = kind === 'line' && !route.startsWith('/api/v1/phone-lines/')
  const code = isAction ? 'phone_line_not_found' : 'not_found'
  const thing = THINGS[kind] ?? 'thing'
  throw new RelayError(
    kind === 'att' ? 'attachment_not_found' : code,
    `There is no ${thing} with this id.`,
  )
}

const THINGS: Readonly<Record<string, string>> = {
  msg: 'message',
  conv: 'conversation',
  att: 'attachment',
  line: 'phone line',
  wh: 'webhook',
  dlv: 'delivery',
}
