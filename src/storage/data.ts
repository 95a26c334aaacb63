import { existsSync, rmSync, statSync } from 'node:fs'

import { RelayError } from '../domain/errors.ts'
import { listWords } from '../domain/number-words.ts'
import type { Clock } from '../system/clock.ts'
import {
  dataDirectoryAt,
  openDataDirectory,
  refuseBox,
  type DataDirectory,
} from '../system/data-directory.ts'
import { freeBytes, readOrMakeSecretKey } from '../system/files.ts'
import { takeInstanceLock } from '../system/instance-lock.ts'
import type { Log } from '../system/log.ts'
import type { Random } from '../system/random.ts'
import { backUpBeforeMigration } from './backup.ts'
import { closeDatabase, openDatabase, type Db } from './database.ts'
import { OpenFiles } from './guard.ts'
import {
  acceptMigration,
  MIGRATIONS,
  readSchemaState,
  UnusableDatabaseError,
} from './migrations.ts'
import { finishExchange } from './restore.ts'
import { damageFound, wayBack, isDamage, isDiskFull } from './sqlite-errors.ts'

export type Data = {
  readonly db: Db
  readonly directory: DataDirectory
  /** The key that seals the secrets in the database: see `SEALED`. */
  readonly secretKey: Uint8Array
  /** Set if an existing database was migrated, now or before a crash, and not checked yet. */
  readonly migration?: UncheckedMigration | undefined
  close(): void
}

export type UncheckedMigration = {
  /** The schema number before the migration. */
  readonly from: number
  accept(): void
}

/** The relay can't start now, but can as soon as `isOver` returns true. */
export class NotYetError extends Error {
  override readonly name = 'NotYetError'
  readonly code: 'starting' | 'storage_full'
  readonly isOver: () => boolean

  constructor(message: string, code: NotYetError['code'], isOver: () => boolean) {
    super(message)
    this.code = code
    this.isOver = isOver
  }
}

type Place = {
  readonly dataDir: string
  readonly host: string
  readonly port: number
  /** Null if the relay serves HTTP. */
  readonly tlsCert?: string | null
}

/** A disk with less free space counts as full, whichever error SQLite reports. */
const FREE_BYTES_LEAST = 1024 * 1024

/** Throws a NotYetError if the existing database is missing: its disk may be mounted later. */
export function requireDatabase(directory: DataDirectory): void {
  const { path, database } = directory
  const isThere = () => (statSync(database, { throwIfNoEntry: false })?.size ?? 0) > 0
  if (isThere()) return
  throw new NotYetError(
    `${database} is not there, and this service does not begin a new relay in its place. If ${path} ` +
      'lies on a disk that is not mounted, mount it; if it was moved, move it back: the relay then goes ' +
      `on by itself. Or ${wayBack(directory)}. To start over without that data: hookline keys create`,
    'starting',
    isThere,
  )
}

/** The error to throw for an `error` at the start: a NotYetError if the disk is full, a sentence for damage. */
export function startFailure(directory: DataDirectory, error: unknown): unknown {
  const { path } = directory
  const hasRoom = () => freeBytes(path) >= FREE_BYTES_LEAST
  const isCode = error instanceof RelayError && error.code === 'storage_full'
  if (error instanceof UnusableDatabaseError || !existsSync(path)) return error
  if (!isCode && !isDiskFull(error) && (!isDamage(error) || hasRoom())) {
    return isDamage(error) ? damageFound(directory, error) : error
  }
  return new NotYetError(
    `The disk of ${path} is full, and the relay cannot start without room. Delete what is not needed ` +
      'on that disk, or move the folder to another and name it by --data-dir.',
    'storage_full',
    hasRoom,
  )
}

/** `host:port` or `https://host:port`; null for port 0, because the system picks the port later. */
export function addressOf({ host, port, tlsCert = null }: Omit<Place, 'dataDir'>): string | null {
  return port === 0 ? null : `${tlsCert === null ? '' : 'https://'}${host}:${port}`
}

/** Locks the data directory for this process and migrates the database. */
export function openData(
  place: Place,
  outer: {
    readonly clock: Clock
    readonly random: Random
    readonly log: Log
    readonly version: string
  },
): Data {
  try {
    return takeData(place, outer)
  } catch (error) {
    throw startFailure(dataDirectoryAt(place.dataDir), error)
  }
}

function takeData(
  place: Place,
  { clock, random, log, version }: Parameters<typeof openData>[1],
): Data {
  const directory = openDataDirectory(place.dataDir)
  refuseBox(directory)
  const holder = { since: clock.now(), task: 'relay', address: addressOf(place) }
  const lock = takeInstanceLock(directory.lock, holder)
  try {
    finishExchange(directory)
    // Left over from a download or upload that was interrupted.
    for (const left of [directory.outgoing, directory.incoming]) {
      rmSync(left, { recursive: true, force: true })
    }
    const { db, migratedFrom, backupPath } = openDatabase(directory.database, {
      version,
      backUp: backUpBeforeMigration(directory, clock.now()),
      backupsPath: directory.backups,
    })
    if (migratedFrom !== null) {
      log.info('database migrated', { from_schema: migratedFrom, backup: backupPath })
    }
    const secretKey = prepare(directory, db, clock, random)
    const close = () => {
      try {
        closeDatabase(db)
      } finally {
        lock.release()
      }
    }
    return { db, directory, secretKey, migration: uncheckedMigration(db), close }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Prepares the opened database for use; closes it if that fails. */
function prepare(directory: DataDirectory, db: Db, clock: Clock, random: Random): Uint8Array {
  try {
    const key = secretKeyOf(directory.secretKey, db, random)
    db.guard.watch(new OpenFiles(directory), clock)
    return key
  } catch (error) {
    db.sqlite.close()
    throw error
  }
}

/** Columns sealed with `secret.key`, what they contain, and how to renew that if the key is lost. */
export const SEALED = [
  {
    column: 'webhook_secrets.sealed',
    what: 'the secrets of webhooks',
    renew: 'give each webhook a new secret: hookline webhooks rotate-secret ID',
  },
  {
    column: 'credentials.sealed_secret',
    what: 'the secrets of keys for compatible APIs',
    renew: 'rotate each of these keys: hookline keys rotate ID',
  },
  {
    column: 'alert_channels.sealed_url',
    what: 'the URLs of alert channels',
    renew: 'add the URLs of alert channels again: hookline alerts add URL',
  },
  {
    column: 'dashboard_owner.totp_sealed',
    what: 'the second step of the sign-in',
    renew: 'turn the second step off: hookline setup-link',
  },
] as const

/** The key; made only if nothing is sealed yet, because a new key couldn't open what the lost one sealed. */
export function secretKeyOf(path: string, { sqlite }: Db, random: Random): Uint8Array {
  const sealed = SEALED.filter(({ column }) => {
    const [table = '', name = ''] = column.split('.')
    return sqlite.query(`SELECT 1 FROM ${table} WHERE ${name} IS NOT NULL LIMIT 1`).get() !== null
  })
  const key = sealed.length > 0 && !existsSync(path) ? null : readOrMakeSecretKey(path, random)
  if (key !== null) return key
  const why = existsSync(path) ? 'is no key: it must have 32 bytes' : 'is missing'
  const opens =
    sealed.length === 0 ? '' : `, and it opens ${listWords(sealed.map(({ what }) => what))}`
  const renew = sealed.length === 0 ? '' : ` Then ${sealed.map(({ renew }) => renew).join('; ')}`
  throw new UnusableDatabaseError(
    `${path} ${why}${opens}. Put it back: a file of "hookline backup --to FILE" holds it, and ` +
      '"hookline restore FILE" brings it back with its database. If it is lost for good, make a new one: ' +
      `head -c 32 /dev/urandom > '${path}'.${renew}`,
  )
}

function uncheckedMigration({ sqlite }: Db): UncheckedMigration | undefined {
  const { version, uncheckedFrom } = readSchemaState(sqlite)
  // An older executable doesn't check what a newer one migrated.
  if (uncheckedFrom === null || version > MIGRATIONS.length) return undefined
  return { from: uncheckedFrom, accept: () => acceptMigration(sqlite) }
}
