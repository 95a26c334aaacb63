import { Elysia } from 'elysia'
import { Type } from 'typebox'

import { CreatedKey, KeyCreation, KeyList, RevokedKey, type Key } from '../api/keys.ts'
import type { Page, PageRequest } from '../api/paging.ts'
import type { Origin } from '../domain/audit.ts'
import { mayTake } from './body.ts'
import { originOf } from './exchange.ts'
import { BY_ID, operation } from './operation.ts'
import { PAGE_QUERY, pageOfQuery, readQuery } from './query.ts'

export type KeyActions = {
  create(request: { readonly name: string | null; readonly origin: Origin }): Promise<CreatedKey>
  list(page: PageRequest): Page<Key>
  revoke(id: string, origin: Origin): Promise<RevokedKey>
}

const KeyQuery = Type.Object(PAGE_QUERY)

const CREATE = operation({
  id: 'createKey',
  summary: 'Create a key',
  description: 'Key and secret are told in this answer only. A body is not required.',
  tag: 'Keys',
  answers: { 201: CreatedKey },
  errors: ['storage_full'],
})

const LIST = operation({
  id: 'listKeys',
  summary: 'List keys',
  description: 'Newest first; revoked ones stay listed.',
  tag: 'Keys',
  query: KeyQuery,
  answers: { 200: KeyList },
})

const REVOKE = operation({
  id: 'revokeKey',
  summary: 'Revoke a key',
  description: 'At once and for good. Revoking it again answers the same.',
  tag: 'Keys',
  answers: { 200: RevokedKey },
  errors: ['not_found'],
})

export function keyRoutes(keys: KeyActions) {
  return new Elysia({ prefix: '/api/v1/keys' })
    .post(
      '',
      ({ request, body, set }) => {
        set.status = 201
        return keys.create({ name: body.name ?? null, origin: originOf(request) })
      },
      { ...mayTake(KeyCreation), ...CREATE },
    )
    .get('', ({ request }) => keys.list(pageOfQuery(readQuery(request, KeyQuery))), LIST)
    .delete('/:id', ({ request, params }) => keys.revoke(params.id, originOf(request)), {
      ...BY_ID,
      ...REVOKE,
    })
}
