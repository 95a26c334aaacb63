// Archives that depend on their content alone: no time, order or user of the machine that makes them.

import { gzipSync } from 'node:zlib'

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

const BLOCK = 512
const PATH_BYTES_MAX = 100
const FOLDER_MODE = 0o755
/** Default of gzip. */
const LEVEL = 6

/** A ustar archive of `entries` and the folders above them, sorted by path. */
export function tar(entries: readonly Entry[], { seconds, prefix = '' }: ArchiveOptions): Buffer {
  const parts: Uint8Array[] = []
  for (const entry of withFolders(entries)) {
    const content = Buffer.from(entry.content ?? '')
    parts.push(tarHeader({ ...entry, path: prefix + entry.path }, content.length, seconds))
    parts.push(content, Buffer.alloc(padding(content.length, BLOCK)))
  }
  parts.push(Buffer.alloc(2 * BLOCK))
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
    return [Buffer.from(header), content, Buffer.alloc(padding(content.length, 2), '\n')]
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

function tarHeader({ path, mode, owner = 0 }: Entry, size: number, seconds: number): Buffer {
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) throw new Error(`${path} is too long for ustar.`)
  const header = Buffer.alloc(BLOCK)
  const write = (at: number, text: string) => header.write(text, at, 'latin1')
  const octal = (value: number, length: number) => value.toString(8).padStart(length - 1, '0')
  write(0, path)
  write(100, octal(mode, 8))
  write(108, octal(owner, 8))
  write(116, octal(owner, 8))
  write(124, octal(size, 12))
  write(136, octal(seconds, 12))
  write(148, ' '.repeat(8)) // The sum of the header counts its own place as blanks.
  write(156, path.endsWith('/') ? '5' : '0')
  write(257, 'ustar\u000000')
  const sum = header.reduce((total, byte) => total + byte, 0)
  write(148, `${octal(sum, 7)}\0 `)
  return header
}

function padding(length: number, unit: number): number {
  return (unit - (length % unit)) % unit
}
