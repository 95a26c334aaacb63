// `POST /mcp`: the MCP server over streamable HTTP. Its tools call the API's own routes as the caller of the
// request, so the scopes, lines and rules of the key apply.

import { Elysia } from 'elysia'
import { Type } from 'typebox'

import { callOperation, requestOf } from '../api/client.ts'
import { hasScope, permissionsOf } from '../domain/permissions.ts'
import { HOUR_MS } from '../domain/time.ts'
import { mcpHandler } from '../mcp/server.ts'
import type { McpClient } from '../mcp/tools.ts'
import type { Core } from '../storage/core.ts'
import type { Clock } from '../system/clock.ts'
import { requestSchema } from './bind.ts'
import { innerFetch, type RoutesFetch } from './inner-fetch.ts'
import { jsonBody, requireNoQuery } from './input.ts'
import { callerOf, contextOf, originOf } from './request-context.ts'
import { respondTo } from './respond.ts'

export const MCP_PATH = '/mcp'

/** The idle time-out. A call takes at most 50 seconds. */
const SILENCE_SECONDS = 70
const SESSION = 'mcp-session-id'
/** Some clients can set only `Authorization`. */
export const MCP_CREDENTIALS = { forms: ['two headers', 'bearer'], madeFor: null } as const

export function mcpRoutes({ random, clock }: Core, fetch: RoutesFetch, streamsEnd: AbortSignal) {
  const handler = mcpHandler((request) => clientOf(request, clock, fetch))
  streamsEnd.addEventListener('abort', () => void handler.close())
  return new Elysia().post(
    MCP_PATH,
    async ({ request, body }) => {
      contextOf(request).peer.liftTimeout(SILENCE_SECONDS)
      const answer = await handler.fetch(request, { parsedBody: body })
      const isOpening = 'method' in body && body.method === 'initialize'
      const session = isOpening ? { [SESSION]: random.bytes(16).toHex() } : {}
      const headers = { ...Object.fromEntries(answer.headers), ...session }
      return respondTo(request, answer.body, { status: answer.status, headers })
    },
    {
      parse: [jsonBody],
      body: requestSchema(Type.Object({})),
      beforeHandle: ({ request }) => {
        callerOf(request)
        requireNoQuery(request)
      },
      detail: { hide: true },
    },
  )
}

function clientOf(request: Request, clock: Clock, fetch: RoutesFetch): McpClient {
  const inner = innerFetch(request, MCP_CREDENTIALS.forms, fetch)
  const { actor } = originOf(request)
  const permissions = permissionsOf(callerOf(request))
  // Clients of the newest protocol have no session, so a repeat of a call is recognized only within the same hour.
  const session = request.headers.get(SESSION) ?? Math.floor(clock.now() / HOUR_MS)
  return {
    api: {
      call: (id, ...[call = {}]) => callOperation(inner, id, call),
      file: (id, { params = {}, query = {} }) => inner(requestOf(id, params, query).path, {}),
    },
    id: `${actor.kind} ${actor.id} ${session}`,
    may: (scope) => hasScope(permissions, scope),
  }
}
