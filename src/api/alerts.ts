// Alerts of the owner: their channels, rules and outcomes.

import { Type } from 'typebox'

import {
  AFTER_MINUTES_MAX,
  ALERT_CAUSE_NAMES,
  CHANNEL_KINDS,
  NOTICE_KINDS,
  NOTICE_STATUSES,
  POST_FORMS,
} from '../domain/alert.ts'
import { SUBJECT_KINDS } from '../domain/finding.ts'
import {
  count,
  ids,
  changesOf,
  enumOf,
  id,
  listOf,
  nullable,
  objectSchema,
  text,
  time,
  url,
  type Shape,
} from './schema.ts'

const Cause = enumOf('AlertCause', ALERT_CAUSE_NAMES)

const ALERT_FIELDS = {
  id: id('alert', 'Identifies the alert.'),
  cause: Cause,
  title: text('The problem in a few words.', 'The line Front desk is offline'),
  about: objectSchema('AlertSubject', {
    kind: enumOf('AlertSubjectKind', SUBJECT_KINDS),
    id: nullable(text('Its id; null for the relay itself.')),
  }),
  phone_line_id: nullable(id('line', 'The line concerned.')),
  since: time('When the problem was first found.'),
  raised_at: time('When it had lasted for the time of its rule.'),
  resolved_at: nullable(time('When it was over.')),
  lasted_seconds: nullable(count('How long it lasted; null while it does.', 540)),
}

export const Alert = objectSchema('Alert', ALERT_FIELDS)
export type Alert = Shape<typeof Alert>

export const AlertNotice = objectSchema('AlertNotice', {
  id: id('ntc', 'Sent as `Idempotency-Key` with each try of a POST.'),
  channel_id: id('chan', 'Where it goes.'),
  kind: enumOf('AlertNoticeKind', NOTICE_KINDS),
  status: enumOf(
    'AlertNoticeStatus',
    NOTICE_STATUSES,
    '`handed_over` has a fixed text and may have arrived; `done` was sent, or taken by the receiver.',
  ),
  text: nullable(text('What it says; null while it waits.')),
  attempts: count('Tries of a POST.'),
  message_id: nullable(id('msg', 'The message of a text.')),
  error: nullable(text('Why it failed, or why it still waits.', 'no_line')),
  created_at: time('When it was made.'),
  handed_over_at: nullable(time('When it was given to a line, or first posted.')),
})
export type AlertNotice = Shape<typeof AlertNotice>

const ListedAlert = objectSchema('ListedAlert', {
  ...ALERT_FIELDS,
  notices: Type.Array(AlertNotice, { description: 'What each channel was told of it.' }),
})
export type ListedAlert = Shape<typeof ListedAlert>
export const AlertList = listOf('AlertList', ListedAlert)

const AlertQuietHours = objectSchema('AlertQuietHours', {
  from: Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', example: '22:00' }),
  to: Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', example: '07:00' }),
})

export const AlertChannel = objectSchema('AlertChannel', {
  id: id('chan', 'Identifies the channel.'),
  kind: enumOf('AlertChannelKind', CHANNEL_KINDS),
  name: nullable(text('Your name for it.', 'My phone')),
  to: nullable(text('The phone of a text. API keys see its last four digits.', '+12025550147')),
  phone_line_id: nullable(id('line', 'The only line that sends its texts; null for any that can.')),
  url: nullable(url({ description: 'The origin of the URL of a post; its path may be a key.' })),
  form: nullable(enumOf('AlertForm', POST_FORMS)),
  quiet_hours: nullable(AlertQuietHours),
  created_at: time('When it was created.'),
})
export type AlertChannel = Shape<typeof AlertChannel>

export const AlertChannels = objectSchema('AlertChannels', { data: Type.Array(AlertChannel) })

const CHANNEL_CHANGES = {
  name: nullable(Type.String({ minLength: 1, maxLength: 100 })),
  phone_line_id: nullable(Type.String({ maxLength: 100 })),
  quiet_hours: nullable(AlertQuietHours),
}

/** A text has `to`; a post has `url`, and `form` if it isn't for ntfy. */
export const NewAlertChannel = objectSchema('NewAlertChannel', {
  to: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  url: Type.Optional(url({ minLength: 1, maxLength: 2_048 })),
  form: Type.Optional(enumOf('NewAlertForm', POST_FORMS)),
  ...Type.Partial(Type.Object(CHANNEL_CHANGES)).properties,
})
export type NewAlertChannel = Shape<typeof NewAlertChannel>

export const AlertChannelChanges = changesOf('AlertChannelChanges', CHANNEL_CHANGES)
export type AlertChannelChanges = Shape<typeof AlertChannelChanges>

export const AlertRule = objectSchema('AlertRule', {
  cause: Cause,
  after_minutes: count('How long the cause must last.'),
  phone_line_ids: nullable(ids('The only lines that count; null for all.')),
  site_ids: nullable(ids('The only sites whose lines count; null for all.')),
  is_enabled: Type.Boolean(),
})
export type AlertRule = Shape<typeof AlertRule>

export const AlertRules = objectSchema('AlertRules', { data: Type.Array(AlertRule) })

const RULE_IDS = nullable(
  Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: 100 }),
)

/** Fields that are left out stay as they are. */
export const AlertRuleChange = objectSchema('AlertRuleChange', {
  cause: Cause,
  after_minutes: Type.Optional(Type.Integer({ minimum: 1, maximum: AFTER_MINUTES_MAX })),
  phone_line_ids: Type.Optional(RULE_IDS),
  site_ids: Type.Optional(RULE_IDS),
  is_enabled: Type.Optional(Type.Boolean()),
})
export type AlertRuleChange = Shape<typeof AlertRuleChange>
