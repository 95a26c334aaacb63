// The check that a file given to a restore is a database of ours, before anything in it runs: a
// planted trigger, view or CHECK would act with each later write.

import { Database } from 'bun:sqlite'

import {
  APPLICATION_ID,
  migrate,
  MIGRATIONS,
  readSchemaState,
  UnusableDatabaseError,
} from './migrations.ts'
import { BACKUP_FILES_TABLE } from './snapshot.ts'

type Entry = { readonly type: string; readonly name: string; readonly sql: string | null }

/** Tables that SQLite makes by itself. */
const MADE_BY_SQLITE = new Set(['sqlite_stat1', 'sqlite_stat4', 'sqlite_sequence'])

/** Throws an UnusableDatabaseError unless the schema is, to the letter, what our migrations make. */
export function requireOwnSchema(database: Database): void {
  const id = database.query<{ application_id: number }, []>('PRAGMA application_id').get()
  if (id?.application_id !== APPLICATION_ID) {
    throw new UnusableDatabaseError('It is not a database of Hookline.')
  }
  const { version, writtenBy } = readSchemaState(database)
  if (version > MIGRATIONS.length) {
    const by = writtenBy === null ? 'a newer Hookline' : `Hookline ${writtenBy}`
    throw new UnusableDatabaseError(`${by} wrote it: restore it with that version.`)
  }
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
      : `Its schema was changed by somebody else: ${names.slice(0, 5).join(', ')}.`,
  )
}

function schemaAt(version: number): readonly Entry[] {
  const fresh = new Database(':memory:', { strict: true })
  try {
    migrate(fresh, 'none', MIGRATIONS.slice(0, version))
    return entriesOf(fresh)
  } finally {
    fresh.close()
  }
}

function entriesOf(database: Database): readonly Entry[] {
  return database
    .query<Entry, []>('SELECT type, name, sql FROM sqlite_schema')
    .all()
    .filter(({ name }) => !MADE_BY_SQLITE.has(name))
}

function written({ type, name, sql }: Entry): string {
  return JSON.stringify([type, name, sql])
}
