// The way back from a migration whose executable never served: the database as it was, to the letter.
// A restore is something else: it takes a backup for the past, since which messages have left.

import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import type { DataDirectory } from '../system/data-directory.ts'
import { flush } from '../system/files.ts'
import { listBackups, timeForName } from './backup.ts'
import { openRaw } from './database.ts'
import { readSchemaState, type SchemaState } from './migrations.ts'
import { exchange } from './restore.ts'
import { requireIntegrity } from './snapshot.ts'

/** The schema state of the database at `path`; null where there is none. Throws where it is damaged. */
export function schemaStateOf(path: string): SchemaState | null {
  if (!existsSync(path)) return null
  const database = openRaw(path, 'read')
  try {
    return readSchemaState(database)
  } finally {
    database.close()
  }
}

/** The backups in a folder that were made before a migration from schema `version`, oldest first. */
export function backupsBeforeMigration(folder: string, version: number): readonly string[] {
  return listBackups(folder)
    .filter(({ path }) => path.endsWith(`-schema-${version}.db`))
    .map(({ path }) => path)
    .toReversed()
}

/**
 * Puts `backup` in the place of the database, while no relay runs, and gives the folder in which what
 * was there lies now. The database is exchanged by one rename: whatever fails before it is undone.
 */
export function rollBackDatabase(directory: DataDirectory, backup: string, now: number): string {
  const staged = join(directory.path, 'rolling-back.db')
  const aside = join(directory.path, `rolled-back-${timeForName(now)}`)
  try {
    copyFileSync(backup, staged)
    const copy = openRaw(staged, 'write')
    try {
      requireIntegrity(copy)
    } finally {
      copy.close()
    }
    flush(staged)
    exchange({ directory, staged, aside, files: [] })
    return aside
  } finally {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(staged + end, { force: true })
  }
}
