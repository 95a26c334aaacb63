// Transfers files over the link in pieces, which can each be requested again. A piece is small enough to be read and
// written at once.

import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'

import { hashFile } from '../system/hash.ts'
import { type Chunk, CHUNK_BYTES } from './wire.ts'

export function readChunk(path: string, offset: number): Chunk {
  const bytes = new Uint8Array(CHUNK_BYTES)
  let file: number | null = null
  try {
    file = openSync(path, 'r')
    const length = readSync(file, bytes, 0, CHUNK_BYTES, offset)
    return { data: bytes.subarray(0, length).toBase64(), isLast: length < CHUNK_BYTES }
  } catch {
    return { isMissing: true }
  } finally {
    if (file !== null) closeSync(file)
  }
}

type Wanted = {
  readonly path: string
  readonly size: number
  readonly sha256?: string | undefined
  /** True to append to the bytes that the file has already. */
  readonly isResumed?: boolean
}

/**
 * Fetches a file to `path`. False if the other side does not have it, or has other or more bytes, and if `askFor`
 * gives up with null; rejects if the file cannot be written.
 */
export async function fetchFile(
  { path, size, sha256, isResumed = false }: Wanted,
  askFor: (offset: number) => Promise<Chunk | null>,
): Promise<boolean> {
  const file = openSync(path, isResumed ? 'a' : 'w', 0o600)
  const hash = createHash('sha256')
  let offset = fstatSync(file).size
  try {
    for (let isLast = false; !isLast && offset <= size;) {
      const piece = pieceOf(await askFor(offset), size - offset)
      if (piece === null) return false
      writeSync(file, piece.bytes)
      hash.update(piece.bytes)
      offset += piece.bytes.length
      isLast = piece.isLast
    }
  } finally {
    closeSync(file)
  }
  if (offset !== size || sha256 === undefined) return offset === size
  return (isResumed ? await hashFile(path) : hash.digest('hex')) === sha256
}

/** Null if the chunk is missing, longer than what is left, or empty without being the last. */
function pieceOf(chunk: Chunk | null, left: number) {
  if (chunk === null || 'isMissing' in chunk) return null
  const bytes = Uint8Array.fromBase64(chunk.data)
  const isEmpty = bytes.length === 0 && !chunk.isLast
  return isEmpty || bytes.length > left ? null : { bytes, isLast: chunk.isLast }
}
