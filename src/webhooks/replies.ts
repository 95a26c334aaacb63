// Replies in the answer of a webhook. They are sent before the attempt is recorded, each with the event's id and its
// place as idempotency key: after a crash the event comes again, and no reply is sent twice.

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

export type TakeReplies = (
  answer: PostResult,
  to: {
    readonly event: SentEvent
    readonly account: Account
    readonly format: string | null
  },
) => Promise<PostResult>

/** A later repeat of an event may come when its idempotency keys are forgotten. */
const REPLIED_MS_MAX = 6 * DAY_MS
/** Refusals that end by themselves, beside those that say when: the event comes again, and its replies with it. */
const PASSING: readonly ErrorCode[] = ['storage_full', 'no_phone_line', 'starting', 'stopping']

export function createReplies(
  { clock, log }: Core,
  { send }: { readonly send: SendReply },
): TakeReplies {
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
      if (!isPassing(refused)) continue
      return { result: 'failed', error: 'replies_held', isPrivateTarget: true }
    }
    return answer
  }
}

function isPassing({ code, retryAfterSeconds }: RelayError): boolean {
  return retryAfterSeconds !== undefined || PASSING.includes(code)
}

async function repliesIn(document: string, format: string | null): Promise<readonly CompatReply[]> {
  return (await webhookFormat(format)?.repliesIn?.(document)) ?? []
}

/** True if the message has something in it, and not more than one may have. */
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

/** Rethrows what is no refusal. */
function refusalIn(error: unknown): RelayError {
  if (error instanceof RelayError) return error
  throw error
}

/** The sender of a received message, and its line; null for any other event and for a test. */
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
