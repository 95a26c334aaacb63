import type { AnswerKind, Message } from '../domain/message.ts'
import { messageResource, type WaitReason } from './resource.ts'

/** How a send is answered; `body` is the message as JSON text, kept word for word for repeats. */
export type Answer = { readonly kind: AnswerKind; readonly body: string }

/** The answer to the one who sent `message`, as it is now. */
export function answerOf(message: Message, waitReason: WaitReason): Answer {
  const isSent = message.sentAt !== null
  const told = {
    ...messageResource(message, waitReason),
    // The contract of a send: `iMessage` always, and `sent` however far it came since.
    service: 'iMessage',
    ...(isSent ? { status: 'sent' } : {}),
  }
  return { kind: kindOf(message), body: JSON.stringify(told) }
}

/**
 * The answer at the moment in which the message was sent, whatever came after; null where it was not.
 * All else that it tells of a sent message stays as it is.
 */
export function sentAnswerOf(message: Message): Answer | null {
  const { sentAt } = message
  if (sentAt === null) return null
  const asSent = { ...message, error: null, updatedAt: sentAt, deliveredAt: null, readAt: null }
  return answerOf({ ...asSent, status: 'sent' }, () => null)
}

/** Whether the answer of this moment is what `sentAnswerOf` gives from now on, so need not be kept. */
export function isToldByMessage({ status, sentAt, updatedAt }: Message): boolean {
  return status === 'sent' && updatedAt === sentAt
}

function kindOf(message: Message): AnswerKind {
  if (message.status === 'failed') return 'send_failed'
  return message.sentAt === null ? 'accepted' : 'sent'
}
