// One process owns the data directory. The lock is a SQLite file whose write lock is held for life: the
// kernel lets go of it whatever ends the process, and others can still read who holds it.

import { Database } from 'bun:sqlite'

/** Who holds the data directory. */
export type Holder = {
  readonly pid: number
  /** Milliseconds since 1970. */
  readonly since: number
  /** What it does: `relay`, or the name of a command. */
  readonly task: string
  /** Where a relay listens, as far as that is known beforehand. */
  readonly address: string | null
}

export type InstanceLock = { release(): void }

/** Another process holds the data directory; `holder` is null where it could not be asked. */
export class HeldElsewhereError extends Error {
  override readonly name = 'HeldElsewhereError'
  readonly holder: Holder | null

  constructor(path: string, holder: Holder | null) {
    super(`Another Hookline uses this data directory${describeHolder(holder)}. (${path})`)
    this.holder = holder
  }
}

/** The lock file is something else; a person must delete it. */
class LockFileError extends Error {
  override readonly name = 'LockFileError'
}

/** A connection that nobody points to is closed with the next collection, and its lock is gone. */
const held = new Set<Database>()

/** Takes the lock at `path`, or throws a HeldElsewhereError that says who has it. */
export function takeInstanceLock(path: string, holder: Omit<Holder, 'pid'>): InstanceLock {
  const file = new Database(path, { create: true, readwrite: true, strict: true })
  try {
    // Long enough for one who only reads who holds it.
    file.run('PRAGMA busy_timeout = 250')
    introduce(file, { ...holder, pid: process.pid })
    // The write lock without a write: with a rollback journal, others can go on reading.
    file.run('BEGIN IMMEDIATE')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const other = code === 'SQLITE_BUSY' ? readHolder(file) : null
    file.close()
    if (code === 'SQLITE_BUSY') throw new HeldElsewhereError(path, other)
    if (!/^SQLITE_(NOTADB|CORRUPT)/.test(code)) throw error
    const message = `${path} is no lock file of Hookline. Delete it: the next start makes a new one.`
    throw new LockFileError(message, { cause: error })
  }
  held.add(file)
  return {
    release() {
      held.delete(file)
      file.close()
    },
  }
}

/** Who took the lock at `path` last: whoever holds it, where a process answers there. */
export function readInstanceHolder(path: string): Holder | null {
  try {
    using file = new Database(path, { readonly: true, strict: true })
    return readHolder(file)
  } catch {
    return null
  }
}

function introduce(file: Database, holder: Holder): void {
  file.run('BEGIN IMMEDIATE')
  file.run(
    `CREATE TABLE IF NOT EXISTS holder (pid INTEGER NOT NULL, since INTEGER NOT NULL,
       task TEXT NOT NULL, address TEXT) STRICT`,
  )
  file.run('DELETE FROM holder')
  file.query('INSERT INTO holder VALUES ($pid, $since, $task, $address)').run(holder)
  file.run('COMMIT')
}

function readHolder(file: Database): Holder | null {
  try {
    return file.query<Holder, []>('SELECT pid, since, task, address FROM holder').get()
  } catch {
    return null
  }
}

function describeHolder(holder: Holder | null): string {
  if (holder === null) return ''
  const what = holder.task === 'relay' ? 'a relay' : `hookline ${holder.task}`
  const where = holder.address === null ? '' : `, at ${holder.address}`
  return `: ${what}, process ${holder.pid}, since ${new Date(holder.since).toISOString()}${where}`
}
