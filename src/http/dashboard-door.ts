// The door of the dashboard: cookies count here and nowhere else, and API keys are not looked at. A browser
// sends the cookie along whoever asks within the same site, and to every port of the host: so it opens
// nothing without the page key in a header, and what changes anything must come from a page of our own.

import type { Access } from '../access/access.ts'
import type { DashboardSession } from '../access/sessions.ts'
import { RelayError } from '../domain/errors.ts'
import type { SettingName } from '../domain/setting.ts'
import { exchangeOf, signedOut, type Exchange, type Peer } from './exchange.ts'
import type { SchemeOptions } from './hosts.ts'
import { cookieFor, isSecure, tokenIn } from './session-cookie.ts'

export type DoorTools = SchemeOptions & { readonly access: Pick<Access, 'sessions'> }

/** A request, and its path just as the router will see it. */
export type Asked = { readonly request: Request; readonly path: string }

const API_OF_DASHBOARD = '/dashboard/api/'
const API = '/api/v1/'
/** What is there to sign in by. */
const OPEN = new Set(['/dashboard/session', '/dashboard/setup'])
/** What a ticket in the path opens, as the browser sends no header of ours when it downloads a file. */
const BY_TICKET = '/dashboard/downloads/'
/** Carries the page key. */
const PAGE_KEY = 'x-hookline-page-key'
const SAFE_METHODS = new Set(['GET', 'HEAD'])

/** Routes that ask for the password again after an hour: what they give or take lasts. */
const WITH_PASSWORD = new Set([
  'POST /api/v1/keys',
  'DELETE /api/v1/keys/:id',
  'POST /api/v1/bridges',
  'POST /api/v1/bridges/:id/token',
  'DELETE /api/v1/bridges/:id',
  'POST /api/v1/webhooks',
  'POST /api/v1/webhooks/:id/rotate-secret',
  'GET /api/v1/backups/:name',
  'POST /dashboard/downloads',
])
const SETTING_ROUTE = 'PUT /api/v1/settings/:name'
/** The settings that decide who reaches the relay, and whom it calls. */
const NETWORK_SETTINGS: ReadonlySet<string> = new Set<SettingName>([
  'webhook_targets',
  'open_metrics',
  'heartbeat_url',
])

export function isDashboardPath(path: string): boolean {
  return path === '/dashboard' || path.startsWith('/dashboard/')
}

/**
 * Lets a request in: throws `forbidden` where another site asks, `signed_out` where nobody is signed in.
 * Gives the request as the routes know it: `/dashboard/api/x` is `/api/v1/x`.
 */
export function admitToDashboard(tools: DoorTools, asked: Asked, exchange: Exchange): Asked {
  const { request, path } = asked
  requireOwnPage(request)
  exchange.session = sessionIn(tools, request.headers, exchange.peer)
  if (OPEN.has(path) || path.startsWith(BY_TICKET)) return asked
  if (exchange.session === null) throw signedOut()
  exchange.caller = { kind: 'dashboard' }
  if (!path.startsWith(API_OF_DASHBOARD)) return asked
  const start = request.url.indexOf(API_OF_DASHBOARD)
  const rest = request.url.slice(start + API_OF_DASHBOARD.length)
  const url = request.url.slice(0, start) + API + rest
  return { request: new Request(url, request), path: API + path.slice(API_OF_DASHBOARD.length) }
}

/**
 * Notes that the session is in use, and gives the `Set-Cookie` that lets the browser keep it as long;
 * null where both were done within the hour. Only reading does it: a change may end the session.
 */
export async function keepSession(
  tools: DoorTools,
  request: Request,
  { peer, session }: Exchange,
): Promise<string | null> {
  if (session === null || !session.isStale || request.method !== 'GET') return null
  try {
    await tools.access.sessions.keep(session)
  } catch (error) {
    // A full disk must not hide the page that tells of it.
    if (error instanceof RelayError && error.code === 'storage_full') return null
    throw error
  }
  const secure = isSecure(request.headers, peer, tools)
  const token = tokenIn(request.headers, secure)
  return token === null ? null : cookieFor(token, secure)
}

/** Goes before every handler of the dashboard: some of them ask for the password again. */
export function requirePassword(context: {
  readonly request: Request
  /** The path of the route, as `/api/v1/keys/:id`. */
  readonly route: string
  readonly params: unknown
}): void {
  const { request, route, params } = context
  const method = request.method === 'HEAD' ? 'GET' : request.method
  if (!asksForPassword(`${method} ${route}`, params)) return
  if (isElevated(exchangeOf(request))) return
  const message = 'This asks for the password again: it was given more than an hour ago.'
  throw new RelayError('password_needed', message)
}

function isElevated({ session }: Exchange): boolean {
  return session !== null && session.elevatedUntil !== null
}

function asksForPassword(route: string, params: unknown): boolean {
  if (route !== SETTING_ROUTE) return WITH_PASSWORD.has(route)
  const isNamed = typeof params === 'object' && params !== null && 'name' in params
  return isNamed && NETWORK_SETTINGS.has(String(params.name))
}

function sessionIn(tools: DoorTools, headers: Headers, peer: Peer): DashboardSession | null {
  const token = tokenIn(headers, isSecure(headers, peer, tools))
  const pageKey = headers.get(PAGE_KEY)
  if (token === null || pageKey === null) return null
  return tools.access.sessions.find({ token, pageKey })
}

/**
 * Browsers say in `Sec-Fetch-Site` who asks, over HTTPS and to a loopback name; elsewhere the `Origin`
 * that they send with every change must do.
 */
function requireOwnPage(request: Request): void {
  if (SAFE_METHODS.has(request.method)) return
  const { headers } = request
  const site = headers.get('sec-fetch-site')
  if (site === null ? isOwnOrigin(headers) : site === 'same-origin') return
  throw new RelayError('forbidden', 'Only a page of this relay itself may ask for this.')
}

function isOwnOrigin(headers: Headers): boolean {
  const origin = headers.get('origin') ?? ''
  if (!URL.canParse(origin)) return false
  return new URL(origin).host === headers.get('host')?.toLowerCase()
}
