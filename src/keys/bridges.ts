// Who may call as the shortcuts of an iPhone: a token for each bridge, good for nothing else.

import type * as api from '../api/bridges.ts'
import { type Page, type PageRequest, decodeCursor, pageOf } from '../api/paging.ts'
import { makerOf, type Origin } from '../domain/audit.ts'
import { BRIDGE_LABEL_LENGTH_MAX, BRIDGE_TOKEN_PREFIX, type Bridge } from '../domain/bridge.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { parseRecipient } from '../domain/handle.ts'
import { timestamp, type BridgeId, type Timestamp } from '../domain/ids.ts'
import {
  findTokenOwner,
  getBridge,
  hasBridge,
  insertBridge,
  listBridges as listStoredBridges,
  markBridgeRevoked,
  replaceToken,
  type ListedBridge,
  type NewToken,
} from '../storage/bridges.ts'
import type { Db, Tx } from '../storage/database.ts'
import { sha256 } from '../system/hash.ts'
import { bridgeResource } from './bridge-resource.ts'
import type { KeyTools } from './keys.ts'

/** Knows of calls that are not written yet. */
type CallKnown = { of(id: BridgeId): Timestamp | null }

const TOKEN_BYTES = 32
const HINT_LENGTH = BRIDGE_TOKEN_PREFIX.length + 6

export type NewBridgeRequest = {
  readonly number: string
  readonly label: string | null
  readonly origin: Origin
}

/** Makes a bridge, which soon is a line; its token can be read in this answer only. */
export async function createBridge(
  tools: KeyTools,
  { number, label, origin }: NewBridgeRequest,
): Promise<api.CreatedBridge> {
  if (parseRecipient(number)?.kind !== 'phone') {
    throw invalidRequest({ path: 'phone_number', message: 'must be a number like +12025550147' })
  }
  if (Array.from(label ?? '').length > BRIDGE_LABEL_LENGTH_MAX) {
    const message = `must have at most ${BRIDGE_LABEL_LENGTH_MAX} characters`
    throw invalidRequest({ path: 'label', message })
  }
  return tools.writer.write((tx) => {
    if (hasBridge(tx, number)) {
      throw new RelayError('bridge_exists', 'This number has a bridge already.')
    }
    const id = tools.stamps.id('brg')
    const createdAt = tools.stamps.now()
    const { token, stored } = newToken(tools)
    insertBridge(tx, { id, number, label, createdBy: makerOf(origin), createdAt, ...stored })
    const after = { phone_number: number, label, token_hint: stored.tokenHint }
    const about = { kind: 'bridge', id } as const
    tools.audit.record(tx, origin, { action: 'bridge.created', about, after })
    return { ...bridgeResource(requireBridge(tx, id)), token }
  })
}

/** Bridges newest first, the removed ones too. */
export function listBridges(
  tools: { readonly db: Db; readonly lastHeard?: CallKnown | undefined },
  { limit, cursor }: PageRequest,
): Page<api.Bridge> {
  const before = cursor === null ? null : decodeCursor(cursor, 1)
  if (cursor !== null && before === null) {
    throw invalidRequest({ path: 'cursor', message: 'must be a next_cursor of this list' })
  }
  const rows = listStoredBridges(tools.db, { limit: limit + 1, before: before?.[0] ?? null })
  return pageOf(
    rows,
    limit,
    (bridge) => bridgeResource(withLatestCall(bridge, tools.lastHeard)),
    (bridge) => [bridge.seq],
  )
}

/** A new token; the one before is dead from this commit on. */
export async function renewBridgeToken(
  tools: Omit<KeyTools, 'db'>,
  id: string,
  origin: Origin,
): Promise<api.BridgeToken> {
  return tools.writer.write((tx) => {
    const bridge = requireBridge(tx, id)
    if (bridge.revokedAt !== null) throw new RelayError('not_found', 'This bridge was removed.')
    const { token, stored } = newToken(tools)
    replaceToken(tx, bridge.id, stored)
    tools.audit.record(tx, origin, {
      action: 'bridge.token_renewed',
      about: { kind: 'bridge', id: bridge.id },
      before: { token_hint: bridge.tokenHint },
      after: { token_hint: stored.tokenHint },
    })
    return { id: bridge.id, token }
  })
}

/** Removes at once and for good; a second time changes nothing and answers alike. */
export async function removeBridge(
  tools: Pick<KeyTools, 'writer' | 'stamps' | 'audit'>,
  id: string,
  origin: Origin,
): Promise<void> {
  await tools.writer.write((tx) => {
    const bridge = requireBridge(tx, id)
    if (bridge.revokedAt !== null) return
    markBridgeRevoked(tx, bridge.id, tools.stamps.now())
    tools.audit.record(tx, origin, {
      action: 'bridge.removed',
      about: { kind: 'bridge', id: bridge.id },
      before: { phone_number: bridge.number, label: bridge.label },
    })
  })
}

/** Whose token this is, or null. Nothing is cached: the row is read each time. */
export function bridgeOfToken(db: Db, token: string): BridgeId | null {
  const owner = findTokenOwner(db, sha256(token))
  return owner === null || owner.revokedAt !== null ? null : owner.id
}

function newToken({ random, stamps }: Pick<KeyTools, 'random' | 'stamps'>): {
  readonly token: string
  readonly stored: NewToken
} {
  const bytes = random.bytes(TOKEN_BYTES)
  const token = BRIDGE_TOKEN_PREFIX + Buffer.from(bytes).toString('base64url')
  const tokenHint = token.slice(0, HINT_LENGTH)
  return {
    token,
    stored: { tokenSha256: sha256(token), tokenHint, tokenCreatedAt: stamps.now() },
  }
}

function requireBridge(tx: Tx, id: string): ListedBridge {
  const bridge = getBridge(tx, id)
  if (bridge === null) throw new RelayError('not_found', 'There is no bridge with this id.')
  return bridge
}

function withLatestCall(bridge: Bridge, lastHeard: CallKnown | undefined): Bridge {
  const call = lastHeard?.of(bridge.id) ?? null
  if (call === null) return bridge
  return { ...bridge, lastHeardAt: timestamp(Math.max(call, bridge.lastHeardAt ?? 0)) }
}
