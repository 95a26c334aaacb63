import { Type } from 'typebox'

import { CREDENTIAL_NAME_LENGTH_MAX } from '../domain/credential.ts'
import { id, listOf, nullable, objectSchema, time, type Shape } from './schema.ts'

const KEY_FIELDS = {
  id: id('key', 'Identifies the key, also in the path that revokes it.'),
  name: nullable(Type.String({ description: 'The label given at creation.' })),
}
const KEY_HISTORY = {
  created_by: Type.String({ description: "A key's id, `cli` or `dashboard`." }),
  created_at: time('When the key was created.'),
  last_used_at: nullable(time('When the key was last used, to the second.')),
}

export const KeyCreation = objectSchema('KeyCreation', {
  name: Type.Optional(
    nullable(Type.String({ maxLength: CREDENTIAL_NAME_LENGTH_MAX, example: 'shop-production' })),
  ),
})

export const CreatedKey = objectSchema('CreatedKey', {
  ...KEY_FIELDS,
  key: Type.String({
    description: 'The value of `X-API-Key`. Shown only in this answer.',
    example: 'hl_live_p0mY2dJx8QeQm4u7Zr1tN5vK3wLs9aBc',
  }),
  secret: Type.String({
    description: 'The value of `X-API-Secret`. Shown only in this answer; the relay stores a hash.',
    example: 'hl_secret_3q2-7wAAzN5Gk1m0dJYw4uS8bqXcT9eRfV6hLpZ2iKo',
  }),
  ...KEY_HISTORY,
})
export type CreatedKey = Shape<typeof CreatedKey>

export const Key = objectSchema('Key', {
  ...KEY_FIELDS,
  key_hint: Type.String({ description: 'The first characters.', example: 'hl_live_p0mY2d' }),
  ...KEY_HISTORY,
  revoked_at: nullable(time('When the key was revoked.')),
})
export type Key = Shape<typeof Key>

export const KeyList = listOf('KeyList', Key)

export const RevokedKey = objectSchema('RevokedKey', {
  id: id('key', 'The revoked key.'),
  deleted: Type.Literal(true),
  created: Type.Optional(
    objectSchema(
      'MadeByKey',
      {
        keys: Type.Array(Type.String()),
        webhooks: Type.Array(Type.String()),
        bridges: Type.Array(Type.String()),
      },
      'Ids of everything that the key created and that still exists; left out where there is nothing.',
    ),
  ),
})
export type RevokedKey = Shape<typeof RevokedKey>
