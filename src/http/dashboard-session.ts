// Sign-in and sign-out of browsers, and their sessions.

import { Elysia } from 'elysia'

import type { Access, Client } from '../access/access.ts'
import { shortId, type DashboardSession, type NewSession } from '../access/sessions.ts'
import {
  type BrowserSession,
  Claim,
  NewPassword,
  type SessionState,
  SetupStep,
  SignIn,
} from '../api/dashboard.ts'
import type { ListedSession } from '../storage/dashboard-access.ts'
import { equalBytes } from '../system/hash.ts'
import { isoTime, isoTimeOrNull } from '../system/iso-time.ts'
import { takes } from './body.ts'
import { cookieFor, isSecure } from './dashboard-auth.ts'
import { isLoopbackOnly, type SchemeOptions } from './hosts.ts'
import { requireNoQuery } from './query.ts'
import { contextOf, originOf, sessionOf } from './request-context.ts'
import { respond } from './respond.ts'

type Tools = SchemeOptions & { readonly access: Access; readonly version: string }

export function sessionRoutes(tools: Tools) {
  const { access } = tools
  const stateFor = (request: Request, session: DashboardSession | null) =>
    stateOf(tools, request, session)
  const clientOf = (request: Request): Client => ({
    ...originOf(request),
    isLocal: isLoopbackOnly(request.headers, contextOf(request).peer, tools),
  })
  return new Elysia({ prefix: '/dashboard' })
    .onBeforeHandle(({ request }) => requireNoQuery(request))
    .get('/session', ({ request }) => stateFor(request, contextOf(request).session))
    .post(
      '/setup',
      async ({ request, body }) =>
        withCookie(tools, request, await access.setUp(body, clientOf(request))),
      takes(Claim),
    )
    .post(
      '/session',
      async ({ request, body }) =>
        withCookie(tools, request, await access.signIn(body.password, clientOf(request))),
      takes(SignIn),
    )
    .post(
      '/session/elevate',
      async ({ request, body }) =>
        stateFor(
          request,
          await access.elevate(sessionOf(request), body.password, clientOf(request)),
        ),
      takes(SignIn),
    )
    .post(
      '/password',
      async ({ request, body }) =>
        stateFor(request, await access.changePassword(sessionOf(request), body, clientOf(request))),
      takes(NewPassword),
    )
    .put(
      '/setup-step',
      async ({ request, body }) => {
        await access.saveSetupStep(body.step)
        return stateFor(request, sessionOf(request))
      },
      takes(SetupStep),
    )
    .get('/sessions', ({ request }) => ({
      data: access.sessions.list().map((seen) => browserSession(seen, sessionOf(request))),
    }))
    .delete('/session', async ({ request }) => {
      const { session } = contextOf(request)
      if (session !== null) await access.signOut(session, originOf(request))
      return withCookie(tools, request, null)
    })
    .delete('/sessions', async ({ request }) => {
      await access.signOutEverywhere(originOf(request))
      return withCookie(tools, request, null)
    })
}

function stateOf(tools: Tools, request: Request, session: DashboardSession | null): SessionState {
  const { access, version } = tools
  const { peer } = contextOf(request)
  const isSignedIn = session !== null
  const signedOut = access.hasPassword() ? 'signed_out' : 'unclaimed'
  return {
    state: isSignedIn ? 'signed_in' : signedOut,
    elevated_until: isoTimeOrNull(session?.elevatedUntil ?? null),
    version: isSignedIn ? version : null,
    setup_step: isSignedIn ? access.setupStep() : null,
    is_local: isLoopbackOnly(request.headers, peer, tools),
  }
}

function browserSession(
  { tokenSha256, createdAt, lastSeenAt }: ListedSession,
  own: DashboardSession,
): BrowserSession {
  return {
    id: shortId({ tokenSha256 }),
    created_at: isoTime(createdAt),
    last_seen_at: isoTime(lastSeenAt),
    is_current: equalBytes(tokenSha256, own.tokenSha256),
  }
}

/** The state with its cookie; without a session the cookie is deleted. */
function withCookie(tools: Tools, request: Request, opened: NewSession | null): Response {
  const { requestId, peer } = contextOf(request)
  const cookie = cookieFor(opened?.token ?? null, isSecure(request.headers, peer, tools))
  const headers = { 'set-cookie': cookie }
  const state = stateOf(tools, request, opened?.session ?? null)
  const body = opened === null ? state : { ...state, page_key: opened.pageKey }
  return respond(JSON.stringify(body), {
    status: 200,
    requestId,
    headers,
  })
}
