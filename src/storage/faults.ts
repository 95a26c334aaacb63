// What SQLite throws, and what it means to whoever wanted to write.

import { RelayError } from '../domain/errors.ts'

/** The work was not at fault: nothing could be written just then. */
export class NotWrittenError extends Error {
  override readonly name = 'NotWrittenError'
}

/** Whether SQLite says that the disk, or the file's allowed size, is full. */
export function isDiskFull(error: unknown): boolean {
  return codesOf(error).includes('SQLITE_FULL')
}

/** Whether SQLite says that the file, or what it lies on, is not sound. */
export function isDamage(error: unknown): boolean {
  return codesOf(error).some((code) => /^SQLITE_(IOERR|CORRUPT|NOTADB)/.test(code))
}

/** The code of an error and those of its causes: drizzle wraps what SQLite throws. */
function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const code = 'code' in error ? [String(error.code)] : []
  return [...code, ...codesOf(error.cause)]
}

/** What a caller is told while nothing can be stored. */
export function storageFull(cause?: unknown): RelayError {
  const error = new RelayError('storage_full', 'The disk of the relay is full.', {
    retryAfterSeconds: 30,
  })
  error.cause = cause
  return error
}
