// Checks a database before it is served from: whether it is undamaged, and whether its schema is ours. That
// takes seconds per gigabyte, so a running relay does it in a Worker.

import { Database } from 'bun:sqlite'
import { constants, copyFileSync } from 'node:fs'

import { is } from 'drizzle-orm'
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core'

import type { BackupContents } from '../api/owner.ts'
import { timestamp } from '../domain/ids.ts'
import { isoTime } from '../system/iso-time.ts'
import * as accessTables from './access-schema.ts'
import * as attachmentTables from './attachment-schema.ts'
import { closeDatabase, openDatabase, openRaw, removeDatabase } from './database.ts'
import {
  APPLICATION_ID,
  migrate,
  MIGRATIONS,
  readSchemaState,
  requireKnownTables,
  UnusableDatabaseError,
} from './migrations.ts'
import * as peopleTables from './people-schema.ts'
import * as tables from './schema.ts'
import { BACKUP_FILES_TABLE, requireIntegrity, takeFiles } from './snapshot.ts'
import { codeOf, isCorrupt } from './sqlite-errors.ts'
import * as statsTables from './stats-schema.ts'
import * as webhookTables from './webhook-schema.ts'

/**
 * Throws if SQLite finds damage in the file at `path`, if a row points to a missing one, or if a table lacks a
 * column that this executable reads.
 */
export function assertIntact(path: string): void {
  // A read-only connection ignores CHECKs (SQLite 3.54, `sqlite3AddCheckConstraint`).
  using database = openRaw(path, 'write')
  database.run('PRAGMA query_only = ON')
  requireIntegrity(database)
  for (const table of Object.values({
    ...tables,
    ...webhookTables,
    ...accessTables,
    ...peopleTables,
    ...attachmentTables,
    ...statsTables,
  })) {
    if (is(table, SQLiteTable)) readEveryColumn(database, table)
  }
}

/** Qualifies each column with its table: SQLite reads an unknown quoted name alone as a text. */
function readEveryColumn(database: Database, table: SQLiteTable): void {
  const { name, columns } = getTableConfig(table)
  const names = columns.map((column) => `"${name}"."${column.name}"`)
  database.query(`SELECT ${names.join(', ')} FROM "${name}" LIMIT 1`).all()
}

/**
 * Migrates a copy of the backup `file` at `trial`, checks it, and deletes it. Returns both schema numbers;
 * throws an UnusableDatabaseError if a relay couldn't serve from the result.
 */
export function tryMigrations(file: string, trial: string, version: string) {
  removeDatabase(trial)
  try {
    copyFileSync(file, trial)
    const { db, migratedFrom } = openDatabase(trial, { version })
    const to = readSchemaState(db.sqlite).version
    closeDatabase(db)
    assertTrialIntact(trial)
    return { from: migratedFrom ?? to, to }
  } finally {
    removeDatabase(trial)
  }
}

const COUNTED = {
  messages: 'messages',
  conversations: 'conversations',
  contacts: 'people',
  phone_lines: 'lines WHERE deleted_at IS NULL',
  webhooks: 'webhooks WHERE deleted_at IS NULL',
  keys: "credentials WHERE kind = 'key' AND revoked_at IS NULL",
  attachments: "attachments WHERE state = 'available'",
} as const

/** Checks a copy of `file` completely, as a restore does; throws if it can't be restored. */
export function inspectBackup(file: string, version: string): BackupContents {
  const trial = `${file}.trial`
  removeDatabase(trial)
  try {
    copyFileSync(file, trial, constants.COPYFILE_FICLONE)
    const writtenBy = requireRestorable(trial)
    const { db, migratedFrom } = openDatabase(trial, { version })
    const hasKey = takeFiles(db.sqlite).some(({ name }) => name === 'secret.key')
    const count = (what: string) =>
      db.sqlite.query<{ value: number | null }, []>(`SELECT ${what} AS value`).get()?.value ?? null
    const counts = Object.entries(COUNTED).map(([name, from]) => [
      name,
      count(`(SELECT count(*) FROM ${from})`),
    ])
    const latest = count('(SELECT max(created_at) FROM messages)')
    closeDatabase(db)
    if (migratedFrom !== null) assertTrialIntact(trial)
    return {
      version: writtenBy,
      latest_message_at: latest === null ? null : isoTime(timestamp(latest)),
      counts: Object.fromEntries(counts) as BackupContents['counts'], // The names in `COUNTED`.
      has_secret_key: hasKey,
    }
  } finally {
    removeDatabase(trial)
  }
}

const NOT_OURS =
  'It is not a database of Hookline. Choose a file that Hookline downloaded (.tar) or wrote into backups (.db).'
const DAMAGED = 'It is damaged. Copy or download it again, or choose an older backup.'

/** Throws unless the schema is ours and SQLite finds no damage; returns the Hookline version that wrote it. */
export function requireRestorable(path: string): string | null {
  try {
    return versionIn(path)
  } catch (error) {
    if (!isCorrupt(error) || error instanceof UnusableDatabaseError) throw error
    const message = codeOf(error) === 'SQLITE_NOTADB' ? NOT_OURS : DAMAGED
    throw new UnusableDatabaseError(message, { cause: error })
  }
}

function versionIn(path: string): string | null {
  using raw = openRaw(path, 'write')
  // Checking a file runs code in its schema, so the schema must be ours first.
  requireOwnSchema(raw)
  requireIntegrity(raw)
  return readSchemaState(raw).writtenBy
}

function assertTrialIntact(trial: string): void {
  try {
    assertIntact(trial)
  } catch (error) {
    throw new UnusableDatabaseError('What it is migrated to is not sound.', { cause: error })
  }
}

type Entry = { readonly type: string; readonly name: string; readonly sql: string | null }

/**
 * Throws an UnusableDatabaseError unless the schema is exactly what our migrations make. Called before
 * anything in a file from outside runs: a planted trigger, view or CHECK would act on each later write.
 */
function requireOwnSchema(database: Database): void {
  const id = database.query<{ application_id: number }, []>('PRAGMA application_id').get()
  if (id?.application_id !== APPLICATION_ID) {
    throw new UnusableDatabaseError(NOT_OURS)
  }
  const state = readSchemaState(database)
  const { version, usableFrom, writtenBy } = state
  if (Math.max(version, usableFrom) > MIGRATIONS.length) {
    const by = writtenBy === null ? 'a newer Hookline' : `Hookline ${writtenBy}`
    throw new UnusableDatabaseError(`${by} wrote it: restore it with that version.`)
  }
  requireKnownTables(state, { name: 'It', wayBack: 'take another backup' })
  const expected = new Set(schemaAt(version).map(written))
  expected.add(written({ type: 'table', name: 'backup_files', sql: BACKUP_FILES_TABLE }))
  expected.add(written({ type: 'index', name: 'sqlite_autoindex_backup_files_1', sql: null }))
  const strange = entriesOf(database).filter((entry) => !expected.delete(written(entry)))
  const missing = [...expected].filter((entry) => !entry.includes('backup_files'))
  if (strange.length === 0 && missing.length === 0) return
  const names = strange.map(({ type, name }) => `${type} ${JSON.stringify(name.slice(0, 60))}`)
  throw new UnusableDatabaseError(
    names.length === 0
      ? 'Parts of its schema are missing.'
      : `Its schema was changed by another program: ${names.slice(0, 5).join(', ')}.`,
  )
}

function schemaAt(version: number): readonly Entry[] {
  using fresh = new Database(':memory:', { strict: true })
  migrate(fresh, 'none', MIGRATIONS.slice(0, version))
  return entriesOf(fresh)
}

/**
 * Leaves out the tables that FTS5 makes for itself, which another version of SQLite may write differently,
 * unless they could run something, by a CHECK, a DEFAULT or a computed column. Also leaves out SQLite's own.
 */
const ENTRIES = `SELECT type, name, sql FROM sqlite_schema
  WHERE name NOT IN ('sqlite_stat1', 'sqlite_stat4', 'sqlite_sequence')
  AND NOT (tbl_name IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')
    AND (type = 'table' AND sql NOT LIKE '%CHECK%' AND sql NOT LIKE '%DEFAULT%' AND sql NOT LIKE '% AS %'
      AND sql NOT LIKE '%AS(%' OR type = 'index' AND sql IS NULL))`

function entriesOf(database: Database): readonly Entry[] {
  return database.query<Entry, []>(ENTRIES).all()
}

function written({ type, name, sql }: Entry): string {
  return JSON.stringify([type, name, sql])
}
