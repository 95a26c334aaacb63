import type * as api from '../api/messages.ts'
import type { LineId } from '../domain/ids.ts'
import type { Message, QueuedReason } from '../domain/message.ts'
import { isoTime, isoTimeOrNull } from '../system/iso-time.ts'

/** The reason of its line, for a message that waits without a reason of its own. */
export type WaitReason = (lineId: LineId) => QueuedReason | null

export function messageResource(message: Message, waitReason: WaitReason): api.Message {
  const isOutbound = message.direction === 'outbound'
  const isQueued = message.status === 'queued'
  return {
    id: message.id,
    guid: message.guid,
    platform_guid: message.platformGuid,
    direction: message.direction,
    status: message.status,
    service: message.service,
    to: isOutbound ? message.handle : message.phoneNumber,
    from: isOutbound ? message.phoneNumber : message.handle,
    handle: message.handle,
    text: message.text,
    phone_line_id: message.lineId,
    phone_number: message.phoneNumber,
    conversation_id: message.conversationId,
    source: message.source,
    queued_reason: isQueued ? (message.queuedReason ?? waitReason(message.lineId)) : null,
    error: message.error,
    created_at: isoTime(message.createdAt),
    updated_at: isoTime(message.updatedAt),
    sent_at: isoTimeOrNull(message.sentAt),
    delivered_at: isoTimeOrNull(message.deliveredAt),
    read_at: isoTimeOrNull(message.readAt),
  }
}
