import type { Database } from 'bun:sqlite'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'

import type { BackupContents } from '../api/owner.ts'
import type { AuditedChange } from '../domain/audit.ts'
import { assert, invalidRequest, type RelayError } from '../domain/errors.ts'
import { timestamp } from '../domain/ids.ts'
import type { Clock } from '../system/clock.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import { flushBeside } from '../system/files.ts'
import { isoTime, parseIsoTime } from '../system/iso-time.ts'
import { copyFilesAlong, filesBeside } from './attachment-files.ts'
import type { BackupReply, BackupRequest } from './backup-worker.ts'
import {
  nameUntilComplete,
  snapshotOf,
  type CarriedFile,
  type Snapshot,
  type SnapshotOrder,
} from './snapshot.ts'
import { isDiskFull, storageFull } from './sqlite-errors.ts'

export type BackupKind = 'daily' | 'before_migration'

export type Backup = {
  readonly path: string
  readonly kind: BackupKind
  /** Creation time in milliseconds since 1970, parsed from the file name. */
  readonly createdAt: number
  readonly sizeBytes: number
}

const NAME = /^hookline-(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})Z(?:-schema-\d+)?\.db$/
const BEFORE_MIGRATION_KEPT = 3

type Done = Snapshot | BackupContents | null

/**
 * Copies and checks databases in a separate thread, one after another. The first request starts the
 * thread, because most starts never need it. It isn't ended before the process: ending a thread that
 * holds a database can crash the process.
 */
export class BackupWorker {
  readonly #waiting = new Map<number, PromiseWithResolvers<Done>>()
  readonly #onDamage: (error: unknown) => void
  #thread: Worker | null = null
  #lastId = 0

  /** `onDamage` is called if the database to be copied or checked is damaged. */
  constructor(onDamage: (error: unknown) => void = () => {}) {
    this.#onDamage = onDamage
  }

  async take(order: SnapshotOrder): Promise<Snapshot> {
    if (order.makesFolder === true) makeBackupFolder(dirname(order.to))
    const snapshot = await this.#ask((id) => ({ id, order }))
    assert(snapshot !== null && 'path' in snapshot, 'who asks for a copy gets one')
    return snapshot
  }

  /** The contents of a backup; rejects with the reason if `version` can't restore it. */
  async inspect(backup: string, version: string): Promise<BackupContents> {
    const contents = await this.#ask((id) => ({ id, backup, version }))
    assert(contents !== null && 'counts' in contents, 'who asks for contents gets them')
    return contents
  }

  /** Rejects with the reason if the relay couldn't serve from the database at `path`. */
  async assertIntact(path: string): Promise<void> {
    await this.#ask((id) => ({ id, database: path }))
  }

  #ask(request: (id: number) => BackupRequest): Promise<Done> {
    const waiting = Promise.withResolvers<Done>()
    this.#lastId += 1
    this.#waiting.set(this.#lastId, waiting)
    this.#thread ??= this.#startThread()
    this.#thread.postMessage(request(this.#lastId))
    return waiting.promise
  }

  #startThread(): Worker {
    const thread = new Worker(new URL('./backup-worker.ts', import.meta.url).href)
    thread.unref()
    thread.addEventListener('message', (event: MessageEvent<BackupReply>) => {
      this.#settle(event.data)
    })
    thread.addEventListener('error', (event) => this.#fail(event.message))
    return thread
  }

  #settle(reply: BackupReply): void {
    const waiting = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    if ('done' in reply) {
      waiting?.resolve(reply.done)
      return
    }
    const error = Object.assign(new Error(reply.problem), { code: reply.code })
    waiting?.reject(isDiskFull(error) ? storageFull(error, reply.problem) : error)
    if (reply.isSourceDamaged) this.#onDamage(error)
  }

  #fail(message: string): void {
    for (const waiting of this.#waiting.values()) waiting.reject(new Error(message))
    this.#waiting.clear()
  }
}

const FLUSH_MS = 50

/**
 * Waits for `taking`, which makes the copy `to`, and meanwhile flushes what is written of it. Otherwise the system
 * keeps gigabytes in memory and then writes them all at once, and a commit at that moment waits for a second or more.
 */
export async function flushedMeanwhile(clock: Clock, to: string, taking: Promise<Snapshot>) {
  const end = new AbortController()
  const flush = async () => {
    while (!end.signal.aborted) {
      await clock.sleep(FLUSH_MS, end.signal)
      await flushBeside(nameUntilComplete(to))
    }
  }
  const flushing = flush()
  try {
    return await taking
  } finally {
    end.abort()
    await flushing
  }
}

export function dailyBackup(directory: DataDirectory, now: number): SnapshotOrder {
  const to = join(directory.backups, `hookline-${timeForName(now)}.db`)
  return { from: directory.database, to, files: [], makesFolder: true }
}

/** The order for one file with everything that a restore needs: database, keys, and `hookline.env`. */
export function wholeBackup(directory: DataDirectory, to: string): SnapshotOrder {
  if (!isAbsolute(to)) throw refusedTarget('must be an absolute path')
  const taken = [to, filesBeside(to)].find((path) => existsSync(path))
  if (taken !== undefined) throw refusedTarget(`${taken} is there already: choose another name`)
  const { secretKey, environmentFile, brokerAuthority, brokerSeed } = directory
  const files = [secretKey, environmentFile, brokerAuthority, brokerSeed]
    .filter((path) => existsSync(path))
    .map((path): CarriedFile => ({ name: basename(path), content: readFileSync(path) }))
  return { from: directory.database, to, files }
}

export type BackupWish = {
  /** The path of a whole backup; null for one more daily backup. */
  readonly to: string | null
  readonly withoutAttachments?: boolean | undefined
}

/** Writes a backup for `hookline backup`. A whole backup gets the attachments beside it. */
export async function backUpTo(
  tools: {
    readonly worker: Pick<BackupWorker, 'take'>
    readonly directory: DataDirectory
    readonly clock: Clock
  },
  { to, withoutAttachments = false }: BackupWish,
): Promise<{ path: string; size_bytes: number; attachment_bytes?: number }> {
  const { worker, directory, clock } = tools
  const order = to === null ? dailyBackup(directory, clock.now()) : wholeBackup(directory, to)
  const { path, sizeBytes } = await worker.take(order)
  const made = { path, size_bytes: sizeBytes }
  if (to === null || withoutAttachments) return made
  try {
    return { ...made, attachment_bytes: await copyFilesAlong(directory.attachments, path) }
  } catch (error) {
    rmSync(path, { force: true })
    throw isDiskFull(error) ? storageFull(error, `The disk of ${path} is full.`) : error
  }
}

/** The audited change of a new backup. A whole backup contains the key to everything that the relay seals. */
export function createdBackup(
  path: string,
  { isWhole }: { readonly isWhole: boolean },
): AuditedChange {
  return {
    action: 'backup.created',
    about: { kind: 'backup', id: basename(path) },
    after: { with_secret_key: isWhole },
  }
}

/** Backs a database up before it is migrated, through the same connection; returns the path. */
export function backUpBeforeMigration(
  directory: DataDirectory,
  now: number,
): (sqlite: Database, schemaVersion: number) => string {
  return (sqlite, schemaVersion) => {
    const name = `hookline-${timeForName(now)}-schema-${schemaVersion}.db`
    const { path } = snapshotOf(sqlite, { to: join(directory.backups, name), files: [] })
    keepNewest(directory.backups, 'before_migration', BEFORE_MIGRATION_KEPT)
    return path
  }
}

export function listBackups(folder: string): readonly Backup[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .map((name) => readBackup(folder, name))
    .filter((backup) => backup !== null)
    .sort((a, b) => b.createdAt - a.createdAt || b.path.localeCompare(a.path))
}

export function keepNewest(folder: string, kind: BackupKind, count: number): void {
  const all = listBackups(folder).filter((backup) => backup.kind === kind)
  for (const backup of all.slice(count)) rmSync(backup.path, { force: true })
}

export function makeBackupFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
}

/** `2026-11-21T10-00-00Z`: sorts by time and is a valid name in every file system. */
export function timeForName(ms: number): string {
  return `${isoTime(timestamp(ms)).slice(0, 19).replaceAll(':', '-')}Z`
}

function refusedTarget(message: string): RelayError {
  return invalidRequest({ path: 'to', message })
}

function readBackup(folder: string, name: string): Backup | null {
  const match = NAME.exec(name)
  if (match === null) return null
  const [, day, hour, minute, second] = match
  const path = join(folder, name)
  return {
    path,
    kind: name.includes('-schema-') ? 'before_migration' : 'daily',
    createdAt: parseIsoTime(`${day}T${hour}:${minute}:${second}Z`) ?? 0,
    sizeBytes: statSync(path).size,
  }
}
