import { and, asc, eq, getTableColumns, isNull } from 'drizzle-orm'

import type { LineId } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import { includesLine, type LineLimit } from '../domain/routing.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { Db, Tx } from './database.ts'
import { keptQuery } from './kept-query.ts'
import { lines } from './line-schema.ts'

export type LineSettings = Pick<
  Line,
  'label' | 'dailyContactLimit' | 'isEnabled' | 'quietHours' | 'relaySms' | 'relayGroups'
>

type NewLine = Pick<Line, 'driver' | 'key' | 'box' | 'number' | 'dailyContactLimit'>

const {
  seq: _seq,
  contactsReserved: _reserved,
  siteSeq: _site,
  heldDay: _day,
  heldUntil: _until,
  deletedAt,
  ...COLUMNS
} = getTableColumns(lines)

const allLines = keptQuery((orm) =>
  orm
    .select(COLUMNS)
    .from(lines)
    .where(isNull(deletedAt))
    .orderBy(asc(lines.createdAt), asc(lines.id))
    .prepare(),
)

/** All lines that aren't deleted, oldest first. */
export function listLines(db: Db): readonly Line[] {
  return allLines(db).all()
}

/** The lines that a caller names; null if one isn't a line within its limit. */
export function linesNamed(
  db: Db,
  texts: readonly string[],
  limit: LineLimit,
): readonly LineId[] | null {
  const known = everyLineId(db).filter((id) => includesLine(limit, id))
  const found = known.filter((id) => texts.includes(id))
  return texts.every((text) => found.some((id) => id === text)) ? found : null
}

/** The ids of all lines, even deleted ones, because their conversations stay listed. */
export function everyLineId(db: Db): readonly LineId[] {
  return db.orm
    .select({ id: lines.id })
    .from(lines)
    .all()
    .map(({ id }) => id)
}

export function getLine(db: Db, id: LineId): Line | null {
  return db.orm.select(COLUMNS).from(lines).where(isLive(id)).get() ?? null
}

/** The number of a line, even of a deleted one; null if there is none with this id. */
export function numberOfLine(db: Db, id: string): string | null {
  const sql = 'SELECT phone_number AS number FROM lines WHERE id = $id'
  return db.row<Pick<Line, 'number'>>(sql, { id })?.number ?? null
}

export function insertLine(tx: Tx, ids: LogicalClock, line: NewLine): Line {
  const made = { id: ids.id('line'), isEnabled: true, relaySms: false, createdAt: ids.now() }
  return tx.orm
    .insert(lines)
    .values({ ...line, ...made })
    .returning(COLUMNS)
    .get()
}

/** Changes a line and returns it; null if there is none. */
export function updateLine(
  tx: Tx,
  id: LineId,
  changes: Partial<LineSettings & Pick<Line, 'key' | 'box' | 'movesTo' | 'number' | 'checkpoint'>>,
): Line | null {
  const isEmpty = Object.values(changes).every((value) => value === undefined)
  if (!isEmpty) tx.orm.update(lines).set(changes).where(isLive(id)).run()
  return getLine(tx, id)
}

/** Saves the driver's position, in the driver's own format. */
export function saveCheckpoint(tx: Tx, id: LineId, checkpoint: string): void {
  const sql = 'UPDATE lines SET checkpoint = $checkpoint WHERE id = $id'
  tx.execute(sql, { id, checkpoint })
}

export function deleteLine(tx: Tx, ids: LogicalClock, id: LineId): void {
  tx.orm.update(lines).set({ deletedAt: ids.now() }).where(isLive(id)).run()
}

function isLive(id: LineId) {
  return and(eq(lines.id, id), isNull(deletedAt))
}
