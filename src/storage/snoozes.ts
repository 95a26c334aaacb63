import { lte } from 'drizzle-orm'

import type { Timestamp } from '../domain/ids.ts'
import type { Db, Tx } from './database.ts'
import { snoozes } from './schema.ts'

export type Snooze = Readonly<typeof snoozes.$inferSelect>

export function listSnoozes(db: Db): ReadonlyMap<string, Snooze> {
  return new Map(
    db.orm
      .select()
      .from(snoozes)
      .all()
      .map((row) => [row.finding, row]),
  )
}

/** Saves the snooze, replacing an earlier one of the finding, and deletes those that ended by `now`. */
export function saveSnooze(tx: Tx, row: Snooze, now: Timestamp): void {
  tx.orm.insert(snoozes).values(row).onConflictDoUpdate({ target: snoozes.finding, set: row }).run()
  tx.orm.delete(snoozes).where(lte(snoozes.until, now)).run()
}
