// Chats, messages and files in the form of BlueBubbles.

import type { MessageAttachment } from '../../api/attachments.ts'
import type { Conversation, Message } from '../../api/messages.ts'
import type { AnyEvent, EventPayload } from '../../api/webhooks.ts'
import { chatOf, directGuid } from '../chats.ts'
import { timeIn } from '../numbers.ts'

type ChatFields = {
  readonly guid: string
  readonly identifier: string
  readonly name: string
  readonly participants: readonly string[]
  readonly isGroup: boolean
}

/** BlueBubbles' words for a group and for a chat of two. */
const GROUP_STYLE = 43
const DIRECT_STYLE = 45

function chatFields({ guid, identifier, name, participants, isGroup }: ChatFields): object {
  return {
    guid,
    chatIdentifier: identifier,
    groupId: guid,
    style: isGroup ? GROUP_STYLE : DIRECT_STYLE,
    displayName: name,
    isArchived: false,
    isFiltered: false,
    participants: participants.map((address) => ({ address })),
  }
}

export function chatView(conversation: Conversation): object {
  const { number, contactName, ...chat } = chatOf(conversation)
  const name = (chat.isGroup ? conversation.name : contactName) ?? ''
  const fields = chatFields({ ...chat, name })
  return { originalROWID: number, ...fields, lastAddressedHandle: conversation.phone_number }
}

/** A chat with one person, who may be new to the relay. */
export function personChat(handle: string): object {
  const guid = directGuid(handle)
  return chatFields({
    guid,
    identifier: handle,
    name: '',
    participants: [handle],
    isGroup: false,
  })
}

/** `conversation` is that of a group. */
export function messageView(message: Message, conversation: Conversation | null): object {
  const { direction, created_at: created, sent_at: sent, delivered_at: delivered } = message
  const isFromMe = direction === 'outbound'
  return bubble({
    id: message.id,
    text: message.text,
    sender: message.sender?.handle ?? message.handle,
    service: message.service,
    isFromMe,
    isFailed: message.status === 'failed' || message.status === 'expired',
    at: timeIn(isFromMe ? created : (sent ?? created)),
    deliveredAt: delivered === null ? null : timeIn(delivered),
    readAt: message.read_at === null ? null : timeIn(message.read_at),
    files: message.attachments ?? [],
    repliesTo: message.reply_to?.message_id ?? message.reply_to?.guid ?? null,
    chat: conversation === null ? personChat(message.handle) : chatView(conversation),
  })
}

/** The data of `new-message` for a received message; an empty object for a test event. */
export function eventView(event: AnyEvent, at: number): object {
  const message = 'message' in event ? event.message : null
  if (message === null) return {}
  const { id, text, handle, service, attachments: files = [], replyTo } = message
  return bubble({
    id,
    text,
    sender: handle,
    service,
    isFromMe: false,
    isFailed: false,
    at,
    deliveredAt: null,
    readAt: null,
    files,
    repliesTo: replyTo?.message_id ?? replyTo?.guid ?? null,
    chat: chatOfEvent(event as EventPayload), // It has a message.
  })
}

function chatOfEvent({ message, conversation }: EventPayload): object {
  if (conversation === undefined) return personChat(message.handle)
  const { chat_guid: guid, name } = conversation
  const identifier = message.chatIdentifier
  // The event doesn't have its members: clients that want them ask for the chat.
  return chatFields({ guid, identifier, name: name ?? '', participants: [], isGroup: true })
}

type Bubble = {
  readonly id: string
  readonly text: string
  readonly sender: string
  readonly service: string
  readonly isFromMe: boolean
  readonly isFailed: boolean
  readonly at: number
  readonly deliveredAt: number | null
  readonly readAt: number | null
  readonly files: readonly MessageAttachment[]
  readonly repliesTo: string | null
  readonly chat: object
}

/** Clients refuse a message without a text and a file. Apple's Messages writes this character for what is no text. */
const NO_TEXT = '\ufffc'

function bubble(message: Bubble): object {
  const { id, text, sender, service, isFromMe, files, chat } = message
  const hasFile = files.some(({ state }) => state === 'available')
  return {
    guid: id,
    text: text === '' && !hasFile ? NO_TEXT : text,
    subject: null,
    handle: { address: sender, service },
    handleId: 0,
    isFromMe,
    error: message.isFailed ? 1 : 0,
    dateCreated: message.at,
    dateDelivered: message.deliveredAt,
    dateRead: message.readAt,
    attachments: files.map((file) => attachmentView(file, isFromMe)),
    itemType: 0,
    groupTitle: null,
    groupActionType: 0,
    balloonBundleId: null,
    associatedMessageGuid: null,
    associatedMessageType: null,
    expressiveSendStyleId: null,
    threadOriginatorGuid: message.repliesTo,
    chats: [chat],
  }
}

/** BlueBubbles' state of a file that is there. */
const TRANSFERRED = 5

function attachmentView(file: MessageAttachment, isOutgoing: boolean): object {
  return {
    guid: file.id,
    uti: '',
    mimeType: file.mime_type,
    transferName: file.filename,
    totalBytes: file.size ?? 0,
    transferState: file.state === 'available' ? TRANSFERRED : 0,
    isOutgoing,
    isSticker: false,
    hideAttachment: false,
  }
}
