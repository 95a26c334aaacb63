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

export type RestoreOrder = {
  readonly directory: DataDirectory
  /** The backup; it stays as it is. */
  readonly file: string
  readonly version: string
  readonly now: Timestamp
  /** The options of this version; one of `hookline.env` that is not among them does not come back. */
  readonly options?: OptionTable | undefined
  /** Programs, hosts, ports, files and passwords of its `hookline.env` come back too. */
  readonly takesEnvironment?: boolean | undefined
  /** The author of the restore and the name of the backup, for the audit trail. */
  readonly origin?: Origin | undefined
  readonly name?: string | undefined
  /** Called between the steps, so that a test can end the process there. */
  readonly onStep?: ((step: string) => void) | undefined
}

/** A checked backup that is to take the place of the data. */
export type RestoreWish = {
  readonly file: string
  readonly name: string
  readonly origin: Origin
}

export type Restored = {
  /** The folder in which the replaced files lie now; null where there were none. */
  readonly aside: string | null
  readonly uncertainCount: number
  /** What may have been revoked since the backup and is valid again; empty if the replaced database has the trail. */
  readonly cameBack: readonly CameBack[]
  /** The number of files of attachments that neither the store nor the backup has. */
  readonly missingCount: number
  /** The names of the files that came back beside the database. */
  readonly files: readonly string[]
  /** The lines of `hookline.env` that the backup has otherwise. */
  readonly environment: readonly EnvironmentChange[]
}

/** Files that a backup may bring along; any other name is left in it. */
const CARRIED_NAMES = ['secret.key', 'hookline.env', 'broker-ca.pem', 'broker.seed']

const STAGED = 'restoring.db'

/**
 * Puts a backup in the place of what is there, while no relay runs. The database is exchanged last,
 * by one rename: whatever fails before it is undone.
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

/** The files of the backup, with the `hookline.env` that may come back. */
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

/**
 * Makes a backup the relay's own past, in one transaction. Since it was written every message in it
 * that had not come to an end may have left, so each becomes `uncertain`: a driver may find its row,
 * dispatch never takes it. A restore thus causes no send. Returns the number of those messages.
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
    // Sessions that were signed out since the backup stay so.
    sqlite.run('DELETE FROM dashboard_sessions')
    // Nothing waits any more, so no place of the day is reserved.
    sqlite.run('UPDATE contacts SET queued = 0 WHERE queued > 0')
    sqlite.run('UPDATE lines SET contacts_reserved = 0 WHERE contacts_reserved > 0')
    // Nor does it upgrade a box.
    sqlite.query('DELETE FROM about WHERE name = $name').run({ name: ROLLOUT })
    const cameBack = endAgain(sqlite, directory.database, now)
    keepOptOuts(sqlite, directory.database)
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

/** Checks a copy of the backup, brings it to this executable's schema, and adopts it. */
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
  readonly files: readonly ExchangedFile[]
  readonly onStep?: RestoreOrder['onStep']
}

/** A file that comes with the database; null where there is none in the new state. */
type ExchangedFile = { readonly name: string; readonly content: Uint8Array | null }

/** An exchange under way, as the next start finds it where this process dies. */
type Journal = {
  readonly staged: string
  readonly aside: string
  readonly files: readonly { readonly name: string; readonly isThere: boolean }[]
}

/**
 * Sets what is there aside and puts the staged database in its place, with the files beside it. From the
 * journal on, until the database has its name, whatever ends it is undone: at once, or at the next start.
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
 * Ends an exchange that broke off. While the staged database has not taken its place, everything is as it
 * was; afterwards only the journal is left. To be called before the database is opened.
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

/** Puts what a restore set aside back in its place, where no relay can serve from what came. */
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

/** The database keeps its name until the new one takes it, so that there is one at every moment. */
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

/** A relay that was killed leaves a log behind. A damaged database keeps its own: it is set aside. */
function emptyWriteAheadLog(path: string): void {
  try {
    const present = openRaw(path, 'write')
    present.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 0)
    present.run('PRAGMA wal_checkpoint(TRUNCATE)')
    present.close()
  } catch {
    // A file that cannot be opened is being replaced anyway.
  }
}

// The way back from a migration whose executable never served: the database as it was, to the letter. A
// restore takes a backup for the past, since which messages have left; this takes it for the present.

/** The schema state of the database at `path`; null where there is none. Throws where it is damaged. */
export function schemaStateOf(path: string): SchemaState | null {
  if (!existsSync(path)) return null
  using database = openRaw(path, 'read')
  return readSchemaState(database)
}

/** The backups in a folder that were made before a migration from schema `version`, oldest first. */
export function backupsBeforeMigration(folder: string, version: number): readonly string[] {
  return listBackups(folder)
    .filter(({ path }) => path.endsWith(`-schema-${version}.db`))
    .map(({ path }) => path)
    .toReversed()
}

/**
 * Puts `backup` in the place of the database, while no relay runs, and gives the folder in which what
 * was there lies now. The database is exchanged by one rename: whatever fails before it is undone.
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
