// The audit trail. A change and its entry are one transaction, so each change records itself
// there and then; the log says it too, once it is durable.

import { Database } from 'bun:sqlite'

import type { AuditEntry } from '../api/audit.ts'
import { type Page, type PageRequest, cursorSeq, pageOf } from '../api/paging.ts'
import {
  changedFields,
  type AuditedChange,
  type AuditFields,
  type Origin,
  type Actor,
  type AuditAction,
  type Thing,
} from '../domain/audit.ts'
import { RelayError } from '../domain/errors.ts'
import type { AuditId, Timestamp } from '../domain/ids.ts'
import { DAY_MS } from '../domain/time.ts'
import { sha256 } from '../system/hash.ts'
import { isoTime } from '../system/iso-time.ts'
import type { Log } from '../system/log.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { Tx, Db } from './database.ts'
import type { Values } from './statement.ts'
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
  readonly stamps: LogicalClock
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

export type AuditFilter = {
  /** Inclusive, of the latest act that a row counts. */
  readonly since?: Timestamp | undefined
  readonly action?: AuditAction | undefined
  /** The id of an actor, or a kind of them. */
  readonly actor?: string | undefined
  /** The id of a thing, or a kind of them. */
  readonly about?: string | undefined
}

type Row = {
  readonly seq: number
  readonly id: string
  readonly at: Timestamp
  readonly lastAt: Timestamp
  readonly count: number
  readonly actorKind: Actor['kind']
  readonly actorId: string | null
  readonly address: string | null
  readonly requestId: string | null
  readonly action: AuditAction
  readonly aboutKind: Thing['kind']
  readonly aboutId: string | null
  readonly before: string | null
  readonly after: string | null
}

/** Newest first. */
export function listAudit(
  db: Db,
  filter: AuditFilter,
  { limit, cursor }: PageRequest,
): Page<AuditEntry> {
  const before = cursorSeq(cursor)
  const { conditions, values } = selectionOf(filter)
  const rows = db.sqlite
    .query<Row, [Values]>(
      `SELECT seq, id, at, last_at AS lastAt, count, actor_kind AS actorKind, actor_id AS actorId,
         address, request_id AS requestId, action, about_kind AS aboutKind, about_id AS aboutId,
         before, after
       FROM audit WHERE ${['seq < $seq', ...conditions].join(' AND ')}
       ORDER BY seq DESC LIMIT $limit`,
    )
    .all({ ...values, seq: before ?? Number.MAX_SAFE_INTEGER, limit: limit + 1 })
  return pageOf(rows, limit, resourceOf, ({ seq }) => [seq])
}

function selectionOf({ since, action, actor, about }: AuditFilter): {
  readonly conditions: readonly string[]
  readonly values: Values
} {
  const conditions: string[] = []
  if (since !== undefined) conditions.push('last_at >= $since')
  if (action !== undefined) conditions.push('action = $action')
  if (actor !== undefined) conditions.push('$actor IN (actor_id, actor_kind)')
  if (about !== undefined) conditions.push('$about IN (about_id, about_kind)')
  const given = Object.entries({ since, action, actor, about })
  return {
    conditions,
    values: Object.fromEntries(
      given.filter((pair): pair is [string, string | Timestamp] => pair[1] !== undefined),
    ),
  }
}

function resourceOf(row: Row): AuditEntry {
  return {
    id: row.id,
    at: isoTime(row.at),
    action: row.action,
    actor: { kind: row.actorKind, id: row.actorId },
    address: row.address,
    request_id: row.requestId,
    about: { kind: row.aboutKind, id: row.aboutId },
    before: fieldsIn(row.before),
    after: fieldsIn(row.after),
    count: row.count,
    last_at: isoTime(row.lastAt),
  }
}

function fieldsIn(json: string | null): AuditFields | null {
  return json === null ? null : (JSON.parse(json) as AuditFields) // Written by `insertAuditEntry`.
}
