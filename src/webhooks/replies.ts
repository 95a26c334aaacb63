// Sends the replies that a receiver puts into its response. They are sent before the attempt is recorded, each with the
// event's id and its index as idempotency key: after a crash the event is repeated, and no reply is sent twice.

import { webhookFormat } from '../compat/apis.ts'
import type { CompatReply } from '../compat/compat-api.ts'
import { ATTACHMENTS_MAX } from '../domain/attachment.ts'
import { RelayError, type ErrorCode } from '../domain/errors.ts'
import { parseId, type LineId } from '../domain/ids.ts'
import { TEXT_LENGTH_MAX } from '../domain/message.ts'
import { hasScope, type KeyCaller } from '../domain/permissions.ts'
import { DAY_MS } from '../domain/time.ts'
import type { Core } from '../storage/core.ts'
import type { SentEvent } from '../storage/events.ts'
import type { Account } from './accounts.ts'
import type { PostResult } from './post.ts'

/** Sends with the rights of a key, by the line that received the message. Throws a RelayError if it is refused. */
export type SendReply = (
  request: ReturnType<typeof requestFor> & { readonly idempotencyKey: string },
) => Promise<unknown>

export type SendReplies = (
  answer: PostResult,
  to: {
    readonly event: SentEvent
    readonly account: Account
    readonly format: string | null
  },
) => Promise<PostResult>

/** Replies to older events are ignored: a repeat might come after the idempotency keys have expired. */
const REPLIED_MS_MAX = 6 * DAY_MS
/** Temporary refusals, in addition to those with a retry time: the event is sent again, and its replies with it. */
const TEMPORARY_REFUSALS: readonly ErrorCode[] = [
  'storage_full',
  'no_phone_line',
  'starting',
  'stopping',
]

export function createReplies(
  { clock, log }: Core,
  { send }: { readonly send: SendReply },
): SendReplies {
  return async (answer, { event, account, format }) => {
    const document = answer.result === 'answered' ? answer.document : undefined
    const received = receivedIn(event)
    const isOld = clock.now() - event.createdAt > REPLIED_MS_MAX
    const mayReply = hasScope(account.caller.permissions, 'messages:send') && !isOld
    if (typeof document !== 'string' || received === null || !mayReply) return answer
    const refuse = (code: ErrorCode) =>
      log.warn('a reply in the answer of a webhook was refused', { event: event.id, code })
    const all = await repliesIn(document, format)
    const replies = all.filter(isSendable)
    if (replies.length < all.length) refuse('invalid_request')
    for (const [place, reply] of replies.entries()) {
      const request = requestFor(reply, received, account.caller)
      const refused = await send({ ...request, idempotencyKey: `reply ${event.id} ${place}` }).then(
        () => null,
        refusalIn,
      )
      if (refused === null) continue
      refuse(refused.code)
      if (!isTemporary(refused)) continue
      return { result: 'failed', error: 'replies_held', isPrivateTarget: true }
    }
    return answer
  }
}

function isTemporary({ code, retryAfterSeconds }: RelayError): boolean {
  return retryAfterSeconds !== undefined || TEMPORARY_REFUSALS.includes(code)
}

async function repliesIn(document: string, format: string | null): Promise<readonly CompatReply[]> {
  return (await webhookFormat(format)?.repliesIn?.(document)) ?? []
}

/** True if the reply has content and is within the limits of a message. */
function isSendable({ text, mediaUrls: { length: files } }: CompatReply): boolean {
  if (text === '' && files === 0) return false
  return Array.from(text).length <= TEXT_LENGTH_MAX && files <= ATTACHMENTS_MAX
}

function requestFor(
  { to, text, mediaUrls }: CompatReply,
  { handle, lineId }: { readonly handle: string; readonly lineId: LineId },
  key: KeyCaller,
) {
  const { limits, conversationIds } = key.permissions
  const attachments = mediaUrls.length === 0 ? undefined : mediaUrls.map((url) => ({ url }))
  const rights = { key, limits, conversationIds, source: 'api', waitMs: 0 } as const
  return { to: to ?? handle, text, attachments, lineId, ...rights }
}

/** Rethrows every other error. */
function refusalIn(error: unknown): RelayError {
  if (error instanceof RelayError) return error
  throw error
}

/** The sender and line of a received message; null for any other event and for a test. */
function receivedIn({ body, messageId }: SentEvent) {
  const event = JSON.parse(body) as {
    readonly event: string
    readonly phone_line_id?: string
    readonly message?: { readonly handle?: string } | null
  } // `payloadOf` wrote it.
  const lineId = parseId('line', event.phone_line_id ?? '')
  const handle = event.message?.handle
  const isReceived = event.event === 'message.received' && messageId !== null
  return isReceived && lineId !== null && handle !== undefined ? { handle, lineId } : null
}
