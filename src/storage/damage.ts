import type { DataDirectory } from '../system/data-directory.ts'
import { isCorrupt } from './faults.ts'

/** The error that an owner is shown for damage or a failing disk: which file, and what to do. */
export function damageFound(directory: DataDirectory, cause: unknown): Error {
  const { database, backups } = directory
  const restore = `"hookline restore FILE" (back-ups: ${backups})`
  const message = isCorrupt(cause)
    ? `${database} is damaged. Stop the relay and go back to a back-up by ${restore}.`
    : `The disk fails under ${database}. Check the disk; if the file suffered, go back to a back-up by ${restore}.`
  return new Error(message, { cause })
}
