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
import { ConversationSend, SendRequest, type Message } from '../api/messages.ts'
import { routeOf } from '../api/operation.ts'
import { OPERATIONS } from '../api/operations.ts'
import { COMPAT_APIS, COMPAT_ROOT, routesOf } from '../compat/apis.ts'
import { statusOf } from '../compat/chats.ts'
import type {
  CompatApi,
  CompatFile,
  CompatMessage,
  CompatRelay,
  CompatState,
  Fields,
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
import type { AgentSend } from '../messages/agents.ts'
import type { Core } from '../storage/core.ts'
import { isSeenBy } from '../storage/line-limits.ts'
import { listLines } from '../storage/lines.ts'
import { sha256 } from '../system/hash.ts'
import {
  credentialsIn,
  IN_QUERY,
  type ApiCredentials,
  type createAuthentication,
} from './authentication.ts'
import { bodyCheck } from './bind.ts'
import { innerFetch, type RoutesFetch } from './inner-fetch.ts'
import { fieldsOf, timeIn } from './input.ts'
import type { Relay } from './relay.ts'
import { callerOf, contextOf, linesOf, originOf, viewerOf } from './request-context.ts'
import { answerToFailure, respondTo } from './respond.ts'
import { FETCH_SECONDS, idempotencyKeyOf, messageIn, SILENCE_SECONDS } from './sending.ts'

const checkSend = bodyCheck(SendRequest)
const checkConversationSend = bodyCheck(ConversationSend)
/** Clients of other products give up after ten seconds. */
const WAIT_MS = 5_000
/** Clients send large files in base64, in a body that arrives slowly. */
const BODY_SECONDS = 60

type Authentication = ReturnType<typeof createAuthentication>

export type CompatCalls = {
  readonly authentication: Authentication
  /** Answers the calls of the relay's own API that a compatible API makes. */
  readonly fetch: RoutesFetch
}

export function compatRoutes(core: Core, relay: Relay, calls: CompatCalls): AnyElysia {
  const app = new Elysia()
  for (const api of COMPAT_APIS) {
    for (const { method, path, handle } of routesOf(api)) {
      const answerTo = async ({ request, params }: Handled) => {
        const { peer } = contextOf(request)
        peer.liftTimeout(BODY_SECONDS)
        try {
          contextOf(request).caller = calls.authentication.caller(request, peer, allowedFor(api))
          const hasBody = method !== 'GET' && request.body !== null
          const given = hasBody ? await fieldsOf(request, api.bodyBytesMax) : {}
          // Some programs can put the recipient only into the URL.
          const fields = { ...queryOf(request, api), ...given }
          const { secret = '' } = credentialsIn(request, api.credentials) ?? {}
          const called = { params: withoutNull(params), fields, secret }
          const answer = await handle({
            ...called,
            relay: relayFor(request, api, { core, relay, calls }),
          })
          if (answer instanceof Response) return answer
          return respondTo(request, JSON.stringify(answer.body), { status: answer.status })
        } catch (error) {
          return refused(request, api, error, { core, relay })
        }
      }
      app.route(method, path, answerTo, HIDDEN)
    }
    for (const id of api.operations ?? []) {
      const { method, path } = routeOf(OPERATIONS[id])
      const root = `${COMPAT_ROOT}/${api.name}`
      const answer = ({ request }: Handled) =>
        passOn(request, api, { calls, from: root.length }).catch((error: unknown) =>
          refused(request, api, error, { core, relay }),
        )
      app.route(method, root + path, answer, HIDDEN)
    }
  }
  return app
}

/** The fields of the query, without the credentials. */
function queryOf({ url }: Request, { credentials }: CompatApi): Fields {
  const query = new URL(url).searchParams
  if (credentials.includes('query')) for (const name of IN_QUERY) query.delete(name)
  return Object.fromEntries(query)
}

function allowedFor({ credentials, name }: CompatApi): ApiCredentials {
  const how = `Enter what "hookline keys create --for ${name}" prints into the program.`
  return { forms: credentials, madeFor: name, how }
}

// Elysia's types have no `parse` beside `detail` here.
const HIDDEN = { parse: 'none', detail: { hide: true } } as object
const PASSED_ON = ['content-type', 'content-length', 'idempotency-key', 'prefer']

type PassedOn = {
  readonly calls: CompatCalls
  /** Length of the prefix before the operation's path. */
  readonly from: number
}

/** Answers a call of one of the relay's own operations, with the rights of a key that was made for `api`. */
async function passOn(request: Request, api: CompatApi, { calls, from }: PassedOn) {
  const context = contextOf(request)
  context.caller = calls.authentication.caller(request, context.peer, allowedFor(api))
  const { pathname, search } = new URL(request.url)
  const headers = new Headers()
  for (const name of PASSED_ON) {
    const value = request.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  // An agent's own gateway detects repeats, and two equal answers may both be meant.
  if (api.isForAgents === true) headers.set(AGENT, 'again=true')
  const { method, body } = request
  const fetch = innerFetch(request, api.credentials, calls.fetch)
  return fetch(pathname.slice(from) + search, { method, body, headers })
}

type Handled = {
  readonly request: Request
  readonly params?: Params
}
type Params = Readonly<Record<string, string | null>>

/** Elysia gives null for a segment of a path that it can't decode. */
function withoutNull(params: Params = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, value ?? '']))
}

function relayFor(
  request: Request,
  api: CompatApi,
  by: { readonly core: Core; readonly relay: Relay; readonly calls: CompatCalls },
): CompatRelay {
  const { core, relay, calls } = by
  const limit = linesOf(request)
  const lines = listLines(core.db).filter(({ id }) => includesLine(limit, id))
  const fetch = innerFetch(request, api.credentials, calls.fetch)
  let uploads = 0
  return {
    key: credentialsIn(request, api.credentials)?.key ?? '',
    lines,
    send: (messages) => sendAll(request, api, { messages, lines, relay, core }),
    state: async (id) =>
      sentState((await callOperation(fetch, 'getMessage', { params: { id } })).body),
    call: async (id, given) => (await callOperation(fetch, id, given)).body,
    download: async (id) => {
      const { method, path } = requestOf('downloadAttachment', { id }, {})
      const response = await fetch(path, { method })
      if (response.status >= 300) throw refusal(response, parsed(await response.text()))
      return response
    },
    upload: (file, requestId) =>
      upload(fetch, file, uploadKey(request, api, { requestId, place: (uploads += 1) })),
    webhooks: async () => relay.webhooks.registered(ownerOf(request, api)),
    subscribe: (asked) =>
      relay.webhooks.register({ ...asked, ...ownerOf(request, api) }, originOf(request)),
    lineWith: (number) => lineWith(number, lines),
  }
}

async function sendAll(
  request: Request,
  api: CompatApi,
  { messages, lines, relay, core }: Sending,
): Promise<readonly CompatState[]> {
  requirePermission(permissionsOf(callerOf(request)), 'messages:send')
  const waitMs = api.answersAtOnce === true ? 0 : WAIT_MS
  const isFetched = messages.some(({ mediaUrls = [] }) => mediaUrls.length > 0)
  const seconds = SILENCE_SECONDS + (isFetched ? FETCH_SECONDS : 0)
  contextOf(request).peer.liftTimeout(WAIT_MS / 1_000 + seconds)
  // One person in two spellings is one recipient.
  const byRecipient = new Map(messages.map((each) => [recipientOf(each, lines), each]))
  const requests = [...byRecipient].map(([recipient, message]) => {
    const content = contentOf(message)
    const to = typeof message.to === 'string' ? recipient : message.to
    if (typeof to === 'string') checkSend({ ...content, to })
    else requireSendInto(core, request, { content, to })
    const target = { to, service: undefined, lineId: lineOf(message.from, lines) }
    const given = messageIn(request, content, target)
    const repeated = given.idempotencyKey ?? message.requestId
    // A request to several people has one message for each.
    const key = repeated === undefined ? null : [api.name, repeated, recipient].join(' ')
    const { callbackUrl: url } = message
    const asked = url !== undefined && { url, format: api.name, caller: given.key }
    const callback = asked ? relay.webhooks.callback(asked, originOf(request)) : undefined
    const agent = api.isForAgents === true ? OWN_JUDGE : given.agent
    return { ...given, agent, idempotencyKey: key && sha256(key).toHex(), waitMs, callback }
  })
  const answers = await relay.sender.sendAll(requests)
  return answers.map(({ body }) => stateOf(JSON.parse(body) as Message)) // The API's own answers.
}

type Sending = {
  readonly messages: readonly CompatMessage[]
  readonly lines: readonly Line[]
  readonly relay: Pick<Relay, 'sender' | 'webhooks'>
  readonly core: Core
}

/** An agent's own gateway detects repeats, and two equal answers may both be meant. */
const OWN_JUDGE: AgentSend = { answers: null, isAgain: true }

/** The checks of a send into a conversation, as `sendInConversation` has them. */
function requireSendInto(
  { db }: Core,
  request: Request,
  { content, to }: { readonly content: object; readonly to: { readonly conversationId: string } },
): void {
  checkConversationSend(content)
  if (isSeenBy(db, viewerOf(request), to.conversationId)) return
  throw new RelayError('not_found', 'There is no conversation with this id.')
}

function contentOf({ text, attachmentIds = [], mediaUrls = [], sendAt, replyTo }: CompatMessage) {
  const files = [...attachmentIds.map((id) => ({ id })), ...mediaUrls.map((url) => ({ url }))]
  const words = text === '' && files.length > 0 ? {} : { text }
  return {
    ...words,
    ...(files.length === 0 ? {} : { attachments: files }),
    ...(sendAt === undefined ? {} : { send_at: sendAt }),
    ...(replyTo === undefined ? {} : { reply_to: { message_id: replyTo, if_supported: true } }),
  }
}

function ownerOf(request: Request, { name }: CompatApi) {
  const caller = callerOf(request)
  return { caller: caller.kind === 'key' ? caller : null, format: name }
}

/**
 * A number as a person writes it, in E.164, or the id of a conversation. Throws `invalid_recipient` if the country of
 * a number is unknown.
 */
function recipientOf({ to: text }: CompatMessage, lines: readonly Line[]): string {
  if (typeof text !== 'string') return text.conversationId
  const home = commonHome(lines.map(({ number }) => number))
  const handle = personOf(text, home)
  if (parseRecipient(handle) !== null) return handle
  const why = home === null ? ', because the lines of this key are in several countries' : ''
  const message = `${text.slice(0, 50)} is no number of a known country${why}: write it like +12025550147.`
  throw new RelayError('invalid_recipient', message)
}

/** The line with the number that a request names as its sender; null without one. */
function lineOf(from: string | undefined, lines: readonly Line[]): LineId | null {
  return from === undefined || from === '' ? null : lineWith(from, lines)
}

function lineWith(from: string, lines: readonly Line[]): LineId {
  const line = lines.find(({ number }) => isSamePerson(number, from, homeOfNumber(number)))
  if (line !== undefined) return line.id
  const numbers = lines.map(({ number }) => number).join(', ')
  throw new RelayError(
    'phone_line_not_found',
    `${from.slice(0, 50)} is not a line of this key: ${numbers}.`,
  )
}

/** The state of a message that was sent, because these APIs have no state for a received one. */
function sentState(message: Message): CompatState {
  if (message.direction === 'outbound') return stateOf(message)
  throw new RelayError('not_found', 'There is no sent message with this id.')
}

function stateOf(message: Message): CompatState {
  const { id, to, created_at: at, error } = message
  const status = statusOf(message)
  const isFailed = status === 'failed' || status === 'expired'
  const failure = isFailed ? (error?.message ?? 'It could not be sent.') : null
  return { id, to, status, createdAtMs: timeIn('created_at', at), failure, message }
}

/** The idempotency key of an upload: a repeated request contains its files again, which must not be stored twice. */
function uploadKey(
  request: Request,
  { name }: CompatApi,
  { requestId, place }: { readonly requestId: string | undefined; readonly place: number },
): string | null {
  const key = idempotencyKeyOf(request.headers) ?? requestId ?? null
  return key && sha256([name, key, place].join(' ')).toHex()
}

async function upload(fetch: RelayFetch, { bytes, name, type }: CompatFile, key: string | null) {
  const { method, path } = requestOf('uploadAttachment', {}, { filename: name })
  const headers = {
    'content-type': type ?? 'application/octet-stream',
    ...(key === null ? {} : { 'idempotency-key': key }),
  }
  const response = await fetch(path, { method, headers, body: bytes.slice() })
  const answer = parsed(await response.text())
  if (response.status >= 300) throw refusal(response, answer)
  return (answer as Attachment).id // The API's own answer.
}

async function refused(
  request: Request,
  api: CompatApi,
  thrown: unknown,
  { core: { log }, relay: { doubtSignal } }: { readonly core: Core; readonly relay: Relay },
): Promise<Response> {
  if (thrown instanceof RefusedError) {
    const { status, code, message, details, retryAfter } = thrown
    const answer = api.refusal({ status, code, message, path: pathIn(details) })
    const headers = retryAfter === null ? {} : { 'retry-after': retryAfter }
    return respondTo(request, JSON.stringify(answer.body), { status: answer.status, headers })
  }
  const { requestId } = contextOf(request)
  return inDialect(answerToFailure(thrown, requestId, { log, doubtSignal }), api)
}

/** An error of the relay, in the form that the clients of `api` read. */
export async function inDialect(native: Response, api: CompatApi | null): Promise<Response> {
  const { headers } = native
  const isJson = headers.get('content-type') === 'application/json' && native.body !== null
  if (api === null || !isJson) return native
  const { error } = (await native.json()) as ErrorAnswer // `errorResponse` wrote it.
  const { code, message } = error
  const path = pathIn(error.details)
  const answer = api.refusal({ status: native.status, code, message, path })
  return new Response(JSON.stringify(answer.body), { status: answer.status, headers })
}

/** The field of the first issue. */
function pathIn(details: unknown): string {
  const { issues = [] } = Object(details) as { issues?: readonly { path?: string }[] } // As `invalidRequest` has it.
  return issues[0]?.path ?? ''
}
