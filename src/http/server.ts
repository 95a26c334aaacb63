// The front door. Every request passes here, in this order: its id, the Host rules, the credentials (keys
// for the API, a token for shortcuts, a cookie for the dashboard, never one for the other), whether the
// relay is up, and only then the routes.

import type { AnyElysia } from 'elysia'

import { RelayError, invalidRequest } from '../domain/errors.ts'
import { Authentication, type AuthenticationTools } from './authentication.ts'
import { compressed } from './compression.ts'
import { STARTUP_CHECK_PATH } from './control.ts'
import { admitToDashboard, isDashboardPath, keepSession } from './dashboard-auth.ts'
import { openExchange, requestIds, type Exchange, type Peer } from './exchange.ts'
import { clientAddress, isOurHost, requiresTls, type HostOptions } from './hosts.ts'
import { answerToFailure, errorResponse } from './respond.ts'
import {
  dashboardRoutes,
  methodsAt,
  ownersRoutes,
  publicRoutes,
  type RouteTools,
} from './routes.ts'
import { requireRunning } from './service.ts'
import { smallPage, wantsPage } from './small-page.ts'

export type HttpTools = RouteTools & AuthenticationTools & { readonly hosts: HostOptions }

/** The whole API as a function, for the port and for the control socket alike. */
export type Http = {
  fetch(request: Request, peer: Peer): Promise<Response>
  /** Ends the streams of events, which would keep their connections open for ever. */
  endStreams(): void
}

type Side = { readonly app: AnyElysia; readonly methodsAt: (path: string) => readonly string[] }

/** What the network sees, what the control socket sees, and what a browser sees. */
type Sides = { readonly outside: Side; readonly inside: Side; readonly dashboard: () => Side }

/** A request, and its path just as the router will see it. */
type Target = { readonly request: Request; readonly path: string }

const API = '/api/v1'
const BRIDGE = '/bridge/v1'
/** What answers also while the relay starts or stops. */
const ALWAYS_OPEN = new Set(['/healthz', '/readyz', STARTUP_CHECK_PATH])
/** Elysia looks for the path from this character on: a shorter host would hide it. */
const ELYSIA_PATH_FROM = 11
const STRICT_TRANSPORT = ['strict-transport-security', 'max-age=31536000'] as const
const NO_STREAM = { value: null }
const NO_PAGE = {
  title: 'Page not found',
  paragraphs: [
    'There is nothing at this address.',
    '<a href="/">Open the dashboard</a> or <a href="/swagger">read the API documentation</a>.',
  ],
}

export function createHttp(tools: HttpTools): Http {
  const streamsEnd = new AbortController()
  let dashboard: Side | null = null
  const sides: Sides = {
    outside: sideOf(publicRoutes(tools)),
    inside: sideOf(ownersRoutes(tools, streamsEnd.signal)),
    // Made for the first browser: that takes 10 ms, which most starts can do without.
    dashboard: () => (dashboard ??= sideOf(dashboardRoutes(tools, streamsEnd.signal))),
  }
  const door = { tools, sides, authentication: new Authentication(tools) }
  const nextId = requestIds(tools.random)
  return {
    async fetch(request, peer) {
      const exchange: Exchange = {
        requestId: nextId(),
        peer,
        address: () => {
          if (peer.address === null) return null
          return clientAddress(request.headers, peer, tools.isTrustedProxy)
        },
        caller: null,
        session: null,
        bridge: null,
      }
      const response = await answer(door, request, exchange)
      if (requiresTls(tools.hosts, request.headers)) response.headers.set(...STRICT_TRANSPORT)
      tools.metrics.count('hookline_http_responses_total', 'Answers by their status.', {
        status: String(response.status),
      })
      return response
    },
    endStreams: () => streamsEnd.abort(),
  }
}

type Door = {
  readonly tools: HttpTools
  readonly sides: Sides
  readonly authentication: Authentication
}

async function answer(door: Door, given: Request, exchange: Exchange): Promise<Response> {
  const { tools } = door
  const { requestId } = exchange
  try {
    const { side, request, path } = admit(door, targetOf(given), exchange)
    if (!ALWAYS_OPEN.has(path)) requireRunning(tools.health.life)
    openExchange(request, exchange)
    const isSignedIn = exchange.session !== null
    const cookie = isSignedIn ? await keepSession(tools, request, exchange) : null
    const response: Response = await side.app.fetch(withoutStream(request))
    if (cookie !== null) response.headers.set('set-cookie', cookie)
    // An answer without our id is Elysia's own: no route fits.
    if (!response.headers.has('x-request-id')) return noRoute(side, { request, path }, requestId)
    // What never leaves the machine is not worth it.
    return exchange.peer.isControl ? response : await compressed(response, { request, path })
  } catch (error) {
    return answerToFailure(error, requestId, tools)
  }
}

/** Asks who it is, in the way of the side that the request goes to. */
function admit(
  { tools, sides, authentication }: Door,
  target: Target,
  exchange: Exchange,
): Target & { readonly side: Side } {
  const { request, path } = target
  const { peer } = exchange
  const side = peer.isControl ? sides.inside : sides.outside
  if (isWithin(path, API)) {
    exchange.caller = authentication.caller(request, peer)
    return { ...target, side }
  }
  if (!peer.isControl && isWithin(path, BRIDGE)) {
    exchange.bridge = authentication.bridge(request, peer)
    return { ...target, side }
  }
  requireOurHost(request, peer, tools.hosts)
  if (peer.isControl || !isDashboardPath(path)) return { ...target, side }
  return { ...admitToDashboard(tools, target, exchange), side: sides.dashboard() }
}

/**
 * Elysia asks each request for its `body`, which makes a stream that nobody reads from: `body.ts` reads
 * the bytes. So there is none to be seen.
 */
function withoutStream(request: Request): Request {
  return Object.defineProperty(request, 'body', NO_STREAM)
}

function sideOf(app: AnyElysia): Side {
  return { app, methodsAt: methodsAt(app) }
}

/**
 * The path just as the router will see it. A request without a usable Host has no URL but a path, and
 * Elysia misreads URLs with a very short host: both get one that fits.
 */
function targetOf(given: Request): Target {
  const { url } = given
  const start = url.indexOf('/', url.indexOf('//') + 2)
  const isPlain = url.startsWith('http') && start >= ELYSIA_PATH_FROM
  const request = isPlain ? given : withLocalUrl(given, url.startsWith('http') ? start : 0)
  const from = isPlain ? start : request.url.indexOf('/', ELYSIA_PATH_FROM)
  const end = request.url.indexOf('?', from)
  const path = request.url.slice(from, end === -1 ? undefined : end)
  return { request, path }
}

function withLocalUrl(given: Request, from: number): Request {
  const path = given.url.slice(from)
  if (path.startsWith('/')) return new Request(`http://localhost${path}`, given)
  throw invalidRequest({ path: '', message: 'The request line has no path.' })
}

function isWithin(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}/`)
}

function requireOurHost(request: Request, peer: Peer, hosts: HostOptions): void {
  if (peer.isControl || isOurHost(request.headers.get('host'), hosts)) return
  const message = 'This Host is not one of this relay; the option public url names another one.'
  throw new RelayError('misdirected_request', message)
}

function noRoute(side: Side, { request, path }: Target, requestId: string): Response {
  const methods = side.methodsAt(path)
  if (methods.length === 0) {
    const isForPeople = !isWithin(path, API) && !isWithin(path, BRIDGE)
    if (isForPeople && wantsPage(request)) return smallPage(NO_PAGE, { status: 404, requestId })
    return errorResponse(new RelayError('not_found', 'There is no such route.'), requestId)
  }
  const allow = methods.join(', ')
  const error = new RelayError('method_not_allowed', `This path takes ${allow}.`)
  return errorResponse(error, requestId, { allow })
}
