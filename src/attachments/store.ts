// Stores attachment bytes, each file once under its SHA-256. A file is written under a temporary name, flushed and
// renamed, and its folder flushed, before a row may refer to it: no row exists without its bytes.

import {
  constants,
  existsSync,
  lstatSync,
  renameSync,
  rmSync,
  utimesSync,
  type Stats,
} from 'node:fs'
import { copyFile, mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

import { RelayError, invalidRequest } from '../domain/errors.ts'
import { HOUR_MS } from '../domain/time.ts'
import { attachmentPath } from '../storage/attachment-files.ts'
import type { Attachment } from '../storage/attachments.ts'
import type { Core } from '../storage/core.ts'
import { isDiskFull, storageFull } from '../storage/sqlite-errors.ts'
import { inSlices } from '../system/clock.ts'
import { factsOf, type FileFacts } from './file-facts.ts'
import { IncomingFile } from './incoming-file.ts'

export type StoredFile = FileFacts & {
  /** Lower-case hex. */
  readonly sha256: string
  readonly size: number
}

export type UploadLimits = {
  readonly maxBytes: number
  /** The announced length; null if none. */
  readonly declaredBytes: number | null
  /** A known minimum length. */
  readonly leastBytes?: number | undefined
  readonly declaredType: string | null
}

const MB = 1_024 ** 2
const GB = 1_024 ** 3
const INCOMING = 'incoming'
/** `hash` or `hash.variant`. */
const NAME = /^[0-9a-f]{64}(?:\.[a-z]+)?$/
const FRESH_MS = 60_000

export class AttachmentStore {
  readonly #core: Core
  /** Created with the first file. */
  readonly #folder: string
  #used = 0
  #opened: Promise<void> | null = null
  /** Incomplete files; the bytes received so far count. */
  readonly #arriving = new Set<IncomingFile>()
  /** Times at which this process stored a file, kept for an hour. */
  readonly #storedAt = new Map<string, number>()

  constructor(core: Core, folder: string) {
    this.#core = core
    this.#folder = folder
  }

  pathOf(sha256: string, variant?: string): string {
    return attachmentPath(this.#folder, sha256, variant)
  }

  /** True if the complete file is here; throws if the disk can't be read. */
  has({ sha256, size }: Pick<Attachment, 'sha256' | 'size'>): boolean {
    return sha256 !== null && lstatOrNull(this.pathOf(sha256))?.size === size
  }

  /** Stores a stream. Throws and keeps nothing if it is empty, too long, not as long as announced, or over quota. */
  async write(stream: AsyncIterable<Uint8Array>, limits: UploadLimits): Promise<StoredFile> {
    const { maxBytes, declaredBytes, declaredType } = limits
    const leastBytes = declaredBytes ?? limits.leastBytes ?? 0
    if (leastBytes > maxBytes) throw tooLarge(maxBytes)
    const path = await this.newPath()
    if (!this.#hasRoom(leastBytes)) throw quotaReached()
    const incoming = await IncomingFile.create(path)
    return this.#storing(incoming, async () => {
      await this.#receive(stream, incoming, maxBytes)
      requireLength(incoming.size, declaredBytes)
      return this.#place(incoming, declaredType)
    })
  }

  /**
   * Stores a copy of a local file, which must not change meanwhile; doesn't follow links. `missing` means that there
   * is no file. Throws if it can't be read or stored now.
   */
  async keep(
    path: string,
    declaredType: string | null = null,
  ): Promise<StoredFile | 'missing' | 'quota'> {
    const found = lstatOrNull(path)
    if (found === null || !found.isFile()) return 'missing'
    const copy = await this.newPath()
    if (!this.#hasRoom(found.size)) return 'quota'
    if (!(await copied(path, copy))) return 'missing'
    const incoming = await IncomingFile.read(copy)
    return this.#storing(incoming, () => {
      this.#used += incoming.size
      return this.#place(incoming, declaredType)
    })
  }

  /** True if a file that is yet to be fetched would fit in addition to `others` bytes. */
  async takes(size: number, others: number): Promise<boolean> {
    await this.#open()
    const maxBytes = this.#core.settings.get('attachment_max_mb') * MB
    return size <= maxBytes && this.#hasRoom(size + others)
  }

  /** A path for an incomplete file; the next start deletes what is left there. */
  async newPath(): Promise<string> {
    const incoming = join(this.#folder, INCOMING)
    await this.#open()
    // Cleanup tools may delete the folder while the relay runs.
    const made = await mkdir(incoming, { recursive: true, mode: 0o700 })
    if (made !== undefined) await this.#count()
    return join(incoming, Buffer.from(this.#core.random.bytes(12)).toString('hex'))
  }

  /** Stores a variant next to its file; both are deleted together. */
  async keepVariant(from: string, sha256: string, variant: string): Promise<void> {
    const { size } = await stat(from)
    if (!this.#hasRoom(size)) throw quotaReached()
    await flushed(from)
    this.#used += size
    renameSync(from, this.pathOf(sha256, variant))
  }

  /** Deletes a file now. If it was just stored, its row may follow, so the sweep decides later. */
  async release(sha256: string, isNeeded: (sha256: string) => boolean): Promise<void> {
    await this.#open()
    if (this.#isFresh(sha256, FRESH_MS)) return
    for (const path of await this.#paths(sha256)) this.#deleteUnlessNeeded(path, isNeeded)
  }

  /** Deletes files that nothing has needed for an hour. */
  async sweep(isNeeded: (sha256: string) => boolean, signal: AbortSignal): Promise<void> {
    const { clock } = this.#core
    if (!existsSync(this.#folder)) return
    await this.#open()
    for await (const path of inSlices(await this.#paths(), clock)) {
      if (signal.aborted) return
      const found = lstatOrNull(path)
      if (found === null) continue
      const isOld = clock.ageOf(found.mtimeMs) >= HOUR_MS && !this.#isFresh(hashOf(path), HOUR_MS)
      if (isOld) this.#deleteUnlessNeeded(path, isNeeded)
    }
    await this.#count()
    for (const sha256 of this.#storedAt.keys()) {
      if (!this.#isFresh(sha256, HOUR_MS)) this.#storedAt.delete(sha256)
    }
  }

  /** Checks and deletes synchronously: an upload of the same bytes comes before or after. */
  #deleteUnlessNeeded(path: string, isNeeded: (sha256: string) => boolean): void {
    if (isNeeded(hashOf(path))) return
    this.#used -= lstatOrNull(path)?.size ?? 0
    rmSync(path, { force: true })
  }

  #isFresh(sha256: string, ms: number): boolean {
    const at = this.#storedAt.get(sha256)
    return at !== undefined && this.#core.clock.monotonic() - at < ms
  }

  /** The bytes counted so far; the first call starts counting. */
  get usedBytes(): number {
    if (this.#opened === null && existsSync(this.#folder)) void this.#open().catch(() => {})
    return this.#used
  }

  /** Runs `take`, which stores the file; if it fails, nothing of the file stays. */
  async #storing(incoming: IncomingFile, take: () => Promise<StoredFile>): Promise<StoredFile> {
    this.#arriving.add(incoming)
    try {
      return await take()
    } catch (error) {
      if (this.#arriving.delete(incoming)) this.#used -= incoming.size
      throw isDiskFull(error) ? storageFull(error) : error
    } finally {
      await incoming.discard()
    }
  }

  async #receive(stream: AsyncIterable<Uint8Array>, incoming: IncomingFile, maxBytes: number) {
    for await (const chunk of stream) {
      if (incoming.size + chunk.length > maxBytes) throw tooLarge(maxBytes)
      if (!this.#hasRoom(chunk.length)) throw quotaReached()
      this.#used += chunk.length
      await incoming.append(chunk)
    }
  }

  /** Moves a complete file to its final name. Replaces an earlier copy, which may be damaged by now. */
  async #place(incoming: IncomingFile, declaredType: string | null): Promise<StoredFile> {
    const facts = await factsOf(await incoming.head(), declaredType)
    const { size } = incoming
    const sha256 = await incoming.finish()
    const path = this.pathOf(sha256)
    await makeFolder(dirname(path))
    // Synchronous up to `delete`: two uploads of the same bytes count once.
    this.#used -= lstatOrNull(path)?.size ?? 0
    renameSync(incoming.path, path)
    this.#arriving.delete(incoming)
    this.#markStored(path)
    await flushed(dirname(path))
    return { ...facts, sha256, size }
  }

  /** Marks a file as just stored, so that the sweep spares it for an hour, until its row exists. */
  #markStored(path: string): void {
    const { clock } = this.#core
    const seconds = clock.now() / 1_000
    utimesSync(path, seconds, seconds)
    this.#storedAt.set(basename(path), clock.monotonic())
  }

  #hasRoom(bytes: number): boolean {
    return this.#used + bytes <= this.#core.settings.get('attachment_quota_gb') * GB
  }

  #open(): Promise<void> {
    this.#opened ??= this.#openFolder().catch((error: unknown) => {
      this.#opened = null
      throw error
    })
    return this.#opened
  }

  /** Deletes incomplete files of a crash, and counts the rest. */
  async #openFolder(): Promise<void> {
    const incoming = join(this.#folder, INCOMING)
    await rm(incoming, { recursive: true, force: true })
    await mkdir(incoming, { recursive: true, mode: 0o700 })
    await this.#count()
  }

  async #count(): Promise<void> {
    const paths = await this.#paths()
    const before = this.#used
    let used = 0
    for (const { size } of this.#arriving) used += size
    for await (const path of inSlices(paths, this.#core.clock)) used += lstatOrNull(path)?.size ?? 0
    // Changes since `before` are already counted.
    this.#used += used - before
  }

  /** The paths of all files, or of one file and its variants. */
  async #paths(sha256 = ''): Promise<readonly string[]> {
    const from = join(this.#folder, sha256.slice(0, 2))
    const entries = await readdir(from, { recursive: true, withFileTypes: true }).catch(() => [])
    return entries
      .filter((entry) => entry.isFile() && NAME.test(entry.name) && entry.name.startsWith(sha256))
      .map((entry) => join(entry.parentPath, entry.name))
  }
}

const GONE = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ERR_INVALID_ARG_VALUE']

/** The file system's entry at `path`, or null if there is none; throws if that is unknown. */
function lstatOrNull(path: string): Stats | null {
  try {
    return lstatSync(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && GONE.includes(String(error.code))) return null
    throw error
  }
}

/** Copies a file; returns false if it has been deleted. */
async function copied(from: string, to: string): Promise<boolean> {
  try {
    // A clone, if the file system supports it, takes no time and no space.
    await copyFile(from, to, constants.COPYFILE_FICLONE)
    return true
  } catch (error) {
    await rm(to, { force: true })
    if (isDiskFull(error)) throw storageFull(error)
    if (lstatOrNull(from) === null) return false
    throw error
  }
}

function hashOf(path: string): string {
  return basename(path).replace(/\..*$/, '')
}

/** Also flushes the parent: a file is lost if its folder's entry is. */
async function makeFolder(path: string): Promise<void> {
  const made = await mkdir(path, { recursive: true, mode: 0o700 })
  if (made !== undefined) await flushed(dirname(path))
}

async function flushed(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function requireLength(size: number, declaredBytes: number | null): void {
  if (size === 0) throw invalidRequest({ path: '', message: 'The file is empty.' })
  if (declaredBytes === null || declaredBytes === size) return
  const message = `The file has ${size} bytes, and ${declaredBytes} were announced.`
  throw invalidRequest({ path: 'Content-Length', message })
}

function tooLarge(maxBytes: number): RelayError {
  const mb = Math.floor(maxBytes / 1_024 / 1_024)
  const message = `An attachment may have ${mb} MB at most; the setting attachment_max_mb changes that.`
  return new RelayError('payload_too_large', message, { details: { max_bytes: maxBytes } })
}

function quotaReached(): RelayError {
  const message =
    'The room for attachments is full; the setting attachment_quota_gb gives them more.'
  return new RelayError('storage_full', message, {
    details: { limit: 'attachment_quota' },
    retryAfterSeconds: 60,
  })
}
