import { and, eq, isNull } from 'drizzle-orm'

import type { Found } from '../api/paging.ts'
import type { CredentialId, CredentialIds, CredentialKind } from '../domain/credential.ts'
import type { BridgeId, ConversationId, KeyId, LineId, SiteId, Timestamp } from '../domain/ids.ts'
import { NO_RULES, type KeyRules, type Permissions, type Scope } from '../domain/permissions.ts'
import { includesLine, type LineLimit, type LineLimits } from '../domain/routing.ts'
import type { Db, Tx } from './database.ts'
import { scan } from './scan.ts'
import { credentials } from './schema.ts'
import { assigned, columnsOf, inserted, limitValue, selected, type RawRow } from './statement.ts'

type Row = typeof credentials.$inferSelect

const SECRET = ['secretSha256', 'hint', 'secretCreatedAt', 'secretMadeBy'] as const

/** The secret of a key or the token of a bridge: its hash, and the first characters, which are shown. */
export type StoredSecret = Pick<Row, 'hint' | 'secretCreatedAt' | 'secretMadeBy'> & {
  readonly secretSha256: Uint8Array
}

const LATER = ['lastUsedAt', 'revokedAt'] as const

/** `number` is a bridge's phone number (null for a key); `key` is the value of `X-API-Key` (null for a bridge). */
export type NewCredential = StoredSecret &
  Pick<Row, 'id' | 'kind' | 'name' | 'key' | 'createdBy' | 'createdAt' | 'lineage' | 'madeFor'> & {
    readonly sealedSecret: Uint8Array | null
    readonly number: string | null
    readonly permissions: Permissions
  }

/** A credential without its secret or token. A bridge has the number of its line, and no limits. */
export type Credential<K extends CredentialKind> = Readonly<
  Omit<Row, 'id' | (typeof HIDDEN)[number] | (typeof LIMITS)[number]>
> & {
  readonly id: CredentialIds[K]
  readonly number: K extends 'bridge' ? string : null
  readonly permissions: Permissions
}

export type ListedCredential<K extends CredentialKind> = Credential<K> & { readonly seq: number }

const insertion = `INSERT INTO credentials ${inserted(credentials, columnsOf(credentials, LATER))}`

export function insertCredential(tx: Tx, { number, permissions, ...credential }: NewCredential) {
  const { scopes, limits, conversationIds, expiresAt, rules } = permissions
  tx.execute(insertion, {
    ...credential,
    phoneNumber: number,
    scopes: scopes && JSON.stringify(scopes),
    lineIds: limitValue(limits.lineIds),
    siteIds: limitValue(limits.siteIds),
    conversationIds: conversationIds && JSON.stringify(conversationIds),
    expiresAt,
    rules: rules === NO_RULES ? null : JSON.stringify(rules),
  })
  if (credential.kind === 'key') touchKey(tx, credential.id)
}

const LIMITS = ['scopes', 'lineIds', 'siteIds', 'conversationIds', 'expiresAt', 'rules'] as const
type RawLimits = Pick<RawRow<typeof credentials>, (typeof LIMITS)[number]>

/** Parses the JSON that `insertCredential` wrote. */
function permissionsIn(db: Db, raw: RawLimits): Permissions {
  const { scopes, lineIds, siteIds, conversationIds, expiresAt, rules } = raw
  const limits = {
    lineIds: lineIds === null ? null : (JSON.parse(lineIds) as readonly LineId[]),
    siteIds: siteIds === null ? null : (JSON.parse(siteIds) as readonly SiteId[]),
  }
  return {
    scopes: scopes === null ? null : (JSON.parse(scopes) as readonly Scope[]),
    lineIds: linesWithin(db, limits),
    limits,
    conversationIds:
      conversationIds === null ? null : (JSON.parse(conversationIds) as readonly ConversationId[]),
    expiresAt,
    rules: rules === null ? NO_RULES : (JSON.parse(rules) as KeyRules),
  }
}

type SecretOfKey = Pick<Row, 'revokedAt' | 'lineage' | 'madeFor'> & {
  readonly id: KeyId
  readonly secretSha256: Uint8Array
}

const KEY_COLUMNS = ['id', 'secretSha256', 'revokedAt', 'lineage', 'madeFor', ...LIMITS] as const
const byKey = `SELECT ${selected(credentials, KEY_COLUMNS)}
   FROM credentials WHERE key = $key`

/** Called for the first request in each turn of the event loop, because another process may have revoked the key. */
export function findKey(
  db: Db,
  key: string,
): (SecretOfKey & { readonly permissions: Permissions }) | null {
  const row = db.row<SecretOfKey & RawLimits>(byKey, { key })
  return row && { ...row, permissions: permissionsIn(db, row) }
}

/** SQL: whether a key works at `$now`. */
export const isLive = (key: string) =>
  `${key}.revoked_at IS NULL AND (${key}.expires_at IS NULL OR ${key}.expires_at > $now)`

/** SQL: the lineage of a key; see `lineageOf`. */
export const lineageIn = (key: string) => `coalesce(${key}.lineage, ${key}.id)`

const newestOf = `SELECT ${selected(credentials, [...KEY_COLUMNS, 'key', 'sealedSecret'])}
   FROM credentials INDEXED BY credentials_made_for
   WHERE made_for IS NOT NULL AND ${lineageIn('credentials')} = $lineage AND ${isLive('credentials')}
   ORDER BY rowid DESC LIMIT 1`

/** The newest key of a lineage that works, made for a compatible API. */
export type LiveKey = SecretOfKey & {
  readonly key: string
  readonly sealedSecret: Uint8Array | null
  readonly permissions: Permissions
}

/** The newest of the keys for a compatible API that replace each other and still work; null if all have ended. */
export function liveKeyOf(db: Db, lineage: KeyId, now: number): LiveKey | null {
  const row = db.row<Omit<LiveKey, 'permissions'> & RawLimits>(newestOf, { lineage, now })
  return row && { ...row, permissions: permissionsIn(db, row) }
}

const LIVE_FOR = `FROM credentials INDEXED BY credentials_made_for
   WHERE made_for = $madeFor AND ${isLive('credentials')}`

/** The lineages of the keys that work and were made for a compatible API. */
export function keysMadeFor(db: Db, madeFor: string, now: number): readonly KeyId[] {
  const sql = `SELECT DISTINCT ${lineageIn('credentials')} AS id ${LIVE_FOR}`
  return db.rows<{ id: KeyId }>(sql, { madeFor, now }).map(({ id }) => id)
}

/** True if there is a valid key for this compatible API. */
export function hasKeyMadeFor(db: Db, madeFor: string, now: number): boolean {
  return db.row(`SELECT 1 ${LIVE_FOR} LIMIT 1`, { madeFor, now }) !== null
}

/** Called for every call of a shortcut, so that a replaced token fails at once. */
export function findBridgeOfToken(db: Db, secretSha256: Uint8Array): BridgeId | null {
  const sql = `SELECT id FROM credentials
   WHERE secret_sha256 = $secretSha256 AND kind = 'bridge' AND revoked_at IS NULL`
  return db.row<{ id: BridgeId }>(sql, { secretSha256 })?.id ?? null
}

export function hasKeys({ orm }: Db): boolean {
  return orm.select().from(credentials).where(eq(credentials.kind, 'key')).get() !== undefined
}

/** The bridges that aren't removed; each is a line. */
export function listLiveBridges(db: Db) {
  const sql = `SELECT id AS key, phone_number AS number FROM credentials
               WHERE kind = 'bridge' AND revoked_at IS NULL ORDER BY rowid`
  return db.rows<{ readonly key: BridgeId; readonly number: string }>(sql)
}

const HIDDEN = ['kind', 'key', 'secretSha256', 'phoneNumber'] as const
const LISTED = `SELECT rowid AS seq, phone_number AS number,
  ${selected(credentials, columnsOf(credentials, HIDDEN))} FROM credentials`

/** The row of a list, from which `listed` makes `permissions`. */
type ListedRow<K extends CredentialKind> = ListedCredential<K> & RawLimits

function listed<K extends CredentialKind>(db: Db, row: ListedRow<K>): ListedCredential<K> {
  return { ...row, permissions: permissionsIn(db, row) }
}

export function getCredential<K extends CredentialKind>(db: Db, kind: K, id: string) {
  const row = db.row<ListedRow<K>>(`${LISTED} WHERE id = $id AND kind = $kind`, { id, kind })
  return row && listed(db, row)
}

/**
 * Credentials, including revoked ones, newest first. `before` is the cursor's seq; `isShown` returns whether the
 * reader may see a credential.
 */
export function listCredentials<K extends CredentialKind>(
  db: Db,
  kind: K,
  given: {
    readonly limit: number
    readonly before: number | null
    readonly isShown?: ((credential: ListedCredential<K>) => boolean) | undefined
  },
): Found<ListedCredential<K>> {
  const { limit, before, isShown = () => true } = given
  const sql = `${LISTED} WHERE kind = $kind AND rowid < $before ORDER BY rowid DESC`
  const values = { kind, before: before ?? Number.MAX_SAFE_INTEGER }
  const list = function* () {
    for (const row of db.each<ListedRow<K>>(sql, values)) {
      const credential = listed(db, row)
      yield { ...credential, fits: isShown(credential) }
    }
  }
  const { rows, last } = scan(list(), limit)
  return { rows, upTo: last && [last.seq] }
}

const replacing = `UPDATE credentials SET ${assigned(credentials, SECRET)} WHERE id = $id`

export function replaceSecret(tx: Tx, id: CredentialId, secret: StoredSecret): void {
  tx.execute(replacing, { id, ...secret })
}

/** Sets the expiry of a key that is replaced by another. */
export function setExpiry(tx: Tx, id: CredentialId, expiresAt: Timestamp): void {
  tx.orm.update(credentials).set({ expiresAt }).where(eq(credentials.id, id)).run()
  touchKey(tx, id)
}

/** Revokes a credential; no change if it is revoked already. */
export function markRevoked(tx: Tx, kind: CredentialKind, id: CredentialId, now: Timestamp): void {
  const isLive = and(eq(credentials.id, id), isNull(credentials.revokedAt))
  tx.orm.update(credentials).set({ revokedAt: now }).where(isLive).run()
  if (kind === 'key') touchKey(tx, id)
}

const REPLACING = `SELECT 1 FROM credentials newer WHERE newer.lineage = ${lineageIn('credentials')}
   AND newer.revoked_at IS NULL AND newer.rowid > credentials.rowid`

/** The number of keys in use that expire after `now` and until `until`, without those that another key replaces. */
export function countExpiring(
  db: Db,
  times: { readonly now: number; readonly until: number; readonly usedSince: number },
): number {
  const sql = `SELECT count(*) AS count FROM credentials WHERE kind = 'key' AND revoked_at IS NULL
     AND expires_at > $now AND expires_at <= $until AND last_used_at > $usedSince
     AND NOT EXISTS (${REPLACING})`
  return db.row<{ count: number }>(sql, times)?.count ?? 0
}

type LimitedKey = { readonly id: KeyId; readonly rules: KeyRules }

/** The first of the keys that this one replaces; its own id if it replaces none. */
export function lineageOf(db: Db, id: KeyId): KeyId {
  const sql = `SELECT ${lineageIn('credentials')} AS lineage FROM credentials WHERE id = $id`
  return db.row<{ lineage: KeyId }>(sql, { id })?.lineage ?? id
}

const limitedMakers = `WITH RECURSIVE makers (id) AS (
     SELECT $id UNION SELECT c.created_by FROM makers m JOIN credentials c ON c.id = m.id)
   SELECT ${lineageIn('c')} AS id, c.rules FROM makers m JOIN credentials c ON c.id = m.id
   WHERE c.kind = 'key' AND c.rules IS NOT NULL`

/** The key and its ancestors that have rules, each by its lineage: a send counts for all of them. */
export function keysWithRules(db: Db, id: KeyId): readonly LimitedKey[] {
  const rows = db.rows<{ id: KeyId; rules: string }>(limitedMakers, { id })
  return rows.map((row) => ({ ...row, rules: JSON.parse(row.rules) as KeyRules }))
}

/** The time of the send `place` places before the latest one, if it is later than `since`. */
export function sendOfKey(
  db: Db,
  id: KeyId,
  { since, place }: { readonly since: number; readonly place: number },
): Timestamp | null {
  const sql = `SELECT at FROM key_sends WHERE key_id = $id AND at > $since
   ORDER BY at DESC LIMIT 1 OFFSET $place`
  return db.row<{ at: Timestamp }>(sql, { id, since, place })?.at ?? null
}

/** Counts a send, and forgets sends up to `before`. */
export function countSend(
  tx: Tx,
  keyId: KeyId,
  send: { readonly messageId: string; readonly at: Timestamp; readonly before: number },
): void {
  tx.execute('DELETE FROM key_sends WHERE key_id = $keyId AND at <= $before', { keyId, ...send })
  tx.execute('INSERT INTO key_sends VALUES ($keyId, $at, $messageId)', { keyId, ...send })
}

export function saveLastUsed(tx: Tx, id: CredentialId, at: Timestamp): void {
  const sql = 'UPDATE credentials SET last_used_at = $at WHERE id = $id RETURNING kind'
  if (tx.row<{ kind: CredentialKind }>(sql, { id, at })?.kind === 'key') touchKey(tx, id)
}

function touchKey(tx: Tx, id: CredentialId): void {
  tx.changes?.push({ what: 'key', id })
}

/**
 * SQL: the key, the keys that it replaced, and all keys that these made or rotated, and so on; but not the keys that
 * replace it.
 */
const family = `WITH RECURSIVE own (lineage, place) AS (
     SELECT ${lineageIn('k')}, k.rowid FROM credentials k WHERE k.id = $id),
   family (id) AS (
     SELECT older.id FROM own JOIN credentials older ON ${lineageIn('older')} = own.lineage
       WHERE older.rowid <= own.place
     UNION SELECT c.id FROM family f JOIN credentials c ON c.created_by = f.id WHERE c.kind = 'key'
     UNION SELECT c.id FROM family f JOIN credentials c ON c.secret_made_by = f.id CROSS JOIN own
       WHERE c.kind = 'key' AND (${lineageIn('c')} <> own.lineage OR c.rowid <= own.place))`

const leftBehind = `${family}
   SELECT c.kind, c.id FROM credentials c WHERE ${isLive('c')} AND c.id <> $id
     AND (c.id IN family OR (c.kind = 'bridge' AND (c.created_by IN family OR c.secret_made_by IN family)))
   UNION ALL SELECT 'webhook', id FROM webhooks WHERE created_by IN family AND deleted_at IS NULL
   UNION ALL SELECT 'message', id FROM messages INDEXED BY messages_by_status
     WHERE status IN ('queued', 'deferred') AND key_id IN family
   ORDER BY id`

/** Ids of what a key created and that still works, oldest first; `messages` wait to be sent. */
export type LeftBehind = Readonly<
  Record<'keys' | 'webhooks' | 'bridges' | 'messages', readonly string[]>
>

/**
 * Everything that still works of what was made by a key, the keys that it replaced, and the keys that these made; and
 * the keys and bridges whose present secrets they made.
 */
export function leftBehindBy(db: Db, id: KeyId, now: number): LeftBehind {
  const rows = db.rows<{ readonly kind: string; readonly id: string }>(leftBehind, { id, now })
  const of = (kind: string) => rows.filter((row) => row.kind === kind).map((row) => row.id)
  return {
    keys: of('key'),
    webhooks: of('webhook'),
    bridges: of('bridge'),
    messages: of('message'),
  }
}

/** SQL: the lineages of all keys that made something that still works, or that made such a key, and so on. */
const MAKERS = `WITH RECURSIVE
   made (by) AS (
     SELECT c.created_by FROM credentials c WHERE ${isLive('c')}
     UNION SELECT c.secret_made_by FROM credentials c WHERE ${isLive('c')}
     UNION SELECT created_by FROM webhooks WHERE deleted_at IS NULL
     UNION SELECT key_id FROM messages INDEXED BY messages_by_status WHERE status IN ('queued', 'deferred')),
   makers (lineage) AS (
     SELECT ${lineageIn('k')} FROM made JOIN credentials k ON k.id = made.by
     UNION SELECT ${lineageIn('k')} FROM makers m JOIN credentials c ON ${lineageIn('c')} = m.lineage
       JOIN credentials k ON k.id IN (c.created_by, c.secret_made_by))`

/** The newest `limit` keys that have expired, may have left something behind, and aren't revoked or replaced. */
export function listExpiredMakers(db: Db, now: number, limit: number): readonly KeyId[] {
  const sql = `${MAKERS} SELECT id FROM credentials WHERE kind = 'key' AND revoked_at IS NULL
     AND expires_at <= $now AND ${lineageIn('credentials')} IN makers AND NOT EXISTS (${REPLACING})
     ORDER BY rowid DESC LIMIT $limit`
  return db.rows<{ id: KeyId }>(sql, { now, limit }).map(({ id }) => id)
}

const OF_SITES = `SELECT l.id FROM lines l JOIN sites s ON s.seq = l.site_seq
   WHERE s.id IN (SELECT value FROM json_each($siteIds)) ORDER BY l.seq`

/**
 * The lines that a limit allows now; null for all. Lines move between sites, so every decision must call this again,
 * and not keep the result. Deleted lines count, because their conversations stay.
 */
export function linesWithin(db: Db, { lineIds, siteIds }: LineLimits): LineLimit {
  if (siteIds === null) return lineIds
  return linesOfSites(db, siteIds).filter((id) => includesLine(lineIds, id))
}

/** The lines of these sites, including deleted ones. Unknown ids are ignored. */
export function linesOfSites(db: Db, siteIds: readonly string[]): readonly LineId[] {
  const rows = db.rows<{ id: LineId }>(OF_SITES, { siteIds: limitValue(siteIds) })
  return rows.map(({ id }) => id)
}
