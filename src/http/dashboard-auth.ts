// Sign-in of browsers. Cookies count only here, and API keys don't. A browser sends the cookie to every port of
// the host, also for other pages of the same site. So the cookie is worth nothing without the page key in a
// header, and changes must come from a page of this relay.

import type { Access, Client } from '../access/access.ts'
import {
  type DashboardSession,
  type DashboardSessions,
  type NewSession,
  SESSION_LIFE_MS,
  shortId,
} from '../access/sessions.ts'
import type { BrowserSession, SessionState } from '../api/dashboard.ts'
import { type Operation, routeOf } from '../api/operation.ts'
import { DASHBOARD } from '../api/operations/dashboard.ts'
import { RelayError } from '../domain/errors.ts'
import { EVERYTHING } from '../domain/permissions.ts'
import type { SessionRow } from '../storage/dashboard-access.ts'
import { equalBytes } from '../system/hash.ts'
import { isoTime, isoTimeOrNull } from '../system/iso-time.ts'
import { VERSION } from '../system/version.ts'
import { bind } from './bind.ts'
import { qrCode } from './dashboard-views.ts'
import { type Hosts, isLoopbackOnly } from './hosts.ts'
import type { Relay } from './relay.ts'
import {
  type Peer,
  type RequestContext,
  type RoutableRequest,
  contextOf,
  originOf,
  sessionOf,
  signedOut,
} from './request-context.ts'
import { respondTo } from './respond.ts'

const API_OF_DASHBOARD = '/dashboard/api/'
const API = '/api/v1/'
/** Paths of the operations that work before the sign-in, without their parameters. */
const OPEN = Object.values<Operation>(DASHBOARD).flatMap((operation) =>
  'isOpen' in operation ? [routeOf(operation).path.replace(/:\w+$/, '')] : [],
)
const PAGE_KEY = 'x-hookline-page-key'
const SAFE_METHODS = new Set(['GET', 'HEAD'])

export function isDashboardPath(path: string): boolean {
  return path === '/dashboard' || path.startsWith('/dashboard/')
}

/**
 * Sets the session and the caller of `context`. Throws `forbidden` for a page of another site, `signed_out`
 * without a session. Returns the request for the routes: `/dashboard/api/x` becomes `/api/v1/x`.
 */
export function authenticateBrowser(
  { access: { sessions, members }, hosts }: Pick<Relay, 'access' | 'hosts'>,
  target: RoutableRequest,
  context: RequestContext,
): RoutableRequest {
  const { request, path } = target
  requireOwnPage(request)
  const token = tokenIn(request.headers, isSecure(request.headers, context.peer, hosts))
  const pageKey = request.headers.get(PAGE_KEY)
  context.session = token === null || pageKey === null ? null : sessions.find({ token, pageKey })
  if (OPEN.some((open) => path === open || (open.endsWith('/') && path.startsWith(open))))
    return target
  if (context.session === null) throw signedOut()
  const { memberId } = context.session
  const permissions = memberId === null ? EVERYTHING : members.permissionsOf(memberId)
  context.caller = { kind: 'dashboard', permissions }
  if (!path.startsWith(API_OF_DASHBOARD)) return target
  const start = request.url.indexOf(API_OF_DASHBOARD)
  const rest = request.url.slice(start + API_OF_DASHBOARD.length)
  const url = request.url.slice(0, start) + API + rest
  return { request: new Request(url, request), path: API + path.slice(API_OF_DASHBOARD.length) }
}

/**
 * Extends a session that is in use, and returns the `Set-Cookie` that extends it in the browser; null if that
 * was done within the hour. Only for GET: a change may end the session.
 */
export async function keepSession(
  given: { readonly sessions: Pick<DashboardSessions, 'keep'>; readonly hosts: Hosts },
  request: Request,
  { peer, session }: { readonly peer: Peer; readonly session: DashboardSession },
): Promise<string | null> {
  const { sessions, hosts } = given
  if (!session.isStale || request.method !== 'GET') return null
  try {
    await sessions.keep(session)
  } catch (error) {
    // A full disk must not hide the page that reports it.
    if (error instanceof RelayError && error.code === 'storage_full') return null
    throw error
  }
  const secure = isSecure(request.headers, peer, hosts)
  const token = tokenIn(request.headers, secure)
  return token === null ? null : cookieFor(token, secure)
}

/**
 * Browsers send `Sec-Fetch-Site` only over HTTPS and to a loopback name; otherwise this checks the `Origin`,
 * which they send with every change.
 */
function requireOwnPage(request: Request): void {
  if (SAFE_METHODS.has(request.method)) return
  const { headers } = request
  const site = headers.get('sec-fetch-site')
  if (site === null ? isOwnOrigin(headers) : site === 'same-origin') return
  throw new RelayError('forbidden', 'Only a page of this relay may do this.')
}

export function isOwnOrigin(headers: Headers): boolean {
  const origin = headers.get('origin') ?? ''
  if (!URL.canParse(origin)) return false
  return new URL(origin).host === headers.get('host')?.toLowerCase()
}

const NAME = 'hookline_session'
/** Browsers accept a cookie of this name only over HTTPS, only for this host, and for all of its paths. */
const NAME_IF_SECURE = `__Host-${NAME}`
const TOKEN = /^[A-Za-z0-9_-]{43}$/

/**
 * True if the browser uses HTTPS: the relay serves it, or a trusted proxy says so, or the public url has https
 * and its host is the request's Host.
 */
function isSecure(headers: Headers, peer: Peer, { publicUrl, isTrustedProxy }: Hosts): boolean {
  if (peer.isSecure === true) return true
  const [scheme = ''] = (headers.get('x-forwarded-proto') ?? '').split(',')
  const isProxy = peer.address !== null && isTrustedProxy(peer.address)
  if (isProxy && scheme.trim().toLowerCase() === 'https') return true
  if (publicUrl === null) return false
  const { protocol, host } = new URL(publicUrl)
  return protocol === 'https:' && headers.get('host')?.toLowerCase() === host
}

/** The session token in the cookie; null if there is none. */
function tokenIn(headers: Headers, isSecure: boolean): string | null {
  const start = `${nameFor(isSecure)}=`
  const parts = (headers.get('cookie') ?? '').split(';').map((part) => part.trim())
  const value = parts.find((part) => part.startsWith(start))?.slice(start.length) ?? ''
  return TOKEN.test(value) ? value : null
}

/** The value of `Set-Cookie`, for seven days; null deletes the cookie. */
function cookieFor(token: string | null, isSecure: boolean): string {
  const seconds = token === null ? 0 : SESSION_LIFE_MS / 1_000
  const parts = [`${nameFor(isSecure)}=${token ?? ''}`, 'Path=/', `Max-Age=${seconds}`]
  return [...parts, 'HttpOnly', 'SameSite=Strict', ...(isSecure ? ['Secure'] : [])].join('; ')
}

function nameFor(isSecure: boolean): string {
  return isSecure ? NAME_IF_SECURE : NAME
}

type Entry = Pick<Relay, 'access' | 'fakeBindings' | 'hosts'>

export function sessionBindings({ access, fakeBindings, hosts }: Entry) {
  const isFake = fakeBindings !== null
  const isLocal = (request: Request) =>
    isLoopbackOnly(request.headers, contextOf(request).peer, hosts)
  const clientOf = (request: Request): Client => {
    return { ...originOf(request), isLocal: isLocal(request) }
  }
  const stateFor = (request: Request, session: DashboardSession | null): SessionState => {
    return { ...stateOf(access, session, isLocal(request)), ...(isFake && { is_fake: true }) }
  }
  /** Answers with the state; sets the cookie of the session, or deletes it if there is none. */
  const withCookie = (request: Request, opened: NewSession | null): Response => {
    const secure = isSecure(request.headers, contextOf(request).peer, hosts)
    const headers = { 'set-cookie': cookieFor(opened?.token ?? null, secure) }
    const state = stateFor(request, opened?.session ?? null)
    const body = opened === null ? state : { ...state, page_key: opened.pageKey }
    return respondTo(request, JSON.stringify(body), { headers })
  }
  return [
    ...factorBindings(access, { stateFor, clientOf }),
    bind(DASHBOARD.getSession, async ({ request }) => {
      const { session } = contextOf(request)
      if (session === null && isFake) return withCookie(request, await access.sessions.openFreely())
      return stateFor(request, session)
    }),
    bind(DASHBOARD.setUp, async ({ request, body }) =>
      withCookie(request, await access.setUp(body, clientOf(request))),
    ),
    bind(DASHBOARD.signIn, async ({ request, body }) =>
      withCookie(request, await access.signIn(body, clientOf(request))),
    ),
    bind(DASHBOARD.elevate, async ({ request, body }) =>
      stateFor(request, await access.elevate(sessionOf(request), body.password, clientOf(request))),
    ),
    bind(DASHBOARD.changePassword, async ({ request, body }) =>
      stateFor(request, await access.changePassword(sessionOf(request), body, clientOf(request))),
    ),
    bind(DASHBOARD.putSetupStep, async ({ request, body }) => {
      await access.saveSetupStep(body.step)
      return stateFor(request, sessionOf(request))
    }),
    bind(DASHBOARD.listSessions, ({ request }) => ({
      data: access.sessions.list().map((seen) => browserSession(access, seen, sessionOf(request))),
    })),
    bind(DASHBOARD.signOut, async ({ request, origin }) => {
      const { session } = contextOf(request)
      if (session !== null) await access.signOut(session, origin)
      return withCookie(request, null)
    }),
    bind(DASHBOARD.endSession, async ({ params, origin }) => {
      await access.endSession(params.id, origin)
      return { id: params.id, deleted: true as const }
    }),
    bind(DASHBOARD.signOutEverywhere, async ({ request, origin }) => {
      await access.signOutEverywhere(origin)
      return withCookie(request, null)
    }),
  ]
}

function factorBindings(
  access: Access,
  given: {
    readonly stateFor: (request: Request, session: DashboardSession) => SessionState
    readonly clientOf: (request: Request) => Client
  },
) {
  const { stateFor, clientOf } = given
  return [
    bind(DASHBOARD.beginSecondFactor, () => {
      const made = access.beginSecondFactor()
      return { ...made, qr_svg: qrCode(made.url) }
    }),
    bind(DASHBOARD.turnOnSecondFactor, async ({ body, origin }) => ({
      recovery_codes: await access.turnOnSecondFactor(body.code, origin),
    })),
    bind(DASHBOARD.renewRecoveryCodes, async ({ request, body }) => ({
      recovery_codes: await access.changeSecondFactor(
        'codes_renewed',
        body.code,
        clientOf(request),
      ),
    })),
    bind(DASHBOARD.turnOffSecondFactor, async ({ request, body }) => {
      await access.changeSecondFactor('removed', body.code, clientOf(request))
      return stateFor(request, sessionOf(request))
    }),
  ]
}

function stateOf(
  access: Access,
  session: DashboardSession | null,
  is_local: boolean,
): SessionState {
  const common = { is_local, ...(access.members.hasAny() && { has_members: true as const }) }
  if (session === null) {
    const state = access.hasPassword() ? 'signed_out' : 'unclaimed'
    return { state, elevated_until: null, version: null, setup_step: null, ...common }
  }
  const { memberId } = session
  return {
    state: 'signed_in',
    elevated_until: isoTimeOrNull(session.elevatedUntil),
    version: VERSION,
    setup_step: memberId === null ? access.setupStep() : null,
    ...common,
    ...(memberId === null
      ? factorOf(access)
      : { member: { id: memberId, name: access.members.nameOf(memberId) } }),
  }
}

function factorOf({ secondFactor }: Access): Pick<SessionState, 'second_factor'> {
  const left = secondFactor.recoveryCodesLeft()
  return left === null ? {} : { second_factor: { recovery_codes_left: left } }
}

function browserSession(
  { members }: Access,
  { tokenSha256, createdAt, lastSeenAt, memberId }: SessionRow,
  own: DashboardSession,
): BrowserSession {
  return {
    id: shortId({ tokenSha256 }),
    created_at: isoTime(createdAt),
    last_seen_at: isoTime(lastSeenAt),
    is_current: equalBytes(tokenSha256, own.tokenSha256),
    ...(memberId !== null && { member_name: members.nameOf(memberId) }),
  }
}
