// What the relay remembers of time, among what the file says of itself.

import type { ClockMemory } from '../system/confirmed-clock.ts'
import type { Db, Tx } from './database.ts'

const NAME = 'clock'

/** Null in a database that was never run with it. */
export function readClockMemory(db: Db): ClockMemory | null {
  const row = db.sqlite
    .query<{ value: string }, [{ name: string }]>('SELECT value FROM about WHERE name = $name')
    .get({ name: NAME })
  return row === null ? null : (JSON.parse(row.value) as ClockMemory) // `saveClockMemory` wrote it.
}

export function saveClockMemory(tx: Tx, memory: ClockMemory): void {
  tx.sqlite
    .query('INSERT OR REPLACE INTO about (name, value) VALUES ($name, $value)')
    .run({ name: NAME, value: JSON.stringify(memory) })
}
