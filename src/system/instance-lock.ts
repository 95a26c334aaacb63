// The lock of the data directory, held by one process: a SQLite file whose write lock is kept while it runs. The
// kernel releases it however the process ends, and others can still read who holds it.

import { Database } from 'bun:sqlite'

/** The process that holds the data directory. */
export type Holder = {
  readonly pid: number
  /** Milliseconds since 1970. */
  readonly since: number
  /** `relay`, `command` or `upgrade`. */
  readonly task: string
  /** The address of a relay, if it is known before it listens. */
  readonly address: string | null
}

export type InstanceLock = { release(): void }

/** Another process holds the data directory; `holder` is null if it can't be read. */
export class HeldElsewhereError extends Error {
  override readonly name = 'HeldElsewhereError'
  readonly holder: Holder | null

  constructor(path: string, holder: Holder | null) {
    super(`Another Hookline is using this data directory${describeHolder(holder)}. (${path})`)
    this.holder = holder
  }
}

/** The lock file is something else and must be deleted by hand. */
export class LockFileError extends Error {
  override readonly name = 'LockFileError'
}

/** Keeps connections from being garbage-collected, which would release their locks. */
const held = new Set<Database>()

/**
 * Takes the lock at `path`, until `release` or the end of the process. Blocks for a quarter second at most; throws a
 * HeldElsewhereError if another process has it.
 */
export function takeInstanceLock(path: string, holder: Omit<Holder, 'pid'>): InstanceLock {
  const file = new Database(path, { create: true, readwrite: true, strict: true })
  try {
    // Long enough to wait for a process that only reads the holder.
    file.run('PRAGMA busy_timeout = 250')
    introduce(file, { ...holder, pid: process.pid })
    // Takes the write lock without writing: with a rollback journal, others can still read.
    file.run('BEGIN IMMEDIATE')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const other = code === 'SQLITE_BUSY' ? readHolder(file) : null
    file.close()
    if (code === 'SQLITE_BUSY') throw new HeldElsewhereError(path, other)
    if (!/^SQLITE_(NOTADB|CORRUPT)/.test(code)) throw error
    const message = `${path} is not a Hookline lock file. Delete it; the next start creates a new one.`
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

/** The last holder of the lock at `path`, which is the present one if that process still runs. */
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
