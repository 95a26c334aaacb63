// The two kinds of credentials: API keys, and the tokens with which the shortcuts of iPhones call.

import type { Bridge, BridgeToken, CreatedBridge } from '../api/bridges.ts'
import type { CreatedKey, Key, KeyCreation, KeySelf, RevokedKey } from '../api/keys.ts'
import { cursorSeq, pageOf, type PageRequest } from '../api/paging.ts'
import type { Page } from '../api/schema.ts'
import { COMMAND_LINE, makerOf, type Origin } from '../domain/audit.ts'
import {
  BRIDGE_TOKEN_PREFIX,
  CREDENTIAL_NAME_LENGTH_MAX,
  KEY_PREFIX,
  SECRET_PREFIX,
  type CredentialKind,
} from '../domain/credential.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import type { Finding } from '../domain/finding.ts'
import { parseRecipient } from '../domain/handle.ts'
import { timestamp, type BridgeId } from '../domain/ids.ts'
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
  listCredentials,
  listLiveBridges,
  markRevoked,
  replaceSecret,
  type Credential,
  type ListedCredential,
} from '../storage/credentials.ts'
import type { Db, Tx } from '../storage/database.ts'
import { sha256 } from '../system/hash.ts'
import { isoTime, isoTimeOrNull } from '../system/iso-time.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { Random } from '../system/random.ts'
import { BRIDGE_USE_MS, type LastUsed } from './last-used.ts'
import { auditedLimits, limitFields, permissionsAsked, rulesResource } from './permissions.ts'

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

const SECRET_BYTES = 32

type NewKeyRequest = {
  readonly name: string | null
  readonly origin: Origin
  readonly permissions?: Permissions | undefined
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
  { name, origin, permissions = EVERYTHING, madeFor = null }: NewKeyRequest,
): CreatedKey {
  const key = newToken(random, KEY_PREFIX, 24)
  const secret = newToken(random, SECRET_PREFIX, SECRET_BYTES)
  const id = ids.id('key')
  const createdAt = ids.now()
  const createdBy = makerOf(origin)
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
    secretCreatedAt: createdAt,
    madeFor,
    permissions,
  })
  const purpose = madeFor === null ? {} : { for: madeFor }
  const after = { name, ...purpose, ...auditedLimits(permissions) }
  audit.record(tx, origin, { action: 'key.created', about: { kind: 'key', id }, after })
  const times = { created_at: isoTime(createdAt), last_used_at: null }
  const made = { id, name, key, secret, created_by: createdBy, ...times, ...purpose }
  return { ...made, ...limitFields(permissions) }
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
    const key = requireCredential(tx, 'key', id)
    if (!isWithin(key.permissions, own)) throw noCredential('key')
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

type NewBridgeRequest = {
  readonly number: string
  readonly label: string | null
  readonly origin: Origin
}

/** Makes a bridge, which soon becomes a line. Only this answer has its token. */
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
    const { token, stored } = newBridgeToken(random, ids)
    const createdBy = makerOf(origin)
    const facts = { createdBy, createdAt, madeFor: null, permissions: EVERYTHING }
    const made = { id, number, name: label, ...facts, ...stored }
    insertCredential(tx, { ...made, kind: 'bridge', key: null })
    const after = { phone_number: number, label, token_hint: stored.hint }
    const about = { kind: 'bridge', id } as const
    audit.record(tx, origin, { action: 'bridge.created', about, after })
    return { ...bridgeResource({ ...made, lastUsedAt: null, revokedAt: null }), token }
  })
}

/** Newest first, with the removed ones. */
export function listBridges(
  db: Db,
  page: PageRequest,
  lastUsed?: Pick<LastUsed, 'of'>,
): Page<Bridge> {
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
    const { token, stored } = newBridgeToken(random, ids)
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
export async function removeBridge(
  { writer, ids, audit }: FileCore,
  id: string,
  origin: Origin,
): Promise<void> {
  await writer.write((tx) => {
    const bridge = requireCredential(tx, 'bridge', id)
    if (bridge.revokedAt !== null) return
    markRevoked(tx, 'bridge', bridge.id, ids.now())
    audit.record(tx, origin, {
      action: 'bridge.removed',
      about: { kind: 'bridge', id: bridge.id },
      before: { phone_number: bridge.number, label: bridge.name },
    })
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

function list<K extends CredentialKind, T>(
  db: Db,
  asked: {
    readonly kind: K
    readonly isShown?: (credential: Credential<K>) => boolean
    readonly page: PageRequest
    readonly lastUsed: Pick<LastUsed, 'of'> | undefined
  },
  resource: (credential: Credential<K>) => T,
): Page<T> {
  const { kind, isShown, page, lastUsed } = asked
  const { limit, cursor } = page
  const found = listCredentials(db, kind, { limit: limit + 1, before: cursorSeq(cursor), isShown })
  const rows = found.rows.map((row) => {
    const use = lastUsed?.of(row.id) ?? null
    if (use === null) return row
    return { ...row, lastUsedAt: timestamp(Math.max(use, row.lastUsedAt ?? 0)) }
  })
  return pageOf({ ...found, rows }, limit, resource, ({ seq }) => [seq])
}

function requireCredential<K extends CredentialKind>(
  tx: Tx,
  kind: K,
  id: string,
): ListedCredential<K> {
  const found = getCredential(tx, kind, id)
  if (found === null) throw noCredential(kind)
  return found
}

function noCredential(kind: CredentialKind): RelayError {
  return new RelayError('not_found', `There is no ${kind} with this id.`)
}

function requireNameFits(path: string, name: string | null): void {
  if (Array.from(name ?? '').length <= CREDENTIAL_NAME_LENGTH_MAX) return
  const message = `must have at most ${CREDENTIAL_NAME_LENGTH_MAX} characters`
  throw invalidRequest({ path, message })
}

function newBridgeToken(random: Random, ids: LogicalClock) {
  const token = newToken(random, BRIDGE_TOKEN_PREFIX, SECRET_BYTES)
  const hint = hintOf(token, BRIDGE_TOKEN_PREFIX)
  return { token, stored: { secretSha256: sha256(token), hint, secretCreatedAt: ids.now() } }
}

function newToken(random: Random, prefix: string, bytes: number): string {
  return prefix + Buffer.from(random.bytes(bytes)).toString('base64url')
}

function hintOf(token: string, prefix: string): string {
  return token.slice(0, prefix.length + 6)
}
