// drizzle-kit makes the migrations, and we apply them: drizzle's own `migrate()` silently empties the child
// tables of a rebuilt table (drizzle-orm issues 5782, 4938, 4640).

import type { Database } from 'bun:sqlite'

import { assert } from '../domain/errors.ts'
import { sha256 } from '../system/hash.ts'
import { readMigrations } from './migrations.macro.ts' with { type: 'macro' }
import { codeOf, isCorrupt } from './sqlite-errors.ts'

/** "HKLN": marks the file as ours. */
export const APPLICATION_ID = 0x484b4c4e

export type Migration = { readonly name: string; readonly sql: string }

/** Every migration of this executable, in order; their number is its schema number. */
export const MIGRATIONS: readonly Migration[] = readMigrations()

/** The oldest schema whose executable may use a database that this one wrote. */
export const USABLE_FROM = 7

const UNCHECKED_FROM = 'unjudged_from'
const FIRST_MIGRATION = 'first_migration'

const BREAKPOINT = '--> statement-breakpoint'

/** The file belongs to a newer executable, isn't ours, or is damaged. A person must act. */
export class UnusableDatabaseError extends Error {
  override readonly name = 'UnusableDatabaseError'
}

/** True if the database is unusable or damaged, so that no retry helps. */
export function isUnusableDatabase(error: unknown): boolean {
  return error instanceof UnusableDatabaseError || isCorrupt(error)
}

export type SchemaState = {
  /** The number of migrations applied; 0 for a new file. */
  readonly version: number
  readonly usableFrom: number
  readonly writtenBy: string | null
  /** Fingerprint of the migration that made its first tables; null if unknown. */
  readonly madeBy: string | null
  /**
   * The schema number before a migration that hasn't passed a startup check yet, or null. It is kept over
   * restarts, so that a relay that crashed before its check is checked at the next start.
   */
  readonly uncheckedFrom: number | null
}

export function readSchemaState(sqlite: Database): SchemaState {
  const version = userVersion(sqlite)
  const none = { writtenBy: null, madeBy: null, uncheckedFrom: null }
  if (version === 0) return { version, usableFrom: 0, ...none }
  const about = sqlite.query<{ name: string; value: string }, []>('SELECT name, value FROM about')
  const values = new Map(about.all().map((row) => [row.name, row.value]))
  const uncheckedFrom = Number(values.get(UNCHECKED_FROM) ?? version)
  return {
    version,
    usableFrom: Number(values.get('usable_from') ?? version),
    writtenBy: values.get('written_by') ?? null,
    madeBy: values.get(FIRST_MIGRATION) ?? null,
    uncheckedFrom: uncheckedFrom < version ? uncheckedFrom : null,
  }
}

/**
 * Throws an UnusableDatabaseError for a database of an earlier development version: until the first release,
 * the first migration was rewritten in place, so its tables may differ. Damage can look the same, because it may
 * have erased which migration made the tables. `name` begins the sentence; `wayBack` is part of it.
 */
export function requireKnownTables(
  { madeBy }: SchemaState,
  { name, wayBack }: { readonly name: string; readonly wayBack: string },
  migrations: readonly Migration[] = MIGRATIONS,
): void {
  if (madeBy === fingerprintOf(migrations)) return
  throw new UnusableDatabaseError(
    `${name} was made by an earlier development version of Hookline, whose tables are others, or it is damaged. ` +
      `Use the executable that made it, ${wayBack}, or move its data directory away to begin with a new one.`,
  )
}

function fingerprintOf([first]: readonly Migration[]): string {
  return Buffer.from(sha256(first?.sql ?? '')).toString('hex', 0, 8)
}

export function acceptMigration(sqlite: Database): void {
  sqlite.query('DELETE FROM about WHERE name = $name').run({ name: UNCHECKED_FROM })
}

/**
 * Applies the missing migrations, each in one transaction, and checks foreign keys before the commit. `by` is
 * the version of this executable.
 */
export function migrate(
  sqlite: Database,
  by: string,
  migrations: readonly Migration[] = MIGRATIONS,
): void {
  // Must be off before BEGIN, because the pragma does nothing inside a transaction, and rebuilding a table
  // would delete its child rows.
  sqlite.run('PRAGMA foreign_keys = OFF')
  try {
    const before = userVersion(sqlite)
    // Before the first one, because a crash may come after any of them.
    if (before > 0 && before < migrations.length) noteUnchecked(sqlite, before)
    for (const [index, migration] of migrations.entries()) {
      if (index >= userVersion(sqlite)) apply(sqlite, migration, index + 1)
    }
    // A newer executable wrote the database and allows this one to use it: what it wrote stays.
    if (userVersion(sqlite) > migrations.length) return
    const set = sqlite.prepare('INSERT OR REPLACE INTO about (name, value) VALUES (?, ?)')
    sqlite.transaction(() => {
      set.run('usable_from', String(USABLE_FROM))
      set.run('written_by', by)
    })()
  } finally {
    sqlite.run('PRAGMA foreign_keys = ON')
  }
}

function apply(sqlite: Database, migration: Migration, version: number): void {
  sqlite.run('BEGIN IMMEDIATE')
  try {
    for (const statement of migration.sql.split(BREAKPOINT)) {
      const sql = statement.trim()
      if (sql !== '' && !sql.toUpperCase().startsWith('PRAGMA FOREIGN_KEYS')) sqlite.run(sql)
    }
    const broken = sqlite.query('PRAGMA foreign_key_check').all()
    assert(broken.length === 0, `${migration.name} leaves ${broken.length} broken foreign keys`)
    if (version === 1) {
      const made = { name: FIRST_MIGRATION, value: fingerprintOf([migration]) }
      sqlite.query('INSERT INTO about (name, value) VALUES ($name, $value)').run(made)
    }
    sqlite.run(`PRAGMA user_version = ${version}`)
    sqlite.run('COMMIT')
  } catch (error) {
    if (sqlite.inTransaction) sqlite.run('ROLLBACK')
    const message = `Migration ${migration.name} failed and was undone.`
    if (isPassing(error)) throw new Error(message, { cause: error })
    throw new UnusableDatabaseError(message, { cause: error })
  }
}

/** Keeps an earlier note, because the check covers all migrations since. */
function noteUnchecked(sqlite: Database, from: number): void {
  sqlite
    .query('INSERT OR IGNORE INTO about (name, value) VALUES ($name, $from)')
    .run({ name: UNCHECKED_FROM, from: String(from) })
}

/** True if the disk is full or fails, or another process interferes: a later start may succeed. */
function isPassing(error: unknown): boolean {
  return /^SQLITE_(FULL|IOERR|BUSY|LOCKED|NOMEM)/.test(codeOf(error) ?? '')
}

function userVersion(sqlite: Database): number {
  return sqlite.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0
}
