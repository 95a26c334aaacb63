import type { Message } from '../domain/message.ts'
import type { EventName } from '../domain/webhook.ts'

/** The fields of a message that a payload reads. */
type Payload = Pick<
  Message,
  | 'id'
  | 'guid'
  | 'text'
  | 'handle'
  | 'service'
  | 'lineId'
  | 'direction'
  | 'sentAt'
  | 'deliveredAt'
  | 'readAt'
  | 'error'
>

/**
 * True where the payload can be made from the message at any time. A failure may be disproved later, while
 * a service that changed since is nearer to the truth.
 */
export function staysTrue(name: EventName): boolean {
  return name !== 'message.failed'
}

type Flags = {
  readonly isFromMe: boolean
  readonly isSent: boolean
  readonly isDelivered: boolean
  readonly isRead: boolean
}

/** The body of an event as JSON text: these bytes are signed and sent. */
export function payloadOf(name: EventName, message: Payload): string {
  const { isFromMe, isSent, isDelivered, isRead } = flagsOf(name, message)
  return JSON.stringify({
    event: name,
    phone_line_id: message.lineId,
    message: {
      id: message.id,
      guid: message.guid,
      text: message.text,
      handle: message.handle,
      chatIdentifier: message.handle,
      isFromMe,
      service: message.service,
      isSent,
      isDelivered,
      isRead,
      // Left out of the text where it is undefined.
      error: name === 'message.failed' ? message.error : undefined,
    },
  })
}

function flagsOf(name: EventName, message: Payload): Flags {
  switch (name) {
    case 'message.received':
      return { isFromMe: false, isSent: true, isDelivered: true, isRead: false }
    case 'message.sent':
      return { isFromMe: true, isSent: true, isDelivered: false, isRead: false }
    case 'message.delivered':
      return { isFromMe: true, isSent: true, isDelivered: true, isRead: false }
    case 'message.read':
      return { isFromMe: true, isSent: true, isDelivered: true, isRead: true }
    case 'message.failed':
      return {
        isFromMe: message.direction === 'outbound',
        isSent: message.sentAt !== null,
        isDelivered: message.deliveredAt !== null,
        isRead: message.readAt !== null,
      }
  }
}
