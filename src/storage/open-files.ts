// The files that a relay has open must still lie in its data directory. An open file can be moved,
// deleted or replaced, and SQLite goes on writing into one that no later start will find.

import { closeSync, openSync, readSync, statSync } from 'node:fs'

import type { DataDirectory } from '../system/data-directory.ts'
import { wayBack } from './sqlite-errors.ts'

/** A file of the data directory is not the one that the relay has open; the message says what to do. */
export class LostFileError extends Error {
  override readonly name = 'LostFileError'
}

type Identity = { readonly dev: number; readonly ino: number; readonly size: number }

type OpenFile = {
  readonly path: string
  readonly fix: string
  /** Below this size no file of ours is ever cut; the log is, down to its limit. */
  readonly keptBytes: number
  identity: Identity
}

/** `journal_size_limit`: a longer log is cut to this when it starts anew. */
export const LOG_BYTES_LIMIT = 64 * 1024 * 1024

const HEADER_BYTES = 32
const LOG_MAGIC = 0x377f0682

/** The files that must stay where they are while a relay runs. */
export class OpenFiles {
  readonly #files: readonly OpenFile[]
  readonly #log: OpenFile

  /** Right after everything is opened, so that what lies there is what is open. */
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

  /** Throws a LostFileError where one of them was moved, deleted, replaced or cut short. */
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

/** True where the log begins as SQLite writes it (https://sqlite.org/fileformat2.html#walformat). */
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
