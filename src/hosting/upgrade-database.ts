// What becomes of the database when an upgrade is taken back. Most migrations only add, and the old
// executable goes on with what the new one left; for the others there is the copy from before.

import { listBackups } from '../storage/backup.ts'
import type { SchemaState } from '../storage/migrations.ts'
import { backupsBeforeMigration, schemaStateOf } from '../storage/roll-back.ts'
import type { DataDirectory } from '../system/data-directory.ts'

/** The data directory when the old relay had ended and the new one had not begun. */
export type Before = {
  /** The schema of the database; null where there was none, or it was damaged. */
  readonly version: number | null
  readonly backups: ReadonlySet<string>
}

export type WayBack =
  /** The old executable can use it as it is. */
  | { readonly way: 'keep' }
  | { readonly way: 'put_back'; readonly backup: string }
  | { readonly way: 'none'; readonly why: string }

export function readBefore(directory: DataDirectory): Before {
  const backups = listBackups(directory.backups).map(({ path }) => path)
  const state = readState(directory.database)
  const version = state === null || state === 'damaged' ? null : state.version
  return { version, backups: new Set(backups) }
}

/** The way back to an executable that knows `schema` schemas. */
export function wayBack(directory: DataDirectory, schema: number, before: Before): WayBack {
  const state = readState(directory.database)
  if (state === null || before.version === null) return { way: 'keep' }
  if (state !== 'damaged') {
    if (state.usableFrom <= schema) return { way: 'keep' }
    // What it has accepted and sent since is in no back-up.
    if (state.unjudgedFrom === null)
      return { way: 'none', why: 'The new version has served already.' }
  }
  const made = backupsBeforeMigration(directory.backups, before.version)
  // A start that was broken off makes another one: the first is the one from before all of them.
  const backup = made.find((path) => !before.backups.has(path))
  if (backup !== undefined) return { way: 'put_back', backup }
  // The copy comes before the first change: without one nothing was migrated.
  if (state === 'damaged') return { way: 'keep' }
  return { way: 'none', why: 'There is no copy of the database from before.' }
}

function readState(path: string): SchemaState | null | 'damaged' {
  try {
    return schemaStateOf(path)
  } catch {
    return 'damaged'
  }
}
