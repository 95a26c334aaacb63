import { constants } from 'bun:sqlite'
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { basename, join } from 'node:path'

import { COMMAND_LINE } from '../domain/audit.ts'
import { derivedId, type Timestamp } from '../domain/ids.ts'
import { FAILURES, UNCERTAIN_ANNOUNCED_AFTER_MS } from '../domain/message.ts'
import { environmentOf, type OptionTable } from '../domain/option.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import { flush, readTextOrNull, renameDurably, writeFileAtomically } from '../system/files.ts'
import { sha256 } from '../system/hash.ts'
import { bringFilesBack } from './attachment-files.ts'
import { insertAuditEntry, keepTrail } from './audit.ts'
import { listBackups, timeForName } from './backup.ts'
import { closeDatabase, openDatabase, openRaw, removeDatabase, type Db } from './database.ts'
import { requireOwnSchema } from './integrity.ts'
import { newestTimestamp } from './messages.ts'
import { readSchemaState, UnusableDatabaseError, type SchemaState } from './migrations.ts'
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
}

export type Restored = {
  /** The folder in which the replaced files lie now; null where there were none. */
  readonly aside: string | null
  readonly uncertainCount: number
  /** The number of files of attachments that neither the store nor the backup has. */
  readonly missingCount: number
  /** The names of the files that came back beside the database. */
  readonly files: readonly string[]
  /** The lines of `hookline.env` that the backup has otherwise. */
  readonly environment: readonly EnvironmentChange[]
}

/** Files that a backup may bring along; any other name is left in it. */
const CARRIED_NAMES = ['secret.key', 'hookline.env']

/**
 * Puts a backup in the place of what is there, while no relay runs. The database is exchanged last,
 * by one rename: whatever fails before it is undone.
 */
export function restoreBackup(order: RestoreOrder): Restored {
  const { directory, now } = order
  const staged = join(directory.path, 'restoring.db')
  const aside = join(directory.path, `restored-over-${timeForName(now)}`)
  try {
    const { uncertainCount, missingCount, files: carried } = stage(order, staged)
    const { files, environment } = withOwnEnvironment(order, carried)
    const isFirst = !existsSync(directory.database)
    exchange({ directory, staged, aside, files })
    const names = files.map(({ name }) => name)
    return {
      aside: isFirst && names.length === 0 ? null : aside,
      uncertainCount,
      missingCount,
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
 * dispatch never takes it. A restore thus causes no send. Gives the number of those messages.
 */
function adoptBackup(db: Db, { directory, file, now }: RestoreOrder): number {
  const { sqlite } = db
  const adopt = sqlite.transaction(() => {
    const changed = sqlite
      .query(
        `UPDATE messages SET status = 'uncertain', queued_reason = NULL, due_at = $dueAt,
           error_code = 'restored', error_message = $sentence, updated_at = $changedAt,
           contact_hold = CASE status WHEN 'queued' THEN 'none' ELSE contact_hold END,
           revision = revision_before + place
         FROM (
           SELECT seq AS found, row_number() OVER (ORDER BY seq) AS place,
             (SELECT max(revision) FROM messages) AS revision_before
           FROM messages
           WHERE direction = 'outbound' AND status IN ('queued', 'sending', 'uncertain'))
         WHERE seq = found`,
      )
      .run({
        dueAt: now + UNCERTAIN_ANNOUNCED_AFTER_MS,
        sentence: FAILURES.restored,
        changedAt: Math.max(now, newestTimestamp(db)),
      }).changes
    // Sessions that were signed out since the backup stay so.
    sqlite.run('DELETE FROM dashboard_sessions')
    // Nothing waits any more, so no place of the day is reserved.
    sqlite.run('UPDATE contacts SET queued = 0 WHERE queued > 0')
    sqlite.run('UPDATE lines SET contacts_reserved = 0 WHERE contacts_reserved > 0')
    keepTrail(sqlite, directory.database)
    insertAuditEntry(sqlite, COMMAND_LINE, {
      id: derivedId('aud', now, sha256(file)),
      at: now,
      action: 'backup.restored',
      about: { kind: 'backup', id: basename(file) },
    })
    return changed
  })
  return adopt.immediate()
}

/** Checks a copy of the backup, brings it to this executable's schema, and adopts it. */
function stage(
  order: RestoreOrder,
  staged: string,
): Pick<Restored, 'uncertainCount' | 'missingCount'> & { readonly files: readonly CarriedFile[] } {
  copyFileSync(order.file, staged)
  try {
    using raw = openRaw(staged, 'write')
    // Checking a file runs what its schema says: that must be ours first.
    requireOwnSchema(raw)
    requireIntegrity(raw)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new UnusableDatabaseError(`${order.file} cannot be restored: ${why}`, { cause: error })
  }
  const { db } = openDatabase(staged, { version: order.version })
  try {
    const files = takeFiles(db.sqlite).filter(({ name }) => CARRIED_NAMES.includes(name))
    const missingCount = bringFilesBack(db, order.directory.attachments, order.file)
    return { uncertainCount: adoptBackup(db, order), missingCount, files }
  } finally {
    closeDatabase(db)
    flush(staged)
  }
}

/** Sets what is there aside and puts the staged database in its place, with the files beside it. */
function exchange(parts: {
  readonly directory: DataDirectory
  readonly staged: string
  readonly aside: string
  readonly files: readonly CarriedFile[]
}): void {
  const { directory, staged, aside, files } = parts
  mkdirSync(aside, { mode: 0o700 })
  const undo: (() => void)[] = []
  try {
    for (const file of files) replaceFile(join(directory.path, file.name), file, { aside, undo })
    if (existsSync(directory.database)) setDatabaseAside(directory.database, { aside, undo })
    flush(aside)
    renameDurably(staged, directory.database)
  } catch (error) {
    for (const step of undo.toReversed()) step()
    rmSync(aside, { recursive: true, force: true })
    throw error
  }
}

type Aside = { readonly aside: string; readonly undo: (() => void)[] }

function replaceFile(path: string, file: CarriedFile, { aside, undo }: Aside): void {
  const before = existsSync(path) ? readFileSync(path) : null
  if (before !== null) writeFileAtomically(join(aside, file.name), before)
  undo.push(() => {
    if (before === null) rmSync(path, { force: true })
    else writeFileAtomically(path, before)
  })
  writeFileAtomically(path, file.content)
}

/** The database keeps its name until the new one takes it, so that there is one at every moment. */
function setDatabaseAside(path: string, { aside, undo }: Aside): void {
  emptyWriteAheadLog(path)
  for (const end of ['-wal', '-shm']) {
    const target = join(aside, basename(path) + end)
    if (!existsSync(path + end)) continue
    renameSync(path + end, target)
    undo.push(() => renameSync(target, path + end))
  }
  const target = join(aside, basename(path))
  try {
    linkSync(path, target)
  } catch {
    copyFileSync(path, target)
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

/** A line of `hookline.env` that differs between the backup and what is there. */
export type EnvironmentChange = {
  readonly variable: string
  /** The value in the backup: null where the variable is missing, `(hidden)` for a secret. */
  readonly value: string | null
  /** False where the present line stays, because it takes a person's word to change it. */
  readonly isTaken: boolean
}

export type RestoredEnvironment = {
  readonly text: string
  readonly changes: readonly EnvironmentChange[]
}

/**
 * The `hookline.env` that a restore writes: what the backup says, but for what names programs, hosts,
 * ports, files or passwords, which stays as it is unless `takesAll`.
 */
function restoredEnvironment(
  present: string,
  backedUp: string,
  { options, takesAll }: { readonly options: OptionTable; readonly takesAll: boolean },
): RestoredEnvironment {
  const [before, after] = [linesOf(present), linesOf(backedUp)]
  const known = new Map(Object.values(options).map((row) => [environmentOf(row), row]))
  const isTaken = (variable: string | null) =>
    takesAll || variable === null || known.get(variable)?.needsTrust === false
  const lines = [
    ...after.filter(({ variable }) => isTaken(variable)),
    ...before.filter(({ variable }) => !isTaken(variable)),
  ]
  const variables = new Set([...before, ...after].flatMap(({ variable }) => variable ?? []))
  const changes = [...variables]
    .filter((variable) => valueIn(before, variable) !== valueIn(after, variable))
    .map((variable) => ({
      variable,
      // Only what is known to be no secret is shown.
      value: shown(valueIn(after, variable), known.get(variable)?.isSecret === false),
      isTaken: isTaken(variable),
    }))
  return { text: lines.map(({ line }) => `${line}\n`).join(''), changes }
}

type Line = { readonly line: string; readonly variable: string | null; readonly value: string }

/** Lines as `parseOptionFile` reads them; comments have no variable. */
function linesOf(text: string): readonly Line[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const match = /^(?:export\s+)?([A-Z][A-Z0-9_]*)\s*=\s*(.*)$/.exec(line)
      const isComment = match === null && line.startsWith('#')
      return { line, variable: isComment ? null : (match?.[1] ?? line), value: match?.[2] ?? '' }
    })
}

function valueIn(lines: readonly Line[], variable: string): string | null {
  return lines.findLast((line) => line.variable === variable)?.value ?? null
}

function shown(value: string | null, isPublic: boolean): string | null {
  return value === null || isPublic ? value : '(hidden)'
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
