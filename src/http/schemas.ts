// The shapes of the API: keys, lines, messages and conversations. Absent values are null, never left
// out. Those of webhooks are in `webhook-schemas.ts`.

import { Type } from 'typebox'

import { KEY_NAME_LENGTH_MAX } from '../domain/api-key.ts'
import { SUBJECT_KINDS } from '../domain/finding.ts'
import {
  MESSAGE_SOURCES,
  MESSAGE_STATUSES,
  QUEUED_REASONS,
  TEXT_LENGTH_MAX,
} from '../domain/message.ts'
import { NOT_RELAYED_KINDS } from '../domain/not-relayed.ts'
import { id, listOf, nullable, shape, time, toldWord, word } from './schema-parts.ts'

const DAILY_CONTACT_LIMIT_MAX = 100_000
const LABEL_LENGTH_MAX = 100

export const IdPath = Type.Object({ id: Type.String({ description: 'The id of the resource.' }) })

export const Deleted = shape('Deleted', { id: Type.String(), deleted: Type.Literal(true) })

/** For actions that take no values. */
export const NoBody = Type.Object({}, { additionalProperties: false })

// Keys

const KEY_FIELDS = {
  id: id('key', 'Identifies the key, also in the path that revokes it.'),
  name: nullable(Type.String({ description: 'The label given at creation.' })),
}
const KEY_STAMPS = {
  created_by: Type.String({ description: "A key's id, `cli` or `dashboard`." }),
  created_at: time('When the key was made.'),
  last_used_at: nullable(time('When the key was last used, right to the second.')),
}

export const KeyCreation = shape('KeyCreation', {
  name: Type.Optional(
    nullable(Type.String({ maxLength: KEY_NAME_LENGTH_MAX, example: 'shop-production' })),
  ),
})

export const CreatedKey = shape('CreatedKey', {
  ...KEY_FIELDS,
  key: Type.String({
    description: 'Goes into `X-API-Key`. Told in this answer only.',
    example: 'hl_live_p0mY2dJx8QeQm4u7Zr1tN5vK3wLs9aBc',
  }),
  secret: Type.String({
    description: 'Goes into `X-API-Secret`. Told in this answer only; the relay keeps its hash.',
    example: 'hl_secret_3q2-7wAAzN5Gk1m0dJYw4uS8bqXcT9eRfV6hLpZ2iKo',
  }),
  ...KEY_STAMPS,
})

const Key = shape('Key', {
  ...KEY_FIELDS,
  key_hint: Type.String({ description: 'The first characters.', example: 'hl_live_p0mY2d' }),
  ...KEY_STAMPS,
  revoked_at: nullable(time('Since when the key is no longer accepted.')),
})

export const KeyList = listOf('KeyList', Key)

export const RevokedKey = shape('RevokedKey', {
  id: id('key', 'The key that is revoked.'),
  deleted: Type.Literal(true),
  created: Type.Optional(
    shape(
      'MadeByKey',
      {
        keys: Type.Array(Type.String()),
        webhooks: Type.Array(Type.String()),
        bridges: Type.Array(Type.String()),
      },
      'What the key made and what still lives, by id; left out where there is nothing.',
    ),
  ),
})

// Phone lines

const Capabilities = shape(
  'Capabilities',
  {
    new_contacts: Type.Boolean({ description: 'Can write to somebody for the first time.' }),
    choose_service: Type.Boolean({ description: 'Can say which service carries a message.' }),
    delivered: Type.Boolean({ description: 'Tells when a message was delivered.' }),
    read: Type.Boolean({ description: 'Tells when a message was read.' }),
    guid: Type.Boolean({ description: "Tells the device's own guid of a message." }),
    attachments: Type.Boolean({ description: 'Can send attachments.' }),
  },
  'What the line can do and tell.',
)

const LINE_SETTINGS = {
  label: nullable(Type.String({ maxLength: LABEL_LENGTH_MAX, example: 'Front desk' })),
  daily_contact_limit: Type.Integer({
    minimum: 0,
    maximum: DAILY_CONTACT_LIMIT_MAX,
    description: 'Maximum new contacts per UTC day. Known contacts are never limited.',
    example: 50,
  }),
  is_enabled: Type.Boolean({ description: 'False stops sending; the line goes on receiving.' }),
  relay_sms: Type.Boolean({
    description:
      'Whether SMS and RCS are announced as iMessages are. While it is false they are listed as ' +
      'history, and stay history when it is switched on.',
  }),
}

const NotRelayed = shape(
  'NotRelayed',
  {
    kind: toldWord('NotRelayedKind', NOT_RELAYED_KINDS),
    count: Type.Integer({ minimum: 1 }),
    since: time('When the first of them came.'),
    last_at: time('When the last of them came.'),
    hint: Type.String({ description: 'How the owner gets them.' }),
  },
  'What of one kind came in on the line and was announced to nobody.',
)

export const PhoneLine = shape('PhoneLine', {
  id: id('line', 'Identifies the line.'),
  phone_number: Type.String({ example: '+12025550101' }),
  label: nullable(Type.String({ example: 'Front desk' })),
  status: toldWord('LineStatus', ['online', 'offline']),
  imessage_active: Type.Boolean({ description: 'Whether iMessage is activated on the line.' }),
  daily_contact_limit: LINE_SETTINGS.daily_contact_limit,
  driver: toldWord('LineDriver', ['mac', 'iphone', 'shortcuts', 'simulated']),
  status_reason: nullable(Type.String({ description: 'Why it is offline: a code.' })),
  status_hint: nullable(Type.String({ description: 'What the owner can do about it.' })),
  new_contacts_today: Type.Integer({ description: 'What of the limit is used.' }),
  is_enabled: LINE_SETTINGS.is_enabled,
  relay_sms: LINE_SETTINGS.relay_sms,
  capabilities: Capabilities,
  not_relayed: Type.Optional(
    Type.Array(NotRelayed, { description: 'What came in and was announced to nobody.' }),
  ),
  created_at: time('When the relay saw the line first: the order of routing.'),
})

export const PhoneLineList = listOf('PhoneLineList', PhoneLine)

export const PhoneLineChanges = Type.Partial(Type.Object(LINE_SETTINGS), {
  title: 'PhoneLineChanges',
  additionalProperties: false,
  minProperties: 1,
})

// Messages

export const SendRequest = shape('SendRequest', {
  to: Type.String({
    description: 'E.164 with `+`, or an e-mail address with which the line has a conversation.',
    example: '+12025550147',
  }),
  text: Type.String({
    minLength: 1,
    maxLength: TEXT_LENGTH_MAX,
    description: 'In code points.',
    example: 'Your table is ready.',
  }),
  phone_line_id: Type.Optional(
    nullable(
      id(
        'line',
        'This line and no other; without it, an available online one: for a new contact, the one with the fewest today.',
      ),
    ),
  ),
})

/** The two ways of a message, seen from its line. */
export const MESSAGE_DIRECTIONS = ['inbound', 'outbound'] as const
export const MESSAGE_STATUS_WORDS =
  '`queued`, `sending`, `sent`, `delivered`, `read`; side exits `failed`, `expired`, `uncertain` ' +
  '(handed to the device, and nobody can say whether it left); `received`.'

export const MessageError = shape(
  'MessageError',
  {
    code: Type.String({
      description: 'For programs; new ones may come.',
      example: 'not_on_imessage',
    }),
    message: Type.String({
      description: 'For people.',
      example: 'The recipient is not on iMessage.',
    }),
  },
  'Why a message did not arrive, or why nobody knows.',
)

export const Message = shape('Message', {
  id: id('msg', 'Identifies the message.'),
  guid: Type.String({
    description: 'An upper-case UUID that never changes.',
    example: '3C2F8A54-6B1D-4E0A-9F57-1D0B6C9E7A42',
  }),
  platform_guid: nullable(Type.String({ description: "The device's own, null until known." })),
  direction: toldWord('MessageDirection', MESSAGE_DIRECTIONS),
  status: toldWord('MessageStatus', MESSAGE_STATUSES, MESSAGE_STATUS_WORDS),
  service: Type.String({
    description: 'What carried it, as the device says: `iMessage`, `SMS`, `RCS`.',
    example: 'iMessage',
  }),
  to: Type.String({ example: '+12025550147' }),
  from: Type.String({
    description: 'Who sent it. Where `from` is a reserved word, generated clients call it `from_`.',
    example: '+12025550101',
  }),
  handle: Type.String({ description: 'The counterpart.', example: '+12025550147' }),
  text: Type.String({ example: 'Your table is ready.' }),
  phone_line_id: id('line', 'The line used.'),
  phone_number: Type.String({ description: "The line's number.", example: '+12025550101' }),
  conversation_id: id('conv', 'All messages of this line with this handle.'),
  source: toldWord(
    'MessageSource',
    MESSAGE_SOURCES,
    '`device` is what somebody typed on the device itself.',
  ),
  queued_reason: nullable(toldWord('QueuedReason', QUEUED_REASONS, 'Why a queued message waits.')),
  error: nullable(MessageError),
  created_at: time('When the relay recorded it.'),
  updated_at: time('When it last changed.'),
  sent_at: nullable(time("Of an inbound message, the device's time.")),
  delivered_at: nullable(time('When it was delivered.')),
  read_at: nullable(time('When it was read.')),
})

export const MessageList = listOf('MessageList', Message)

export const Resolution = shape('Resolution', {
  status: word('ResolvedStatus', ['sent', 'failed'], 'What somebody found out.'),
})

// Conversations

const AUTOMATION_PAUSED = Type.Boolean({
  description: 'Whether a person answers it. Programs should not; a setting can enforce that.',
})

export const Conversation = shape('Conversation', {
  id: id('conv', 'Identifies the conversation.'),
  moved_to: Type.Optional(
    id(
      'conv',
      'The conversation in which its messages are now, where another line took them over. All ' +
        'other fields are of that one.',
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

export const ConversationChanges = shape('ConversationChanges', {
  automation_paused: AUTOMATION_PAUSED,
})

export const ConversationList = listOf('ConversationList', Conversation)

// Health

export const HealthFindings = shape('HealthFindings', {
  data: Type.Array(
    shape('HealthFinding', {
      code: Type.String(),
      severity: toldWord('Severity', ['info', 'warning', 'error']),
      title: Type.String({ description: 'What is the matter, in a few words.' }),
      why: Type.String({ description: 'What it means.' }),
      fix: Type.String({ description: 'What the owner can do.' }),
      line_id: nullable(id('line', 'The line it speaks of.')),
      about: shape('FindingSubject', {
        kind: toldWord('FindingSubjectKind', SUBJECT_KINDS, 'The kind of thing it is about.'),
        id: nullable(Type.String({ description: 'Its id; null for the relay itself.' })),
      }),
      since: time('When it was first found about this thing.'),
      depends_on: nullable(Type.String({ description: 'The finding that explains this one.' })),
    }),
  ),
})
