// Record of the installation, kept with the data: a later `up` keeps the same identity, and a relay
// notices that the executable it came from has changed.

import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { readTextOrNull, writeFileAtomically } from '../system/files.ts'
import { hashFile } from '../system/hash.ts'

export type FileStamp = { readonly sizeBytes: number; readonly modifiedMs: number }

/** Executable with the SHA-256 of its bytes in hexadecimal. */
export type ExecutableFile = FileStamp & { readonly path: string; readonly sha256: string }

export type Installation = {
  readonly source: ExecutableFile
  readonly version: string
  /** The owner's identity for code signing; null where one was made here. */
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

export function stampOf(path: string): FileStamp | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? null : { sizeBytes: stats.size, modifiedMs: stats.mtimeMs }
}

/** Executable at `path`; throws where there is none. */
export async function executableAt(path: string): Promise<ExecutableFile> {
  const { size, mtimeMs } = statSync(path)
  return { path, sizeBytes: size, modifiedMs: mtimeMs, sha256: await hashFile(path) }
}

/** True for another file, false for the same, null where only the hash can decide. */
export function hasChanged(then: FileStamp, now: FileStamp): boolean | null {
  if (now.sizeBytes !== then.sizeBytes) return true
  return now.modifiedMs === then.modifiedMs ? false : null
}

function recordPath(dataDir: string): string {
  return join(dataDir, 'service.json')
}

/** Null where the record was edited by hand into something unreadable. */
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
