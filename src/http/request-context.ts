import { sessionActor, type DashboardSession } from '../access/sessions.ts'
import type { Operation } from '../api/operation.ts'
import type { CompatApi } from '../compat/compat-api.ts'
import type { Actor, Origin } from '../domain/audit.ts'
import { RelayError } from '../domain/errors.ts'
import type { BridgeId } from '../domain/ids.ts'
import {
  callerId,
  narrowed,
  permissionsOf,
  type Permissions,
  type Caller,
  type CallerId,
  type ConversationLimit,
} from '../domain/permissions.ts'
import { includesLine, type LineLimit, type LineLimits } from '../domain/routing.ts'
import { linesOfSites, linesWithin } from '../storage/credentials.ts'
import type { Db } from '../storage/database.ts'
import type { Viewer } from '../storage/line-limits.ts'
import type { Clock } from '../system/clock.ts'
import type { Random } from '../system/random.ts'

/** A request, and its path as Elysia will see it. */
export type RoutableRequest = { readonly request: Request; readonly path: string }

/** The other end of a connection. */
export type Peer = {
  /** The IP address; null on the control socket. */
  readonly address: string | null
  /** True on the control socket, which only the owner can open. */
  readonly isControl: boolean
  /** True if the relay itself serves the connection by HTTPS. */
  readonly isSecure?: boolean | undefined
  /** Sets the idle time-out of this request in seconds; 0 is without limit. */
  liftTimeout(seconds: number): void
}

export type RequestContext = {
  readonly requestId: string
  readonly peer: Peer
  readonly clock: Clock
  readonly db: Db
  /** The client's IP address, also behind trusted proxies; null on the control socket. */
  readonly address: () => string | null
  /** Null until authenticated, and on routes that need no credentials. */
  caller: Caller | null
  /** The session of the browser, on the dashboard's routes only. */
  session: DashboardSession | null
  /** The bridge of the calling shortcut, on the routes of shortcuts only. */
  bridge: BridgeCaller | null
  /** Null until the router found it, and on routes without an operation. */
  operation: Operation | null
  /** The compatible API of the path, if a key was made for it. */
  compat: CompatApi | null
}

export type BridgeCaller = {
  readonly id: BridgeId
  /** False once its token is revoked, which may happen while a call waits. */
  readonly isGood: () => boolean
}

const contexts = new WeakMap<Request, RequestContext>()

export function setContext(request: Request, context: RequestContext): void {
  contexts.set(request, context)
}

export function contextOf(request: Request): RequestContext {
  const context = contexts.get(request)
  if (context === undefined) throw new Error('A request has no context.')
  return context
}

/** The caller of an API route; throws `unauthorized` if authentication was missed. */
export function callerOf(request: Request): Caller {
  const { caller } = contextOf(request)
  if (caller === null) throw unauthorized()
  return caller
}

/** The id of the caller, which is stored with everything that it creates. */
export function callerIdOf(request: Request): CallerId {
  const caller = callerOf(request)
  return callerId(caller.kind === 'key' ? caller : null, contextOf(request).session?.memberId)
}

export function viewerOf(request: Request): Viewer {
  return {
    lineIds: linesOf(request),
    limits: permissionsOf(callerOf(request)).limits,
    conversationIds: conversationsOf(request),
    caller: callerIdOf(request),
  }
}

export function conversationsOf(request: Request): ConversationLimit {
  return permissionsOf(callerOf(request)).conversationIds
}

/** Filters of a request by a line and by a site. */
export type LineChoice = {
  readonly phone_line_id?: string | undefined
  readonly site_id?: string | undefined
}

/** The lines that the caller may see now; only those that it asked for, if it did. */
export function linesOf(request: Request, asked: LineChoice = {}): LineLimit {
  return linesAsked(contextOf(request).db, permissionsOf(callerOf(request)), asked)
}

/** The lines of a choice within the permissions, by the sites as they are now. */
export function linesAsked(db: Db, permissions: Permissions, asked: LineChoice): LineLimit {
  const within = narrowed(linesWithin(db, permissions.limits), asked.phone_line_id)
  if (asked.site_id === undefined) return within
  return linesOfSites(db, [asked.site_id]).filter((id) => includesLine(within, id))
}

/** The limits of the permissions as they were given, narrowed to a choice. */
export function limitsAsked({ limits }: Permissions, asked: LineChoice): LineLimits {
  return {
    lineIds: narrowed(limits.lineIds, asked.phone_line_id),
    siteIds: narrowed(limits.siteIds, asked.site_id),
  }
}

/** The origin of a change, for the audit trail. It also works before the sign-in. */
export function originOf(request: Request): Origin {
  const context = contextOf(request)
  return { actor: actorOf(context), address: context.address(), requestId: context.requestId }
}

function actorOf({ caller, session }: RequestContext): Actor {
  if (caller?.kind === 'key') return { kind: 'key', id: caller.keyId }
  if (caller?.kind === 'cli') return { kind: 'cli', id: null }
  return session === null ? { kind: 'dashboard', id: null } : sessionActor(session)
}

export function sessionOf(request: Request): DashboardSession {
  const { session } = contextOf(request)
  if (session === null) throw signedOut()
  return session
}

/** The bridge of the calling shortcut; throws `unauthorized` if authentication was missed. */
export function bridgeOf(request: Request): BridgeCaller {
  const { bridge } = contextOf(request)
  if (bridge === null) throw badToken()
  return bridge
}

export function badToken(refusal?: Refusal): RelayError {
  return refused('Invalid or missing bridge token', refusal)
}

export function signedOut(): RelayError {
  return new RelayError('signed_out', 'This browser is not signed in.')
}

/** The reason why credentials are refused: a word for programs, and sentences for people. */
export type Refusal = { readonly reason: string; readonly why: string }

export function unauthorized(refusal?: Refusal, more: object = {}): RelayError {
  return refused('Invalid or missing API credentials', refusal, more)
}

function refused(message: string, refusal: Refusal | undefined, more: object = {}): RelayError {
  if (refusal === undefined) return new RelayError('unauthorized', message)
  const { reason, why } = refusal
  return new RelayError('unauthorized', `${message}. ${why}`, { details: { reason, ...more } })
}

/** Makes request ids: a random prefix, and a count. */
export function requestIds(random: Random): () => string {
  const start = Buffer.from(random.bytes(6)).toString('base64url').replaceAll(/[-_]/g, '0')
  let count = 0
  return () => {
    count += 1
    return `req_${start}_${count.toString(36)}`
  }
}
