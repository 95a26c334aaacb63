// API keys and bridges, as their owner manages them.

import { Elysia } from 'elysia'
import { Type } from 'typebox'

import {
  type Bridge,
  BridgeCreation,
  BridgeList,
  BridgeToken,
  CreatedBridge,
} from '../api/bridges.ts'
import { CreatedKey, type Key, KeyCreation, KeyList, RevokedKey } from '../api/keys.ts'
import type { Page, PageRequest } from '../api/paging.ts'
import { Deleted, NoBody } from '../api/schema.ts'
import type { Origin } from '../domain/audit.ts'
import { mayTake, takes } from './body.ts'
import { BY_ID, operation } from './operation.ts'
import { PAGE_QUERY, pageOfQuery, readQuery } from './query.ts'
import { originOf } from './request-context.ts'

export type KeyActions = {
  create(request: { readonly name: string | null; readonly origin: Origin }): Promise<CreatedKey>
  list(page: PageRequest): Page<Key>
  revoke(id: string, origin: Origin): Promise<RevokedKey>
}

const KeyQuery = Type.Object(PAGE_QUERY)

const CREATE_KEY = operation({
  id: 'createKey',
  summary: 'Create a key',
  description: 'Key and secret are told in this answer only. A body is not required.',
  tag: 'Keys',
  answers: { 201: CreatedKey },
  errors: ['storage_full'],
})

const LIST_KEYS = operation({
  id: 'listKeys',
  summary: 'List keys',
  description: 'Newest first; revoked ones stay listed.',
  tag: 'Keys',
  query: KeyQuery,
  answers: { 200: KeyList },
})

const REVOKE_KEY = operation({
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
      { ...mayTake(KeyCreation), ...CREATE_KEY },
    )
    .get('', ({ request }) => keys.list(pageOfQuery(readQuery(request, KeyQuery))), LIST_KEYS)
    .delete('/:id', ({ request, params }) => keys.revoke(params.id, originOf(request)), {
      ...BY_ID,
      ...REVOKE_KEY,
    })
}

export type BridgeActions = {
  create(request: {
    readonly number: string
    readonly label: string | null
    readonly origin: Origin
  }): Promise<CreatedBridge>
  list(page: PageRequest): Page<Bridge>
  renewToken(id: string, origin: Origin): Promise<BridgeToken>
  remove(id: string, origin: Origin): Promise<void>
}

const BridgeQuery = Type.Object(PAGE_QUERY)

const LIST_BRIDGES = operation({
  id: 'listBridges',
  summary: 'List bridges',
  description: 'Newest first; removed ones stay listed.',
  tag: 'Bridges',
  query: BridgeQuery,
  answers: { 200: BridgeList },
})

const CREATE_BRIDGE = operation({
  id: 'createBridge',
  summary: 'Create a bridge',
  description:
    'For an iPhone whose shortcuts send and receive. Its line is listed a few seconds later; the ' +
    'token is told in this answer only.',
  tag: 'Bridges',
  answers: { 201: CreatedBridge },
  errors: ['bridge_exists', 'storage_full'],
})

const RENEW_TOKEN = operation({
  id: 'renewBridgeToken',
  summary: 'Make a new token',
  description: 'The one before is refused from now on.',
  tag: 'Bridges',
  answers: { 200: BridgeToken },
  errors: ['not_found', 'storage_full'],
})

const REMOVE_BRIDGE = operation({
  id: 'deleteBridge',
  summary: 'Remove a bridge',
  description:
    'At once and for good; its line is offline from then on and can be deleted. Removing it again ' +
    'answers the same.',
  tag: 'Bridges',
  answers: { 200: Deleted },
  errors: ['not_found', 'storage_full'],
})

export function bridgeOwnerRoutes(bridges: BridgeActions) {
  return new Elysia({ prefix: '/api/v1/bridges' })
    .get(
      '',
      ({ request }) => bridges.list(pageOfQuery(readQuery(request, BridgeQuery))),
      LIST_BRIDGES,
    )
    .post(
      '',
      ({ request, body, set }) => {
        set.status = 201
        const { phone_number: number, label = null } = body
        return bridges.create({ number, label, origin: originOf(request) })
      },
      { ...takes(BridgeCreation), ...CREATE_BRIDGE },
    )
    .post('/:id/token', ({ request, params }) => bridges.renewToken(params.id, originOf(request)), {
      ...BY_ID,
      ...mayTake(NoBody),
      ...RENEW_TOKEN,
    })
    .delete(
      '/:id',
      async ({ request, params }) => {
        await bridges.remove(params.id, originOf(request))
        return { id: params.id, deleted: true as const }
      },
      { ...BY_ID, ...REMOVE_BRIDGE },
    )
}
