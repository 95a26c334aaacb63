// Replies that came in the answer of a webhook: sends of its key, by the line that received the message.

import { invalidRequest } from '../domain/errors.ts'
import type { LineId } from '../domain/ids.ts'
import { TEXT_LENGTH_MAX } from '../domain/message.ts'
import type { KeyCaller } from '../domain/permissions.ts'
import type { Sender } from './send.ts'

type Reply = {
  readonly to: string
  readonly text: string
  readonly mediaUrls: readonly string[]
  readonly lineId: LineId
  readonly idempotencyKey: string
  readonly key: KeyCaller
}

/** Resolves when the reply is accepted. Throws a RelayError if it is refused. */
export function createReplier(sender: Pick<Sender, 'send'>) {
  return async ({ text, mediaUrls, key, ...reply }: Reply): Promise<void> => {
    const length = Array.from(text).length
    if (length > TEXT_LENGTH_MAX || (length === 0 && mediaUrls.length === 0)) {
      const message = `must have 1 to ${TEXT_LENGTH_MAX} characters`
      throw invalidRequest({ path: 'text', message })
    }
    const { limits, conversationIds } = key.permissions
    const attachments = mediaUrls.length === 0 ? undefined : mediaUrls.map((url) => ({ url }))
    const rights = { key, limits, conversationIds, source: 'api' } as const
    await sender.send({ ...reply, ...rights, text, attachments, waitMs: 0 })
  }
}
