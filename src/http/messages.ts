import { Elysia } from 'elysia'
import { type Static, Type } from 'typebox'

import {
  Message,
  MessageDirection,
  MessageList,
  MessageStatus,
  Resolution,
  SendRequest,
  Stats,
} from '../api/messages.ts'
import { id } from '../api/schema.ts'
import type { Caller } from '../domain/credential.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import type { MessageSource, SentenceOf } from '../domain/message.ts'
import type { ListFilter, createReading } from '../messages/message-service.ts'
import type { SendAnswer, createSend } from '../messages/send.ts'
import { takes } from './body.ts'
import { BY_ID, documentationOf, operation, plainCall } from './operation.ts'
import { PAGE_QUERY, pageOfQuery, readHandle, readQuery, timeParameter } from './query.ts'
import { callerOf, contextOf, originOf } from './request-context.ts'
import { errorResponse, respond } from './respond.ts'

type Reading = ReturnType<typeof createReading>

export type MessageActions = Reading['messages'] & { readonly send: ReturnType<typeof createSend> }

type Tools = {
  readonly messages: MessageActions
  readonly defaultWaitMs: number
  readonly sentenceOf: SentenceOf
}

/** Idle time of a connection beyond the wait. */
const SILENCE_SECONDS = 10
const REPLAYED = { 'idempotency-replayed': 'true' }

const SendHeaders = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Retries of the same request get the first answer again, for 7 days.',
      example: 'order-1042-ready',
    }),
  ),
  Prefer: Type.Optional(
    Type.String({
      description: '`wait=N` waits at most N seconds (up to 60), `respond-async` not at all.',
      example: 'wait=15',
    }),
  ),
})

const MessageQuery = Type.Object({
  ...PAGE_QUERY,
  phone_line_id: Type.Optional(id('line', 'Messages of this line.')),
  conversation_id: Type.Optional(id('conv', 'Messages of this conversation.')),
  handle: Type.Optional(Type.String({ description: 'The counterpart.', example: '+12025550147' })),
  direction: Type.Optional(MessageDirection),
  status: Type.Optional(MessageStatus),
  created_after: timeParameter('Exclusive.'),
  created_before: timeParameter('Exclusive.'),
  updated_since: timeParameter('Inclusive; turns the order to oldest change first.'),
})

const SEND = documentationOf({
  id: 'sendMessage',
  summary: 'Send a message',
  description:
    'Nothing is lost once it is accepted. 200 when the line sent it in time; 202 when it is queued or ' +
    'still in progress. Set an `Idempotency-Key`, so that a retry never sends twice.',
  tag: 'Messages',
  headers: SendHeaders,
  answers: { 200: Message, 202: Message },
  answerHeaders: { 'Idempotency-Replayed': '`true` where this is the first answer, repeated.' },
  errors: [
    'invalid_recipient',
    'phone_line_not_found',
    'idempotency_conflict',
    'automation_paused',
    'phone_line_disabled',
    'send_failed',
    'rate_limit_exceeded',
    'no_phone_line',
    'storage_full',
  ],
})

const LIST = operation({
  id: 'listMessages',
  summary: 'List messages',
  description:
    'Newest first. With `updated_since`, oldest change first: to catch up without a gap.',
  tag: 'Messages',
  query: MessageQuery,
  answers: { 200: MessageList },
})

const GET = operation({
  id: 'getMessage',
  summary: 'Read a message',
  description: 'Its current status, and the times of its steps.',
  tag: 'Messages',
  answers: { 200: Message },
  errors: ['not_found'],
})

const RESOLVE = operation({
  id: 'resolveMessage',
  summary: 'Settle an uncertain message',
  description: 'Mark it as sent or failed, after a look at the device.',
  tag: 'Messages',
  answers: { 200: Message },
  errors: ['not_found', 'not_uncertain', 'storage_full'],
})

export function messageRoutes({ messages, defaultWaitMs, sentenceOf }: Tools) {
  return new Elysia({ prefix: '/api/v1/messages' })
    .post(
      '/send',
      async ({ request, body }) => {
        const source = sourceOf(callerOf(request))
        const { requestId, peer } = contextOf(request)
        const waitMs = preferredWaitMs(request.headers)
        const key = idempotencyKey(request.headers)
        // A connection that Bun cuts while the caller waits makes the caller send twice.
        peer.liftTimeout(Math.ceil((waitMs ?? defaultWaitMs) / 1_000) + SILENCE_SECONDS)
        const lineId = body.phone_line_id ?? null
        const { to, text } = body
        const answer = await messages.send({
          to,
          text,
          lineId,
          idempotencyKey: key,
          waitMs,
          source,
        })
        return sendResponse(answer, { requestId, sentenceOf })
      },
      { beforeHandle: plainCall, ...takes(SendRequest), detail: SEND },
    )
    .get(
      '',
      ({ request }) => {
        const query = readQuery(request, MessageQuery)
        return messages.list(filterIn(query), pageOfQuery(query))
      },
      LIST,
    )
    .get('/:id', ({ params }) => messages.get(params.id), { ...BY_ID, ...GET })
    .post(
      '/:id/resolve',
      ({ request, params, body }) => messages.resolve(params.id, body.status, originOf(request)),
      { ...BY_ID, ...takes(Resolution), ...RESOLVE },
    )
}

function filterIn(query: Static<typeof MessageQuery>): ListFilter {
  return {
    lineId: query.phone_line_id,
    conversationId: query.conversation_id,
    handle: readHandle(query.handle),
    direction: query.direction,
    status: query.status,
    createdAfter: query.created_after,
    createdBefore: query.created_before,
    updatedSince: query.updated_since,
  }
}

function sendResponse(
  answer: SendAnswer,
  { requestId, sentenceOf }: { readonly requestId: string; readonly sentenceOf: SentenceOf },
): Response {
  const headers = answer.isReplay ? REPLAYED : {}
  if (answer.kind === 'send_failed') {
    const details = { message_id: answer.messageId, reason: answer.reason }
    const message = sentenceOf(answer.reason ?? 'send_failed')
    return errorResponse(new RelayError('send_failed', message, { details }), requestId, headers)
  }
  return respond(answer.body, { status: answer.kind === 'sent' ? 200 : 202, requestId, headers })
}

function sourceOf(caller: Caller): MessageSource {
  return caller.kind === 'key' ? 'api' : caller.kind
}

const WAIT_SECONDS_MAX = 60
const WAIT = /^wait\s*=\s*"?([0-9]{1,9})"?$/
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/

/**
 * Wait for the end of a send, in milliseconds, by `Prefer: wait=N` or `respond-async`; null without a
 * preference. A preference that makes no sense is ignored (RFC 7240).
 */
export function preferredWaitMs(headers: Headers): number | null {
  const header = headers.get('prefer')
  if (header === null) return null
  const preferences = header.split(',').map((preference) => {
    return (preference.split(';')[0] ?? '').trim().toLowerCase()
  })
  const seconds = preferences.flatMap((preference) => WAIT.exec(preference)?.[1] ?? [])[0]
  if (seconds !== undefined) return Math.min(Number(seconds), WAIT_SECONDS_MAX) * 1_000
  return preferences.includes('respond-async') ? 0 : null
}

function idempotencyKey(headers: Headers): string | null {
  const key = headers.get('idempotency-key')
  if (key === null || IDEMPOTENCY_KEY.test(key)) return key
  const message = 'must have 1 to 255 printable ASCII characters'
  throw invalidRequest({ path: 'Idempotency-Key', message })
}

export type StatsActions = Pick<Reading['beside'], 'stats'>

const DAYS_MAX = 200
const DAYS_DEFAULT = 14

const StatsQuery = Type.Object({
  days: Type.Integer({
    minimum: 1,
    maximum: DAYS_MAX,
    default: DAYS_DEFAULT,
    description: 'How many days, today included.',
  }),
})

const STATS = operation({
  id: 'getStats',
  summary: 'Read figures by day',
  description:
    'Messages by line, UTC day on which they were recorded, and current outcome; oldest day first. ' +
    'Queued messages are not counted.',
  tag: 'Messages',
  query: StatsQuery,
  answers: { 200: Stats },
})

export function statsRoutes({ stats }: StatsActions) {
  return new Elysia().get(
    '/api/v1/stats',
    ({ request }) => {
      callerOf(request)
      const { days } = readQuery(request, StatsQuery)
      return { data: stats(days) }
    },
    STATS,
  )
}
