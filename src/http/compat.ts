// The routes of the compatible APIs. Each call has the rights of its key: it goes through the relay's own operations,
// or through the same send.

import { Elysia, type AnyElysia } from 'elysia'

import type { Attachment } from '../api/attachments.ts'
import {
  RefusedError,
  callOperation,
  parsed,
  refusal,
  requestOf,
  type RelayFetch,
} from '../api/client.ts'
import type { ErrorAnswer } from '../api/errors.ts'
import { AGENT } from '../api/keys.ts'
import { SendRequest, type Message } from '../api/messages.ts'
import { routeOf } from '../api/operation.ts'
import { OPERATIONS } from '../api/operations.ts'
import { COMPAT_APIS, routesOf } from '../compat/apis.ts'
import type {
  CompatApi,
  CompatFile,
  CompatMessage,
  CompatRelay,
  CompatState,
} from '../compat/compat-api.ts'
import { RelayError } from '../domain/errors.ts'
import {
  commonHome,
  homeOfNumber,
  isSamePerson,
  parseRecipient,
  personOf,
} from '../domain/handle.ts'
import type { LineId } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import { permissionsOf, requirePermission } from '../domain/permissions.ts'
import { includesLine } from '../domain/routing.ts'
import type { Sender } from '../messages/send.ts'
import type { Core } from '../storage/core.ts'
import { listLines } from '../storage/lines.ts'
import { sha256 } from '../system/hash.ts'
import type { createAuthentication } from './authentication.ts'
import { bodyCheck } from './bind.ts'
import { innerFetch, type RoutesFetch } from './inner-fetch.ts'
import { fieldsOf, timeIn } from './input.ts'
import type { Relay } from './relay.ts'
import { callerOf, contextOf, linesOf } from './request-context.ts'
import { answerToFailure, respondTo } from './respond.ts'
import { messageIn, SILENCE_SECONDS } from './sending.ts'

const checkSend = bodyCheck(SendRequest)
/** Clients of other products give up after ten seconds. */
const WAIT_MS = 5_000
/** Clients send large files in base64, in a body that arrives slowly. */
const BODY_SECONDS = 60

type Authentication = ReturnType<typeof createAuthentication>

type Calls = {
  readonly authentication: Authentication
  readonly fetch: RoutesFetch
}

export function compatRoutes(core: Core, relay: Relay, calls: Calls): AnyElysia {
  const app = new Elysia()
  for (const api of COMPAT_APIS) {
    for (const { method, path, handle } of routesOf(api)) {
      const answer = async ({ request, params }: Handled) => {
        const { peer } = contextOf(request)
        peer.liftTimeout(BODY_SECONDS)
        try {
          const given = { forms: api.credentials, madeFor: api.name }
          contextOf(request).caller = calls.authentication.caller(request, peer, given)
          const fields = method === 'GET' ? {} : await fieldsOf(request, api.bodyBytesMax)
          const called = { params, fields, relay: relayFor(request, api, { core, relay, calls }) }
          const { status, body } = await handle(called)
          return respondTo(request, JSON.stringify(body), { status })
        } catch (error) {
          return refused(request, api, error, { core, relay })
        }
      }
      app.route(method, path, answer, HIDDEN)
    }
    for (const id of api.operations ?? []) {
      const { method, path } = routeOf(OPERATIONS[id])
      const root = `/compat/${api.name}`
      const answer = ({ request }: Handled) =>
        passOn(request, api, { core, relay, calls, from: root.length })
      app.route(method, root + path, answer, HIDDEN)
    }
  }
  return app
}

// Elysia's types have no `parse` beside `detail` here.
const HIDDEN = { parse: 'none', detail: { hide: true } } as object
const PASSED_ON = ['content-type', 'content-length', 'idempotency-key', 'prefer']

/** Answers a call of one of the relay's own operations, with the rights of a key that was made for `api`. */
async function passOn(
  request: Request,
  api: CompatApi,
  {
    core: { log },
    relay: { doubtSignal },
    calls,
    from,
  }: {
    readonly core: Core
    readonly relay: Relay
    readonly calls: Calls
    /** The length of the path before that of the operation. */
    readonly from: number
  },
): Promise<Response> {
  const context = contextOf(request)
  const given = { forms: api.credentials, madeFor: api.name }
  try {
    context.caller = calls.authentication.caller(request, context.peer, given)
  } catch (error) {
    return answerToFailure(error, context.requestId, { log, doubtSignal })
  }
  const { pathname, search } = new URL(request.url)
  const headers = new Headers()
  for (const name of PASSED_ON) {
    const value = request.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  // An agent's own gateway decides what is a repeat: it may have two equal answers to give.
  if (api.isForAgents === true) headers.set(AGENT, 'again=true')
  const { method, body } = request
  const fetch = innerFetch(request, api.credentials, calls.fetch)
  return fetch(pathname.slice(from) + search, { method, body, headers })
}

type Handled = { readonly request: Request; readonly params: Readonly<Record<string, string>> }

function relayFor(
  request: Request,
  api: CompatApi,
  { core, relay, calls }: { readonly core: Core; readonly relay: Relay; readonly calls: Calls },
): CompatRelay {
  const limit = linesOf(request)
  const lines = listLines(core.db).filter(({ id }) => includesLine(limit, id))
  const fetch = innerFetch(request, api.credentials, calls.fetch)
  return {
    numbers: () => lines.map(({ number }) => number),
    send: (messages) => sendAll(request, api, { messages, lines, sender: relay.sender }),
    state: async (id) =>
      stateOf((await callOperation(fetch, 'getMessage', { params: { id } })).body),
    upload: (file) => upload(fetch, file),
  }
}

async function sendAll(
  request: Request,
  { name }: CompatApi,
  {
    messages,
    lines,
    sender,
  }: {
    readonly messages: readonly CompatMessage[]
    readonly lines: readonly Line[]
    readonly sender: Sender
  },
): Promise<readonly CompatState[]> {
  requirePermission(permissionsOf(callerOf(request)), 'messages:send')
  contextOf(request).peer.liftTimeout(WAIT_MS / 1_000 + SILENCE_SECONDS)
  const requests = messages.map((message) => {
    const { text, attachmentIds = [], requestId } = message
    const attachments = attachmentIds.map((id) => ({ id }))
    const content = attachments.length === 0 ? { text } : { text, attachments }
    const to = recipientOf(message.to, lines)
    checkSend({ ...content, to })
    const target = { to, service: undefined, lineId: lineOf(message.from, lines) }
    const given = messageIn(request, content, target)
    const repeated = given.idempotencyKey ?? requestId
    // A request to several people has one message for each.
    const key = repeated === undefined ? null : [name, repeated, to].join(' ')
    return { ...given, idempotencyKey: key && sha256(key).toHex(), waitMs: WAIT_MS }
  })
  const answers = await sender.sendAll(requests)
  return answers.map(({ body }) => stateOf(JSON.parse(body) as Message)) // The API's own answers.
}

/** A number as a person writes it, in E.164. Throws `invalid_recipient` if its country is unknown. */
function recipientOf(text: string, lines: readonly Line[]): string {
  const home = commonHome(lines.map(({ number }) => number))
  const handle = personOf(text, home)
  if (parseRecipient(handle) !== null) return handle
  const why = home === null ? ', because the lines of this key are in several countries' : ''
  const message = `${text.slice(0, 50)} is no number of a known country${why}: write it like +12025550147.`
  throw new RelayError('invalid_recipient', message)
}

/** The line with the number that a request names as its sender; null without one. */
function lineOf(from: string | undefined, lines: readonly Line[]): LineId | null {
  if (from === undefined || from === '') return null
  const line = lines.find(({ number }) => isSamePerson(number, from, homeOfNumber(number)))
  if (line !== undefined) return line.id
  const numbers = lines.map(({ number }) => number).join(', ')
  throw new RelayError(
    'phone_line_not_found',
    `${from.slice(0, 50)} is not a line of this key: ${numbers}.`,
  )
}

function stateOf({ id, to, status, created_at: at, error }: Message): CompatState {
  const failure = status === 'failed' ? (error?.message ?? 'It could not be sent.') : null
  return { id, to, status, createdAtMs: timeIn('created_at', at), failure }
}

async function upload(fetch: RelayFetch, { bytes, name, type }: CompatFile): Promise<string> {
  const { method, path } = requestOf('uploadAttachment', {}, { filename: name })
  const headers = { 'content-type': type ?? 'application/octet-stream' }
  const response = await fetch(path, { method, headers, body: bytes.slice() })
  const answer = parsed(await response.text())
  if (response.status >= 300) throw refusal(response.status, answer)
  return (answer as Attachment).id // The API's own answer.
}

async function refused(
  request: Request,
  api: CompatApi,
  thrown: unknown,
  { core: { log }, relay: { doubtSignal } }: { readonly core: Core; readonly relay: Relay },
): Promise<Response> {
  if (thrown instanceof RefusedError) {
    const { status, code, message } = thrown
    return respondTo(request, JSON.stringify(api.refusal({ status, code, message }).body), {
      status,
    })
  }
  const native = answerToFailure(thrown, contextOf(request).requestId, { log, doubtSignal })
  if (native.headers.get('content-type') !== 'application/json' || native.body === null)
    return native
  const { error } = (await native.json()) as ErrorAnswer // `errorResponse` wrote it.
  const { status, body } = api.refusal({ status: native.status, ...error })
  const retryAfter = native.headers.get('retry-after')
  const headers = retryAfter === null ? {} : { 'retry-after': retryAfter }
  return respondTo(request, JSON.stringify(body), { status, headers })
}
