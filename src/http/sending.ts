// Sends to a recipient and into a conversation.

import { AGENT } from '../api/keys.ts'
import {
  ConversationSend,
  SendRequest,
  TextConversationSend,
  TextSendRequest,
} from '../api/messages.ts'
import { MESSAGES } from '../api/operations/messages.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { parseId } from '../domain/ids.ts'
import type { SentenceOf } from '../domain/message.ts'
import { OPTED_OUT } from '../domain/opt-out.ts'
import { permissionsOf } from '../domain/permissions.ts'
import type { AgentSend } from '../messages/agents.ts'
import type { SendRequest as MessageRequest } from '../messages/send-target.ts'
import type { SendAnswer } from '../messages/send.ts'
import { bind, checkedBy } from './bind.ts'
import { timeIn } from './input.ts'
import type { Relay } from './relay.ts'
import { callerOf, contextOf } from './request-context.ts'
import { errorResponse, respondTo } from './respond.ts'

/** The idle time-out of a connection, beyond the time that the caller waits. */
export const SILENCE_SECONDS = 10
/** More idle time if the relay fetches attachments first. */
export const FETCH_SECONDS = 25
/** This header names the warning that a person at the dashboard has confirmed. */
const CONFIRMED = 'x-hookline-confirmed'
/** In this header, the dashboard names the failed message that a person sends again. */
const RESENDS = 'x-hookline-resends'
const REPLAYED = { 'idempotency-replayed': 'true' }
const APPLIED = { 'preference-applied': 'urgent' }

export function sendBindings(given: Pick<Relay, 'config' | 'kinds' | 'sender'>) {
  const { config, kinds, sender } = given
  const { sentenceOf } = kinds
  const answerSend = async (request: Request, content: ConversationSend, target: Target) => {
    const message = messageIn(request, content, target)
    const { peer } = contextOf(request)
    const waitMs = preferredWaitMs(request.headers)
    const silence = SILENCE_SECONDS + (isFetched(content) ? FETCH_SECONDS : 0)
    // If Bun closes the connection while the caller waits, the caller may send again.
    peer.liftTimeout(Math.ceil((waitMs ?? config.sendWaitMs) / 1_000) + silence)
    const answer = await sender.send({ ...message, waitMs })
    return sendResponse(request, answer, { sentenceOf, isUrgent: message.isUrgent })
  }
  return [
    bind(
      MESSAGES.sendMessage,
      ({ request, body }) => {
        const { to, service, phone_line_id: lineId = null } = body
        return answerSend(request, body, { to, service, lineId })
      },
      checkedBy(SendRequest, TextSendRequest, isTextAlone),
    ),
    bind(
      MESSAGES.sendInConversation,
      ({ request, params, body }) =>
        answerSend(request, body, { to: { conversationId: params.id }, lineId: null }),
      checkedBy(ConversationSend, TextConversationSend, isTextAlone),
    ),
  ]
}

/** A request without attachments must have a text. */
function isTextAlone(body: object): boolean {
  return !('attachments' in body)
}

type Target = Pick<MessageRequest, 'to' | 'service' | 'lineId'>

/**
 * Reads a checked body and the headers of its request into what `Sender.send` takes. Throws a RelayError for a header
 * that is wrong, or that the caller may not use.
 */
export function messageIn(request: Request, content: ConversationSend, target: Target) {
  const caller = callerOf(request)
  const memberId = contextOf(request).session?.memberId ?? undefined
  const idempotencyKey = idempotencyKeyOf(request.headers)
  const { text = '', attachments, reply_to: replyTo, send_at } = content
  const isUrgent = preferencesOf(request.headers).includes('urgent')
  const sendAt = send_at === undefined ? undefined : timeIn('send_at', send_at)
  const ofPage = (name: string) =>
    caller.kind === 'dashboard' ? (request.headers.get(name) ?? undefined) : undefined
  const isConfirmed = ofPage(CONFIRMED) === OPTED_OUT
  const key = caller.kind === 'key' ? caller : null
  const { limits, conversationIds } = permissionsOf(caller)
  if (memberId !== undefined && isFetched(content)) {
    throw new RelayError('forbidden', 'Members attach files by upload only.')
  }
  const agent = agentIn(request.headers)
  const source = caller.kind === 'key' ? 'api' : caller.kind
  const said = {
    ...target,
    text,
    attachments,
    replyTo,
    sendAt,
    isUrgent,
    isConfirmed,
    resends: ofPage(RESENDS),
  }
  return { ...said, agent, idempotencyKey, key, limits, conversationIds, memberId, source } as const
}

/** The fields that an agent adds to its send; undefined if the sender isn't an agent. */
function agentIn(headers: Headers): AgentSend | undefined {
  const header = headers.get(AGENT)
  if (header === null) return undefined
  const fields = new URLSearchParams(header)
  const text = fields.get('answers')
  const answers = text === null ? null : parseId('msg', text)
  if (text !== null && answers === null) {
    throw invalidRequest({ path: 'answers', message: 'must be the id of a message' })
  }
  return { answers, isAgain: fields.get('again') === 'true' }
}

/** True if the relay must fetch an attachment from a URL. */
function isFetched({ attachments }: ConversationSend): boolean {
  return attachments?.some((file) => 'url' in file) === true
}

function sendResponse(
  request: Request,
  answer: SendAnswer,
  { sentenceOf, isUrgent }: { readonly sentenceOf: SentenceOf; readonly isUrgent: boolean },
): Response {
  const headers = { ...(answer.isReplay ? REPLAYED : {}), ...(isUrgent ? APPLIED : {}) }
  if (answer.kind === 'send_failed') {
    const details = { message_id: answer.messageId, reason: answer.reason }
    const message = sentenceOf(answer.reason ?? 'send_failed')
    const error = new RelayError('send_failed', message, { details })
    return errorResponse(error, contextOf(request).requestId, headers)
  }
  return respondTo(request, answer.body, { status: answer.kind === 'sent' ? 200 : 202, headers })
}

export const WAIT_SECONDS_MAX = 60
const WAIT = /^wait\s*=\s*"?([0-9]{1,9})"?$/
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/

/**
 * The time that the caller waits for the outcome, in milliseconds, by `Prefer: wait=N` or `respond-async`; null
 * without a preference. Invalid preferences are ignored (RFC 7240).
 */
export function preferredWaitMs(headers: Headers): number | null {
  const preferences = preferencesOf(headers)
  const seconds = preferences.flatMap((preference) => WAIT.exec(preference)?.[1] ?? [])[0]
  if (seconds !== undefined) return Math.min(Number(seconds), WAIT_SECONDS_MAX) * 1_000
  return preferences.includes('respond-async') ? 0 : null
}

function preferencesOf(headers: Headers): readonly string[] {
  const preferences = headers.get('prefer')?.split(',') ?? []
  return preferences.map((preference) => (preference.split(';')[0] ?? '').trim().toLowerCase())
}

export function idempotencyKeyOf(headers: Headers): string | null {
  const key = headers.get('idempotency-key')
  if (key === null || IDEMPOTENCY_KEY.test(key)) return key
  const message = 'must have 1 to 255 printable ASCII characters'
  throw invalidRequest({ path: 'Idempotency-Key', message })
}
