// What the owner does with bridges. What their shortcuts call is in `bridge.ts`.

import { Elysia } from 'elysia'
import { Type } from 'typebox'

import {
  BridgeCreation,
  BridgeList,
  BridgeToken,
  CreatedBridge,
  type Bridge,
} from '../api/bridges.ts'
import type { Page, PageRequest } from '../api/paging.ts'
import { Deleted, NoBody } from '../api/schema.ts'
import type { Origin } from '../domain/audit.ts'
import { mayTake, takes } from './body.ts'
import { originOf } from './exchange.ts'
import { BY_ID, operation } from './operation.ts'
import { PAGE_QUERY, pageOfQuery, readQuery } from './query.ts'

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

const LIST = operation({
  id: 'listBridges',
  summary: 'List bridges',
  description: 'Newest first; removed ones stay listed.',
  tag: 'Bridges',
  query: BridgeQuery,
  answers: { 200: BridgeList },
})

const CREATE = operation({
  id: 'createBridge',
  summary: 'Create a bridge',
  description:
    'For an iPhone whose shortcuts send and receive. Its line is listed a few seconds later; the ' +
    'token is told in this answer only.',
  tag: 'Bridges',
  answers: { 201: CreatedBridge },
  errors: ['bridge_exists', 'storage_full'],
})

const RENEW = operation({
  id: 'renewBridgeToken',
  summary: 'Make a new token',
  description: 'The one before is refused from now on.',
  tag: 'Bridges',
  answers: { 200: BridgeToken },
  errors: ['not_found', 'storage_full'],
})

const REMOVE = operation({
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
    .get('', ({ request }) => bridges.list(pageOfQuery(readQuery(request, BridgeQuery))), LIST)
    .post(
      '',
      ({ request, body, set }) => {
        set.status = 201
        const { phone_number: number, label = null } = body
        return bridges.create({ number, label, origin: originOf(request) })
      },
      { ...takes(BridgeCreation), ...CREATE },
    )
    .post('/:id/token', ({ request, params }) => bridges.renewToken(params.id, originOf(request)), {
      ...BY_ID,
      ...mayTake(NoBody),
      ...RENEW,
    })
    .delete(
      '/:id',
      async ({ request, params }) => {
        await bridges.remove(params.id, originOf(request))
        return { id: params.id, deleted: true as const }
      },
      { ...BY_ID, ...REMOVE },
    )
}
