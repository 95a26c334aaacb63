// The bytes of attachments, each file once under its SHA-256. A file is written to another name, flushed,
// renamed, and its folder flushed, before anyone may store a row about it: there is no row without its bytes.

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

import type { Attachment } from '../domain/attachment.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { HOUR_MS } from '../domain/time.ts'
import { attachmentPath } from '../storage/attachment-files.ts'
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
  /** Length that the sender announced; null if it did not. */
  readonly declaredBytes: number | null
  /** Length that it has at least, if only that is known beforehand. */
  readonly leastBytes?: number | undefined
  readonly declaredType: string | null
}

const MB = 1_024 ** 2
const GB = 1_024 ** 3
const INCOMING = 'incoming'
/** Hash, or hash and variant. */
const NAME = /^[0-9a-f]{64}(?:\.[a-z]+)?$/
const FRESH_MS = 60_000

export class AttachmentStore {
  readonly #core: Core
  /** Of all files; made by the first one. */
  readonly #folder: string
  #used = 0
  #opened: Promise<void> | null = null
  /** Files without a place yet, whose bytes are counted as far as they are here. */
  readonly #arriving = new Set<IncomingFile>()
  /** Times by hash at which this process stored a file, for an hour. */
  readonly #touchedAt = new Map<string, number>()

  constructor(core: Core, folder: string) {
    this.#core = core
    this.#folder = folder
  }

  pathOf(sha256: string, variant?: string): string {
    return attachmentPath(this.#folder, sha256, variant)
  }

  /** True if the file is here with all its bytes; throws if nobody can say, as its disk cannot be read. */
  has({ sha256, size }: Pick<Attachment, 'sha256' | 'size'>): boolean {
    return sha256 !== null && lookAt(this.pathOf(sha256))?.size === size
  }

  /**
   * Stores what `stream` brings. Throws, with nothing kept, if it is empty, too long, not as long as
   * announced, or if there is no room for it.
   */
  async write(stream: AsyncIterable<Uint8Array>, limits: UploadLimits): Promise<StoredFile> {
    const { maxBytes, declaredBytes, declaredType } = limits
    const leastBytes = declaredBytes ?? limits.leastBytes ?? 0
    if (leastBytes > maxBytes) throw tooLarge(maxBytes)
    const path = await this.newPath()
    if (!this.#hasRoom(leastBytes)) throw quotaReached()
    const incoming = await IncomingFile.create(path)
    return this.#taking(incoming, async () => {
      await this.#receive(stream, incoming, maxBytes)
      requireLength(incoming.size, declaredBytes)
      return this.#place(incoming, declaredType)
    })
  }

  /**
   * Stores a copy of a file of this machine, which must not change meanwhile. Links are not followed. It is `missing`
   * only if it is not there: throws if it cannot be read or stored now.
   */
  async keep(
    path: string,
    declaredType: string | null = null,
  ): Promise<StoredFile | 'missing' | 'quota'> {
    const found = lookAt(path)
    if (found === null || !found.isFile()) return 'missing'
    const copy = await this.newPath()
    if (!this.#hasRoom(found.size)) return 'quota'
    if (!(await copied(path, copy))) return 'missing'
    const incoming = await IncomingFile.read(copy)
    return this.#taking(incoming, () => {
      this.#used += incoming.size
      return this.#place(incoming, declaredType)
    })
  }

  /** True if a file that has yet to be fetched may be kept, beside others that the store does not have yet. */
  async takes(size: number, others: number): Promise<boolean> {
    await this.#open()
    const maxBytes = this.#core.settings.get('attachment_max_mb') * MB
    return size <= maxBytes && this.#hasRoom(size + others)
  }

  /** A path for a file that is not whole yet: what is left there is gone after the next start. */
  async newPath(): Promise<string> {
    const incoming = join(this.#folder, INCOMING)
    await this.#open()
    // Cleaners of temporary files and of empty folders delete it while the relay runs.
    const made = await mkdir(incoming, { recursive: true, mode: 0o700 })
    if (made !== undefined) await this.#count()
    return join(incoming, Buffer.from(this.#core.random.bytes(12)).toString('hex'))
  }

  /** Puts a variant of a file beside it, with which it goes. */
  async keepVariant(from: string, sha256: string, variant: string): Promise<void> {
    const { size } = await stat(from)
    if (!this.#hasRoom(size)) throw quotaReached()
    await flushed(from)
    this.#used += size
    renameSync(from, this.pathOf(sha256, variant))
  }

  /** Deletes a file now, unless it was stored just now and its row may follow: the sweep takes it then. */
  async release(sha256: string, isNeeded: (sha256: string) => boolean): Promise<void> {
    await this.#open()
    if (this.#isFresh(sha256, FRESH_MS)) return
    for (const path of await this.#paths(sha256)) this.#deleteUnlessNeeded(path, isNeeded)
  }

  /** Deletes the files that nothing has needed for an hour. */
  async sweep(isNeeded: (sha256: string) => boolean, signal: AbortSignal): Promise<void> {
    const { clock } = this.#core
    if (!existsSync(this.#folder)) return
    await this.#open()
    for await (const path of inSlices(await this.#paths(), clock)) {
      if (signal.aborted) return
      const found = lookAt(path)
      if (found === null) continue
      const isOld = clock.ageOf(found.mtimeMs) >= HOUR_MS && !this.#isFresh(hashOf(path), HOUR_MS)
      if (isOld) this.#deleteUnlessNeeded(path, isNeeded)
    }
    await this.#count()
    for (const sha256 of this.#touchedAt.keys()) {
      if (!this.#isFresh(sha256, HOUR_MS)) this.#touchedAt.delete(sha256)
    }
  }

  /** Looks and deletes in one turn: an upload of the same bytes comes before or after it. */
  #deleteUnlessNeeded(path: string, isNeeded: (sha256: string) => boolean): void {
    if (isNeeded(hashOf(path))) return
    this.#used -= lookAt(path)?.size ?? 0
    rmSync(path, { force: true })
  }

  #isFresh(sha256: string, ms: number): boolean {
    const at = this.#touchedAt.get(sha256)
    return at !== undefined && this.#core.clock.monotonic() - at < ms
  }

  /** Bytes of all files, as far as they are counted: the first call begins to count. */
  get usedBytes(): number {
    if (this.#opened === null && existsSync(this.#folder)) void this.#open().catch(() => {})
    return this.#used
  }

  /** Puts a file in its place by `take`; whatever fails, nothing of it stays. */
  async #taking(incoming: IncomingFile, take: () => Promise<StoredFile>): Promise<StoredFile> {
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

  async #receive(
    stream: AsyncIterable<Uint8Array>,
    incoming: IncomingFile,
    maxBytes: number,
  ): Promise<void> {
    for await (const chunk of stream) {
      if (incoming.size + chunk.length > maxBytes) throw tooLarge(maxBytes)
      if (!this.#hasRoom(chunk.length)) throw quotaReached()
      this.#used += chunk.length
      await incoming.append(chunk)
    }
  }

  /** Gives a whole file its name. It takes the place of an earlier copy, whose bytes may be damaged by now. */
  async #place(incoming: IncomingFile, declaredType: string | null): Promise<StoredFile> {
    const facts = await factsOf(await incoming.head(), declaredType)
    const { size } = incoming
    const sha256 = await incoming.finish()
    const path = this.pathOf(sha256)
    await makeFolder(dirname(path))
    // Nothing may come between: two uploads of the same bytes count once.
    this.#used -= lookAt(path)?.size ?? 0
    renameSync(incoming.path, path)
    this.#arriving.delete(incoming)
    this.#touch(path)
    await flushed(dirname(path))
    return { ...facts, sha256, size }
  }

  /** The sweep leaves a file alone for an hour from now: its row is not stored yet. */
  #touch(path: string): void {
    const { clock } = this.#core
    const seconds = clock.now() / 1_000
    utimesSync(path, seconds, seconds)
    this.#touchedAt.set(basename(path), clock.monotonic())
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

  /** Deletes what a crash left half-written, and counts the rest. */
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
    for await (const path of inSlices(paths, this.#core.clock)) used += lookAt(path)?.size ?? 0
    // What came or went meanwhile is counted already.
    this.#used += used - before
  }

  /** The paths of all files, or of one with its variants. */
  async #paths(sha256 = ''): Promise<readonly string[]> {
    const from = join(this.#folder, sha256.slice(0, 2))
    const entries = await readdir(from, { recursive: true, withFileTypes: true }).catch(() => [])
    return entries
      .filter((entry) => entry.isFile() && NAME.test(entry.name) && entry.name.startsWith(sha256))
      .map((entry) => join(entry.parentPath, entry.name))
  }
}

const GONE = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ERR_INVALID_ARG_VALUE']

/** What lies at `path`, or null if nothing does; throws if nobody can say. */
function lookAt(path: string): Stats | null {
  try {
    return lstatSync(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && GONE.includes(String(error.code))) return null
    throw error
  }
}

/** Copies a file; false if it went meanwhile. */
async function copied(from: string, to: string): Promise<boolean> {
  try {
    // A clone if the file system can make one: it takes no time and no room.
    await copyFile(from, to, constants.COPYFILE_FICLONE)
    return true
  } catch (error) {
    await rm(to, { force: true })
    if (isDiskFull(error)) throw storageFull(error)
    if (lookAt(from) === null) return false
    throw error
  }
}

function hashOf(path: string): string {
  return basename(path).replace(/\..*$/, '')
}

/** The new folder's own entry is flushed too: a file is not there where its folder is not. */
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
