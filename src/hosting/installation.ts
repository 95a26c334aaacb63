// What was installed, written down beside the data: so that a later `up` keeps the same identity, and a
// relay knows that the executable it came from has changed since.

import { createHash } from 'node:crypto'
import { createReadStream, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { readTextOrNull, writeFileAtomically } from '../system/files.ts'

/** A file as it looks from outside. */
export type FileStamp = { readonly sizeBytes: number; readonly modifiedMs: number }

/** An executable: the same bytes have the same hash (SHA-256, hexadecimal), wherever they lie. */
export type ExecutableFile = FileStamp & { readonly path: string; readonly sha256: string }

export type Installation = {
  readonly source: ExecutableFile
  readonly version: string
  /** The owner's own identity for code signing, or null: one was made here. */
  readonly codesignIdentity: string | null
}

export function readInstallation(dataDir: string): Installation | null {
  return parseInstallation(readTextOrNull(recordPath(dataDir)) ?? '')
}

export function writeInstallation(dataDir: string, installation: Installation): void {
  writeFileAtomically(recordPath(dataDir), `${JSON.stringify(installation, null, 2)}\n`)
}

export function forgetInstallation(dataDir: string): void {
  rmSync(recordPath(dataDir), { force: true })
}

/** Size and date of a file; null where there is none. */
export function stampOf(path: string): FileStamp | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? null : { sizeBytes: stats.size, modifiedMs: stats.mtimeMs }
}

/** Reads the whole file, in pieces: a hundred megabytes must not hold up a relay that runs. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}

/** The executable at `path`; throws where there is none. */
export async function executableAt(path: string): Promise<ExecutableFile> {
  const { size, mtimeMs } = statSync(path)
  return { path, sizeBytes: size, modifiedMs: mtimeMs, sha256: await hashFile(path) }
}

/** Whether the file is another one than it was; `null` where only its hash can tell. */
export function hasChanged(then: FileStamp, now: FileStamp): boolean | null {
  if (now.sizeBytes !== then.sizeBytes) return true
  return now.modifiedMs === then.modifiedMs ? false : null
}

function recordPath(dataDir: string): string {
  return join(dataDir, 'service.json')
}

/** Null where a person has changed the file so that it says nothing any more. */
function parseInstallation(text: string): Installation | null {
  try {
    const { source, version, codesignIdentity } = JSON.parse(text) as Installation // Checked below.
    const { path, sha256, sizeBytes, modifiedMs } = source
    const areTexts = [path, sha256, version, codesignIdentity ?? ''].every(
      (value) => typeof value === 'string',
    )
    if (!areTexts || typeof sizeBytes !== 'number' || typeof modifiedMs !== 'number') return null
    return {
      source: { path, sha256, sizeBytes, modifiedMs },
      version,
      codesignIdentity: codesignIdentity ?? null,
    }
  } catch {
    return null
  }
}
