// Makes a verified copy of a database. It blocks the thread, so a running relay calls it in a Worker.

import type { Database } from 'bun:sqlite'
import { chmodSync, rmSync, statSync } from 'node:fs'

import { flush, renameDurably } from '../system/files.ts'
import { openRaw } from './database.ts'
import { isCorrupt, isDiskFull } from './sqlite-errors.ts'

export type SnapshotOrder = {
  readonly from: string
  readonly to: string
  /** Files stored in the copy: see `takeFiles`. */
  readonly files: readonly CarriedFile[]
  /** Set only for the relay's own folder, which is created again if it was deleted. */
  readonly makesFolder?: true
}

export type CarriedFile = { readonly name: string; readonly content: Uint8Array }

export const BACKUP_FILES_TABLE =
  'CREATE TABLE backup_files (name TEXT PRIMARY KEY, content BLOB NOT NULL) STRICT'

export type Snapshot = { readonly path: string; readonly sizeBytes: number }

/**
 * Copies the database as of one moment, checks the copy, and gives it its name only once it is complete and on disk.
 */
export function takeSnapshot(order: SnapshotOrder): Snapshot {
  using source = openRaw(order.from, 'read')
  return snapshotOf(source, order)
}

/** The name of the copy at `to` until it is complete. */
export function nameUntilComplete(to: string): string {
  return `${to}.new`
}

/** Like `takeSnapshot`, through an open connection. */
export function snapshotOf(source: Database, order: Omit<SnapshotOrder, 'from'>): Snapshot {
  const temporary = nameUntilComplete(order.to)
  rmSync(temporary, { force: true })
  try {
    copyInto(source, temporary)
    {
      using copy = openRaw(temporary, 'write')
      if (order.files.length > 0) carryFiles(copy, order.files)
      requireIntegrity(copy)
    }
    chmodSync(temporary, 0o600)
    flush(temporary)
    renameDurably(temporary, order.to)
  } finally {
    rmSync(temporary, { force: true })
  }
  return { path: order.to, sizeBytes: statSync(order.to).size }
}

/** The database to copy is damaged. */
export class SourceDamagedError extends Error {
  override readonly name = 'SourceDamagedError'
}

function copyInto(source: Database, path: string): void {
  try {
    source.query('VACUUM INTO $path').run({ path })
  } catch (error) {
    if (isDiskFull(error)) {
      const message = `The disk of ${path} is full. Delete what is not needed there, or choose another.`
      throw new Error(message, { cause: error })
    }
    if (!isCorrupt(error)) throw error
    throw new SourceDamagedError(`${source.filename} is damaged.`, { cause: error })
  }
}

/** Throws if SQLite finds damage, or a row that points to a missing one. */
export function requireIntegrity(database: Database): void {
  const found = database
    .query<{ integrity_check: string }, []>('PRAGMA integrity_check(3)')
    .all()
    .map((row) => row.integrity_check)
  if (found.join() !== 'ok') {
    const error = new Error(`The file is damaged: ${found.join('; ')}`)
    throw Object.assign(error, { code: 'SQLITE_CORRUPT' })
  }
  const orphans = database.query('PRAGMA foreign_key_check').all().length
  if (orphans > 0) throw new Error(`The file is damaged: ${orphans} rows point to nothing.`)
}

/** Returns the files stored in a backup, and removes their table. */
export function takeFiles(database: Database): readonly CarriedFile[] {
  const table = database.query("SELECT 1 FROM sqlite_schema WHERE name = 'backup_files'").get()
  if (table === null) return []
  const files = database.query<CarriedFile, []>('SELECT name, content FROM backup_files').all()
  database.run('DROP TABLE backup_files')
  return files
}

function carryFiles(copy: Database, files: readonly CarriedFile[]): void {
  copy.run(BACKUP_FILES_TABLE)
  const insert = copy.prepare('INSERT INTO backup_files VALUES ($name, $content)')
  for (const file of files) insert.run(file)
  insert.finalize()
}
