import { Type } from 'typebox'

import { EXCHANGES, GROUP_ABILITIES } from '../domain/line.ts'
import { NOT_RELAYED_KINDS } from '../domain/not-relayed.ts'
import {
  count,
  flag,
  changesOf,
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

const Capabilities = objectSchema(
  'Capabilities',
  {
    new_contacts: flag('Can start a conversation with a new contact.'),
    choose_service: flag('Can choose the service that carries a message.'),
    delivered: flag('Reports when a message was delivered.'),
    read: flag('Reports when a message was read.'),
    guid: flag("Reports the device's own guid of a message."),
    attachments: flag('Can send attachments.'),
    // Left out if the line can't.
    receives_attachments: Type.Optional(Type.Literal(true)),
    groups: Type.Optional(enumOf('GroupAbility', GROUP_ABILITIES)),
    reactions: Type.Optional(enumOf('ReactionAbility', EXCHANGES)),
    replies: Type.Optional(enumOf('ReplyAbility', EXCHANGES)),
    edits: Type.Optional(enumOf('EditAbility', EXCHANGES, 'Edited and unsent messages.')),
  },
  'What the line can do and report.',
)

const LINE_SETTINGS = {
  label: nullable(Type.String({ maxLength: 100, example: 'Front desk' })),
  daily_contact_limit: Type.Integer({
    minimum: 0,
    maximum: 100_000,
    description:
      'Maximum new contacts per day, in the time zone of its site or of the setting `time_zone`. ' +
      'Existing contacts are never limited.',
    example: 50,
  }),
  is_enabled: flag('False stops sending; the line still receives.'),
  relay_groups: flag(
    'Whether groups are stored, and announced by the events `group_message.*` and `group.updated`. ' +
      'Without it their messages are counted only.',
  ),
  relay_sms: flag(
    'Whether SMS and RCS are announced like iMessages. While it is false they are listed as ' +
      'history, and stay history when it is turned on.',
  ),
}

const NotRelayed = objectSchema(
  'NotRelayed',
  {
    kind: enumOf('NotRelayedKind', NOT_RELAYED_KINDS),
    count: Type.Integer({ minimum: 1 }),
    since: time('When the first of them arrived.'),
    last_at: time('When the last of them arrived.'),
    hint: text('How the owner gets them.'),
  },
  'Messages of one kind that arrived on the line and were not announced.',
)

export const LINE_DRIVER = 'LineDriver'

const TIME_OF_DAY = Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', example: '21:00' })

/** Requests and answers have separate schemas, because only answers are open to later fields. */
export const quietHours = (title: 'QuietHours' | 'RequestedQuietHours') =>
  objectSchema(
    title,
    { from: TIME_OF_DAY, to: TIME_OF_DAY },
    'Times of day in the time zone of the setting `time_zone`, for a line in that of its site; over midnight if ' +
      '`to` is earlier.',
  )

const LineBox = objectSchema(
  'LineBox',
  { id: id('box', 'Identifies the box.'), name: Type.String({ example: 'studio-3' }) },
  "Another machine than the relay's own, with the devices of lines.",
)
export type LineBox = Shape<typeof LineBox>

export const PhoneLine = objectSchema('PhoneLine', {
  id: id('line', 'Identifies the line.'),
  phone_number: Type.String({ example: '+12025550101' }),
  label: nullable(Type.String({ example: 'Front desk' })),
  status: enumOf('LineStatus', ['online', 'offline']),
  imessage_active: flag('Whether iMessage is activated on the line.'),
  daily_contact_limit: LINE_SETTINGS.daily_contact_limit,
  // The OpenAPI document adds the names of the kinds of lines as an enum.
  driver: Type.String({ title: LINE_DRIVER }),
  status_reason: nullable(text('A code for why it is offline.')),
  status_hint: nullable(text('What the owner can do about it.')),
  new_contacts_today: count('How much of the limit is used.'),
  is_enabled: LINE_SETTINGS.is_enabled,
  quiet_hours: Type.Optional(quietHours('QuietHours')),
  relay_sms: LINE_SETTINGS.relay_sms,
  /** Left out for kinds of lines without groups. */
  relay_groups: Type.Optional(LINE_SETTINGS.relay_groups),
  /** Left out for a line without a site. */
  site_id: Type.Optional(id('site', 'The site that it belongs to.')),
  /** Left out for a line on the relay's own machine. */
  box: Type.Optional(LineBox),
  /** Left out if the line isn't moving; null if it moves to the relay's own machine. */
  moves_to: nullish(LineBox),
  capabilities: Capabilities,
  not_relayed: Type.Optional(
    Type.Array(NotRelayed, { description: 'Messages that arrived and were not announced.' }),
  ),
  created_at: time('When the relay first saw the line: the order of routing.'),
})
export type PhoneLine = Shape<typeof PhoneLine>

export const PhoneLineList = listOf('PhoneLineList', PhoneLine)

export const PhoneLineChanges = changesOf('PhoneLineChanges', {
  ...LINE_SETTINGS,
  quiet_hours: nullable(quietHours('RequestedQuietHours')),
  site_id: nullable(
    Type.String({ description: 'The site that the line moves to. Only the owner moves lines.' }),
  ),
})
export type PhoneLineChanges = Shape<typeof PhoneLineChanges>

/** `from` is the vanished line to take over, or the line itself to accept its new number. */
export const Adoption = objectSchema('Adoption', { from: Type.String() })
