// What the owner does with bridges. What their shortcuts call is in `bridge.ts`.

import { Elysia } from 'elysia'
import { Type } from 'typebox'

import { nameOfCaller } from '../domain/api-key.ts'
import type {
  BridgeResource,
  BridgeTokenResource,
  CreatedBridgeResource,
} from '../keys/bridge-resource.ts'
import type { Page } from '../system/cursor.ts'
import { mayTake, takes } from './body.ts'
import { BridgeCreation, BridgeList, BridgeToken, CreatedBridge } from './bridge-schemas.ts'
import { callerOf } from './exchange.ts'
import { BY_ID, operation } from './operation.ts'
import { PAGE_QUERY, pageOfQuery, readQuery, type PageRequest } from './query.ts'
import { Deleted, NoBody } from './schemas.ts'

export type BridgeActions = {
  create(request: {
    readonly number: string
    readonly label: string | null
    readonly createdBy: string
  }): Promise<CreatedBridgeResource>
  list(page: PageRequest): Page<BridgeResource>
  renewToken(id: string): Promise<BridgeTokenResource>
  remove(id: string): Promise<void>
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
        const createdBy = nameOfCaller(callerOf(request))
        return bridges.create({ number: body.phone_number, label: body.label ?? null, createdBy })
      },
      { ...takes(BridgeCreation), ...CREATE },
    )
    .post('/:id/token', ({ params }) => bridges.renewToken(params.id), {
      ...BY_ID,
      ...mayTake(NoBody),
      ...RENEW,
    })
    .delete(
      '/:id',
      async ({ params }) => {
        await bridges.remove(params.id)
        return { id: params.id, deleted: true as const }
      },
      { ...BY_ID, ...REMOVE },
    )
}
