// Files on their way over the link, in pieces that can each be asked for again.

import { open } from 'node:fs/promises'

import { hashFile } from '../system/hash.ts'
import { type Chunk, CHUNK_BYTES } from './wire.ts'

export async function readChunk(path: string, offset: number): Promise<Chunk> {
  try {
    const bytes = await Bun.file(path)
      .slice(offset, offset + CHUNK_BYTES)
      .bytes()
    return { data: bytes.toBase64(), isLast: bytes.length < CHUNK_BYTES }
  } catch {
    return { isMissing: true }
  }
}

type Wanted = {
  readonly path: string
  readonly size: number
  readonly sha256?: string | undefined
  /** Goes on behind the bytes that are there. */
  readonly isResumed?: boolean
}

/**
 * Fetches a file to `path`. False where the other side does not have it, or has other bytes, and where `askFor`
 * gives up with null; rejects where it cannot be written.
 */
export async function fetchFile(
  { path, size, sha256, isResumed = false }: Wanted,
  askFor: (offset: number) => Promise<Chunk | null>,
): Promise<boolean> {
  const file = await open(path, isResumed ? 'a' : 'w', 0o600)
  let offset = (await file.stat()).size
  try {
    for (let isLast = false; !isLast && offset <= size;) {
      const chunk = await askFor(offset)
      if (chunk === null || 'isMissing' in chunk) return false
      const bytes = Uint8Array.fromBase64(chunk.data)
      await file.write(bytes)
      offset += bytes.length
      isLast = chunk.isLast
    }
  } finally {
    await file.close()
  }
  return offset === size && (sha256 === undefined || (await hashFile(path)) === sha256)
}
