// Messages and reactions in the form of imsg.

import type { MessageAttachment } from '../../api/attachments.ts'
import type { Message } from '../../api/messages.ts'
import type { EventPayload } from '../../api/webhooks.ts'
import { DAY_MS } from '../../domain/time.ts'
import type { Chat } from '../chats.ts'
import { messageNumber, timeIn } from '../numbers.ts'

/** Makes a file available on this machine; null if the relay doesn't have it. */
export type FileAt = (file: MessageAttachment) => Promise<string | null>

/** `fileAt` is null if the client wants no attachments. */
export async function messageView(
  message: Message,
  chat: Chat,
  fileAt: FileAt | null,
): Promise<object> {
  const isFromMe = message.direction === 'outbound'
  const sender = isFromMe ? message.phone_number : (message.sender?.handle ?? message.handle)
  const senderName = message.sender?.name ?? (isFromMe ? null : (chat.contactName ?? null))
  const files = fileAt === null ? [] : (message.attachments ?? [])
  return {
    id: messageNumber(message),
    // The relay's id and not the device's guid, because clients ask for states and replies by it.
    guid: message.id,
    ...chatFields(chat),
    ...replyFields(message),
    sender,
    ...(senderName !== null && { sender_name: senderName }),
    destination_caller_id: message.phone_number,
    is_from_me: isFromMe,
    text: message.text,
    service: message.service,
    created_at: shownTime(message),
    attachments: await Promise.all(files.map((file) => attachmentView(file, fileAt))),
    reactions: (message.reactions ?? []).map((reaction) => ({
      id: messageNumber(message),
      type: reaction.type,
      emoji: reactionEmoji(reaction),
      sender: reaction.handle,
      is_from_me: reaction.is_from_me,
      created_at: reaction.created_at,
    })),
  }
}

/** In imsg a reaction is a message of its own. It gets the number of the last message before it. */
export function reactionView(
  { message, reaction }: EventPayload,
  chat: Chat,
  given: { readonly eventId: string; readonly number: number; readonly at: string },
): object {
  const { eventId, number, at } = given
  const emoji = reaction === undefined ? '' : reactionEmoji(reaction)
  const isFromMe = reaction?.isFromMe === true
  return {
    id: number,
    guid: eventId,
    ...chatFields(chat),
    sender: reaction?.handle ?? '',
    is_from_me: isFromMe,
    text: '',
    created_at: at,
    attachments: [],
    reactions: [],
    is_reaction: true,
    reaction_type: reaction?.type,
    reaction_emoji: emoji,
    is_reaction_add: reaction?.action === 'added',
    reacted_to_guid: message.id,
  }
}

function chatFields({ number, identifier, guid, name, participants, isGroup }: Chat) {
  return {
    chat_id: number,
    chat_identifier: identifier,
    chat_guid: guid,
    chat_name: name,
    participants,
    is_group: isGroup,
  }
}

function replyFields({ reply_to: reply }: Message) {
  if (reply === undefined) return {}
  const guid = reply.message_id ?? reply.guid
  const text = reply.text_excerpt
  return {
    reply_to_guid: guid,
    thread_originator_guid: guid,
    ...(text !== null && { reply_to_text: text }),
  }
}

/**
 * The time when the relay recorded the message, which grows with the numbers. A message that was more than a day old
 * then, as from a restored phone, shows its own time, so that no agent takes it for a new one.
 */
export function shownTime({ created_at: recorded, sent_at: sent }: Message): string {
  return sent !== null && timeIn(recorded) - timeIn(sent) > DAY_MS ? sent : recorded
}

const EMOJI: Readonly<Record<string, string>> = {
  love: '❤️',
  like: '👍',
  dislike: '👎',
  laugh: '😂',
  emphasize: '‼️',
  question: '❓',
}

function reactionEmoji(reaction: { readonly type: string; readonly emoji: string | null }): string {
  return reaction.emoji ?? EMOJI[reaction.type] ?? reaction.type
}

async function attachmentView(file: MessageAttachment, fileAt: FileAt | null): Promise<object> {
  const path = fileAt === null || file.state !== 'available' ? null : await fileAt(file)
  return {
    filename: file.filename,
    transfer_name: file.filename,
    uti: '',
    mime_type: file.mime_type,
    total_bytes: file.size ?? 0,
    is_sticker: false,
    original_path: path ?? '',
    missing: path === null,
  }
}
