// A relay as one file: a tar archive of `manifest.json`, `hookline.db` (which carries the keys and `hookline.env` too)
// and `attachments/HASH`. The reader accepts only these names, and only plain files, so a foreign archive can't write
// anywhere else. A backup without attachments is just the database.

import { existsSync } from 'node:fs'
import { copyFile, link, mkdir, open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { timestamp } from '../domain/ids.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import { piecesOf } from '../system/files.ts'
import { hashFile } from '../system/hash.ts'
import { isoTime } from '../system/iso-time.ts'
import { readTarHeader, TAR_BLOCK, tarHeader, tarPadding } from '../system/tar.ts'
import { attachmentPath, filesBeside, neededFiles } from './attachment-files.ts'
import { wholeBackup, type BackupWorker } from './backup.ts'

/** True if the file begins like an archive of a relay. */
export async function isArchive(path: string): Promise<boolean> {
  return (await Bun.file(path).slice(0, MANIFEST.length).text()) === MANIFEST
}

/** The file can't be restored; the message says why. */
export class BadBackupError extends Error {
  override readonly name = 'BadBackupError'
}

type Manifest = {
  readonly format: 1
  readonly version: string
  readonly created_at: string
  readonly database: { readonly size: number; readonly sha256: string }
  /** The number of attachment files. */
  readonly attachments: number
}

const MANIFEST = 'manifest.json'
const DATABASE = 'hookline.db'
const ATTACHMENTS = 'attachments/'
const ATTACHMENT = /^attachments\/[0-9a-f]{64}$/
const MANIFEST_BYTES_MAX = 65_536
const SQLITE_MAGIC = 'SQLite format 3\0'

type Entry = { readonly name: string; readonly size: number; readonly path: string }

/** Packs everything. The parts are kept in `folder`, which must be new, until the archive is read. */
export async function* packArchive(
  tools: {
    readonly worker: Pick<BackupWorker, 'take'>
    readonly directory: DataDirectory
    readonly version: string
    readonly now: number
  },
  folder: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, undefined> {
  const { worker, directory, version, now } = tools
  const database = join(folder, DATABASE)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const { sizeBytes: size } = await worker.take(wholeBackup(directory, database))
    const files = await holdFiles(directory.attachments, folder, neededFiles(database), signal)
    const manifest: Manifest = {
      format: 1,
      version,
      created_at: isoTime(timestamp(now)),
      database: { size, sha256: await hashFile(database) },
      attachments: files.length,
    }
    const path = join(folder, MANIFEST)
    const manifestSize = await Bun.write(path, `${JSON.stringify(manifest, null, 2)}\n`)
    const entries = [
      { name: MANIFEST, size: manifestSize, path },
      { name: DATABASE, size, path: database },
      ...files,
    ]
    const seconds = Math.floor(now / 1_000)
    for (const { name, size: sizeBytes, path } of entries) {
      yield tarHeader({ path: name, sizeBytes, mode: 0o600, seconds })
      yield* piecesOf(path, { from: 0, length: sizeBytes })
      const padding = tarPadding(sizeBytes)
      if (padding.length > 0) yield padding
    }
    yield Buffer.alloc(2 * TAR_BLOCK)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return undefined
}

/** Links the files into `folder`, so that they stay while retention may delete them. */
async function holdFiles(
  store: string,
  folder: string,
  hashes: readonly string[],
  signal: AbortSignal,
): Promise<readonly Entry[]> {
  const held: Entry[] = []
  for (const sha256 of hashes) {
    signal.throwIfAborted()
    const from = attachmentPath(store, sha256)
    const path = join(folder, sha256)
    // A file deleted since the snapshot is left out: it will be missing after a restore.
    if (!existsSync(from)) continue
    await link(from, path).catch(() => copyFile(from, path))
    held.push({ name: ATTACHMENTS + sha256, size: (await stat(path)).size, path })
  }
  return held
}

export type ReceivedBackup = {
  /** The database; the attachments are beside it, as with a whole backup. */
  readonly file: string
  readonly sizeBytes: number
}

/**
 * Writes a backup (an archive or just a database) from a stream into `folder`, which must be empty. Throws
 * a BadBackupError for anything else. `requireRoom` must throw if there is no room for so many bytes.
 */
export async function receiveBackup(
  stream: AsyncIterable<Uint8Array>,
  folder: string,
  requireRoom: (bytes: number) => void,
): Promise<ReceivedBackup> {
  const input = new Input(stream[Symbol.asyncIterator]())
  const file = join(folder, DATABASE)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const target = { folder, file, requireRoom }
  try {
    const start = (await input.peek(SQLITE_MAGIC.length)).toString('latin1')
    if (start === SQLITE_MAGIC) await writeEntry(input, { path: file, size: null }, target)
    else await receiveEntries(input, target)
    return { file, sizeBytes: input.taken }
  } finally {
    await input.end()
  }
}

type Target = {
  readonly folder: string
  readonly file: string
  readonly requireRoom: (bytes: number) => void
}

async function receiveEntries(input: Input, target: Target): Promise<void> {
  let manifest: Manifest | null = null
  let attachments = 0
  for (let count = 0; ; count += 1) {
    const block = await input.take(TAR_BLOCK)
    // An empty block ends an archive.
    if (block.every((byte) => byte === 0)) break
    const entry = headerIn(block)
    const { name, size } = entry
    if (count === 0) manifest = await readManifest(input, entry)
    else if (count === 1) await receiveDatabase(input, entry, { ...target, manifest })
    else if (ATTACHMENT.test(name)) {
      const sha256 = name.slice(ATTACHMENTS.length)
      const path = attachmentPath(filesBeside(target.file), sha256)
      if ((await writeEntry(input, { path, size }, target)) !== sha256) throw changed(name)
      attachments += 1
    } else throw strange(name)
    await input.take(tarPadding(size).length)
  }
  if (manifest === null || !existsSync(target.file)) throw notOurs()
  if (attachments !== manifest.attachments) throw incomplete()
}

type Header = { readonly name: string; readonly size: number }

function headerIn(block: Buffer): Header {
  const header = readTarHeader(block)
  if (header === null) throw notOurs()
  if (!header.isFile) throw strange(header.path)
  return { name: header.path, size: header.sizeBytes }
}

async function readManifest(input: Input, { name, size }: Header): Promise<Manifest> {
  if (name !== MANIFEST || size > MANIFEST_BYTES_MAX) throw notOurs()
  try {
    const manifest = JSON.parse((await input.take(size)).toString()) as Manifest // Checked below.
    const { format, database, attachments } = manifest
    if (format === 1 && typeof database.sha256 === 'string' && Number.isInteger(attachments)) {
      return manifest
    }
  } catch (error) {
    if (error instanceof BadBackupError) throw error
  }
  throw new BadBackupError('Its manifest cannot be read: another version may have made it.')
}

async function receiveDatabase(
  input: Input,
  { name, size }: Header,
  target: Target & { readonly manifest: Manifest | null },
): Promise<void> {
  if (name !== DATABASE) throw strange(name)
  const sum = await writeEntry(input, { path: target.file, size }, target)
  if (sum !== target.manifest?.database.sha256) throw changed(name)
}

/** Writes the next `size` bytes (null: all) to a new file; returns their SHA-256. */
async function writeEntry(
  input: Input,
  { path, size }: { readonly path: string; readonly size: number | null },
  { requireRoom }: Target,
): Promise<string> {
  requireRoom(size ?? 0)
  await mkdir(join(path, '..'), { recursive: true, mode: 0o700 })
  const handle = await open(path, 'wx', 0o600).catch((error: unknown) => {
    throw isTaken(error) ? strange(path) : error
  })
  const hasher = new Bun.CryptoHasher('sha256')
  try {
    for await (const chunk of input.bytes(size)) {
      requireRoom(chunk.length)
      hasher.update(chunk)
      for (let from = 0; from < chunk.length;) {
        from += (await handle.write(chunk, from, chunk.length - from)).bytesWritten
      }
    }
  } finally {
    await handle.close()
  }
  return hasher.digest('hex')
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST'
}

/** A stream from which pieces of any length can be taken. */
class Input {
  readonly #chunks: AsyncIterator<Uint8Array>
  #window = Buffer.alloc(0)
  taken = 0

  constructor(chunks: AsyncIterator<Uint8Array>) {
    this.#chunks = chunks
  }

  /** The next bytes, without taking them; fewer at the end. */
  async peek(length: number): Promise<Buffer> {
    while (this.#window.length < length && (await this.#read())) continue
    return this.#window.subarray(0, length)
  }

  async take(length: number): Promise<Buffer> {
    if ((await this.peek(length)).length < length) throw incomplete()
    return this.#cut(length)
  }

  /** The next `size` bytes (null: all) as they come. */
  async *bytes(size: number | null): AsyncGenerator<Uint8Array> {
    for (let left = size ?? Number.POSITIVE_INFINITY; left > 0;) {
      if (this.#window.length === 0 && !(await this.#read())) {
        if (size === null) return
        throw incomplete()
      }
      const part = this.#cut(Math.min(left, this.#window.length))
      left -= part.length
      yield part
    }
  }

  async end(): Promise<void> {
    await this.#chunks.return?.()
  }

  #cut(length: number): Buffer {
    const part = this.#window.subarray(0, length)
    this.#window = this.#window.subarray(length)
    this.taken += length
    return part
  }

  /** Returns false at the end. A chunk is valid until the next one is requested, so its bytes are copied. */
  async #read(): Promise<boolean> {
    const next = await this.#chunks.next()
    if (next.done === true) return false
    this.#window = Buffer.concat([this.#window, next.value])
    return true
  }
}

const notOurs = () =>
  new BadBackupError(
    'It is not a backup of Hookline. Choose a .tar or .db file that Hookline made.',
  )
const incomplete = () => new BadBackupError('It is incomplete. Download or copy it again.')
const changed = (name: string) =>
  new BadBackupError(`Its ${name} is damaged: the checksum does not match.`)

function strange(name: string): BadBackupError {
  const shown = JSON.stringify(name.slice(-100))
  return new BadBackupError(`It contains ${shown}, which is not part of a backup of Hookline.`)
}
