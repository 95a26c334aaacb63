// Replies in the answer of a webhook. They are sent before the attempt is recorded, each with the event's id and its
// place as idempotency key: after a crash the event comes again, and no reply is sent twice.

import { webhookFormat } from '../compat/apis.ts'
import type { CompatReply } from '../compat/compat-api.ts'
import { RelayError } from '../domain/errors.ts'
import { parseId, type LineId } from '../domain/ids.ts'
import { hasScope, type KeyCaller } from '../domain/permissions.ts'
import { DAY_MS } from '../domain/time.ts'
import type { Core } from '../storage/core.ts'
import type { SentEvent } from '../storage/events.ts'
import type { Account } from './accounts.ts'
import type { PostResult } from './post.ts'

/** A reply by the line that received the message, with the rights of a key. Throws a RelayError if it is refused. */
export type SendReply = (reply: {
  readonly to: string
  readonly text: string
  readonly mediaUrls: readonly string[]
  readonly lineId: LineId
  readonly idempotencyKey: string
  readonly key: KeyCaller
}) => Promise<unknown>

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
/** Refusals that end by themselves: the event comes again, and its replies with it. */
const PASSING = ['storage_full', 'no_phone_line', 'starting', 'stopping']

export function createReplies(
  { clock, log }: Core,
  { send }: { readonly send: SendReply },
): TakeReplies {
  return async (answer, { event, account, format }) => {
    const document = answer.result === 'answered' ? (answer.document ?? null) : null
    const received = receivedIn(event)
    const isOld = clock.now() - event.createdAt > REPLIED_MS_MAX
    if (document === null || received === null || isOld) return answer
    const replies = (await webhookFormat(format)?.repliesIn?.(document)) ?? []
    for (const [place, reply] of replies.entries()) {
      const refused = await sent(reply, place)
      if (refused === null) continue
      log.warn('a reply in the answer of a webhook was refused', { event: event.id, code: refused })
      if (!PASSING.includes(refused)) continue
      return { result: 'failed', error: 'replies_held', isPrivateTarget: true }
    }
    return answer

    async function sent({ to, text, mediaUrls }: CompatReply, place: number) {
      if (received === null) return null
      const { caller: key } = account
      if (!hasScope(key.permissions, 'messages:send')) return 'forbidden'
      const { handle, lineId } = received
      const idempotencyKey = `reply ${event.id} ${place}`
      const reply = { to: to ?? handle, text, mediaUrls, lineId, idempotencyKey, key }
      return send(reply).then(
        () => null,
        (error: unknown) => {
          if (error instanceof RelayError) return error.code
          throw error
        },
      )
    }
  }
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
