// The entrance of every request. It checks in this order: the Host, the credentials (a key for the API, a token
// for shortcuts, a cookie for the dashboard, never one in place of another), the phase of the relay. Only then
// come the routes.

import type { AnyElysia } from 'elysia'

import type { Operation } from '../api/operation.ts'
import { COMPAT_ROOT, compatAt } from '../compat/apis.ts'
import type { CompatApi } from '../compat/compat-api.ts'
import { RelayError, invalidRequest, withSuggestion, type ErrorCode } from '../domain/errors.ts'
import type { Core } from '../storage/core.ts'
import { hasKeyMadeFor } from '../storage/credentials.ts'
import { once } from '../system/memoize.ts'
import { MCP_CREDENTIALS, createAuthentication } from './authentication.ts'
import { compatRoutes, inDialect, type CompatCalls } from './compat.ts'
import { STARTUP_CHECK_PATH } from './control.ts'
import { authenticateBrowser, isDashboardPath, isOwnOrigin, keepSession } from './dashboard-auth.ts'
import { type Hosts, clientAddress, isOurHost, requiresTls } from './hosts.ts'
import { smallPage, wantsPage } from './html-pages.ts'
import { MCP_PATH } from './mcp.ts'
import type { Relay } from './relay.ts'
import {
  type Peer,
  type RequestContext,
  type RoutableRequest,
  requestIds,
  setContext,
} from './request-context.ts'
import { answerToFailure, errorResponse, notRunning } from './respond.ts'
import { type Paths, dashboardRoutes, ownersRoutes, pathsOf, publicRoutes } from './routes.ts'
import { acceptedEncodings } from './static-file.ts'

/** Answers requests from the port and from the control socket. */
export type Http = {
  fetch(request: Request, peer: Peer): Promise<Response>
  /** Ends the streams of events, which would keep their connections open forever. */
  endStreams(): void
}

type App = Paths & { readonly routes: AnyElysia }

const API = '/api/v1'
const BRIDGE = '/bridge/v1'
/** Below these, nothing is a page. */
const FOR_PROGRAMS = [API, BRIDGE, COMPAT_ROOT]
/** Paths that also answer while the relay starts or stops, because they need no data. */
const ALWAYS_OPEN = new Set(['/healthz', '/readyz', '/swagger/json', STARTUP_CHECK_PATH])
/** Elysia looks for the path from this character of the URL on, so a shorter host would hide it. */
const ELYSIA_PATH_FROM = 11
const STRICT_TRANSPORT = ['strict-transport-security', 'max-age=31536000'] as const
const NO_PAGE = {
  title: 'Page not found',
  paragraphs: [
    'There is nothing at this address.',
    '<a href="/">Open the dashboard</a> or <a href="/swagger">read the API documentation</a>.',
  ],
}

export function createHttp(core: Core, relay: Relay): Http {
  return new Entrance(core, relay)
}

class Entrance implements Http {
  readonly #core: Core
  readonly #relay: Relay
  readonly #authentication: ReturnType<typeof createAuthentication>
  readonly #streamsEnd = new AbortController()
  readonly #nextId: () => string
  readonly #network: App
  /**
   * For the control socket, for signed-in browsers, and for compatible APIs. Made at their first request: each
   * takes 10 ms.
   */
  readonly #control: () => App
  readonly #dashboard: () => App
  readonly #compat: () => App

  constructor(core: Core, relay: Relay) {
    this.#core = core
    this.#relay = relay
    this.#authentication = createAuthentication(core, relay)
    this.#nextId = requestIds(core.random)
    this.#network = appOf(publicRoutes(core, relay, this.#streamsEnd.signal))
    this.#control = once(() => appOf(ownersRoutes(core, relay, this.#streamsEnd.signal)))
    this.#dashboard = once(() => appOf(dashboardRoutes(core, relay, this.#streamsEnd.signal)))
    const calls: CompatCalls = {
      authentication: this.#authentication,
      fetch: (inner) => this.#network.routes.fetch(inner),
    }
    this.#compat = once(() => appOf(compatRoutes(core, relay, calls)))
  }

  async fetch(request: Request, peer: Peer): Promise<Response> {
    const { hosts, metrics } = this.#relay
    const context: RequestContext = {
      requestId: this.#nextId(),
      peer,
      clock: this.#core.clock,
      db: this.#core.db,
      address: () => {
        if (peer.address === null) return null
        return clientAddress(request.headers, peer, hosts.isTrustedProxy)
      },
      caller: null,
      session: null,
      bridge: null,
      operation: null,
      compat: null,
    }
    const response = await this.#answer(request, context)
    if (requiresTls(hosts, request.headers)) response.headers.set(...STRICT_TRANSPORT)
    metrics.count('hookline_http_responses_total', 'Answers by their status.', {
      status: String(response.status),
    })
    return response
  }

  endStreams(): void {
    this.#streamsEnd.abort()
  }

  async #answer(given: Request, context: RequestContext): Promise<Response> {
    const { access, doubtSignal, hosts, life } = this.#relay
    const { sessions } = access
    const { requestId, peer } = context
    try {
      const { app, request, path } = this.#admit(routable(given), context)
      if (life.phase !== 'running' && !ALWAYS_OPEN.has(path)) {
        throw notRunning(life.phase === 'stopping' ? 'stopping' : 'starting')
      }
      setContext(request, context)
      const { session } = context
      const cookie =
        session === null ? null : await keepSession({ sessions, hosts }, request, { peer, session })
      const response: Response = await app.routes.fetch(request)
      if (cookie !== null) response.headers.set('set-cookie', cookie)
      // An answer without our request id is from Elysia: no route matched.
      const isUnmatched = !response.headers.has('x-request-id')
      if (isUnmatched || (response.status === 404 && app.isNamed(path, request.method))) {
        return await inDialect(noRoute(app, { request, path }, requestId), context.compat)
      }
      // Answers on the control socket never leave the machine.
      return peer.isControl
        ? response
        : await compressed(response, { request, path }, context.operation)
    } catch (error) {
      const refusal = answerToFailure(error, requestId, { log: this.#core.log, doubtSignal })
      return inDialect(refusal, context.compat)
    }
  }

  /** Checks Host and credentials; returns the request, and the app that answers it. */
  #admit(
    target: RoutableRequest,
    context: RequestContext,
  ): RoutableRequest & { readonly app: App } {
    const { access, fakeBindings, hosts } = this.#relay
    const { request, path } = target
    const { peer } = context
    // The keys of `hookline fake` are public, so pages of other sites must be kept out of its API too.
    if (fakeBindings !== null) requireOurHost(request, peer, hosts)
    const app = peer.isControl ? this.#control() : this.#network
    if (isWithin(path, API)) {
      context.caller = this.#authentication.caller(request, peer)
      return { ...target, app }
    }
    if (!peer.isControl && isWithin(path, BRIDGE)) {
      context.bridge = this.#authentication.bridge(request, peer)
      return { ...target, app }
    }
    const compat = peer.isControl ? undefined : compatAt(path)
    if (compat !== undefined) return this.#admitCompat(compat, target, context)
    requireOurHost(request, peer, hosts)
    if (path === MCP_PATH && !peer.isControl) {
      requireOwnOrigin(request.headers)
      context.caller = this.#authentication.caller(request, peer, MCP_CREDENTIALS)
      return { ...target, app }
    }
    if (peer.isControl || !isDashboardPath(path)) return { ...target, app }
    const asked = authenticateBrowser({ access, hosts }, target, context)
    return { ...asked, app: this.#dashboard() }
  }

  /** Its routes check the credentials: the forms of them depend on the API. */
  #admitCompat(
    api: CompatApi,
    target: RoutableRequest,
    context: RequestContext,
  ): RoutableRequest & { readonly app: App } {
    const { db, clock } = this.#core
    if (!hasKeyMadeFor(db, api.name, clock.now())) {
      throw new RelayError('not_found', 'There is no such route.')
    }
    context.compat = api
    requireOwnOrigin(target.request.headers)
    return { ...target, app: this.#compat() }
  }
}

function appOf(routes: AnyElysia): App {
  return { routes, ...pathsOf(routes) }
}

/**
 * The request with a URL that Elysia reads correctly, and the path as Elysia will see it. A request without a
 * usable Host has only a path as its URL, and Elysia misreads URLs with a very short host.
 */
function routable(given: Request): RoutableRequest {
  const { url } = given
  const start = url.indexOf('/', url.indexOf('//') + 2)
  const isPlain = url.startsWith('http') && start >= ELYSIA_PATH_FROM
  const request = isPlain ? given : withLocalUrl(given, url.startsWith('http') ? start : 0)
  const from = isPlain ? start : request.url.indexOf('/', ELYSIA_PATH_FROM)
  const end = request.url.indexOf('?', from)
  const path = request.url.slice(from, end === -1 ? undefined : end)
  // Elysia takes a slash at the end, too.
  return { request, path: path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path }
}

function withLocalUrl(given: Request, from: number): Request {
  const path = given.url.slice(from)
  if (path.startsWith('/')) return new Request(`http://localhost${path}`, given)
  throw invalidRequest({ path: '', message: 'The request line has no path.' })
}

function isWithin(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}/`)
}

function requireOurHost(request: Request, peer: Peer, hosts: Hosts): void {
  if (peer.isControl || isOurHost(request.headers.get('host'), hosts)) return
  const message = 'This Host is not one of this relay; the option public url names another one.'
  throw new RelayError('misdirected_request', message)
}

/** Programs send no Origin; a page of another site does. */
function requireOwnOrigin(headers: Headers): void {
  if (!headers.has('origin') || isOwnOrigin(headers)) return
  throw new RelayError('forbidden', 'Only programs and pages of this relay may do this.')
}

function noRoute(app: App, { request, path }: RoutableRequest, requestId: string): Response {
  const methods = app.methodsAt(path)
  if (methods.length === 0) {
    const isForPeople = !FOR_PROGRAMS.some((root) => isWithin(path, root))
    if (isForPeople && wantsPage(request)) return smallPage(NO_PAGE, { status: 404, requestId })
    return errorResponse(misled('not_found', 'There is no such route.', app.meant(path)), requestId)
  }
  const allow = methods.join(', ')
  const meant = app.below(path, request.method)
  const error = misled('method_not_allowed', `This path takes ${allow}.`, meant)
  return errorResponse(error, requestId, { allow })
}

function misled(code: ErrorCode, message: string, suggestion: string | undefined): RelayError {
  if (suggestion === undefined) return new RelayError(code, message)
  return new RelayError(code, withSuggestion(message, suggestion), { details: { suggestion } })
}

// Compression of JSON answers, if that leaks nothing. An observer of encrypted answers sees their sizes, and a
// compressed size reveals whether a text of the observer's choice appears in the answer. So answers with a
// credential stay uncompressed, and answers with the words of several people: a stranger could text a line one
// guess after another, and learn from the sizes what others wrote to it. Errors stay uncompressed too: they
// repeat what was sent, and are short. The rows of the operations say which answers are safe.

/** In bytes. For shorter answers gzip isn't worth its time. */
const LENGTH_MIN = 4_096
/** 70 KB become 21 KB in 0.2 ms; the default level takes 1.1 ms and makes 14 KB of them. */
const LEVEL = 1

async function compressed(
  response: Response,
  { request, path }: RoutableRequest,
  operation: Operation | null,
): Promise<Response> {
  const isJson = response.headers.get('content-type') === 'application/json'
  if (response.status !== 200 || !isJson || !isSafe(request, path, operation)) return response
  if (!acceptedEncodings(request.headers).includes('gzip')) return response
  const text = await response.text()
  const { status, headers } = response
  if (text.length < LENGTH_MIN) return new Response(text, { status, headers })
  headers.set('content-encoding', 'gzip')
  headers.set('vary', 'accept-encoding')
  return new Response(Bun.gzipSync(text, { level: LEVEL }), { status, headers })
}

function isSafe({ method, url }: Request, path: string, operation: Operation | null): boolean {
  if (method !== 'GET') return false
  if (operation === null) return path.startsWith('/swagger/')
  const compress = 'compress' in operation && operation.compress
  if (compress !== 'of one conversation') return compress
  // The people of one conversation can read all of it anyway.
  return new URL(url).searchParams.has('conversation_id')
}
