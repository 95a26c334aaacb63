import { and, asc, eq, isNull } from 'drizzle-orm'

import { parseId, type BoxId } from '../domain/ids.ts'
import { readAbout, writeAbout } from './about.ts'
import type { Db, Tx } from './database.ts'
import { boxes } from './line-schema.ts'

/** Another machine whose devices this relay uses. */
export type Box = Readonly<typeof boxes.$inferSelect>

const EPOCH = 'epoch'
const SIGNS = 'signs'
export const ROLLOUT = 'rollout'

/** All boxes, including removed ones, oldest first. */
export function listBoxes(db: Db): readonly Box[] {
  return db.orm.select().from(boxes).orderBy(asc(boxes.createdAt), asc(boxes.id)).all()
}

export function findBox(db: Db, id: BoxId): Box | null {
  return db.orm.select().from(boxes).where(eq(boxes.id, id)).get() ?? null
}

export function findLiveBox(db: Db, text: string): Box | null {
  const id = parseId('box', text)
  const isIt = and(id === null ? eq(boxes.name, text) : eq(boxes.id, id), isNull(boxes.removedAt))
  return db.orm.select().from(boxes).where(isIt).get() ?? null
}

export function insertBox(tx: Tx, box: Box): void {
  tx.orm.insert(boxes).values(box).run()
  tx.changes?.push({ what: 'box', id: box.id })
}

export function updateBox(tx: Tx, id: BoxId, changes: Partial<Omit<Box, 'id'>>): void {
  tx.orm.update(boxes).set(changes).where(eq(boxes.id, id)).run()
  tx.changes?.push({ what: 'box', id })
}

/** Starts a new epoch, which counts the starts of this head and names the sessions of this start. */
export function beginEpoch(tx: Tx): number {
  return raised(tx, EPOCH, 0)
}

/** The highest epoch given to this box alone; 0 if there is none. */
export function epochOf(db: Db, id: BoxId): number {
  return Number(readAbout(db, `${EPOCH} ${id}`) ?? 0)
}

/** Gives a box an epoch higher than `above` and than every epoch before. */
export function raiseEpochOf(tx: Tx, id: BoxId, above: number): number {
  return raised(tx, `${EPOCH} ${id}`, above)
}

/** True if everything from a box must be signed by this key. */
export function mustSign(db: Db, id: BoxId, key: string): boolean {
  return readAbout(db, `${SIGNS} ${id}`) === key
}

export function insistOnSignature(tx: Tx, id: BoxId, key: string): void {
  writeAbout(tx, `${SIGNS} ${id}`, key)
}

function raised(tx: Tx, name: string, above: number): number {
  const epoch = Math.max(Number(readAbout(tx, name) ?? 0), above) + 1
  writeAbout(tx, name, String(epoch))
  return epoch
}

/** The current upgrade of the boxes, as the JSON that `saveRollout` stored; null if there is none. */
export function readRollout(db: Db): string | null {
  return readAbout(db, ROLLOUT)
}

export function saveRollout(tx: Tx, rollout: object | null): void {
  writeAbout(tx, ROLLOUT, JSON.stringify(rollout))
}
