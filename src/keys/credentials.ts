// API keys, and all credentials of programs.

import type {
  CreatedKey,
  Key,
  KeyCreation,
  KeyRotation,
  KeySelf,
  RevokedKey,
  RotatedKey,
} from '../api/keys.ts'
import type { PageRequest } from '../api/paging.ts'
import type { Page } from '../api/schema.ts'
import { COMMAND_LINE, makerOf, type Origin } from '../domain/audit.ts'
import { KEY_PREFIX, SECRET_PREFIX } from '../domain/credential.ts'
import { RelayError } from '../domain/errors.ts'
import type { Finding } from '../domain/finding.ts'
import { timestamp, type BridgeId, type Timestamp } from '../domain/ids.ts'
import {
  EVERYTHING,
  isWithin,
  scopesOf,
  type Permissions,
  permissionsOf,
  type Caller,
} from '../domain/permissions.ts'
import { DAY_MS } from '../domain/time.ts'
import type { Core, FileCore } from '../storage/core.ts'
import {
  countExpiring,
  findBridgeOfToken,
  getCredential,
  hasKeys,
  insertCredential,
  listCreatedBy,
  markRevoked,
  setExpiry,
  type Credential,
  type ListedCredential,
} from '../storage/credentials.ts'
import type { Db, Tx } from '../storage/database.ts'
import { sha256 } from '../system/hash.ts'
import { isoTime, isoTimeOrNull } from '../system/iso-time.ts'
import {
  createBridge,
  listBridges,
  removeBridge,
  renewBridgeToken,
  type NewBridgeRequest,
} from './bridges.ts'
import { BRIDGE_USE_MS, type LastUsed } from './last-used.ts'
import {
  auditedLimits,
  endIn,
  limitFields,
  permissionsAsked,
  rulesResource,
} from './permissions.ts'
import {
  SECRET_BYTES,
  hintOf,
  list,
  newToken,
  noCredential,
  requireCredential,
  requireNameFits,
} from './tokens.ts'

export function createCredentials(core: Core, { lastUsed }: { readonly lastUsed: LastUsed }) {
  const { db } = core
  return {
    keys: {
      create: async (
        { name = null, for: madeFor = null, ...asked }: KeyCreation,
        caller: Caller,
        origin: Origin,
      ) => {
        const permissions = permissionsAsked(core, asked, permissionsOf(caller))
        return createKey(core, { name, origin, permissions, madeFor })
      },
      rotate: (id: string, asked: KeyRotation, caller: Caller, origin: Origin) =>
        rotateKey(core, id, { asked, own: permissionsOf(caller), origin }),
      list: (page: PageRequest, caller: Caller) =>
        listKeys(db, page, permissionsOf(caller), lastUsed),
      self: (caller: Caller) => ownKey(db, caller),
      revoke: (id: string, caller: Caller, origin: Origin) =>
        revokeKey(core, id, origin, permissionsOf(caller)),
    },
    bridges: {
      create: (request: NewBridgeRequest) => createBridge(core, request),
      list: (page: PageRequest) => listBridges(db, page, lastUsed),
      renewToken: (id: string, origin: Origin) => renewBridgeToken(core, id, origin),
      remove: (id: string, origin: Origin) => removeBridge(core, id, origin),
      /** Reads the row each time: nothing is cached. */
      ofToken: (token: string) => findBridgeOfToken(db, sha256(token)),
      noteCall: (id: BridgeId) => lastUsed.note(id, BRIDGE_USE_MS),
    },
  }
}

type NewKeyRequest = {
  readonly name: string | null
  readonly origin: Origin
  readonly permissions?: Permissions | undefined
  /** The key whose place it takes. */
  readonly replaced?: Credential<'key'> | undefined
  readonly madeFor?: string | null | undefined
}

/** Only this answer has the key and the secret. */
export async function createKey(core: FileCore, request: NewKeyRequest): Promise<CreatedKey> {
  requireNameFits('name', request.name)
  return core.writer.write((tx) => writeNewKey(tx, core, request))
}

/** Returns null if the relay ever had a key. */
export async function createFirstKey(core: Core): Promise<CreatedKey | null> {
  if (hasKeys(core.db)) return null
  return core.writer.write((tx) =>
    hasKeys(tx) ? null : writeNewKey(tx, core, { name: 'First key', origin: COMMAND_LINE }),
  )
}

function writeNewKey(
  tx: Tx,
  { ids, random, audit }: FileCore,
  { name, origin, permissions = EVERYTHING, madeFor = null, replaced }: NewKeyRequest,
): CreatedKey {
  const key = newToken(random, KEY_PREFIX, 24)
  const secret = newToken(random, SECRET_PREFIX, SECRET_BYTES)
  const id = ids.id('key')
  const createdAt = ids.now()
  // So that the limits of its maker's maker go on counting for it.
  const createdBy = replaced?.createdBy ?? makerOf(origin)
  insertCredential(tx, {
    id,
    kind: 'key',
    name,
    number: null,
    key,
    secretSha256: sha256(secret),
    hint: hintOf(key, KEY_PREFIX),
    createdBy,
    createdAt,
    lineage: replaced ? (replaced.lineage ?? replaced.id) : null,
    secretCreatedAt: createdAt,
    madeFor,
    permissions,
  })
  const purpose = madeFor === null ? {} : { for: madeFor }
  const after = { name, ...purpose, ...auditedLimits(permissions) }
  if (replaced === undefined) {
    audit.record(tx, origin, { action: 'key.created', about: { kind: 'key', id }, after })
  }
  const times = { created_at: isoTime(createdAt), last_used_at: null }
  const made = { id, name, key, secret, created_by: createdBy, ...times, ...purpose }
  return { ...made, ...limitFields(permissions) }
}

const OVERLAP_SECONDS = 86_400

/** Makes a key that takes the place of another one, which goes on working for a while. */
export async function rotateKey(
  core: FileCore,
  id: string,
  {
    asked: { overlap = null, expires_at = null },
    own = EVERYTHING,
    origin,
  }: {
    readonly asked: KeyRotation
    readonly own?: Permissions | undefined
    readonly origin: Origin
  },
): Promise<RotatedKey> {
  return core.writer.write((tx) => {
    const replaced = requireOwnKey(tx, id, own)
    const now = core.ids.now()
    const { name, revokedAt, createdAt, permissions, madeFor } = replaced
    const { expiresAt } = permissions
    if (revokedAt !== null || (expiresAt !== null && expiresAt <= now)) {
      throw new RelayError('not_found', 'This key has ended: create a new one.')
    }
    const asLong = expiresAt === null ? own.expiresAt : timestamp(now + expiresAt - createdAt)
    const end = expires_at ?? isoTimeOrNull(earlierOf(asLong, own.expiresAt))
    const lasting = { ...permissions, expiresAt: null }
    const renewed = end === null ? lasting : { ...lasting, expiresAt: endIn(end, now, own) }
    const made = writeNewKey(tx, core, { name, origin, permissions: renewed, madeFor, replaced })
    const left = timestamp(now + (overlap ?? OVERLAP_SECONDS) * 1_000)
    const oldEnd = earlierOf(left, expiresAt) ?? left
    setExpiry(tx, replaced.id, oldEnd)
    const about = { kind: 'key', id: replaced.id } as const
    const after = { name, new_key: made.id, expires_at: isoTime(oldEnd) }
    core.audit.record(tx, origin, { action: 'key.rotated', about, after })
    return { ...made, rotated_from: replaced.id, old_key_expires_at: isoTime(oldEnd) }
  })
}

/** Null is no end. */
function earlierOf(a: Timestamp | null, b: Timestamp | null): Timestamp | null {
  return a === null || b === null ? (a ?? b) : timestamp(Math.min(a, b))
}

/** The key, if the caller may do all that it may; throws `not_found` if not. */
function requireOwnKey(tx: Tx, id: string, own: Permissions): ListedCredential<'key'> {
  const key = requireCredential(tx, 'key', id)
  if (!isWithin(key.permissions, own)) throw noCredential('key')
  return key
}

/**
 * Lists the keys within the reader's permissions `own`, newest first, with the revoked ones. `lastUsed` has the uses
 * that aren't written yet.
 */
export function listKeys(
  db: Db,
  page: PageRequest,
  own = EVERYTHING,
  lastUsed?: Pick<LastUsed, 'of'>,
): Page<Key> {
  const isShown = ({ permissions }: Credential<'key'>) => isWithin(permissions, own)
  return list(db, { kind: 'key', isShown, page, lastUsed }, (key) => ({
    id: key.id,
    name: key.name,
    key_hint: key.hint,
    created_by: key.createdBy,
    created_at: isoTime(key.createdAt),
    last_used_at: isoTimeOrNull(key.lastUsedAt),
    revoked_at: isoTimeOrNull(key.revokedAt),
    ...(key.madeFor === null ? {} : { for: key.madeFor }),
    ...limitFields(key.permissions),
  }))
}

const EXPIRY_WARNING_MS = 7 * DAY_MS

/** Warns if keys that are in use expire within a week. */
export function keyFindings({ db, ids }: Core): readonly Finding[] {
  const now = ids.now()
  const count = countExpiring(db, {
    now,
    until: now + EXPIRY_WARNING_MS,
    usedSince: now - EXPIRY_WARNING_MS,
  })
  if (count === 0) return []
  return [
    {
      code: 'keys_expire',
      severity: 'warning',
      title:
        count === 1 ? 'An API key expires within a week' : `${count} API keys expire within a week`,
      why: 'Programs that use them will be refused from then on.',
      fix: 'Create new keys for them. hookline keys shows which ones expire, and when.',
      key: null,
      depends_on: null,
    },
  ]
}

function ownKey(db: Db, caller: Caller): KeySelf {
  const key = caller.kind === 'key' ? getCredential(db, 'key', caller.keyId) : null
  if (key === null) throw new RelayError('not_found', 'This caller needs no key.')
  const { permissions } = key
  return {
    id: key.id,
    name: key.name,
    created_at: isoTime(key.createdAt),
    scopes: scopesOf(permissions),
    phone_line_ids: permissions.lineIds,
    conversation_ids: permissions.conversationIds,
    expires_at: isoTimeOrNull(permissions.expiresAt),
    rules: rulesResource(permissions.rules),
  }
}

/** Revokes permanently. Revoking again changes nothing and gives the same answer. */
export async function revokeKey(
  { writer, ids, audit }: FileCore,
  id: string,
  origin: Origin,
  own = EVERYTHING,
): Promise<RevokedKey> {
  return writer.write((tx) => {
    const key = requireOwnKey(tx, id, own)
    if (key.revokedAt === null) {
      markRevoked(tx, 'key', key.id, ids.now())
      const about = { kind: 'key', id: key.id } as const
      audit.record(tx, origin, { action: 'key.revoked', about, before: { name: key.name } })
    }
    const created = listCreatedBy(tx, key.id)
    const isAlone = Object.values(created).every((made) => made.length === 0)
    return { id: key.id, deleted: true as const, ...(isAlone ? {} : { created }) }
  })
}
