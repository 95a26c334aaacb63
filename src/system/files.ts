import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'

import type { Random } from './random.ts'

const SECRET_KEY_LENGTH = 32

/** Makes every file of this process readable by its owner only. */
export function restrictNewFiles(): void {
  process.umask(0o077)
}

/** True if every user of this machine can read a file, by its mode and those of all folders above it. */
export function isReadableByAll(path: string): boolean {
  const lets = (one: string, bit: number): boolean =>
    (statSync(one).mode & bit) !== 0 && (one === dirname(one) || lets(dirname(one), 0o001))
  return existsSync(path) && lets(realpathSync(path), 0o004)
}

/** The text of a small file; null if it is missing or can't be read, for any reason. Blocks. */
export function readTextOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

/** Writes a file of mode 0600 completely or not at all. Blocks until it is on disk; throws if it can't be. */
export function writeFileAtomically(path: string, content: string | Uint8Array): void {
  const temporary = `${path}.new`
  writeFileSync(temporary, content, { mode: 0o600, flush: true })
  renameDurably(temporary, path)
}

/** Renames, and returns once the new name is on disk. */
export function renameDurably(from: string, to: string): void {
  renameSync(from, to)
  flush(dirname(to))
}

/** Forces written data of a file or folder onto the disk. */
export function flush(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Forces what was written so far onto the disk, in another thread; does nothing if there is no such file. */
export async function flushBeside(path: string): Promise<void> {
  const handle = await open(path, 'r').catch(() => null)
  try {
    await handle?.datasync()
  } finally {
    await handle?.close()
  }
}

const PIECE_BYTES = 64 * 1_024

/** A part of a file in pieces; throws if the file ends too early. */
export async function* piecesOf(
  path: string,
  { from, length }: { readonly from: number; readonly length: number },
): AsyncGenerator<Uint8Array, undefined> {
  const handle = await open(path, 'r')
  try {
    for (let left = length; left > 0;) {
      const piece = Buffer.alloc(Math.min(left, PIECE_BYTES))
      const { bytesRead } = await handle.read(piece, 0, piece.length, from + length - left)
      if (bytesRead === 0) throw new Error(`${path} became shorter while it was read.`)
      left -= bytesRead
      yield piece.subarray(0, bytesRead)
    }
  } finally {
    await handle.close()
  }
  return undefined
}

/** Bytes that the user may still write to the disk of `path`. Blocks for the call; throws if there is no such path. */
export function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize
}

/** The bytes of `secret.key`, which is made if it is missing; null if the file isn't a key. */
export function readOrMakeSecretKey(path: string, random: Random): Uint8Array | null {
  if (!existsSync(path)) makeOnce(path, random.bytes(SECRET_KEY_LENGTH))
  const key = new Uint8Array(readFileSync(path))
  return key.length === SECRET_KEY_LENGTH ? key : null
}

/** Creates a file by a hard link, which fails if the file exists: so only one of two processes creates the key. */
function makeOnce(path: string, content: Uint8Array): void {
  const temporary = `${path}.${process.pid}`
  writeFileSync(temporary, content, { mode: 0o600, flush: true })
  try {
    linkSync(temporary, path)
  } catch (error) {
    if (!existsSync(path)) throw error
  } finally {
    rmSync(temporary)
  }
  flush(dirname(path))
}
