// Chats, messages and files in the form of BlueBubbles.

import type { MessageAttachment } from '../../api/attachments.ts'
import type { Conversation } from '../../api/messages.ts'
import type { EventPayload } from '../../api/webhooks.ts'
import {
  chatOf,
  directGuid,
  messageOf,
  statusOf,
  type Chat,
  type ReportedMessage,
} from '../chats.ts'
import type { SentEvent } from '../compat-api.ts'
import { timeIn } from '../numbers.ts'

type ChatFields = Pick<Chat, 'guid' | 'identifier' | 'name' | 'participants' | 'isGroup'>

/** The numbers by which BlueBubbles distinguishes groups from chats of two. */
const GROUP_STYLE = 43
const DIRECT_STYLE = 45

function chatFields({ guid, identifier, name, participants, isGroup }: ChatFields): object {
  return {
    guid,
    chatIdentifier: identifier,
    groupId: guid,
    style: isGroup ? GROUP_STYLE : DIRECT_STYLE,
    displayName: name,
    participants: participants.map((address) => ({ address })),
  }
}

export function chatView(conversation: Conversation): object {
  const { number, contactName, ...chat } = chatOf(conversation)
  const name = (chat.isGroup ? conversation.name : contactName) ?? ''
  const fields = chatFields({ ...chat, name })
  return { originalROWID: number, ...fields, lastAddressedHandle: conversation.phone_number }
}

/** A chat with one person, with whom there may be no conversation yet. */
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

/** The data of `new-message`; an empty object for a test event. */
export function eventView(sent: SentEvent): object {
  const message = messageOf(sent)
  return message === null ? {} : messageView(message, chatOfEvent(sent.event as EventPayload)) // It has a message.
}

function chatOfEvent({ message, conversation }: EventPayload): object {
  if (conversation === undefined) return personChat(message.handle)
  const { chat_guid: guid, name } = conversation
  const identifier = message.chatIdentifier
  // An event doesn't contain the group's members: clients that want them ask for the chat.
  return chatFields({ guid, identifier, name: name ?? '', participants: [], isGroup: true })
}

/** Clients reject a message without text and files. Messages uses this character as a placeholder for attachments. */
const NO_TEXT = '\ufffc'
/** Fields for features that lines don't have. */
const NONE = {
  subject: null,
  itemType: 0,
  groupTitle: null,
  groupActionType: 0,
  balloonBundleId: null,
  associatedMessageGuid: null,
  associatedMessageType: null,
  expressiveSendStyleId: null,
}

/** The statuses of a message that certainly wasn't sent. */
const ENDED = ['failed', 'expired']

/** If `chat` is left out, the message is in the chat with its person. */
export function messageView(message: ReportedMessage, chat?: object): object {
  const { text, attachments = [], created_at: created, sent_at: sent, reply_to } = message
  const isFromMe = message.direction === 'outbound'
  const hasFile = attachments.some(({ state }) => state === 'available')
  return {
    ...NONE,
    guid: message.id,
    text: hasFile ? text : text || NO_TEXT,
    handle: { address: message.sender?.handle ?? message.handle, service: message.service },
    handleId: 0,
    isFromMe,
    error: ENDED.includes(statusOf(message)) ? 1 : 0,
    dateCreated: timeIn((!isFromMe && sent) || created),
    dateDelivered: timeOrNull(message.delivered_at),
    dateRead: timeOrNull(message.read_at),
    attachments: attachments.map((file) => attachmentView(file, isFromMe)),
    threadOriginatorGuid: reply_to === undefined ? null : (reply_to.message_id ?? reply_to.guid),
    chats: [chat ?? personChat(message.handle)],
  }
}

function timeOrNull(time: string | null): number | null {
  return time === null ? null : timeIn(time)
}

/** BlueBubbles' state of a file that is available. */
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
