import { Type } from 'typebox'

import { ACTOR_KINDS, AUDIT_ACTIONS, THING_KINDS, type AuditFields } from '../domain/audit.ts'
import { enumOf, id, listOf, nullable, objectSchema, time, text, type Shape } from './schema.ts'

export const AuditAction = enumOf('AuditAction', AUDIT_ACTIONS)

export const AuditEntry = objectSchema('AuditEntry', {
  id: id('aud', 'Identifies the entry.'),
  at: time('When it was done.'),
  action: AuditAction,
  actor: objectSchema('AuditActor', {
    kind: enumOf('AuditActorKind', ACTOR_KINDS, '`relay` is the relay itself, as it starts.'),
    id: nullable(text('The key, the member, or the short id of a dashboard session.')),
    name: Type.Optional(text('Of a member.')),
  }),
  address: nullable(text('IP address; null on the machine itself.')),
  request_id: nullable(text('The `X-Request-Id` of the answer.')),
  about: objectSchema(
    'AuditedThing',
    { kind: enumOf('AuditedKind', THING_KINDS), id: nullable(Type.String()) },
    'The thing that was changed; the relay and the dashboard have no id.',
  ),
  before: changedFields('The changed fields before.'),
  after: changedFields('The changed fields after.'),
  count: Type.Integer({ minimum: 1, description: 'How many wrong passwords the entry counts.' }),
  last_at: time('When the latest of them was entered.'),
})
export type AuditEntry = Shape<typeof AuditEntry>

export const AuditEntryList = listOf('AuditEntryList', AuditEntry)

function changedFields(description: string) {
  const record = Type.Record(Type.String(), Type.Unknown(), { description })
  return nullable(Type.Unsafe<AuditFields>(record))
}
