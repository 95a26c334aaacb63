// The door of the dashboard: cookies count here and nowhere else, and API keys are not looked at. A browser
// sends the cookie along whoever asks within the same site, and to every port of the host: so it opens
// nothing without the page key in a header, and what changes anything must come from a page of our own.

import type { Access } from '../access/access.ts'
import { type DashboardSession, SESSION_LIFE_MS } from '../access/sessions.ts'
import { RelayError } from '../domain/errors.ts'
import { type Exchange, type Peer, signedOut } from './exchange.ts'
import type { SchemeOptions } from './hosts.ts'

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

const NAME = 'hookline_session'
/** A browser takes this name from HTTPS only, for this host only, and for all of its paths. */
const NAME_IF_SECURE = `__Host-${NAME}`
const TOKEN = /^[A-Za-z0-9_-]{43}$/

/**
 * Whether the browser came by HTTPS: a trusted proxy says so, or it asked for the host of a public url
 * that begins with https. The relay itself speaks HTTP only.
 */
export function isSecure(headers: Headers, peer: Peer, options: SchemeOptions): boolean {
  const { hosts, isTrustedProxy } = options
  const [scheme = ''] = (headers.get('x-forwarded-proto') ?? '').split(',')
  const isProxy = peer.address !== null && isTrustedProxy(peer.address)
  if (isProxy && scheme.trim().toLowerCase() === 'https') return true
  if (hosts.publicUrl === null) return false
  const { protocol, host } = new URL(hosts.publicUrl)
  return protocol === 'https:' && headers.get('host')?.toLowerCase() === host
}

/** The token in the cookie of this scheme; null where there is none. */
function tokenIn(headers: Headers, isSecure: boolean): string | null {
  const start = `${nameFor(isSecure)}=`
  const parts = (headers.get('cookie') ?? '').split(';').map((part) => part.trim())
  const value = parts.find((part) => part.startsWith(start))?.slice(start.length) ?? ''
  return TOKEN.test(value) ? value : null
}

/** What `Set-Cookie` says: seven days from now on, or with null that it is over. */
export function cookieFor(token: string | null, isSecure: boolean): string {
  const seconds = token === null ? 0 : SESSION_LIFE_MS / 1_000
  const parts = [`${nameFor(isSecure)}=${token ?? ''}`, 'Path=/', `Max-Age=${seconds}`]
  return [...parts, 'HttpOnly', 'SameSite=Strict', ...(isSecure ? ['Secure'] : [])].join('; ')
}

function nameFor(isSecure: boolean): string {
  return isSecure ? NAME_IF_SECURE : NAME
}
