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
import { KEY_PREFIX } from '../domain/credential.ts'
import { RelayError } from '../domain/errors.ts'
import type { Finding } from '../domain/finding.ts'
import { timestamp, type BridgeId, type Timestamp } from '../domain/ids.ts'
import {
  EVERYTHING,
  hasRules,
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
  leftBehindBy,
  listExpiredMakers,
  markRevoked,
  setExpiry,
  type Credential,
  type LeftBehind,
  type ListedCredential,
} from '../storage/credentials.ts'
import type { Db, Tx } from '../storage/database.ts'
import { isSeenBy } from '../storage/line-limits.ts'
import { sha256 } from '../system/hash.ts'
import { isoTime, isoTimeOrNull } from '../system/iso-time.ts'
import type { Seal } from '../system/seal.ts'
import {
  createBridge,
  endBridge,
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
  hintOf,
  list,
  newKey,
  noCredential,
  requireCredential,
  requireNameFits,
  type FixedKey,
  type SealSource,
} from './tokens.ts'

export function createCredentials(
  core: Core,
  { lastUsed, seal, ...ends }: { readonly lastUsed: LastUsed; readonly seal: Seal } & Ends,
) {
  const { db } = core
  return {
    keys: {
      create: async (
        { name = null, for: madeFor = null, ...asked }: KeyCreation,
        caller: Caller,
        origin: Origin,
      ) => {
        const permissions = permissionsAsked(core, asked, permissionsOf(caller))
        return createKey(core, { name, origin, permissions, madeFor, seal: () => seal })
      },
      rotate: (id: string, asked: KeyRotation, caller: Caller, origin: Origin) =>
        rotateKey(core, id, { asked, own: permissionsOf(caller), origin, seal: () => seal }),
      list: (page: PageRequest, caller: Caller) =>
        listKeys(db, page, permissionsOf(caller), lastUsed),
      self: (caller: Caller) => ownKey(db, caller),
      revoke: (
        id: string,
        { caller, origin, all }: { caller: Caller; origin: Origin; all: boolean },
      ) => {
        const own = permissionsOf(caller)
        return revokeKey(core, id, { origin, own, ends, all })
      },
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
  readonly seal?: SealSource
  readonly fixed?: FixedKey | undefined
}

/** The key and its secret are only in this answer. */
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
  { name, origin, permissions = EVERYTHING, madeFor = null, replaced, ...how }: NewKeyRequest,
): CreatedKey {
  const { id, key, secret, sealedSecret } = newKey(
    { ids, random },
    { madeFor, seal: how.seal, fixed: how.fixed },
  )
  const createdAt = ids.now()
  const secretMadeBy = makerOf(origin)
  // A replacement keeps the maker of the key that it replaces, so that the maker's limits still count for it.
  const createdBy = replaced?.createdBy ?? secretMadeBy
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
    secretMadeBy,
    madeFor,
    sealedSecret,
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

/** Makes a key that replaces another one, which stays valid for a while. */
export async function rotateKey(
  core: FileCore,
  id: string,
  {
    asked: { overlap = null, expires_at = null },
    own = EVERYTHING,
    origin,
    seal,
  }: {
    readonly asked: KeyRotation
    readonly own?: Permissions | undefined
    readonly origin: Origin
    readonly seal?: SealSource
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
    const like = { name, origin, madeFor, replaced, seal }
    const made = writeNewKey(tx, core, { ...like, permissions: renewed })
    const left = timestamp(now + (overlap ?? OVERLAP_SECONDS) * 1_000)
    const oldEnd = earlierOf(left, expiresAt) ?? left
    setExpiry(tx, replaced.id, oldEnd)
    const about = { kind: 'key', id: replaced.id } as const
    const after = { name, new_key: made.id, expires_at: isoTime(oldEnd) }
    core.audit.record(tx, origin, { action: 'key.rotated', about, after })
    return { ...made, rotated_from: replaced.id, old_key_expires_at: isoTime(oldEnd) }
  })
}

/** The earlier time; null means that there is no end. */
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
    ...(key.lineage === null || key.secretMadeBy === null ? {} : { rotated_by: key.secretMadeBy }),
    ...limitFields(key.permissions),
  }))
}

const EXPIRY_WARNING_MS = 7 * DAY_MS

export function keyFindings({ db, ids }: Core): readonly Finding[] {
  const now = ids.now()
  return [...expiringFindings(db, now), ...expiredFindings(db, now)]
}

/** Warns of keys that have expired while something that they made still works. */
function expiredFindings(db: Db, now: Timestamp): readonly Finding[] {
  return listExpiredMakers(db, now, EXPIRED_MAX).flatMap((id) => {
    const left = leftBehindBy(db, id, now)
    if (isNothing(left)) return []
    const name = getCredential(db, 'key', id)?.name ?? id
    const lists = Object.entries(left).filter(([, made]) => made.length > 0)
    const words = lists.map(([kind, made]) => `${kind} ${made.slice(0, NAMED_MAX).join(', ')}`)
    return {
      code: 'expired_key_left',
      severity: 'warning',
      title: `The key "${name}" has expired, and what it made goes on`,
      why: `Still there: ${words.join('; ')}.`,
      fix: `hookline keys revoke ${id} --all ends all of it; without --all, all of it stays.`,
      key: id,
      depends_on: null,
    } as const
  })
}

/** Most keys that are checked, because each takes a scan of all keys. */
const EXPIRED_MAX = 50
const NAMED_MAX = 5

/** Warns if keys that are in use expire within a week. */
function expiringFindings(db: Db, now: Timestamp): readonly Finding[] {
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
    phone_line_ids: permissions.limits.lineIds,
    ...(permissions.limits.siteIds && { site_ids: permissions.limits.siteIds }),
    conversation_ids: permissions.conversationIds,
    expires_at: isoTimeOrNull(permissions.expiresAt),
    rules: rulesResource(permissions.rules),
  }
}

/** Ends what a key left behind, in the transaction that revokes the key. */
type Ends = {
  readonly webhooks: {
    removeIn(tx: Tx, id: string, origin: Origin): void
    /** Removes the callbacks of the ended keys. */
    endCallbacks(tx: Tx, origin: Origin): void
  }
  readonly cancelMessage: (tx: Tx, id: string, origin: Origin) => void
}

/** Commands that open the database themselves leave out `ends`. */
type Revocation = { origin: Origin; own?: Permissions; ends?: Ends; all?: boolean }

/**
 * Revokes permanently. Revoking again changes nothing and gives the same answer. With `all`, what the key left behind
 * ends with it.
 */
export async function revokeKey(
  core: FileCore,
  id: string,
  { origin, own = EVERYTHING, ends, all = false }: Revocation,
): Promise<RevokedKey> {
  return core.writer.write((tx) => {
    const key = requireOwnKey(tx, id, own)
    endKey(tx, core, key, origin)
    ends?.webhooks.endCallbacks(tx, origin)
    const left = leftBehindBy(tx, key.id, core.ids.now())
    const done = { id: key.id, deleted: true as const }
    if (isNothing(left)) return done
    if (ends === undefined || !all) return { ...done, created: listsOf(left) }
    requireMayEnd(tx, left, own)
    for (const made of left.keys) endKey(tx, core, requireCredential(tx, 'key', made), origin)
    for (const made of left.bridges) endBridge(tx, core, made, origin)
    for (const made of left.messages) ends.cancelMessage(tx, made, origin)
    for (const made of left.webhooks) ends.webhooks.removeIn(tx, made, origin)
    ends.webhooks.endCallbacks(tx, origin)
    return { ...done, ended: listsOf(left) }
  })
}

function endKey(
  tx: Tx,
  { ids, audit }: FileCore,
  { id, name, revokedAt }: ListedCredential<'key'>,
  origin: Origin,
): void {
  if (revokedAt !== null) return
  markRevoked(tx, 'key', id, ids.now())
  audit.record(tx, origin, { action: 'key.revoked', about: { kind: 'key', id }, before: { name } })
}

function isNothing(left: LeftBehind): boolean {
  return Object.values(left).every((made) => made.length === 0)
}

function listsOf({ keys, webhooks, bridges, messages }: LeftBehind) {
  const copies = { keys: [...keys], webhooks: [...webhooks], bridges: [...bridges] }
  return { ...copies, messages: [...messages] }
}

/**
 * Throws `forbidden` if the caller couldn't end each of them itself. Checking its scopes is enough, because the key is
 * within its permissions.
 */
function requireMayEnd(tx: Tx, { webhooks, messages }: LeftBehind, own: Permissions): void {
  const viewer = { ...own, caller: 'owner' } as const
  const isAllSeen = [...webhooks, ...messages].every((id) => isSeenBy(tx, viewer, id))
  if (isAllSeen && (messages.length === 0 || !hasRules(own))) return
  throw new RelayError('forbidden', 'This key may not end all that the other one left behind.')
}
