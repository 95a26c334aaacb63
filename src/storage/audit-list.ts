import type { AuditEntry } from '../api/audit.ts'
import { type Page, type PageRequest, cursorSeq, pageOf } from '../api/paging.ts'
import type { Actor, AuditAction, AuditFields, Thing } from '../domain/audit.ts'
import type { Timestamp } from '../domain/ids.ts'
import { isoTime } from '../system/iso-time.ts'
import type { Db } from './database.ts'

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

type Values = Record<string, string | number>

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
