import { Elysia } from 'elysia'
import { Type, type Static } from 'typebox'

import { ACTOR_KINDS, AUDIT_ACTIONS, THING_KINDS } from '../domain/audit.ts'
import type { AuditEntryResource, AuditFilter } from '../storage/audit-list.ts'
import type { Page } from '../system/cursor.ts'
import { operation } from './operation.ts'
import { PAGE_QUERY, pageOfQuery, readQuery, timeParameter, type PageRequest } from './query.ts'
import { id, listOf, nullable, shape, time, toldWord, word } from './schema-parts.ts'

export type ListAudit = (filter: AuditFilter, page: PageRequest) => Page<AuditEntryResource>

const fields = (description: string) =>
  nullable(Type.Record(Type.String(), Type.Unknown(), { description }))

const AuditEntry = shape('AuditEntry', {
  id: id('aud', 'Identifies the entry.'),
  at: time('When it was done.'),
  action: toldWord('AuditAction', AUDIT_ACTIONS),
  actor: shape('AuditActor', {
    kind: toldWord('AuditActorKind', ACTOR_KINDS, '`relay` is the relay itself, as it starts.'),
    id: nullable(Type.String({ description: 'The key, or the short id of a dashboard session.' })),
  }),
  address: nullable(Type.String({ description: 'IP address; null on the machine itself.' })),
  request_id: nullable(Type.String({ description: 'As `X-Request-Id` of the answer has it.' })),
  about: shape(
    'AuditedThing',
    { kind: toldWord('AuditedKind', THING_KINDS), id: nullable(Type.String()) },
    'The thing that was changed; there is one relay and one dashboard, which have no id.',
  ),
  before: fields('The fields that changed, as they were.'),
  after: fields('The fields that changed, as they are.'),
  count: Type.Integer({ minimum: 1, description: 'How many wrong passwords the entry counts.' }),
  last_at: time('When the latest of them came.'),
})

const AuditEntryList = listOf('AuditEntryList', AuditEntry)

const AuditQuery = Type.Object({
  ...PAGE_QUERY,
  since: timeParameter('Inclusive.'),
  action: Type.Optional(word('AuditAction', AUDIT_ACTIONS)),
  actor: Type.Optional(
    Type.String({ description: 'The id of a key or of a dashboard session, or a kind of actor.' }),
  ),
  about: Type.Optional(Type.String({ description: 'The id of a thing, or a kind of things.' })),
})

const LIST = operation({
  id: 'listAudit',
  summary: 'List who changed what',
  description:
    'Newest first: changes of keys, bridges, webhooks, lines and settings, sign-ins, restores and ' +
    'upgrades. Kept for 400 days; no secret is in it.',
  tag: 'Service',
  query: AuditQuery,
  answers: { 200: AuditEntryList },
})

export function auditRoutes(listAudit: ListAudit) {
  return new Elysia({ prefix: '/api/v1' }).get(
    '/audit',
    ({ request }) => {
      const query = readQuery(request, AuditQuery)
      return listAudit(filterIn(query), pageOfQuery(query))
    },
    LIST,
  )
}

function filterIn({ since, action, actor, about }: Static<typeof AuditQuery>): AuditFilter {
  return { since, action, actor, about }
}
