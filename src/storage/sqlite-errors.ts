// Errors of SQLite, and the errors that callers get for them.

import { RelayError } from '../domain/errors.ts'

/** Nothing could be written at that time; the work itself wasn't at fault. */
export class NotWrittenError extends Error {
  override readonly name = 'NotWrittenError'
}

/** True if the disk is full, or the file's size limit or quota is reached. */
export function isDiskFull(error: unknown): boolean {
  return codesOf(error).some((code) => ['SQLITE_FULL', 'ENOSPC', 'EDQUOT'].includes(code))
}

/** True if the file itself is damaged. */
export function isCorrupt(error: unknown): boolean {
  return codesOf(error).some((code) => /^SQLITE_(CORRUPT|NOTADB)/.test(code))
}

/** True if the file or the disk is damaged. */
export function isDamage(error: unknown): boolean {
  return codesOf(error).some((code) => /^SQLITE_(IOERR|CORRUPT|NOTADB)/.test(code))
}

/** The first code of an error and its causes, if any. */
export function codeOf(error: unknown): string | null {
  return codesOf(error)[0] ?? null
}

/** The codes of an error and its causes: drizzle wraps SQLite's errors. */
function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const code = 'code' in error ? [String(error.code)] : []
  return [...code, ...codesOf(error.cause)]
}

/** The error of a relay that must stop: nothing was accepted. */
export function relayStopping(cause: unknown): RelayError {
  const error = new RelayError('stopping', 'The relay is stopping: try again in a few seconds.', {
    retryAfterSeconds: 5,
  })
  error.cause = cause
  return error
}

export function storageFull(cause?: unknown, message = 'The disk of the relay is full.') {
  const error = new RelayError('storage_full', message, { retryAfterSeconds: 30 })
  error.cause = cause
  return error
}

export type DatabasePlace = { readonly database: string; readonly backups?: string | undefined }

/** The error for damage or a failing disk; it names the file and what to do. */
export function damageFound(place: DatabasePlace, cause: unknown): Error {
  const { database } = place
  const message = isCorrupt(cause)
    ? `${database} is damaged. Stop the relay and ${wayBack(place)}.`
    : `The disk fails under ${database}. Check the disk; if the file suffered, ${wayBack(place)}.`
  return new Error(message, { cause })
}

/** A way to get a database back; the end of a sentence. */
export function wayBack({ backups }: Pick<DatabasePlace, 'backups'>): string {
  const where = backups === undefined ? '' : ` (backups: ${backups})`
  return `restore a backup with "hookline restore FILE"${where}`
}
