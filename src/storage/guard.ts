import { closeSync, openSync, readSync, statSync } from 'node:fs'

import type { Clock } from '../system/clock.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import type { LastingDatabase } from '../system/lasting-database.ts'
import { isDamage, wayBack } from './sqlite-errors.ts'

/** Another Hookline opened the database, and only the last one that opened it may write. */
export class TakenOverError extends Error {
  override readonly name = 'TakenOverError'
}

/**
 * Least time between two checks of the files. Whatever is accepted between a loss and the next check is lost; a check
 * costs as much as several statements.
 */
const LOOK_MS_MIN = 1_000

/**
 * Checks whether a database is still undamaged and still belongs to this process. Each opening raises a number in the
 * file, and a transaction that finds another number is refused. So if two processes both believe that they hold the
 * lock, only one can write.
 */
export class Guard {
  readonly #sqlite: LastingDatabase
  readonly #opening: number
  readonly #readOpening: () => number
  #look: (() => void) | null = null

  constructor(sqlite: LastingDatabase) {
    const read = sqlite.query<{ value: string }, []>(
      "SELECT value FROM about WHERE name = 'opening'",
    )
    this.#sqlite = sqlite
    this.#readOpening = () => Number(read.get()?.value ?? 0)
    this.#opening = sqlite
      .transaction(() => {
        const opening = this.#readOpening() + 1
        sqlite
          .query("INSERT OR REPLACE INTO about (name, value) VALUES ('opening', $opening)")
          .run({ opening: String(opening) })
        return opening
      })
      .immediate()
  }

  /** Also checks the files of the data directory, at most once a second. */
  watch(files: OpenFiles, clock: Clock): void {
    let lookedAt = clock.monotonic()
    this.#look = () => {
      if (clock.monotonic() - lookedAt < LOOK_MS_MIN) return
      files.requireInPlace()
      lookedAt = clock.monotonic()
    }
  }

  /** Calls `act` with each error of a read or write that says the file or its disk is damaged. */
  onDamage(act: (error: unknown) => void): void {
    this.#sqlite.onError = (error) => {
      if (isDamage(error)) act(error)
    }
  }

  /** Throws a LostFileError if a file of the data directory is no longer the one that is open. */
  requireInPlace(): void {
    this.#look?.()
  }

  /** Called within a transaction; throws a TakenOverError if another process opened the database. */
  requireOwn(): void {
    if (this.#readOpening() === this.#opening) return
    throw new TakenOverError(
      `Another Hookline opened ${this.#sqlite.filename} while this one ran, and only the last one ` +
        'may write. Run one at a time, and leave hookline.lock alone.',
    )
  }
}

// The files that a relay has open must stay in its data directory. An open file can be moved, deleted or
// replaced, and then SQLite goes on writing into a file that no later start will find.

/** A file of the data directory isn't the one that the relay has open; the message says what to do. */
export class LostFileError extends Error {
  override readonly name = 'LostFileError'
}

type Identity = { readonly dev: number; readonly ino: number; readonly size: number }

type OpenFile = {
  readonly path: string
  readonly fix: string
  /** The size below which the file is never truncated. SQLite truncates only the log, down to its own limit. */
  readonly keptBytes: number
  identity: Identity
}

/** `journal_size_limit`: a longer log is truncated to this when it starts over. */
export const LOG_BYTES_LIMIT = 64 * 1024 * 1024

const HEADER_BYTES = 32
const LOG_MAGIC = 0x377f0682

/** The files that must stay where they are while a relay runs. */
export class OpenFiles {
  readonly #files: readonly OpenFile[]
  readonly #log: OpenFile

  /** Called right after everything is opened, so that the files found are the open ones. */
  constructor(directory: DataDirectory) {
    const { path, database, lock, secretKey } = directory
    const log = `${database}-wal`
    this.#log = openFile(log, LOST_LOG, LOG_BYTES_LIMIT)
    this.#files = [
      openFile(path, 'Mount its disk again or move it back.', 0),
      openFile(
        database,
        `Put back the file that was there and its "-wal", or ${wayBack(directory)}.`,
        Infinity,
      ),
      this.#log,
      openFile(`${database}-shm`, 'The next start makes a new one.', 0),
      openFile(lock, 'The next start makes a new one.', 0),
      openFile(secretKey, 'Put it back: "hookline backup --to FILE" keeps a copy of it.', 0),
    ]
  }

  /** Throws a LostFileError if one of them was moved, deleted, replaced or cut short. */
  requireInPlace(): void {
    for (const file of this.#files) {
      const found = identityOf(file.path)
      const what = changeOf(file, found)
      if (what !== null || found === null) throw lost(file, what ?? GONE)
      file.identity = found
    }
    if (this.#log.identity.size > 0 && !hasLogHeader(this.#log.path)) {
      throw lost(this.#log, 'was overwritten')
    }
  }
}

const GONE = 'is gone: it was moved or deleted, or its disk was unmounted'
const LOST_LOG =
  'It holds what was written last. Check after the next start that nothing is missing, and leave ' +
  'the files of the data directory alone while a relay runs.'

function openFile(path: string, fix: string, keptBytes: number): OpenFile {
  const identity = identityOf(path)
  if (identity === null) throw new LostFileError(`${path} ${GONE}. ${fix}`)
  return { path, fix, keptBytes, identity }
}

function lost({ path, fix }: OpenFile, what: string): LostFileError {
  return new LostFileError(`${path} ${what}, while the relay ran. ${fix}`)
}

function changeOf({ identity, keptBytes }: OpenFile, found: Identity | null): string | null {
  if (found === null) return GONE
  if (found.dev !== identity.dev || found.ino !== identity.ino) return 'was replaced by another'
  return found.size < Math.min(identity.size, keptBytes) ? 'was cut short' : null
}

function identityOf(path: string): Identity | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null
  } catch {
    return null
  }
}

/** True if the log begins with a valid header (https://sqlite.org/fileformat2.html#walformat). */
function hasLogHeader(path: string): boolean {
  const header = Buffer.alloc(HEADER_BYTES)
  const file = openSync(path, 'r')
  try {
    readSync(file, header, 0, HEADER_BYTES, 0)
  } finally {
    closeSync(file)
  }
  const magic = header.readUInt32BE(0)
  if ((magic & ~1) !== LOG_MAGIC) return false
  const wordAt = (at: number) => (magic & 1 ? header.readUInt32BE(at) : header.readUInt32LE(at))
  let [first, second] = [0, 0]
  for (let at = 0; at < 24; at += 8) {
    first = (first + wordAt(at) + second) >>> 0
    second = (second + wordAt(at + 4) + first) >>> 0
  }
  return first === header.readUInt32BE(24) && second === header.readUInt32BE(28)
}
