import { constants, Database } from 'bun:sqlite'
import { rmSync } from 'node:fs'

import { drizzle, type BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'

import type { Change } from '../system/change-feed.ts'
import { LastingDatabase } from '../system/lasting-database.ts'
import { Guard, LOG_BYTES_LIMIT } from './guard.ts'
import {
  APPLICATION_ID,
  MIGRATIONS,
  UnusableDatabaseError,
  isUnusableDatabase,
  migrate,
  readSchemaState,
  requireKnownTables,
  type Migration,
} from './migrations.ts'
import { damageFound, wayBack } from './sqlite-errors.ts'
import { statementsOf, type Execute, type Queries } from './statement.ts'

/** The only connection to `hookline.db`, raw and through drizzle; for reading. */
export type Db = Queries & {
  readonly sqlite: Database
  readonly orm: BunSQLiteDatabase
  readonly guard: Guard
}

declare const inTransaction: unique symbol
/** A `Db` inside the writer's transaction. Functions that write take a `Tx`, so nothing can be written outside. */
export type Tx = Db & {
  readonly execute: Execute
  readonly [inTransaction]: true
  /** Changes to publish after the commit; null while nobody watches. */
  readonly changes: Change[] | null
}

const PRAGMAS = [
  'busy_timeout = 5000',
  'journal_mode = WAL',
  'synchronous = FULL',
  'fullfsync = ON',
  'checkpoint_fullfsync = ON',
  'foreign_keys = ON',
  'cell_size_check = ON',
  'temp_store = MEMORY',
  // The system caches pages too, and a larger cache of our own would stay less in the processor's cache.
  'cache_size = -4000',
  // Number of pages in the log, 2 MiB, from which on a commit copies them into the database, with a flush. A larger
  // number would make that commit longer, a smaller one would write hot pages more often. See (k) of scripts/bench.
  'wal_autocheckpoint = 500',
  `journal_size_limit = ${LOG_BYTES_LIMIT}`,
  'mmap_size = 0',
]

export type OpenOptions = {
  readonly version: string
  /** Called before an existing database is migrated; returns the path of the backup. */
  readonly backUp?: ((sqlite: Database, schemaVersion: number) => string) | undefined
  /** The folder of the backups, for error messages. */
  readonly backupsPath?: string | undefined
  readonly migrations?: readonly Migration[] | undefined
}

export type OpenedDatabase = {
  readonly db: Db
  /** The schema number before a migration, and the path of the backup made before it. */
  readonly migratedFrom: number | null
  readonly backupPath: string | null
}

/**
 * Opens the database at `source` (`:memory:` for tests), or an image of one in memory, and migrates it if needed.
 * Throws an UnusableDatabaseError if a person is needed.
 */
export function openDatabase(source: string | Uint8Array, options: OpenOptions): OpenedDatabase {
  const migrations = options.migrations ?? MIGRATIONS
  const sqlite = new LastingDatabase(source, { strict: true, create: true, readwrite: true })
  try {
    sqlite.run('PRAGMA trusted_schema = OFF')
    requireSqliteVersion(sqlite)
    const before = readChecked(sqlite, migrations, options.backupsPath)
    for (const pragma of PRAGMAS) sqlite.run(`PRAGMA ${pragma}`)
    const isBehind = before > 0 && before < migrations.length
    const backupPath = isBehind ? (options.backUp?.(sqlite, before) ?? null) : null
    sqlite.run(`PRAGMA application_id = ${APPLICATION_ID}`)
    migrate(sqlite, options.version, migrations)
    const orm = drizzle({ client: sqlite })
    const db = { ...statementsOf(sqlite), sqlite, orm, guard: new Guard(sqlite) }
    return { db, migratedFrom: isBehind ? before : null, backupPath }
  } catch (error) {
    sqlite.close()
    if (!isUnusableDatabase(error) || error instanceof UnusableDatabaseError) throw error
    const { message } = damageFound(
      { database: sqlite.filename, backups: options.backupsPath },
      error,
    )
    throw new UnusableDatabaseError(message, { cause: error })
  }
}

/** Closes the database. Empties the write-ahead log and leaves no side files behind, even with Apple's SQLite. */
export function closeDatabase(db: Db): void {
  db.sqlite.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 0)
  db.sqlite.query('PRAGMA wal_checkpoint(TRUNCATE)').all()
  db.sqlite.close()
}

function readChecked(
  sqlite: Database,
  migrations: readonly Migration[],
  backups: string | undefined,
): number {
  const known = migrations.length
  const restore = wayBack({ backups })
  const id = sqlite.query<{ application_id: number }, []>('PRAGMA application_id').get()
  const tables = sqlite.query('SELECT 1 FROM sqlite_schema LIMIT 1').all().length
  if (tables > 0 && id?.application_id !== APPLICATION_ID) {
    throw new UnusableDatabaseError(
      `${sqlite.filename} is a SQLite database, but not one of Hookline. Move it away, or ${restore}.`,
    )
  }
  const state = readSchemaState(sqlite)
  if (state.usableFrom > known) {
    throw new UnusableDatabaseError(
      `${sqlite.filename} was written by Hookline ${state.writtenBy ?? '(unknown)'} and needs schema ` +
        `${state.usableFrom}; this executable knows schema ${known}. Start Hookline ` +
        `${state.writtenBy ?? 'of that version'} or newer, or ${restore}.`,
    )
  }
  if (tables > 0) {
    requireKnownTables(state, { name: sqlite.filename, wayBack: restore }, migrations)
  }
  return state.version
}

/** On macOS this checks the system's SQLite: STRICT tables need 3.37. */
function requireSqliteVersion(sqlite: Database): void {
  const row = sqlite.query<{ version: string }, []>('SELECT sqlite_version() AS version').get()
  const [major = 0, minor = 0] = (row?.version ?? '0').split('.').map(Number)
  if (major > 3 || (major === 3 && minor >= 37)) return
  throw new UnusableDatabaseError(
    `The system's SQLite is ${row?.version ?? 'unknown'}; Hookline needs 3.37 or newer.`,
  )
}

export function removeDatabase(path: string): void {
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(path + end, { force: true })
}

/** Opens a database file as it is. Functions in its schema aren't run (SQLite's `trusted_schema`). */
export function openRaw(path: string, access: 'read' | 'write'): Database {
  const options = access === 'read' ? { readonly: true } : { readwrite: true }
  const database = new Database(path, { ...options, strict: true })
  database.run('PRAGMA trusted_schema = OFF')
  database.run('PRAGMA busy_timeout = 5000')
  return database
}

/** Rows of the database at `path`, for a query without parameters; null if it can't be read. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- As Bun's `query` has it.
export function rowsAt<Row>(path: string, sql: string): readonly Row[] | null {
  try {
    using database = openRaw(path, 'read')
    return database.query<Row, []>(sql).all()
  } catch {
    return null
  }
}
