import type { Db } from './database.ts'

// SQLite prepares a statement anew, at ten times the cost of running it, whenever a value is bound that
// might change its plan: one that is compared on a table with partial indexes, or a LIMIT (measured
// with SQLite 3.54: 3 µs in place of 0.2). Behind a unary plus it may not look at the value, so hot
// queries write their parameters as `+$name`.

/**
 * A statement that is prepared once for each connection: `prepared(make)(db)` gives it. Preparing is
 * four times the cost of running (measured with drizzle-orm 0.45).
 */
export function prepared<P>(make: (db: Db) => P): (db: Db) => P {
  const beside = preparedBeside(make)
  return (db) => {
    db.late.write()
    return beside(db)
  }
}

/**
 * The same for a statement that asks nothing of what is written late (messages, and notes of untold
 * events), or knows what of it is not written yet: it leaves that as it is.
 */
export function preparedBeside<P>(make: (db: Db) => P): (db: Db) => P {
  const known = new WeakMap<object, P>()
  return (db) => {
    const found = known.get(db.late)
    if (found !== undefined) return found
    const made = make(db)
    known.set(db.late, made)
    return made
  }
}

/** Names for a test by `instr`, which scans no table, each with a space behind it. */
export function namesIn(names: readonly string[]): string {
  return names.map((name) => `${name} `).join('')
}
