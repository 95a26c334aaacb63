import { Type } from 'typebox'

import { CREDENTIAL_NAME_LENGTH_MAX } from '../domain/credential.ts'
import {
  APPROVAL_RULES,
  RECIPIENT_RULES,
  SCOPE_GROUPS,
  SCOPES,
  type Scope,
  type ScopeGroup,
} from '../domain/permissions.ts'
import { quietHours } from './phone-lines.ts'
import {
  ids,
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
  limitIds,
} from './schema.ts'

/** A header by which a caller limits its own request to one conversation, as a key limited to it would be. */
export const ONLY_CONVERSATION = 'x-hookline-conversation'

/**
 * A header of sends by AI agents, with fields such as `answers=msg_…&again=true`. A message with it isn't sent while a
 * person answers the conversation, nor if it repeats another one.
 */
export const AGENT = 'x-hookline-agent'

/** Requests and answers each have their own schema of the hours: only answers are open to later fields. */
const rules = (hoursTitle: Parameters<typeof quietHours>[0]) => ({
  recipients: enumOf(
    'RecipientRule',
    RECIPIENT_RULES,
    'Who may be written to: `known` are people with whom its lines have written, `list` only those ' +
      'in `allow`.',
  ),
  allow: Type.Array(Type.String({ example: '+12025550123' }), {
    maxItems: 1_000,
    description: 'Recipients that are allowed besides. A group is allowed if all its members are.',
  }),
  sends_per_hour: nullable(Type.Integer({ minimum: 1, maximum: 10_000 })),
  sends_per_day: nullable(
    Type.Integer({
      minimum: 1,
      maximum: 100_000,
      description: 'Within 24 hours. Sends of keys that it created count as well.',
    }),
  ),
  approval: enumOf('ApprovalRule', APPROVAL_RULES, 'Which sends wait for a person to approve.'),
  quiet_hours: nullable(quietHours(hoursTitle)),
})

export const KeyRules = objectSchema(
  'KeyRules',
  rules('QuietHours'),
  'Rules for the sends of a key.',
)
export type KeyRules = Shape<typeof KeyRules>

const NewRules = Type.Partial(Type.Object(rules('RequestedQuietHours')), {
  title: 'RequestedKeyRules',
  additionalProperties: false,
  description: 'Rules for the sends of the key.',
})

const SCOPES_FIELD = Type.Array(enumOf('Scope', SCOPES), { example: ['messages:read'] })
const LINES_FIELD = ids('The only lines that it sees and uses.')
const SITES_FIELD = ids('The only sites whose lines it sees and uses.')
const CONVERSATIONS_FIELD = ids('The only conversations that it sees and writes in.')
const EXPIRY = time('The end of its validity.')

const KEY_FIELDS = {
  id: id('key', 'Identifies the key, also in the path that revokes it.'),
  name: nullable(text('The label given at creation.')),
}
const KEY_HISTORY = {
  created_by: text("A key's id, `cli` or `dashboard`."),
  created_at: time('When the key was created.'),
  last_used_at: nullable(time('When the key was last used, to the second.')),
}
const FOR_FIELD = Type.Optional(
  text('The compatible API that it was made for; it works only there.', 'signal-cli'),
)
/** A limit that the key doesn't have is left out. */
const LIMITS = {
  for: FOR_FIELD,
  scopes: Type.Optional(SCOPES_FIELD),
  phone_line_ids: Type.Optional(LINES_FIELD),
  site_ids: Type.Optional(SITES_FIELD),
  conversation_ids: Type.Optional(CONVERSATIONS_FIELD),
  expires_at: Type.Optional(EXPIRY),
  rules: Type.Optional(KeyRules),
}

const GROUP_NAMES = Object.keys(SCOPE_GROUPS) as ScopeGroup[] // The keys of the record.
const GROUP_WORDS = Object.entries(SCOPE_GROUPS)
  .map(([name, scopes]) => `\`${name}\`: ${scopes.join(', ')}.`)
  .join(' ')

export const KeyCreation = objectSchema('KeyCreation', {
  name: nullish(Type.String({ maxLength: CREDENTIAL_NAME_LENGTH_MAX, example: 'shop-production' })),
  scopes: nullish(
    Type.Array(
      enumOf<Scope | ScopeGroup>('RequestedScope', [...SCOPES, ...GROUP_NAMES], GROUP_WORDS),
      { minItems: 1, maxItems: 50, description: 'All if it is left out.' },
    ),
  ),
  phone_line_ids: nullish(limitIds('The only lines that it sees and uses; all if it is left out.')),
  site_ids: nullish(
    limitIds('The only sites whose lines it sees and uses, also after lines have moved.'),
  ),
  conversation_ids: nullish(
    limitIds(
      'The only conversations that it sees and writes in; all if it is left out. Everything else is 403 for the key.',
    ),
  ),
  expires_at: nullish(Type.String({ ...ISO_TIME, description: 'In the future.' })),
  rules: nullish(NewRules),
  for: nullish(
    Type.String({
      example: 'signal-cli',
      description:
        'The compatible API that it is for. The key works only there, and has the scopes that it needs unless ' +
        'you name others.',
    }),
  ),
})
export type KeyCreation = Shape<typeof KeyCreation>

const CREATED_KEY = {
  ...KEY_FIELDS,
  key: text(
    'The value of `X-API-Key`. Shown only in this answer.',
    'hl_live_p0mY2dJx8QeQm4u7Zr1tN5vK3wLs9aBc',
  ),
  secret: text(
    'The value of `X-API-Secret`. Shown only in this answer; the relay stores a hash.',
    'hl_secret_3q2-7wAAzN5Gk1m0dJYw4uS8bqXcT9eRfV6hLpZ2iKo',
  ),
  ...KEY_HISTORY,
  ...LIMITS,
  connect: Type.Optional(
    Type.Unsafe<Readonly<Record<string, string>>>(
      Type.Object(
        {},
        {
          additionalProperties: Type.String(),
          description:
            'What to enter into the program that speaks the compatible API, by its names.',
        },
      ),
    ),
  ),
}
export const CreatedKey = objectSchema('CreatedKey', CREATED_KEY)
export type CreatedKey = Shape<typeof CreatedKey>

/** The most time for which a rotated key goes on working, in seconds: 30 days. */
const OVERLAP_SECONDS_MAX = 2_592_000

export const KeyRotation = objectSchema('KeyRotation', {
  overlap: nullish(
    Type.Integer({
      minimum: 0,
      maximum: OVERLAP_SECONDS_MAX,
      description: 'Seconds for which the old key goes on working; a day if it is left out.',
      example: 3_600,
    }),
  ),
  expires_at: nullish(
    Type.String({
      ...ISO_TIME,
      description:
        'The end of the new key. If it is left out, the new key lasts as long as the old one did.',
    }),
  ),
})
export type KeyRotation = Shape<typeof KeyRotation>

export const RotatedKey = objectSchema('RotatedKey', {
  ...CREATED_KEY,
  rotated_from: id('key', 'The old key.'),
  old_key_expires_at: time('When the old key ends.'),
})
export type RotatedKey = Shape<typeof RotatedKey>

export const Key = objectSchema('Key', {
  ...KEY_FIELDS,
  key_hint: text('The first characters.', 'hl_live_p0mY2d'),
  ...KEY_HISTORY,
  revoked_at: nullable(time('When the key was revoked.')),
  rotated_by: Type.Optional(
    text('Who made it by a rotation, like `created_by`, which stays that of the first key.'),
  ),
  ...LIMITS,
})
export type Key = Shape<typeof Key>

export const KeySelf = objectSchema('KeySelf', {
  ...KEY_FIELDS,
  created_at: KEY_HISTORY.created_at,
  scopes: SCOPES_FIELD,
  phone_line_ids: nullable(LINES_FIELD),
  site_ids: Type.Optional(SITES_FIELD),
  conversation_ids: nullable(CONVERSATIONS_FIELD),
  expires_at: nullable(EXPIRY),
  rules: KeyRules,
})
export type KeySelf = Shape<typeof KeySelf>

export const KeyList = listOf('KeyList', Key)

const made = (title: string, description: string) =>
  Type.Optional(
    objectSchema(
      title,
      {
        keys: Type.Array(Type.String()),
        webhooks: Type.Array(Type.String()),
        bridges: Type.Array(Type.String()),
        messages: ids('Messages that wait to be sent.'),
      },
      description,
    ),
  )

export const RevokedKey = objectSchema('RevokedKey', {
  id: id('key', 'The revoked key.'),
  deleted: Type.Literal(true),
  created: made(
    'MadeByKey',
    'Ids of everything that the key created and that still exists; left out if there is nothing. Things that ' +
      'the keys it replaced, or keys that it created, have created count as well.',
  ),
  ended: made('EndedWithKey', 'With `all`, what ended with the key in place of `created`.'),
})
export type RevokedKey = Shape<typeof RevokedKey>
