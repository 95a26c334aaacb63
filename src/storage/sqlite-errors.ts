// Errors of SQLite, and what they mean to a caller who wanted to write.

import { RelayError } from '../domain/errors.ts'

/** The work was not at fault: nothing could be written just then. */
export class NotWrittenError extends Error {
  override readonly name = 'NotWrittenError'
}

/** True where the disk, or the file's allowed size, is full. */
export function isDiskFull(error: unknown): boolean {
  return codesOf(error).some((code) => ['SQLITE_FULL', 'ENOSPC', 'EDQUOT'].includes(code))
}

/** True where the file is damaged, whatever the disk does. */
export function isCorrupt(error: unknown): boolean {
  return codesOf(error).some((code) => /^SQLITE_(CORRUPT|NOTADB)/.test(code))
}

/** True where the file, or the disk under it, is damaged. */
export function isDamage(error: unknown): boolean {
  return codesOf(error).some((code) => /^SQLITE_(IOERR|CORRUPT|NOTADB)/.test(code))
}

/** The first code of an error and its causes; null where none has one. */
export function codeOf(error: unknown): string | null {
  return codesOf(error)[0] ?? null
}

/** The code of an error and those of its causes: drizzle wraps what SQLite throws. */
function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const code = 'code' in error ? [String(error.code)] : []
  return [...code, ...codesOf(error.cause)]
}

/** The refusal of a relay that must not go on: nothing was accepted. */
export function relayStopping(cause: unknown): RelayError {
  const error = new RelayError('stopping', 'The relay is stopping: try again in a few seconds.', {
    retryAfterSeconds: 5,
  })
  error.cause = cause
  return error
}

/** The refusal while nothing can be stored. */
export function storageFull(
  cause?: unknown,
  message = 'The disk of the relay is full.',
): RelayError {
  const error = new RelayError('storage_full', message, { retryAfterSeconds: 30 })
  error.cause = cause
  return error
}

export type DatabasePlace = { readonly database: string; readonly backups?: string | undefined }

/** The error that an owner is shown for damage or a failing disk: which file, and what to do. */
export function damageFound(place: DatabasePlace, cause: unknown): Error {
  const { database } = place
  const message = isCorrupt(cause)
    ? `${database} is damaged. Stop the relay and ${wayBack(place)}.`
    : `The disk fails under ${database}. Check the disk; if the file suffered, ${wayBack(place)}.`
  return new Error(message, { cause })
}

/** The way to bring a database back: the end of a sentence. */
export function wayBack({ backups }: Pick<DatabasePlace, 'backups'>): string {
  const where = backups === undefined ? '' : ` (backups: ${backups})`
  return `restore a backup with "hookline restore FILE"${where}`
}
