// The record of the installation, kept with the data. With it, a later `up` keeps the signing identity, and a
// relay notices that its executable was replaced.

import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { readTextOrNull, writeFileAtomically } from '../system/files.ts'
import { hashFile } from '../system/hash.ts'

export type FileStamp = { readonly sizeBytes: number; readonly modifiedMs: number }

/** `sha256` is in hexadecimal. */
type ExecutableFile = FileStamp & { readonly path: string; readonly sha256: string }

export type Installation = {
  readonly source: ExecutableFile
  readonly version: string
  /** The owner's identity for code signing; null if this Mac made one. */
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

/** Throws if there is no file at `path`. */
export async function executableAt(path: string): Promise<ExecutableFile> {
  const { size, mtimeMs } = statSync(path)
  return { path, sizeBytes: size, modifiedMs: mtimeMs, sha256: await hashFile(path) }
}

/** True if the file is another one; null if only the hash can decide. */
export function hasChanged(then: FileStamp, now: FileStamp): boolean | null {
  if (now.sizeBytes !== then.sizeBytes) return true
  return now.modifiedMs === then.modifiedMs ? false : null
}

function recordPath(dataDir: string): string {
  return join(dataDir, 'service.json')
}

/** Returns null if the record is unreadable, for example after an edit by hand. */
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
