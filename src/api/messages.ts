// Messages, conversations, and figures by day.

import { Type } from 'typebox'

import {
  MESSAGE_SOURCES,
  MESSAGE_STATUSES,
  QUEUED_REASONS,
  TEXT_LENGTH_MAX,
} from '../domain/message.ts'
import { enumOf, id, listOf, nullable, objectSchema, time, type Shape } from './schema.ts'

export const SendRequest = objectSchema('SendRequest', {
  to: Type.String({
    description: 'E.164 with `+`, or an email address with which the line has a conversation.',
    example: '+12025550147',
  }),
  text: Type.String({
    minLength: 1,
    maxLength: TEXT_LENGTH_MAX,
    description: 'Length in code points.',
    example: 'Your table is ready.',
  }),
  phone_line_id: Type.Optional(
    nullable(
      id(
        'line',
        'This line and no other. Without it, an available online line: for a new contact, the one with the fewest new contacts today.',
      ),
    ),
  ),
})
export type SendRequest = Shape<typeof SendRequest>

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
    code: Type.String({
      description: 'For programs; later versions may add codes.',
      example: 'not_on_imessage',
    }),
    message: Type.String({
      description: 'For people.',
      example: 'The recipient is not on iMessage.',
    }),
  },
  "Why a message failed, or why its delivery can't be confirmed.",
)

export const Message = objectSchema('Message', {
  id: id('msg', 'Identifies the message.'),
  guid: Type.String({
    description: 'An upper-case UUID that never changes.',
    example: '3C2F8A54-6B1D-4E0A-9F57-1D0B6C9E7A42',
  }),
  platform_guid: nullable(Type.String({ description: "The device's own guid, null until known." })),
  direction: MessageDirection,
  status: MessageStatus,
  service: Type.String({
    description: 'The service that carried it, as the device reports: `iMessage`, `SMS`, `RCS`.',
    example: 'iMessage',
  }),
  to: Type.String({ example: '+12025550147' }),
  from: Type.String({
    description: 'The sender. Where `from` is a reserved word, generated clients call it `from_`.',
    example: '+12025550101',
  }),
  handle: Type.String({ description: 'The counterpart.', example: '+12025550147' }),
  text: Type.String({ example: 'Your table is ready.' }),
  phone_line_id: id('line', 'The line used.'),
  phone_number: Type.String({ description: "The line's number.", example: '+12025550101' }),
  conversation_id: id('conv', 'All messages of this line with this handle.'),
  source: enumOf('MessageSource', MESSAGE_SOURCES, '`device` means typed on the device itself.'),
  queued_reason: nullable(enumOf('QueuedReason', QUEUED_REASONS, 'Why a queued message waits.')),
  error: nullable(MessageError),
  created_at: time('When the relay recorded it.'),
  updated_at: time('When it last changed.'),
  sent_at: nullable(time("The device's time for an inbound message.")),
  delivered_at: nullable(time('When it was delivered.')),
  read_at: nullable(time('When it was read.')),
})
export type Message = Shape<typeof Message>

export const MessageList = listOf('MessageList', Message)

export const Resolution = objectSchema('Resolution', {
  status: enumOf('ResolvedStatus', ['sent', 'failed'], 'The outcome that a person found out.'),
})

const AUTOMATION_PAUSED = Type.Boolean({
  description: 'Human takeover: programs should not send. A setting can enforce that.',
})

export const Conversation = objectSchema('Conversation', {
  id: id('conv', 'Identifies the conversation.'),
  moved_to: Type.Optional(
    id(
      'conv',
      'The conversation that has its messages now, because another line took them over. All ' +
        'other fields describe that one.',
    ),
  ),
  phone_line_id: id('line', 'The line.'),
  phone_number: Type.String({ description: "The line's number.", example: '+12025550101' }),
  handle: Type.String({ description: 'The counterpart.', example: '+12025550147' }),
  chat_identifier: Type.String({ description: 'Equals `handle`.', example: '+12025550147' }),
  service: Type.String({ example: 'iMessage' }),
  message_count: Type.Integer({ example: 12 }),
  last_message: nullable(Message),
  automation_paused: AUTOMATION_PAUSED,
  created_at: time('When the first message was recorded.'),
  updated_at: time('When the latest message was recorded.'),
})
export type Conversation = Shape<typeof Conversation>

export const ConversationChanges = objectSchema('ConversationChanges', {
  automation_paused: AUTOMATION_PAUSED,
})

export const ConversationList = listOf('ConversationList', Conversation)

const FIGURES = {
  sent: Type.Integer({ description: 'Sent, delivered or read; typed on the device included.' }),
  received: Type.Integer(),
  failed: Type.Integer({ description: 'Failed or expired.' }),
  uncertain: Type.Integer({ description: 'Handed to the device; sending is not confirmed.' }),
}

export const Stats = objectSchema('Stats', {
  data: Type.Array(
    objectSchema('DayStats', {
      date: Type.String({ description: 'A UTC day.', example: '2026-11-21' }),
      ...FIGURES,
      lines: Type.Array(
        objectSchema('LineDayStats', { phone_line_id: id('line', 'The line.'), ...FIGURES }),
        { description: 'The lines that had messages on that day.' },
      ),
    }),
  ),
})
export type DayStats = Shape<typeof Stats>['data'][number]
/** Messages by their outcome so far. */
export type MessageFigures = Pick<DayStats, keyof typeof FIGURES>
