// Messages, conversations, and figures by day.

import { Type } from 'typebox'

import { ATTACHMENTS_MAX } from '../domain/attachment.ts'
import { CONVERSATION_TYPES, GROUP_STATES } from '../domain/conversation.ts'
import {
  APPROVAL_STATES,
  REACTION_TYPES,
  WANTED_SERVICES,
  type Approval as StoredApproval,
  type ReplyTarget,
} from '../domain/message-extras.ts'
import {
  MESSAGE_SOURCES,
  MESSAGE_STATUSES,
  QUEUED_REASONS,
  TEXT_LENGTH_MAX,
} from '../domain/message.ts'
import { MessageAttachment, SendAttachment } from './attachments.ts'
import {
  count,
  flag,
  ISO_TIME,
  enumOf,
  id,
  listOf,
  nullable,
  nullish,
  objectSchema,
  time,
  type Shape,
  text,
} from './schema.ts'

const TEXT = Type.String({
  minLength: 1,
  maxLength: TEXT_LENGTH_MAX,
  description: 'Length in code points. May be left out if there are attachments.',
  example: 'Your table is ready.',
})

const CONTENT = {
  text: Type.Optional(TEXT),
  attachments: Type.Optional(
    Type.Array(SendAttachment, {
      minItems: 1,
      maxItems: ATTACHMENTS_MAX,
      description: 'Sent before the text, each as a message of its own on the device.',
    }),
  ),
  send_at: Type.Optional(
    Type.String({
      ...ISO_TIME,
      description:
        'Not before this time, at most 90 days ahead; with its time zone. Until then the message is ' +
        '`queued`, its `queued_reason` is `scheduled`, and it can be canceled.',
    }),
  ),
  reply_to: Type.Optional(
    objectSchema('ReplyRequest', {
      message_id: id('msg', 'The message to reply to.'),
      if_supported: Type.Optional(flag('True sends without the reply if the line cannot reply.')),
    }),
  ),
}

/** A send into an existing conversation, with a person or a group. */
export const ConversationSend = Type.Object(CONTENT, {
  title: 'ConversationSend',
  additionalProperties: false,
  example: { text: 'Your table is ready.' },
})
export type ConversationSend = Shape<typeof ConversationSend>
/** A `ConversationSend` without attachments: its text is required. */
export const TextConversationSend = Type.Object(
  { ...ConversationSend.properties, text: TEXT },
  { additionalProperties: false },
)

export const SendRequest = Type.Object(
  {
    to: text(
      'E.164 with `+`, or an email address with which the line has a conversation.',
      '+12025550147',
    ),
    ...CONTENT,
    service: Type.Optional(
      enumOf(
        'WantedService',
        WANTED_SERVICES,
        'Left out, the device chooses. `auto` goes by what is known of the recipient, and takes one ' +
          'try as SMS if the recipient turns out not to be on iMessage.',
      ),
    ),
    phone_line_id: nullish(
      id(
        'line',
        'This line and no other. Without it, an available online line: for a new contact, the one with the fewest new contacts today.',
      ),
    ),
  },
  {
    title: 'SendRequest',
    additionalProperties: false,
    example: { to: '+12025550147', text: 'Your table is ready.' },
  },
)
export type SendRequest = Shape<typeof SendRequest>
/** A `SendRequest` without attachments: its text is required. */
export const TextSendRequest = Type.Object(
  { ...SendRequest.properties, text: TEXT },
  { additionalProperties: false },
)

const Person = objectSchema('Person', {
  handle: Type.String({ example: '+12025550147' }),
  name: nullable(Type.String()),
})
export type Person = Shape<typeof Person>

const Reaction = objectSchema('Reaction', {
  type: enumOf('ReactionType', REACTION_TYPES),
  emoji: nullable(text('The character, for the type `emoji`.')),
  handle: Type.String({ example: '+12025550147' }),
  is_from_me: Type.Boolean(),
  part: count('The part of the message that it is about, from 0.'),
  created_at: time('When it was given.'),
})
export type Reaction = Shape<typeof Reaction>

export const Reply = objectSchema('Reply', {
  message_id: nullable(id('msg', 'The message replied to; null if the relay has none of it.')),
  guid: text("The device's guid of that message."),
  part: Type.Integer(),
  text_excerpt: nullable(text('Its first 100 characters.')),
})

export function replyFields(reply: ReplyTarget & { readonly excerpt: string | null }) {
  const { messageId: message_id, guid, part, excerpt: text_excerpt } = reply
  return { message_id, guid, part, text_excerpt }
}

export const Edit = objectSchema('Edit', {
  text: Type.String(),
  at: time('When the message got this text.'),
})

export const ListType = enumOf(
  'ConversationType',
  CONVERSATION_TYPES,
  '`direct` leaves groups out, so that no program takes a group for a person; left out, it is ' +
    '`direct`, but for the messages of a `conversation_id`.',
)

export const MessageDirection = enumOf('MessageDirection', ['inbound', 'outbound'])

export const MessageStatus = enumOf(
  'MessageStatus',
  MESSAGE_STATUSES,
  '`queued`, `sending`, `sent`, `delivered`, `read`; side exits `failed`, `expired`, `uncertain` ' +
    "(handed to the device, but sending couldn't be confirmed); `received`.",
)

export const MessageError = objectSchema(
  'MessageError',
  {
    code: text('For programs; later versions may add codes.', 'not_on_imessage'),
    message: text('For people.', 'The recipient is not on iMessage.'),
  },
  "Why a message failed, or why its delivery can't be confirmed.",
)

export const Approval = objectSchema(
  'Approval',
  {
    state: enumOf('ApprovalState', APPROVAL_STATES),
    requested_by: id('key', 'The key that sent it.'),
    resolved_by: nullable(text("A key's id, `cli` or `dashboard`; null if nobody decided.")),
    resolved_at: nullable(time('When it was decided.')),
    reason: nullable(text('Why it was denied.')),
    original_text: nullable(text('The text before `resolved_by` changed it; null for no change.')),
  },
  'The decision of a person on a message whose key needs one.',
)
export type Approval = Shape<typeof Approval>

export function approvalFields(approval: StoredApproval, resolved_at: string | null): Approval {
  return {
    state: approval.state,
    requested_by: approval.requestedBy,
    resolved_by: approval.resolvedBy,
    resolved_at,
    reason: approval.reason,
    original_text: approval.originalText,
  }
}

const RequestedService = enumOf('RequestedService', WANTED_SERVICES)

export const Message = objectSchema('Message', {
  id: id('msg', 'Identifies the message.'),
  guid: text('An upper-case UUID that never changes.', '3C2F8A54-6B1D-4E0A-9F57-1D0B6C9E7A42'),
  platform_guid: nullable(text("The device's own guid, null until known.")),
  direction: MessageDirection,
  status: MessageStatus,
  service: text(
    'The service that carried it, as the device reports: `iMessage`, `SMS`, `RCS`.',
    'iMessage',
  ),
  to: Type.String({ example: '+12025550147' }),
  from: text(
    'The sender. Where `from` is a reserved word, generated clients call it `from_`.',
    '+12025550101',
  ),
  handle: text('The counterpart.', '+12025550147'),
  text: Type.String({ example: 'Your table is ready.' }),
  phone_line_id: id('line', 'The line used.'),
  phone_number: text("The line's number.", '+12025550101'),
  conversation_id: id('conv', 'All messages of this line with this handle.'),
  source: enumOf('MessageSource', MESSAGE_SOURCES, '`device` means typed on the device itself.'),
  queued_reason: nullable(enumOf('QueuedReason', QUEUED_REASONS, 'Why a queued message waits.')),
  error: nullable(MessageError),
  created_at: time('When the relay recorded it.'),
  updated_at: time('When it last changed.'),
  sent_at: nullable(time("The device's time for an inbound message.")),
  delivered_at: nullable(time('When it was delivered.')),
  read_at: nullable(time('When it was read.')),
  // A direct text message has none of the fields below, unless `contact_names` asks for the first.
  contact_name: Type.Optional(Type.String({ example: 'Anna Miller' })),
  attachments: Type.Optional(Type.Array(MessageAttachment)),
  conversation_type: Type.Optional(Type.Literal('group')),
  sender: nullish(Person),
  reply_to: Type.Optional(Reply),
  reactions: Type.Optional(Type.Array(Reaction)),
  edits: Type.Optional(Type.Array(Edit, { description: 'Earlier texts, oldest first.' })),
  unsent_at: Type.Optional(time('When its sender took it back; `text` is empty then.')),
  service_requested: Type.Optional(RequestedService),
  downgraded_at: Type.Optional(time('When `auto` turned to SMS.')),
  send_at: Type.Optional(time('The time for which it was scheduled.')),
  sent_again: Type.Optional(
    objectSchema(
      'SentAgain',
      {
        message_id: id('msg', 'The new message.'),
        at: time('When it was sent again.'),
        service_requested: Type.Optional(RequestedService),
      },
      'Set if a person sent this failed message again from the dashboard.',
    ),
  ),
  approval: Type.Optional(Approval),
  sent_by: Type.Optional(
    objectSchema(
      'MessageAuthor',
      { id: id('mem', 'The member.'), name: Type.String({ example: 'Anna' }) },
      'The member of the dashboard who wrote it; left out for the owner.',
    ),
  ),
})
export type Message = Shape<typeof Message>

export const MessageList = listOf('MessageList', Message)

export const Resolution = objectSchema('Resolution', {
  status: enumOf('ResolvedStatus', ['sent', 'failed'], 'The outcome that a person found out.'),
})

export const ApprovalRequest = objectSchema('ApprovalRequest', {
  text: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: TEXT_LENGTH_MAX,
      description: 'Sent in place of the text of the request, which `original_text` keeps.',
    }),
  ),
})
export type ApprovalRequest = Shape<typeof ApprovalRequest>

export const DenialRequest = objectSchema('DenialRequest', {
  reason: Type.Optional(Type.String({ maxLength: 500, example: 'The offer is over.' })),
})
export type DenialRequest = Shape<typeof DenialRequest>

const AUTOMATION_PAUSED = flag(
  'Human takeover: programs should not send. A setting can enforce that.',
)

const OPTED_OUT = Type.Optional(flag('True if the person wants no more messages; else left out.'))

const MergedFrom = objectSchema('MergedFrom', {
  conversation_id: id('conv', 'The conversation that had this handle. Its id still reads.'),
  handle: text('Another spelling of the handle.', '2025550147'),
  merged_at: time('When the two turned out to be of one person.'),
})

export const Conversation = objectSchema('Conversation', {
  id: id('conv', 'Identifies the conversation.'),
  moved_to: Type.Optional(
    id(
      'conv',
      'The conversation that has its messages now, because another line took them over, or ' +
        'because both were of one person. All other fields describe that one.',
    ),
  ),
  phone_line_id: id('line', 'The line.'),
  phone_number: text("The line's number.", '+12025550101'),
  handle: text('The counterpart.', '+12025550147'),
  chat_identifier: text(
    "Equals `handle`; for a group, the device's identifier of it.",
    '+12025550147',
  ),
  contact_name: Type.Optional(text("The person's name in the contacts.", 'Anna Miller')),
  opted_out: OPTED_OUT,
  merged_from: Type.Optional(Type.Array(MergedFrom)),
  // A conversation with one person has none of the next five fields.
  type: Type.Optional(Type.Literal('group')),
  chat_guid: Type.Optional(text("The device's guid of the group.")),
  name: nullish(Type.String({ example: 'Family' })),
  participants: Type.Optional(Type.Array(Person, { description: 'Without the owner.' })),
  state: Type.Optional(enumOf('GroupState', GROUP_STATES)),
  service: Type.String({ example: 'iMessage' }),
  message_count: Type.Integer({ example: 12 }),
  last_message: nullable(Message),
  automation_paused: AUTOMATION_PAUSED,
  unread_count: Type.Optional(
    count('Received messages after the last one that was read or sent; left out for none.', 2),
  ),
  is_unanswered: Type.Optional(flag('True if the latest message was received; else left out.')),
  created_at: time('When the first message was recorded.'),
  updated_at: time('When the latest message was recorded.'),
})
export type Conversation = Shape<typeof Conversation>

export const ConversationChanges = objectSchema('ConversationChanges', {
  automation_paused: AUTOMATION_PAUSED,
})

export const ReadMark = objectSchema('ReadMark', {
  message_id: id('msg', 'The last message that was read; earlier ones count as read, too.'),
})

export const EXPORT_FORMATS = ['csv', 'json'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export const ConversationList = listOf('ConversationList', Conversation)

export const RecipientEvidence = objectSchema('RecipientEvidence', {
  handle: Type.String({ example: '+12025550147' }),
  service: enumOf('RecipientService', ['iMessage', 'SMS', 'unknown']),
  evidence: enumOf(
    'EvidenceKind',
    ['delivered_imessage', 'failed_22', 'received_sms', 'none'],
    "From this relay's own history only: nobody is asked.",
  ),
  last_seen_at: nullable(time('The date of the evidence.')),
  phone_line_id: nullable(id('line', 'The line that has it.')),
  opted_out: OPTED_OUT,
})
export type RecipientEvidence = Shape<typeof RecipientEvidence>
