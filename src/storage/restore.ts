import { constants } from 'bun:sqlite'
import { copyFileSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'

import { COMMAND_LINE, type Origin } from '../domain/audit.ts'
import { assert } from '../domain/errors.ts'
import { derivedId, type Timestamp } from '../domain/ids.ts'
import { FAILURES, UNCERTAIN_ANNOUNCED_AFTER_MS } from '../domain/message.ts'
import type { OptionTable } from '../domain/option.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import { flush, readTextOrNull, renameDurably, writeFileAtomically } from '../system/files.ts'
import { sha256 } from '../system/hash.ts'
import { bringFilesBack } from './attachment-files.ts'
import { insertAuditEntry } from './audit.ts'
import { listBackups, timeForName } from './backup.ts'
import { ROLLOUT } from './boxes.ts'
import { closeDatabase, openDatabase, openRaw, removeDatabase, type Db } from './database.ts'
import { endAgain, type CameBack } from './ended.ts'
import { requireRestorable } from './integrity.ts'
import { newestTimestamp } from './messages.ts'
import { readSchemaState, UnusableDatabaseError, type SchemaState } from './migrations.ts'
import { keepOptOuts } from './opt-outs.ts'
import { restoredEnvironment, type EnvironmentChange } from './restore-environment.ts'
import { requireIntegrity, takeFiles, type CarriedFile } from './snapshot.ts'
import { recordRestore } from './stats.ts'

export type RestoreOrder = {
  readonly directory: DataDirectory
  /** The path of the backup, which isn't changed. */
  readonly file: string
  readonly version: string
  readonly now: Timestamp
  /** The options of this version; other names in the backup's `hookline.env` aren't restored. */
  readonly options?: OptionTable | undefined
  /** True if programs, hosts, ports, files and passwords of its `hookline.env` are restored too. */
  readonly takesEnvironment?: boolean | undefined
  /** The author of the restore and the name of the backup, for the audit trail. */
  readonly origin?: Origin | undefined
  readonly name?: string | undefined
  /** Called between the steps, so that a test can kill the process there. */
  readonly onStep?: ((step: string) => void) | undefined
}

/** A checked backup that will replace the data. */
export type RestoreWish = {
  readonly file: string
  readonly name: string
  readonly origin: Origin
}

export type Restored = {
  /** The folder with the replaced files; null if there were none. */
  readonly aside: string | null
  readonly uncertainCount: number
  /** Access that may have been revoked since the backup and is valid again; empty if the replaced data say which. */
  readonly cameBack: readonly CameBack[]
  /** The number of attachments whose file neither the store nor the backup has. */
  readonly missingCount: number
  /** The names of the files restored along with the database. */
  readonly files: readonly string[]
  /** The lines of `hookline.env` that differ in the backup. */
  readonly environment: readonly EnvironmentChange[]
}

/** The files that a restore takes from a backup, besides the database. */
const CARRIED_NAMES = ['secret.key', 'hookline.env', 'broker-ca.pem', 'broker.seed']

const STAGED = 'restoring.db'

/**
 * Replaces the data with a backup, while no relay runs. The database is exchanged last, by one rename:
 * anything that fails before is undone.
 */
export function restoreBackup(order: RestoreOrder): Restored {
  const { directory, now } = order
  const staged = join(directory.path, STAGED)
  const aside = join(directory.path, `restored-over-${timeForName(now)}`)
  try {
    const { files: carried, ...adopted } = stage(order, staged)
    const { files, environment } = withOwnEnvironment(order, carried)
    const isFirst = !existsSync(directory.database)
    exchange({ directory, staged, aside, files, onStep: order.onStep })
    const names = files.map(({ name }) => name)
    return {
      ...adopted,
      aside: isFirst && names.length === 0 ? null : aside,
      files: names,
      environment,
    }
  } finally {
    removeDatabase(staged)
  }
}

/** The files of the backup, with `hookline.env` reduced to what may be restored. */
function withOwnEnvironment(
  { directory, options = {}, takesEnvironment: takesAll = false }: RestoreOrder,
  files: readonly CarriedFile[],
): { readonly files: readonly CarriedFile[]; readonly environment: readonly EnvironmentChange[] } {
  const name = basename(directory.environmentFile)
  const carried = files.find((file) => file.name === name)
  if (carried === undefined) return { files, environment: [] }
  const present = readTextOrNull(directory.environmentFile) ?? ''
  const backedUp = Buffer.from(carried.content).toString()
  const { text, changes } = restoredEnvironment(present, backedUp, { options, takesAll })
  const others = files.filter((file) => file !== carried)
  const isNeeded = changes.some(({ isTaken }) => isTaken)
  const written = isNeeded ? [{ name, content: Buffer.from(text) }] : []
  return { files: [...others, ...written], environment: changes }
}

/** SQL: closes the alerts of a backup as of the time when its relay is last known to have run. */
const CLOSED_ALERTS = `UPDATE alerts SET resolved_at = $now, lasted_ms = max(0,
     max(raised_at, coalesce((SELECT max(alive_at) FROM relay_runs), 0)) - since)
   WHERE resolved_at IS NULL`

/**
 * Prepares a backup to be served from, in one transaction. Every unfinished message in it may have been sent since,
 * so each becomes `uncertain`: a driver may find its row, but dispatch never sends it. So a restore causes no send.
 * Returns the number of those messages.
 */
function adoptBackup(db: Db, order: RestoreOrder): Pick<Restored, 'uncertainCount' | 'cameBack'> {
  const { directory, file, now, origin = COMMAND_LINE, name = basename(file) } = order
  const { sqlite } = db
  const adopt = sqlite.transaction(() => {
    const { changes: uncertainCount } = sqlite
      .query(
        `UPDATE messages SET status = 'uncertain', queued_reason = NULL, due_at = $dueAt,
           error_code = 'restored', error_message = $sentence, updated_at = $changedAt,
           contact_hold = CASE contact_hold WHEN 'spent' THEN 'spent' ELSE 'none' END,
           revision = revision_before + place
         FROM (
           SELECT seq AS found, row_number() OVER (ORDER BY seq) AS place,
             (SELECT max(revision) FROM messages) AS revision_before
           FROM messages
           WHERE direction = 'outbound' AND status IN ('queued', 'deferred', 'sending', 'uncertain'))
         WHERE seq = found`,
      )
      .run({
        dueAt: now + UNCERTAIN_ANNOUNCED_AFTER_MS,
        sentence: FAILURES.restored,
        changedAt: Math.max(now, newestTimestamp(db)),
      })
    // Sessions that were signed out since the backup stay signed out.
    sqlite.run('DELETE FROM dashboard_sessions')
    // No message waits anymore, so none reserves a contact of the day.
    sqlite.run('UPDATE contacts SET queued = 0 WHERE queued > 0')
    sqlite.run('UPDATE lines SET contacts_reserved = 0 WHERE contacts_reserved > 0')
    // A notice may have been sent since the backup. Causes that still last are found again.
    sqlite.run(
      `UPDATE alert_notices SET status = 'failed', error = 'restored'
       WHERE status IN ('waiting', 'handed_over')`,
    )
    sqlite.run('DELETE FROM alerts WHERE raised_at IS NULL')
    sqlite.query(CLOSED_ALERTS).run({ now })
    // An upgrade of boxes doesn't continue.
    sqlite.query('DELETE FROM about WHERE name = $name').run({ name: ROLLOUT })
    const cameBack = endAgain(sqlite, directory.database, now)
    keepOptOuts(sqlite, directory.database)
    recordRestore(db, now)
    insertAuditEntry(sqlite, origin, {
      id: derivedId('aud', now, sha256(file)),
      at: now,
      action: 'backup.restored',
      about: { kind: 'backup', id: name },
    })
    return { uncertainCount, cameBack }
  })
  return adopt.immediate()
}

/** Checks a copy of the backup, migrates it to this executable's schema, and adopts it. */
function stage(
  order: RestoreOrder,
  staged: string,
): Omit<Restored, 'aside' | 'environment' | 'files'> & { readonly files: readonly CarriedFile[] } {
  copyFileSync(order.file, staged)
  try {
    requireRestorable(staged)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new UnusableDatabaseError(`${order.file} cannot be restored: ${why}`, { cause: error })
  }
  const { db } = openDatabase(staged, { version: order.version })
  try {
    const files = takeFiles(db.sqlite).filter(({ name }) => CARRIED_NAMES.includes(name))
    const adopted = adoptBackup(db, order)
    const missingCount = bringFilesBack(db, order.directory.attachments, order.file)
    return { ...adopted, missingCount, files }
  } finally {
    closeDatabase(db)
    flush(staged)
  }
}

type Exchange = {
  readonly directory: DataDirectory
  readonly staged: string
  readonly aside: string
  /** Files beside the database; `content` is null if the new state has no such file. */
  readonly files: readonly { readonly name: string; readonly content: Uint8Array | null }[]
  readonly onStep?: RestoreOrder['onStep']
}

/** The record of a running exchange, stored so that the next start finds it if this process dies. */
type Journal = {
  readonly staged: string
  readonly aside: string
  readonly files: readonly { readonly name: string; readonly isThere: boolean }[]
}

/**
 * Moves the present data aside and puts the staged database and files in its place. If anything stops it
 * after the journal is written and before the database has its name, it is undone, at once or at the next
 * start.
 */
function exchange({ directory, staged, aside, files, onStep = () => {} }: Exchange): void {
  const within = (name: string) => join(directory.path, name)
  mkdirSync(aside, { mode: 0o700 })
  try {
    onStep('aside')
    const present = files.map(({ name }) => ({ name, isThere: existsSync(within(name)) }))
    for (const { name, isThere } of present) {
      if (isThere) writeFileAtomically(join(aside, name), readFileSync(within(name)))
    }
    if (existsSync(directory.database)) keepDatabase(directory.database, aside)
    flush(aside)
    onStep('kept')
    const journal: Journal = { staged: basename(staged), aside: basename(aside), files: present }
    writeFileAtomically(journalPath(directory), JSON.stringify(journal))
    onStep('journal')
    for (const { name, content } of files) {
      if (content === null) rmSync(within(name), { force: true })
      else writeFileAtomically(within(name), content)
      onStep(name)
    }
    for (const end of LOG_ENDS) rmSync(directory.database + end, { force: true })
    onStep('log')
    renameDurably(staged, directory.database)
    onStep('database')
    rmSync(journalPath(directory), { force: true })
  } catch (error) {
    finishExchange(directory)
    rmSync(aside, { recursive: true, force: true })
    throw error
  }
}

const LOG_ENDS = ['-wal', '-shm']

/**
 * Ends an interrupted exchange: undoes it, unless the staged database already has its final name. Called before the
 * database is opened.
 */
export function finishExchange(directory: DataDirectory): void {
  const text = readTextOrNull(journalPath(directory))
  if (text !== null) {
    const { staged, aside, files } = JSON.parse(text) as Journal // `exchange` wrote it.
    const kept = join(directory.path, aside)
    const isUndone = existsSync(join(directory.path, staged))
    if (isUndone) putBack(directory, kept, files)
    rmSync(journalPath(directory))
    flush(directory.path)
    if (isUndone) rmSync(kept, { recursive: true, force: true })
    removeDatabase(join(directory.path, staged))
  }
  removeDatabase(join(directory.path, STAGED))
}

function putBack(directory: DataDirectory, kept: string, files: Journal['files']): void {
  for (const { name, isThere } of files) {
    const path = join(directory.path, name)
    if (!isThere) rmSync(path, { force: true })
    else if (!sameContent(path, join(kept, name))) {
      writeFileAtomically(path, readFileSync(join(kept, name)))
    }
  }
  for (const end of LOG_ENDS) {
    const log = join(kept, basename(directory.database) + end)
    if (existsSync(log)) copyFileSync(log, directory.database + end)
  }
}

function sameContent(a: string, b: string): boolean {
  return existsSync(a) && readFileSync(a).equals(readFileSync(b))
}

function journalPath({ path }: DataDirectory): string {
  return join(path, 'restoring.json')
}

/** Puts back the files that a restore moved aside, because no relay can serve from the restored data. */
export function undoRestore(
  directory: DataDirectory,
  { aside, files }: Pick<Restored, 'files' | 'aside'>,
  now: number,
): void {
  assert(aside !== null, 'a relay had its data before')
  const staged = join(directory.path, STAGED)
  copyFileSync(join(aside, basename(directory.database)), staged)
  flush(staged)
  const before = files.map((name) => {
    const path = join(aside, name)
    return { name, content: existsSync(path) ? readFileSync(path) : null }
  })
  const failed = join(directory.path, `restore-failed-${timeForName(now)}`)
  exchange({ directory, staged, aside: failed, files: before })
  rmSync(aside, { recursive: true, force: true })
}

/** Keeps the database in `aside` by a hard link, so that the old one has its name until the new one takes it. */
function keepDatabase(path: string, aside: string): void {
  emptyWriteAheadLog(path)
  const kept = join(aside, basename(path))
  for (const end of LOG_ENDS) if (existsSync(path + end)) copyFileSync(path + end, kept + end)
  try {
    linkSync(path, kept)
  } catch {
    copyFileSync(path, kept)
  }
}

/** Empties the log that a killed relay left behind. The log of a damaged database is kept aside with it. */
function emptyWriteAheadLog(path: string): void {
  try {
    const present = openRaw(path, 'write')
    present.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 0)
    present.run('PRAGMA wal_checkpoint(TRUNCATE)')
    present.close()
  } catch {
    // This file can't be opened, and is being replaced anyway.
  }
}

// The rollback of a migration whose executable never served. A restore treats a backup as the past, since which
// messages may have been sent; a rollback treats it as the present and changes nothing in it.

/** The schema state of the database at `path`; null if there is no file. Throws if it is damaged. */
export function schemaStateOf(path: string): SchemaState | null {
  if (!existsSync(path)) return null
  using database = openRaw(path, 'read')
  return readSchemaState(database)
}

/** Backups in a folder that were made before a migration from schema `version`, oldest first. */
export function backupsBeforeMigration(folder: string, version: number): readonly string[] {
  return listBackups(folder)
    .filter(({ path }) => path.endsWith(`-schema-${version}.db`))
    .map(({ path }) => path)
    .toReversed()
}

/**
 * Replaces the database with `backup`, while no relay runs; returns the folder with the replaced files. The database
 * is exchanged by one rename: anything that fails before that is undone.
 */
export function rollBackDatabase(directory: DataDirectory, backup: string, now: number): string {
  const staged = join(directory.path, 'rolling-back.db')
  const aside = join(directory.path, `rolled-back-${timeForName(now)}`)
  try {
    copyFileSync(backup, staged)
    {
      using copy = openRaw(staged, 'write')
      requireIntegrity(copy)
    }
    flush(staged)
    exchange({ directory, staged, aside, files: [] })
    return aside
  } finally {
    removeDatabase(staged)
  }
}
