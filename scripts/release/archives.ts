// Archives that depend on their content alone: no time, order or user of the machine that makes them.

import { gzipSync } from 'node:zlib'

import { TAR_BLOCK, tarHeader, tarPadding } from '../../src/system/tar.ts'

export type Entry = {
  /** Path below the root, without a slash in front; that of a folder ends with one. */
  readonly path: string
  readonly mode: number
  /** Bytes of a file; none for a folder. */
  readonly content?: Uint8Array | string
  /** Number of user and group; root if it is not given. */
  readonly owner?: number
}

export type ArchiveOptions = {
  /** Date of every file, in seconds since 1970. */
  readonly seconds: number
  /** Folder in front of each path. */
  readonly prefix?: string
}

const FOLDER_MODE = 0o755
/** Default of gzip. */
const LEVEL = 6

/** A ustar archive of `entries` and the folders above them, sorted by path. */
export function tar(entries: readonly Entry[], { seconds, prefix = '' }: ArchiveOptions): Buffer {
  const parts: Uint8Array[] = []
  for (const entry of withFolders(entries)) {
    const content = Buffer.from(entry.content ?? '')
    const sizeBytes = content.length
    parts.push(tarHeader({ ...entry, path: prefix + entry.path, sizeBytes, seconds }))
    parts.push(content, tarPadding(sizeBytes))
  }
  parts.push(Buffer.alloc(2 * TAR_BLOCK))
  return Buffer.concat(parts)
}

/** Packed without a name and a date. */
export function gzip(bytes: Uint8Array | string, level = LEVEL): Buffer {
  const packed = gzipSync(bytes, { level })
  // The byte for the operating system differs between builds of zlib.
  packed[9] = 255
  return packed
}

/** An archive of ar(1) as dpkg reads it. */
export function ar(
  files: readonly (readonly [name: string, content: Uint8Array])[],
  seconds: number,
) {
  const parts = files.flatMap(([name, content]) => {
    const fields = [name.padEnd(16), String(seconds).padEnd(12), '0     0     100644  ']
    const header = `${fields.join('')}${String(content.length).padEnd(10)}\`\n`
    return [Buffer.from(header), content, Buffer.alloc(content.length % 2, '\n')]
  })
  return Buffer.concat([Buffer.from('!<arch>\n'), ...parts])
}

export function sha256(bytes: Uint8Array | string): string {
  return new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
}

function withFolders(entries: readonly Entry[]): readonly Entry[] {
  const all = new Map<string, Entry>()
  for (const entry of entries) {
    for (const [{ index }] of entry.path.matchAll(/\//g).map((match) => [match] as const)) {
      const path = entry.path.slice(0, index + 1)
      all.set(path, all.get(path) ?? { path, mode: FOLDER_MODE })
    }
    all.set(entry.path, entry)
  }
  return [...all.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}
