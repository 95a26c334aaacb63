// API keys and bridges, as their owner manages them.

import { Elysia } from 'elysia'

import { BridgeCreation, BridgeList, BridgeToken, CreatedBridge } from '../api/bridges.ts'
import { CreatedKey, KeyCreation, KeyList, KeySelf, RevokedKey } from '../api/keys.ts'
import { Deleted, NoBody } from '../api/schema.ts'
import type { createCredentials } from '../keys/credentials.ts'
import { mayTake, takes } from './body.ts'
import { BY_ID, operation } from './operation.ts'
import { PageQuery, readPage } from './query.ts'
import { callerOf, originOf } from './request-context.ts'

type Credentials = ReturnType<typeof createCredentials>
export type KeyActions = Credentials['keys']
export type BridgeActions = Credentials['bridges']

const CREATE_KEY = operation('Keys', {
  id: 'createKey',
  summary: 'Create a key',
  description:
    'Key and secret are shown only in this answer. Whatever is left out is as the key of the caller has ' +
    'it, and nothing can be more; the body is optional.',
  scope: 'keys:write',
  answers: { 201: CreatedKey },
  errors: ['storage_full'],
})

const LIST_KEYS = operation('Keys', {
  id: 'listKeys',
  summary: 'List keys',
  description:
    'Newest first; revoked ones stay listed. Keys that may do more than the caller are left out.',
  scope: 'keys:read',
  query: PageQuery,
  answers: { 200: KeyList },
})

const OWN_KEY = operation('Keys', {
  id: 'getOwnKey',
  summary: 'Read your own key',
  description: 'What the key of this request may do.',
  scope: 'any',
  answers: { 200: KeySelf },
  errors: ['not_found'],
})

const REVOKE_KEY = operation('Keys', {
  id: 'revokeKey',
  summary: 'Revoke a key',
  description: 'At once and permanently. Revoking it again gives the same answer.',
  scope: 'keys:write',
  answers: { 200: RevokedKey },
  errors: ['not_found'],
})

export function keyRoutes(keys: KeyActions) {
  return new Elysia({ prefix: '/api/v1/keys' })
    .post(
      '',
      ({ request, body, set }) => {
        set.status = 201
        return keys.create(body, callerOf(request), originOf(request))
      },
      { ...mayTake(KeyCreation), ...CREATE_KEY },
    )
    .get('', ({ request }) => keys.list(readPage(request), callerOf(request)), LIST_KEYS)
    .get('/self', ({ request }) => keys.self(callerOf(request)), OWN_KEY)
    .delete(
      '/:id',
      ({ request, params }) => keys.revoke(params.id, callerOf(request), originOf(request)),
      { ...BY_ID, ...REVOKE_KEY },
    )
}

const LIST_BRIDGES = operation('Bridges', {
  id: 'listBridges',
  summary: 'List bridges',
  description: 'Newest first; removed ones stay listed.',
  scope: 'bridges:read',
  query: PageQuery,
  answers: { 200: BridgeList },
})

const CREATE_BRIDGE = operation('Bridges', {
  id: 'createBridge',
  summary: 'Create a bridge',
  description:
    'For an iPhone whose shortcuts send and receive. Its line is listed a few seconds later. The ' +
    'token is shown only in this answer.',
  scope: 'bridges:write',
  answers: { 201: CreatedBridge },
  errors: ['bridge_exists', 'storage_full'],
})

const RENEW_TOKEN = operation('Bridges', {
  id: 'renewBridgeToken',
  summary: 'Create a new token',
  description: 'The old one stops working at once.',
  scope: 'bridges:write',
  answers: { 200: BridgeToken },
  errors: ['not_found', 'storage_full'],
})

const REMOVE_BRIDGE = operation('Bridges', {
  id: 'deleteBridge',
  summary: 'Remove a bridge',
  description:
    'At once and permanently; its line goes offline and can be deleted. Removing it again gives the ' +
    'same answer.',
  scope: 'bridges:write',
  answers: { 200: Deleted },
  errors: ['not_found', 'storage_full'],
})

export function bridgeOwnerRoutes(bridges: BridgeActions) {
  return new Elysia({ prefix: '/api/v1/bridges' })
    .get('', ({ request }) => bridges.list(readPage(request)), LIST_BRIDGES)
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
