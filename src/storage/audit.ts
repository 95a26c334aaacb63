// The audit trail. A change records its entry in its own transaction; once that is durable, the entry is logged too.

import { and, count, desc, eq, gt, inArray } from 'drizzle-orm'

import type { AuditEntry } from '../api/audit.ts'
import { type PageRequest, cursorSeq, pageOf } from '../api/paging.ts'
import type { Page } from '../api/schema.ts'
import {
  changedFields,
  type AuditedChange,
  type AuditFields,
  type Origin,
  type AuditAction,
} from '../domain/audit.ts'
import { RelayError } from '../domain/errors.ts'
import { timestamp, type AuditId, type Timestamp } from '../domain/ids.ts'
import { DAY_MS } from '../domain/time.ts'
import { sha256 } from '../system/hash.ts'
import { isoTime } from '../system/iso-time.ts'
import type { Log } from '../system/log.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import { audit } from './access-schema.ts'
import { memberName } from './dashboard-access.ts'
import { rowsAt, type Tx, type Db } from './database.ts'
import { scanRanges } from './scan.ts'
import { columnsOf, given, inserted, selected, type RawRow, type Values } from './statement.ts'
import type { Writer } from './writer.ts'

export type Audit = {
  /** Records a change in the transaction that makes it, unless no field differs. */
  record(tx: Tx, origin: Origin, change: AuditedChange): void
  /** Records a wrong password; repeats within a day are counted in one row. */
  recordRefusal(tx: Tx, origin: Origin): void
}

type Sqlite = Tx['sqlite']
type Stored = AuditedChange & { readonly id: AuditId; readonly at: Timestamp }

/** All columns except `seq`, which each database numbers itself. */
const COLUMNS = columnsOf(audit, ['seq'])
const TEXT_LENGTH_MAX = 300
/** Most rows for wrong passwords a day; those from more addresses are counted in one row without an address. */
const REFUSALS_MAX = 100
const REFUSAL = { action: 'password.refused', about: { kind: 'dashboard', id: null } } as const

export function createAudit(tools: {
  readonly writer: Pick<Writer, 'afterCommit'>
  readonly ids: LogicalClock
  readonly log: Log
}): Audit {
  const { writer, ids, log } = tools
  const record: Audit['record'] = (tx, origin, change) => {
    const changed = changedFields(change)
    if (changed === null) return
    const stored = { ...change, ...changed, id: ids.id('aud'), at: ids.now() }
    insertAuditEntry(tx.sqlite, origin, stored)
    const { action, about } = change
    const { actor, address, requestId } = origin
    const who = { actor: actor.id ?? actor.kind, address, request_id: requestId }
    writer.afterCommit(() => log.info('audit', { action, about: about.id ?? about.kind, ...who }))
  }
  return {
    record,
    recordRefusal(tx, origin) {
      const now = ids.now()
      if (countRefusal(tx.sqlite, origin, now)) return
      const isRefusal = and(eq(audit.action, REFUSAL.action), gt(audit.at, timestamp(now - DAY_MS)))
      const today = tx.orm.select({ count: count() }).from(audit).where(isRefusal).get()
      const isFull = (today?.count ?? 0) >= REFUSALS_MAX
      const counted = isFull ? { ...origin, address: null } : origin
      if (isFull && countRefusal(tx.sqlite, counted, now)) return
      record(tx, counted, REFUSAL)
    },
  }
}

/** Waits for a write, but ignores a full disk, because the action itself must go on. The log shows the full disk. */
export async function recordedIfRoom(written: Promise<void>): Promise<void> {
  try {
    await written
  } catch (error) {
    if (!(error instanceof RelayError && error.code === 'storage_full')) throw error
  }
}

/** Inserts an entry outside of the writer, into a database that no relay has open. */
export function insertAuditEntry(sqlite: Sqlite, origin: Origin, change: Stored): void {
  const { actor, address, requestId } = origin
  const { id, at, action, about, before = null, after = null } = change
  const by = { actorKind: actor.kind, actorId: actor.id, address, requestId }
  const of = { action, aboutKind: about.kind, aboutId: about.id }
  const fields = { before: jsonOf(before), after: jsonOf(after) }
  sqlite
    .query<null, [Values]>(`INSERT INTO audit ${inserted(audit, COLUMNS)}`)
    .run({ id, at, lastAt: at, count: 1, ...by, ...of, ...fields })
}

/**
 * Adds the entries of the database at `path` that this one lacks, with numbers after `above`, because a restore must
 * not lose the trail. Adds none if that database can't be read or has no trail. `isSame` is true if both databases
 * are the same relay's: if they have an entry in common.
 */
export function keepTrail(sqlite: Sqlite, path: string) {
  const highest = 'SELECT coalesce(max(seq), 0) AS above FROM audit'
  const above = sqlite.query<{ above: number }, []>(highest).get()?.above ?? 0
  const add = sqlite.query<null, [Values]>(
    `INSERT OR IGNORE INTO audit ${inserted(audit, COLUMNS)}`,
  )
  const entries = `SELECT ${selected(audit, COLUMNS, 'audit.')} FROM audit ORDER BY seq`
  let isSame = false
  for (const entry of rowsAt<RawRow<typeof audit>>(path, entries) ?? []) {
    if (add.run(entry).changes === 0) isSame = true
  }
  return { above, isSame }
}

/**
 * Shortens a URL that may contain a key to its origin and a fingerprint, which distinguishes URLs and identifies
 * a known one.
 */
export function auditedUrl(url: string): string {
  if (!URL.canParse(url)) return url
  const { origin, pathname, search } = new URL(url)
  if (pathname + search === '/') return origin
  return `${origin}/… (SHA-256 ${Buffer.from(sha256(url)).toString('hex').slice(0, 12)})`
}

/** Counts one more refusal in today's row of the same address and session; returns false if there is no such row. */
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

function jsonOf(fields: AuditFields | null): string | null {
  if (fields === null) return null
  return JSON.stringify(fields, (_name, value: unknown) => {
    const isLong = typeof value === 'string' && value.length > TEXT_LENGTH_MAX
    return isLong ? `${value.slice(0, TEXT_LENGTH_MAX)}…` : value
  })
}

export type AuditFilter = {
  /** Rows whose latest act was at this time or later. */
  readonly since?: Timestamp | undefined
  readonly action?: AuditAction | undefined
  /** The id or the kind of an actor. */
  readonly actor?: string | undefined
  /** The id or the kind of a thing. */
  readonly about?: string | undefined
}

export function listAudit(
  db: Db,
  { since, action, actor, about }: AuditFilter,
  { limit, cursor }: PageRequest,
): Page<AuditEntry> {
  const values = given({ since, action, actor, about })
  const names = Object.keys(values) as (keyof typeof CONDITIONS)[] // The names in `CONDITIONS`.
  const conditions = ['TRUE', ...names.map((name) => CONDITIONS[name])].join(' AND ')
  const range = { from: 'audit NOT INDEXED WHERE TRUE', fits: conditions, values }
  const { seqs, upTo } = scanRanges(db, [range], { limit: limit + 1, before: cursorSeq(cursor) })
  const found = db.orm.select().from(audit).where(inArray(audit.seq, seqs)).orderBy(desc(audit.seq))
  return pageOf(
    { rows: found.all(), upTo },
    limit,
    (row) => resourceOf(db, row),
    ({ seq }) => [seq],
  )
}

const CONDITIONS = {
  since: 'last_at >= $since',
  action: 'action = $action',
  actor: '$actor IN (actor_id, actor_kind)',
  about: '$about IN (about_id, about_kind)',
}

function resourceOf(db: Db, row: typeof audit.$inferSelect): AuditEntry {
  const { actorKind, actorId } = row
  const name = actorKind === 'member' ? memberName(db, actorId ?? '') : null
  return {
    id: row.id,
    at: isoTime(row.at),
    action: row.action,
    actor: { kind: actorKind, id: actorId, ...(name !== null && { name }) },
    address: row.address,
    request_id: row.requestId,
    about: { kind: row.aboutKind, id: row.aboutId },
    before: row.before,
    after: row.after,
    count: row.count,
    last_at: isoTime(row.lastAt),
  }
}
