// `POST /mcp`: the MCP server over streamable HTTP. Its tools call the API's own routes as the caller of the
// request, so the scopes, lines and rules of the key apply.

import { Elysia } from 'elysia'
import { Type } from 'typebox'

import { callOperation, requestOf, rightsFor } from '../api/client.ts'
import { mayCall, permissionsOf } from '../domain/permissions.ts'
import { rulesResource } from '../keys/permissions.ts'
import type { McpClient } from '../mcp/tools.ts'
import type { Core } from '../storage/core.ts'
import { whenAborted } from '../system/clock.ts'
import { once } from '../system/memoize.ts'
import { MCP_CREDENTIALS } from './authentication.ts'
import { requestSchema } from './bind.ts'
import { innerFetch, type RoutesFetch } from './inner-fetch.ts'
import { jsonBody, requireNoQuery } from './input.ts'
import { callerOf, contextOf, setContext } from './request-context.ts'
import { respondTo } from './respond.ts'

export const MCP_PATH = '/mcp'

/** The idle time-out. A call takes at most 50 seconds. */
const SILENCE_SECONDS = 70
const JSON_TYPE = 'application/json'
const EVENTS = 'text/event-stream'
const DATA = 'data: '
const SESSION = 'mcp-session-id'

export function mcpRoutes({ random }: Core, fetch: RoutesFetch, streamsEnd: AbortSignal) {
  const handlerOf = once(async () => {
    const { mcpHandler } = await import('../mcp/server.ts')
    const handler = mcpHandler((request) => clientOf(request, fetch))
    void whenAborted(streamsEnd).then(() => handler.close())
    return handler
  })
  return new Elysia().post(
    MCP_PATH,
    async ({ request, body }) => {
      contextOf(request).peer.liftTimeout(SILENCE_SECONDS)
      const handler = await handlerOf()
      const { asked, isJson } = negotiated(request)
      const answer = await handler.fetch(asked, { parsedBody: body })
      const isOpening = 'method' in body && body.method === 'initialize'
      const session = isOpening ? { [SESSION]: random.bytes(16).toHex() } : {}
      const headers = { ...Object.fromEntries(answer.headers), ...session }
      if (isJson && answer.headers.get('content-type')?.startsWith(EVENTS) === true) {
        const json = lastDataOf(await answer.text())
        return respondTo(request, json, {
          status: answer.status,
          headers: { ...headers, 'content-type': JSON_TYPE },
        })
      }
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

/**
 * The request with the `Accept` that the SDK insists on, if the client takes JSON or events; the SDK answers 406
 * otherwise. `isJson`: the client names no events, as `curl` and simple programs do, so it gets plain JSON.
 */
function negotiated(request: Request): { readonly asked: Request; readonly isJson: boolean } {
  const accept = request.headers.get('accept') ?? '*/*'
  const types = accept.split(',').map((type) => (type.split(';')[0] ?? '').trim().toLowerCase())
  const takesEvents = types.includes(EVENTS) || types.includes('text/*')
  const takesJson = [JSON_TYPE, 'application/*', '*/*'].some((type) => types.includes(type))
  if (!takesEvents && !takesJson) return { asked: request, isJson: false }
  const { url, method, signal } = request
  const headers = new Headers(request.headers)
  headers.set('accept', `${JSON_TYPE}, ${EVENTS}`)
  const asked = new Request(url, { method, headers, signal })
  setContext(asked, contextOf(request))
  return { asked, isJson: !takesEvents }
}

/** The JSON of the last event of a finished stream: the answer. Those before it report progress. */
function lastDataOf(stream: string): string {
  const lines = stream.split('\n').filter((line) => line.startsWith(DATA))
  return lines.at(-1)?.slice(DATA.length) ?? ''
}

function clientOf(request: Request, fetch: RoutesFetch): McpClient {
  const inner = innerFetch(request, MCP_CREDENTIALS.forms, fetch)
  const permissions = permissionsOf(callerOf(request))
  return {
    api: {
      call: (id, ...[call = {}]) => callOperation(inner, id, call),
      file: (id, { params = {}, query = {} }) => inner(requestOf(id, params, query).path, {}),
    },
    rules: rulesResource(permissions.rules),
    may: (operation) => mayCall(permissions, rightsFor(operation)),
  }
}
