import { Database } from 'bun:sqlite'

/** Opens a database file as it is. Functions that its schema names are not run (SQLite's `trusted_schema`). */
export function openRaw(path: string, access: 'read' | 'write'): Database {
  const options = access === 'read' ? { readonly: true } : { readwrite: true }
  const database = new Database(path, { ...options, strict: true })
  database.run('PRAGMA trusted_schema = OFF')
  database.run('PRAGMA busy_timeout = 5000')
  return database
}
