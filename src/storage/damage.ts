import { isCorrupt } from './sqlite-errors.ts'

/** Where a database and its backups lie. */
export type DatabasePlace = { readonly database: string; readonly backups?: string | undefined }

/** The error that an owner is shown for damage or a failing disk: which file, and what to do. */
export function damageFound(place: DatabasePlace, cause: unknown): Error {
  const { database } = place
  const message = isCorrupt(cause)
    ? `${database} is damaged. Stop the relay and ${wayBack(place)}.`
    : `The disk fails under ${database}. Check the disk; if the file suffered, ${wayBack(place)}.`
  return new Error(message, { cause })
}

/** What brings a database back: the end of a sentence. */
export function wayBack({ backups }: Pick<DatabasePlace, 'backups'>): string {
  const where = backups === undefined ? '' : ` (backups: ${backups})`
  return `restore a backup with "hookline restore FILE"${where}`
}
