import * as api from '../api/messages.ts'
import type { Handle } from '../domain/handle.ts'
import type { LineId } from '../domain/ids.ts'
import type { MessageExtras, Reaction, Resend } from '../domain/message-extras.ts'
import type { Message, QueuedReason } from '../domain/message.ts'
import { fileFields } from '../storage/attachments.ts'
import type { Conversation, Group } from '../storage/conversations.ts'
import { memberName } from '../storage/dashboard-access.ts'
import type { Db } from '../storage/database.ts'
import { mergesOf } from '../storage/merges.ts'
import { partsOf } from '../storage/message-parts.ts'
import { optOutAgainst } from '../storage/opt-outs.ts'
import { nameOf } from '../storage/people.ts'
import { isoTime, isoTimeOrNull } from '../system/iso-time.ts'

/** The line's reason to keep a message waiting that has no reason of its own. */
export type WaitReason = (lineId: LineId) => QueuedReason | null

export function messageResource(db: Db, message: Message, waitReason: WaitReason): api.Message {
  const isOutbound = message.direction === 'outbound'
  const status = message.status === 'deferred' ? 'queued' : message.status
  return {
    id: message.id,
    guid: message.guid,
    platform_guid: message.platformGuid,
    direction: message.direction,
    status,
    service: message.service,
    to: isOutbound ? message.handle : message.phoneNumber,
    from: isOutbound ? message.phoneNumber : message.handle,
    handle: message.handle,
    text: message.text,
    phone_line_id: message.lineId,
    phone_number: message.phoneNumber,
    conversation_id: message.conversationId,
    source: message.source,
    queued_reason:
      status === 'queued' ? (message.queuedReason ?? waitReason(message.lineId)) : null,
    error: message.error,
    created_at: isoTime(message.createdAt),
    updated_at: isoTime(message.updatedAt),
    sent_at: isoTimeOrNull(message.sentAt),
    delivered_at: isoTimeOrNull(message.deliveredAt),
    read_at: isoTimeOrNull(message.readAt),
    ...groupFields(db, message),
    ...extraFields(db, message),
  }
}

function personOf(db: Db, handle: Handle): api.Person {
  return { handle, name: nameOf(db, handle) }
}

function groupFields(db: Db, { isGroup, extras }: Message) {
  if (!isGroup) return {}
  const sender = extras?.sender === undefined ? null : personOf(db, extras.sender)
  return { conversation_type: 'group', sender } as const
}

function extraFields(db: Db, message: Message) {
  const { extras } = message
  if (extras === null) return {}
  const { reactions = [], edits = [], unsentAt, wantedService, downgradedAt } = extras
  const { attachments, replyTo } = partsOf(db, message)
  return {
    ...(attachments && {
      attachments: attachments.map((file) => ({
        ...fileFields(file),
        ...(message.direction === 'outbound' && { sent: file.isSent }),
      })),
    }),
    ...(replyTo && { reply_to: api.replyFields(replyTo) }),
    ...(reactions.length > 0 && { reactions: reactions.map(reactionFields) }),
    ...(edits.length > 0 && { edits: edits.map(({ text, at }) => ({ text, at: isoTime(at) })) }),
    ...(unsentAt !== undefined && { unsent_at: isoTime(unsentAt) }),
    ...(wantedService !== undefined && { service_requested: wantedService }),
    ...(downgradedAt !== undefined && { downgraded_at: isoTime(downgradedAt) }),
    ...holdFields(extras),
    ...(extras.sentAgain && { sent_again: resendFields(extras.sentAgain) }),
    ...authorFields(db, extras),
  }
}

function authorFields(db: Db, { memberId }: MessageExtras) {
  if (memberId === undefined) return {}
  return { sent_by: { id: memberId, name: memberName(db, memberId) ?? '' } }
}

function holdFields({ sendAt, approval }: MessageExtras) {
  return {
    ...(sendAt !== undefined && { send_at: isoTime(sendAt) }),
    ...(approval && { approval: api.approvalFields(approval, isoTimeOrNull(approval.resolvedAt)) }),
  }
}

function resendFields({ messageId: message_id, at, wantedService }: Resend) {
  return { message_id, at: isoTime(at), ...(wantedService && { service_requested: wantedService }) }
}

function reactionFields({ type, emoji, handle, isFromMe, part, createdAt }: Reaction) {
  const created_at = isoTime(createdAt)
  return { type, emoji, handle, is_from_me: isFromMe, part, created_at }
}

export function conversationResource(
  db: Db,
  c: Conversation,
  waitReason: WaitReason,
): api.Conversation {
  return {
    id: c.id,
    ...(c.movedTo === null ? {} : { moved_to: c.movedTo }),
    phone_line_id: c.lineId,
    phone_number: c.phoneNumber,
    handle: c.handle,
    chat_identifier: c.handle,
    ...(c.group ? conversationGroupFields(db, c.group) : contactFields(db, c.handle)),
    ...(optOutAgainst(db, c.handle, c.lineId) === null ? {} : { opted_out: true }),
    ...mergeFields(db, c),
    service: c.service,
    message_count: c.messageCount,
    last_message: c.lastMessage === null ? null : messageResource(db, c.lastMessage, waitReason),
    automation_paused: c.isAutomationPaused,
    ...(c.unreadCount === 0 ? {} : { unread_count: c.unreadCount }),
    ...(c.isUnanswered ? { is_unanswered: true } : {}),
    created_at: isoTime(c.createdAt),
    updated_at: isoTime(c.updatedAt),
  }
}

function mergeFields(db: Db, { handle, lineId }: Conversation) {
  const merged = mergesOf(db, handle, lineId).map(({ conversationId, spelling, mergedAt }) => {
    return { conversation_id: conversationId, handle: spelling, merged_at: isoTime(mergedAt) }
  })
  return merged.length === 0 ? {} : { merged_from: merged }
}

function conversationGroupFields(db: Db, { chatGuid, name, participants, state }: Group) {
  const people = participants.map((handle) => personOf(db, handle))
  return { type: 'group', chat_guid: chatGuid, name, participants: people, state } as const
}

/** The contact's name, omitted if there is none. */
export function contactFields(db: Db, handle: Handle) {
  const name = nameOf(db, handle)
  return name === null ? {} : { contact_name: name }
}
