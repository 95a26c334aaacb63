import { and, asc, eq, isNull } from 'drizzle-orm'

import type { LineId } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { Db, Tx } from './database.ts'
import { lines } from './schema.ts'
import { prepared } from './statement.ts'

/** Fields of a line that the owner may change. */
export type LineSettings = Pick<Line, 'label' | 'dailyContactLimit' | 'isEnabled' | 'relaySms'>

export type NewLine = {
  readonly driver: string
  readonly key: string
  readonly number: string
  readonly dailyContactLimit: number
}

const COLUMNS = {
  id: lines.id,
  driver: lines.driver,
  key: lines.key,
  number: lines.number,
  label: lines.label,
  dailyContactLimit: lines.dailyContactLimit,
  isEnabled: lines.isEnabled,
  relaySms: lines.relaySms,
  checkpoint: lines.checkpoint,
  createdAt: lines.createdAt,
}

/** All lines that are not deleted, by creation, oldest first. */
export function listLines(db: Db): readonly Line[] {
  return db.orm
    .select(COLUMNS)
    .from(lines)
    .where(isNull(lines.deletedAt))
    .orderBy(asc(lines.createdAt), asc(lines.id))
    .all()
}

/** Those of deleted lines too: their conversations stay listed. */
export function everyLineId(db: Db): readonly LineId[] {
  return db.orm
    .select({ id: lines.id })
    .from(lines)
    .all()
    .map(({ id }) => id)
}

/** A line that is not deleted. */
export function getLine(db: Db, id: LineId): Line | null {
  const found = db.orm.select(COLUMNS).from(lines).where(isLive(id)).get()
  return found ?? null
}

export function insertLine(tx: Tx, stamps: LogicalClock, line: NewLine): Line {
  const inserted: Line = {
    ...line,
    id: stamps.id('line'),
    label: null,
    isEnabled: true,
    relaySms: false,
    checkpoint: null,
    createdAt: stamps.now(),
  }
  tx.orm.insert(lines).values(inserted).run()
  return inserted
}

/** The line with `changes`, or null where there is none. */
export function patchLine(tx: Tx, id: LineId, changes: Partial<LineSettings>): Line | null {
  return change(tx, id, changes)
}

/** The device of the line is another one from now on. */
export function takeOverLine(
  tx: Tx,
  id: LineId,
  device: Pick<Line, 'key' | 'number' | 'checkpoint'>,
): Line | null {
  const { key, number, checkpoint } = device
  return change(tx, id, { key, number, checkpoint })
}

export function changeNumber(tx: Tx, id: LineId, number: string): Line | null {
  return change(tx, id, { number })
}

const savingCheckpoint = prepared(({ sqlite }) =>
  sqlite.prepare<null, [{ readonly id: LineId; readonly checkpoint: string }]>(
    'UPDATE lines SET checkpoint = $checkpoint WHERE id = $id',
  ),
)

/** The driver's position, in its own words. */
export function saveCheckpoint(tx: Tx, id: LineId, checkpoint: string): void {
  savingCheckpoint(tx).run({ id, checkpoint })
}

/** The line is listed no more; its messages keep its id and number. */
export function deleteLine(tx: Tx, stamps: LogicalClock, id: LineId): void {
  tx.orm.update(lines).set({ deletedAt: stamps.now() }).where(isLive(id)).run()
}

function change(
  tx: Tx,
  id: LineId,
  values: Partial<Omit<Line, 'id' | 'driver' | 'createdAt'>>,
): Line | null {
  const isEmpty = Object.values(values).every((value) => value === undefined)
  if (!isEmpty) tx.orm.update(lines).set(values).where(isLive(id)).run()
  return getLine(tx, id)
}

function isLive(id: LineId) {
  return and(eq(lines.id, id), isNull(lines.deletedAt))
}
