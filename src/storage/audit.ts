// The audit trail. A change and its entry are one transaction, so whoever changes something records it
// there and then; the log says it too, once it is durable.

import { Database } from 'bun:sqlite'

import {
  changedFields,
  type AuditedChange,
  type AuditFields,
  type Origin,
} from '../domain/audit.ts'
import { RelayError } from '../domain/errors.ts'
import type { AuditId, Timestamp } from '../domain/ids.ts'
import { DAY_MS } from '../domain/time.ts'
import { sha256 } from '../system/hash.ts'
import type { Log } from '../system/log.ts'
import type { Stamps } from '../system/stamps.ts'
import type { Tx } from './database.ts'
import type { Writer } from './writer.ts'

export type Audit = {
  /** Records a change in the transaction that makes it; a change that changes no field is none. */
  record(tx: Tx, origin: Origin, change: AuditedChange): void
  /** Records a wrong password: repeats of a day are counted in one row. */
  recordRefusal(tx: Tx, origin: Origin): void
}

type Sqlite = Tx['sqlite']
type Stored = AuditedChange & { readonly id: AuditId; readonly at: Timestamp }

const COLUMNS = [
  'id',
  'at',
  'last_at',
  'count',
  'actor_kind',
  'actor_id',
  'address',
  'request_id',
  'action',
  'about_kind',
  'about_id',
  'before',
  'after',
] as const
const TEXT_LENGTH_MAX = 300
/** Rows of wrong passwords a day; what comes from further addresses is counted in one without address. */
const REFUSALS_MAX = 100
const REFUSAL = { action: 'password.refused', about: { kind: 'dashboard', id: null } } as const

export function createAudit(tools: {
  readonly writer: Pick<Writer, 'afterCommit'>
  readonly stamps: Stamps
  readonly log: Log
}): Audit {
  const { writer, stamps, log } = tools
  const record: Audit['record'] = (tx, origin, change) => {
    const changed = changedFields(change)
    if (changed === null) return
    const stored = { ...change, ...changed, id: stamps.id('aud'), at: stamps.now() }
    insertAuditEntry(tx.sqlite, origin, stored)
    const { action, about } = change
    const { actor, address, requestId } = origin
    const who = { actor: actor.id ?? actor.kind, address, request_id: requestId }
    writer.afterCommit(() => log.info('audit', { action, about: about.id ?? about.kind, ...who }))
  }
  return {
    record,
    recordRefusal(tx, origin) {
      const now = stamps.now()
      if (countRefusal(tx.sqlite, origin, now)) return
      const isFull = refusalsSince(tx.sqlite, now - DAY_MS) >= REFUSALS_MAX
      const counted = isFull ? { ...origin, address: null } : origin
      if (isFull && countRefusal(tx.sqlite, counted, now)) return
      record(tx, counted, REFUSAL)
    },
  }
}

/** On a full disk what must be done all the same is done unrecorded; the log has said that it is full. */
export async function recordedIfRoom(written: Promise<void>): Promise<void> {
  try {
    await written
  } catch (error) {
    if (!(error instanceof RelayError && error.code === 'storage_full')) throw error
  }
}

/** For a transaction that is not the writer's, as of a database that no relay has open. */
export function insertAuditEntry(sqlite: Sqlite, origin: Origin, change: Stored): void {
  const { actor, address, requestId } = origin
  sqlite
    .query(
      `INSERT INTO audit (${COLUMNS.join()})
       VALUES ($id, $at, $at, 1, $actorKind, $actorId, $address, $requestId, $action,
         $aboutKind, $aboutId, $before, $after)`,
    )
    .run({
      id: change.id,
      at: change.at,
      actorKind: actor.kind,
      actorId: actor.id,
      address,
      requestId,
      action: change.action,
      aboutKind: change.about.kind,
      aboutId: change.about.id,
      before: jsonOf(change.before ?? null),
      after: jsonOf(change.after ?? null),
    })
}

/**
 * Adds the entries of the database at `path` that this one does not have: a restore must not be a way to
 * lose the trail. A database that cannot be read, or is from before there was a trail, adds none.
 */
export function keepTrail(sqlite: Sqlite, path: string): void {
  const add = sqlite.query(
    `INSERT OR IGNORE INTO audit (${COLUMNS.join()}) VALUES (${COLUMNS.map(() => '?').join()})`,
  )
  for (const entry of entriesIn(path)) add.run(...entry)
}

function entriesIn(path: string): readonly (string | number | null)[][] {
  try {
    using database = new Database(path, { readonly: true })
    const sql = `SELECT ${COLUMNS.join()} FROM audit ORDER BY seq`
    return database.query<unknown, []>(sql).values() as (string | number | null)[][] // A STRICT table.
  } catch {
    return []
  }
}

/**
 * A URL that may hold a key: where it leads, and a fingerprint by which two of them can be told apart
 * and a known one be recognised.
 */
export function auditedUrl(url: string): string {
  if (!URL.canParse(url)) return url
  const { origin, pathname, search } = new URL(url)
  if (pathname + search === '/') return origin
  return `${origin}/… (SHA-256 ${Buffer.from(sha256(url)).toString('hex').slice(0, 12)})`
}

/** Counts one more in the row of the same address and session, where there is one of today. */
function countRefusal(sqlite: Sqlite, { actor, address }: Origin, now: Timestamp): boolean {
  const counted = sqlite
    .query(
      `UPDATE audit SET count = count + 1, last_at = $now WHERE seq = (
         SELECT seq FROM audit INDEXED BY audit_by_action
         WHERE action = $action AND at > $since AND address IS $address AND actor_id IS $actorId
         LIMIT 1)`,
    )
    .run({ now, since: now - DAY_MS, action: REFUSAL.action, address, actorId: actor.id })
  return counted.changes > 0
}

function refusalsSince(sqlite: Sqlite, since: number): number {
  const row = sqlite
    .query<{ count: number }, [{ readonly action: string; readonly since: number }]>(
      'SELECT count(*) AS count FROM audit WHERE action = $action AND at > $since',
    )
    .get({ action: REFUSAL.action, since })
  return row?.count ?? 0
}

function jsonOf(fields: AuditFields | null): string | null {
  return fields === null ? null : JSON.stringify(fields, (_name, value: unknown) => cut(value))
}

function cut(value: unknown): unknown {
  const isLong = typeof value === 'string' && value.length > TEXT_LENGTH_MAX
  return isLong ? `${value.slice(0, TEXT_LENGTH_MAX)}…` : value
}
