// The check of a database before it is served from. It takes seconds for each gigabyte, so a running
// relay asks for it in a Worker.

import type { Database } from 'bun:sqlite'
import { copyFileSync, rmSync } from 'node:fs'

import { is } from 'drizzle-orm'
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core'

import { closeDatabase, openDatabase, openRaw } from './database.ts'
import { readSchemaState, UnusableDatabaseError } from './migrations.ts'
import * as tables from './schema.ts'
import { requireIntegrity } from './snapshot.ts'
import * as webhookTables from './webhook-schema.ts'

/**
 * Throws where SQLite finds damage in the file at `path`, where a row points to none, or where a table
 * lacks a column that this executable reads.
 */
export function assertIntact(path: string): void {
  // A connection that can only read knows no CHECK (SQLite 3.54, `sqlite3AddCheckConstraint`).
  const database = openRaw(path, 'write')
  try {
    database.run('PRAGMA query_only = ON')
    requireIntegrity(database)
    for (const table of Object.values({ ...tables, ...webhookTables })) {
      if (is(table, SQLiteTable)) readEveryColumn(database, table)
    }
  } finally {
    database.close()
  }
}

/** With the table's name before each column: SQLite takes a bare name in quotes that it does not know for a text. */
function readEveryColumn(database: Database, table: SQLiteTable): void {
  const { name, columns } = getTableConfig(table)
  const names = columns.map((column) => `"${name}"."${column.name}"`)
  database.query(`SELECT ${names.join(', ')} FROM "${name}" LIMIT 1`).all()
}

/**
 * Migrates a copy of the backup `file` to the schema of this executable and checks it; the copy is at
 * `trial`, and goes. Gives both schema numbers; throws an UnusableDatabaseError where a relay could not
 * serve from what it became.
 */
export function tryMigrations(
  file: string,
  trial: string,
  version: string,
): { readonly from: number; readonly to: number } {
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

function assertTrialIntact(trial: string): void {
  try {
    assertIntact(trial)
  } catch (error) {
    throw new UnusableDatabaseError('What it is migrated to is not sound.', { cause: error })
  }
}

function removeDatabase(path: string): void {
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(path + end, { force: true })
}
