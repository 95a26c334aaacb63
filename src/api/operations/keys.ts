import { Type } from 'typebox'

import { BridgeCreation, BridgeList, BridgeToken, CreatedBridge } from '../bridges.ts'
import {
  CreatedKey,
  KeyCreation,
  KeyList,
  KeyRotation,
  KeySelf,
  RevokedKey,
  RotatedKey,
} from '../keys.ts'
import { CHANGE, READ, NO_BODY, rows } from '../operation.ts'
import { PageQuery } from '../query.ts'
import { Deleted } from '../schema.ts'

const OF_KEYS = { callers: 'keys', tag: 'Keys', limits: [] } as const
const KEY_CHANGES = { ...OF_KEYS, ...CHANGE, scope: 'keys:write' } as const
const OF_BRIDGES = { callers: 'keys', tag: 'Bridges', limits: [] } as const
const BRIDGE_CHANGES = { ...OF_BRIDGES, ...CHANGE, scope: 'bridges:write' } as const

export const KEYS = rows({
  createKey: {
    ...KEY_CHANGES,
    route: 'POST /keys',
    summary: 'Create a key',
    description:
      'Key and secret are shown only in this answer. Whatever is left out is as the key of the caller has ' +
      'it, and nothing can be more; the body is optional.',
    answers: { 201: CreatedKey },
    errors: ['storage_full'],
    body: KeyCreation,
    isBodyOptional: true,
    audit: 'key.created',
  },
  listKeys: {
    ...OF_KEYS,
    ...READ,
    route: 'GET /keys',
    scope: 'keys:read',
    summary: 'List keys',
    description:
      'Newest first; revoked ones stay listed. Keys that may do more than the caller are left out.',
    query: PageQuery,
    answers: { 200: KeyList },
    compress: true,
  },
  getOwnKey: {
    ...OF_KEYS,
    ...READ,
    limits: ['conversations'],
    route: 'GET /keys/self',
    scope: 'any',
    summary: 'Read your own key',
    description: 'What the key of this request may do.',
    answers: { 200: KeySelf },
    errors: ['not_found'],
    compress: true,
  },
  rotateKey: {
    ...KEY_CHANGES,
    route: 'POST /keys/:id/rotate',
    summary: 'Rotate a key',
    description:
      'Makes a key with the same name and limits, which takes the place of the old one: a retry by the new key of a ' +
      'request by the old one is still one message. The old key goes on working for `overlap` seconds. Key and ' +
      'secret are shown only in this answer.',
    answers: { 201: RotatedKey },
    errors: ['not_found', 'storage_full'],
    body: KeyRotation,
    isBodyOptional: true,
    audit: 'key.rotated',
  },
  revokeKey: {
    ...KEY_CHANGES,
    route: 'DELETE /keys/:id',
    summary: 'Revoke a key',
    description:
      'At once and permanently. Revoking it again gives the same answer. `all` also ends everything that the answer ' +
      'would list under `created`: all of it or, on an error, nothing.',
    query: Type.Object({
      all: Type.Boolean({
        default: false,
        description:
          'True ends also what the key created: it revokes keys, deletes webhooks, removes bridges and cancels messages.',
      }),
    }),
    answers: { 200: RevokedKey },
    errors: ['not_found'],
    audit: 'key.revoked',
  },
})

export const BRIDGES = rows({
  listBridges: {
    ...OF_BRIDGES,
    ...READ,
    route: 'GET /bridges',
    scope: 'bridges:read',
    summary: 'List bridges',
    description: 'Newest first; removed ones stay listed.',
    query: PageQuery,
    answers: { 200: BridgeList },
    compress: true,
  },
  createBridge: {
    ...BRIDGE_CHANGES,
    route: 'POST /bridges',
    summary: 'Create a bridge',
    description:
      'For an iPhone whose shortcuts send and receive. Its line is listed a few seconds later. The ' +
      'token is shown only in this answer.',
    answers: { 201: CreatedBridge },
    errors: ['bridge_exists', 'storage_full'],
    body: BridgeCreation,
    audit: 'bridge.created',
  },
  renewBridgeToken: {
    ...BRIDGE_CHANGES,
    route: 'POST /bridges/:id/token',
    summary: 'Create a new token',
    description: 'The old one stops working at once.',
    answers: { 200: BridgeToken },
    errors: ['not_found', 'storage_full'],
    ...NO_BODY,
    audit: 'bridge.token_renewed',
  },
  deleteBridge: {
    ...BRIDGE_CHANGES,
    route: 'DELETE /bridges/:id',
    summary: 'Remove a bridge',
    description:
      'At once and permanently; its line goes offline and can be deleted. Removing it again gives the ' +
      'same answer.',
    answers: { 200: Deleted },
    errors: ['not_found', 'storage_full'],
    audit: 'bridge.removed',
  },
})
