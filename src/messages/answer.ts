import type { AnswerKind, Message } from '../domain/message.ts'
import type { KeptAnswer } from '../storage/idempotency.ts'
import { messageResource, type WaitReason } from './resource.ts'

/** The answer to a send; `body` is the message as JSON text, kept word for word for repeats. */
export type Answer = KeptAnswer

/** The answer to the caller who sent `message`, as it is now. */
export function answerOf(message: Message, waitReason: WaitReason): Answer {
  const isSent = message.sentAt !== null
  const resource = {
    ...messageResource(message, waitReason),
    // The contract of a send: `iMessage` always, and `sent` however far it came since.
    service: 'iMessage',
    ...(isSent ? { status: 'sent' } : {}),
  }
  return { kind: kindOf(message), body: JSON.stringify(resource) }
}

function kindOf(message: Message): AnswerKind {
  if (message.status === 'failed') return 'send_failed'
  return message.sentAt === null ? 'accepted' : 'sent'
}
