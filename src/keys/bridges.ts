// Bridges: the tokens with which shortcuts on iPhones call the relay.

import type { Bridge, BridgeToken, CreatedBridge } from '../api/bridges.ts'
import type { PageRequest } from '../api/paging.ts'
import { makerOf, type Origin } from '../domain/audit.ts'
import { BRIDGE_TOKEN_PREFIX } from '../domain/credential.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { parseRecipient } from '../domain/handle.ts'
import { EVERYTHING } from '../domain/permissions.ts'
import type { FileCore } from '../storage/core.ts'
import {
  insertCredential,
  listLiveBridges,
  markRevoked,
  replaceSecret,
  type Credential,
} from '../storage/credentials.ts'
import type { Db, Tx } from '../storage/database.ts'
import { sha256 } from '../system/hash.ts'
import { isoTime, isoTimeOrNull } from '../system/iso-time.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { Random } from '../system/random.ts'
import type { LastUsed } from './last-used.ts'
import {
  SECRET_BYTES,
  hintOf,
  list,
  newToken,
  requireCredential,
  requireNameFits,
} from './tokens.ts'

export type NewBridgeRequest = {
  readonly number: string
  readonly label: string | null
  readonly origin: Origin
}

/** Makes a bridge, which soon becomes a line. The token is only in this answer. */
export async function createBridge(
  { writer, ids, random, audit }: FileCore,
  { number: written, label, origin }: NewBridgeRequest,
): Promise<CreatedBridge> {
  const recipient = parseRecipient(written)
  if (recipient?.kind !== 'phone') {
    throw invalidRequest({ path: 'phone_number', message: 'must be a number like +12025550147' })
  }
  requireNameFits('label', label)
  const number = recipient.handle
  return writer.write((tx) => {
    if (listLiveBridges(tx).some((bridge) => bridge.number === number)) {
      throw new RelayError('bridge_exists', 'This number already has a bridge.')
    }
    const id = ids.id('brg')
    const createdAt = ids.now()
    const { token, stored } = newBridgeToken(random, ids, origin)
    const createdBy = makerOf(origin)
    const none = { lineage: null, madeFor: null, sealedSecret: null }
    const facts = { createdBy, createdAt, ...none, permissions: EVERYTHING }
    const made = { id, number, name: label, ...facts, ...stored }
    insertCredential(tx, { ...made, kind: 'bridge', key: null })
    const after = { phone_number: number, label, token_hint: stored.hint }
    const about = { kind: 'bridge', id } as const
    audit.record(tx, origin, { action: 'bridge.created', about, after })
    return { ...bridgeResource({ ...made, lastUsedAt: null, revokedAt: null }), token }
  })
}

/** Newest first, with the removed ones. */
export function listBridges(db: Db, page: PageRequest, lastUsed?: Pick<LastUsed, 'of'>) {
  return list(db, { kind: 'bridge', page, lastUsed }, bridgeResource)
}

/** Makes a new token; the earlier one becomes invalid with this commit. */
export async function renewBridgeToken(
  { writer, ids, random, audit }: FileCore,
  id: string,
  origin: Origin,
): Promise<BridgeToken> {
  return writer.write((tx) => {
    const bridge = requireCredential(tx, 'bridge', id)
    if (bridge.revokedAt !== null) throw new RelayError('not_found', 'This bridge was removed.')
    const { token, stored } = newBridgeToken(random, ids, origin)
    replaceSecret(tx, bridge.id, stored)
    audit.record(tx, origin, {
      action: 'bridge.token_renewed',
      about: { kind: 'bridge', id: bridge.id },
      before: { token_hint: bridge.hint },
      after: { token_hint: stored.hint },
    })
    return { id: bridge.id, token }
  })
}

/** Removes permanently. Removing again changes nothing. */
export async function removeBridge({ writer, ids, audit }: FileCore, id: string, origin: Origin) {
  await writer.write((tx) => endBridge(tx, { ids, audit }, id, origin))
}

export function endBridge(
  tx: Tx,
  { ids, audit }: Pick<FileCore, 'ids' | 'audit'>,
  id: string,
  origin: Origin,
): void {
  const bridge = requireCredential(tx, 'bridge', id)
  if (bridge.revokedAt !== null) return
  markRevoked(tx, 'bridge', bridge.id, ids.now())
  audit.record(tx, origin, {
    action: 'bridge.removed',
    about: { kind: 'bridge', id: bridge.id },
    before: { phone_number: bridge.number, label: bridge.name },
  })
}

function bridgeResource(bridge: Credential<'bridge'>): Bridge {
  return {
    id: bridge.id,
    phone_number: bridge.number,
    label: bridge.name,
    token_hint: bridge.hint,
    created_by: bridge.createdBy,
    created_at: isoTime(bridge.createdAt),
    token_created_at: isoTime(bridge.secretCreatedAt),
    last_heard_at: isoTimeOrNull(bridge.lastUsedAt),
    revoked_at: isoTimeOrNull(bridge.revokedAt),
  }
}

function newBridgeToken(random: Random, ids: LogicalClock, origin: Origin) {
  const token = newToken(random, BRIDGE_TOKEN_PREFIX, SECRET_BYTES)
  const hint = hintOf(token, BRIDGE_TOKEN_PREFIX)
  const made = { secretCreatedAt: ids.now(), secretMadeBy: makerOf(origin) }
  return { token, stored: { secretSha256: sha256(token), hint, ...made } }
}
