import type { Clock } from '../system/clock.ts'
import { openDataDirectory, type DataDirectory } from '../system/data-directory.ts'
import { readOrMakeSecretKey } from '../system/files.ts'
import { takeInstanceLock } from '../system/instance-lock.ts'
import type { Log } from '../system/log.ts'
import type { Random } from '../system/random.ts'
import { backUpBeforeMigration } from './backup.ts'
import { closeDatabase, openDatabase, type Db } from './database.ts'
import { acceptMigration, MIGRATIONS, readSchemaState } from './migrations.ts'

/** What lies in the data directory, opened. */
export type Data = {
  readonly db: Db
  readonly directory: DataDirectory
  /** Seals the secrets of webhooks. */
  readonly secretKey: Uint8Array
  /** Present where a database that existed was migrated, now or before a crash, and not judged yet. */
  readonly migration?: UnjudgedMigration | undefined
  close(): void
}

export type UnjudgedMigration = {
  /** The schema number from before it. */
  readonly from: number
  /** Notes that the relay may serve what was migrated. */
  accept(): void
}

type Place = { readonly dataDir: string; readonly host: string; readonly port: number }
type Tools = {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly version: string
}

/** Takes the data directory for this process, and migrates what lies in it. */
export function openData(place: Place, { clock, random, log, version }: Tools): Data {
  const directory = openDataDirectory(place.dataDir)
  // A free port is known only once it is taken.
  const address = place.port === 0 ? null : `${place.host}:${place.port}`
  const lock = takeInstanceLock(directory.lock, { since: clock.now(), task: 'relay', address })
  try {
    const { db, migratedFrom, backupPath } = openDatabase(directory.database, {
      version,
      backUp: backUpBeforeMigration(directory, clock.now()),
      backupsPath: directory.backups,
    })
    if (migratedFrom !== null) {
      log.info('database migrated', { from_schema: migratedFrom, backup: backupPath })
    }
    const secretKey = readOrMakeSecretKey(directory.secretKey, random)
    const close = () => {
      try {
        closeDatabase(db)
      } finally {
        lock.release()
      }
    }
    return { db, directory, secretKey, migration: unjudgedMigration(db), close }
  } catch (error) {
    lock.release()
    throw error
  }
}

function unjudgedMigration({ sqlite }: Db): UnjudgedMigration | undefined {
  const { version, unjudgedFrom } = readSchemaState(sqlite)
  // An older executable that went back to work has nothing to do with what the newer one migrated.
  if (unjudgedFrom === null || version > MIGRATIONS.length) return undefined
  return { from: unjudgedFrom, accept: () => acceptMigration(sqlite) }
}
