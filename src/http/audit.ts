import { Elysia } from 'elysia'
import { Type, type Static } from 'typebox'

import { AuditAction, type AuditEntry, AuditEntryList } from '../api/audit.ts'
import type { Page, PageRequest } from '../api/paging.ts'
import type { AuditFilter } from '../storage/audit-list.ts'
import { operation } from './operation.ts'
import { PAGE_QUERY, pageOfQuery, readQuery, timeParameter } from './query.ts'

export type ListAudit = (filter: AuditFilter, page: PageRequest) => Page<AuditEntry>

const AuditQuery = Type.Object({
  ...PAGE_QUERY,
  since: timeParameter('Inclusive.'),
  action: Type.Optional(AuditAction),
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
