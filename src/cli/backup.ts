import { createReadStream, existsSync, rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'

import { optionsOf } from '../config.ts'
import { COMMAND_LINE } from '../domain/audit.ts'
import { timestamp } from '../domain/ids.ts'
import { BadBackupError, isArchive, receiveBackup } from '../storage/archive.ts'
import { filesBeside } from '../storage/attachment-files.ts'
import { recordedIfRoom } from '../storage/audit.ts'
import { BackupWorker, backUpTo, createdBackup, listBackups } from '../storage/backup.ts'
import type { CameBack } from '../storage/ended.ts'
import { UnusableDatabaseError } from '../storage/migrations.ts'
import type { EnvironmentChange } from '../storage/restore-environment.ts'
import { restoreBackup } from '../storage/restore.ts'
import { storageFull } from '../storage/sqlite-errors.ts'
import { nextTurn, systemClock } from '../system/clock.ts'
import { dataDirectoryAt, type DataDirectory } from '../system/data-directory.ts'
import { freeBytes } from '../system/files.ts'
import { isoTime } from '../system/iso-time.ts'
import { VERSION } from '../system/version.ts'
import { EXIT, argument, type Call, type ExitCode } from './command.ts'
import { holdUnlessRunning, throughRelayOrFile } from './own-file.ts'
import { sizeCell, table, timeCell } from './table.ts'

/** A database of ten million messages takes minutes to copy and check. */
const BACKUP_MS_MAX = 3_600_000

export async function backUp(call: Call): Promise<undefined> {
  const option = call.options.get('to')
  const to = option === undefined ? null : resolve(call.surroundings.folder, option)
  const withoutAttachments = call.options.has('without-attachments')
  const made = await call.out.during(
    'Copying and checking the database',
    throughRelayOrFile(call, {
      relay: (client) =>
        client.ask('createBackup', {
          body: { to: to ?? undefined, without_attachments: withoutAttachments || undefined },
          timeoutMs: BACKUP_MS_MAX,
        }),
      file: async ({ directory, writer, audit }) => {
        // The worker is a thread, so that the progress goes on.
        const tools = { worker: new BackupWorker(), directory, clock: systemClock }
        const made = await backUpTo(tools, { to, withoutAttachments })
        const change = createdBackup(made.path, { isWhole: to !== null })
        await recordedIfRoom(writer.write((tx) => audit.record(tx, COMMAND_LINE, change)))
        return made
      },
    }),
  )
  const beside = made.attachment_bytes ?? 0
  call.out.data(made, [made.path, ...(beside === 0 ? [] : [filesBeside(made.path)])])
}

export async function printBackups(call: Call): Promise<undefined> {
  const directory = directoryOf(call)
  const backups = listBackups(directory.backups).map((backup) => ({
    path: backup.path,
    kind: backup.kind,
    created_at: isoTime(timestamp(backup.createdAt)),
    size_bytes: backup.sizeBytes,
  }))
  const rows = backups.map((one) => [
    timeCell(one.created_at),
    one.kind,
    sizeCell(one.size_bytes),
    one.path,
  ])
  call.out.data({ data: backups }, [table(['CREATED', 'KIND', 'SIZE', 'FILE'], rows)])
  if (backups.length === 0) call.out.note('No backups yet.')
}

export async function restore(call: Call): Promise<ExitCode> {
  const file = findBackup(call, argument(call, 0))
  if (file === null) {
    call.out.problem(`File not found: ${argument(call, 0)}`)
    return EXIT.failed
  }
  const held = await holdUnlessRunning(call)
  if (held === null) {
    call.out.problem('A relay is running. Stop it first: hookline down, or Ctrl-C.')
    return EXIT.failed
  }
  try {
    const now = timestamp(systemClock.now())
    const takesEnvironment = call.options.has('with-environment')
    const { directory } = held
    const unpacked = (await isArchive(file))
      ? await call.out.during('Unpacking', unpack(file, directory))
      : file
    const order = { directory, file: unpacked, name: basename(file), version: VERSION, now }
    // It blocks until it is done, so the next turn shows its title first.
    const restoring = nextTurn().then(() =>
      restoreBackup({ ...order, takesEnvironment, options: optionsOf() }),
    )
    const restored = await call.out.during('Checking and restoring', restoring)
    const { aside, uncertainCount, cameBack, missingCount, files, environment } = restored
    const json = {
      file,
      aside,
      uncertain_messages: uncertainCount,
      missing_attachments: missingCount,
      files,
      environment,
      came_back: cameBack,
    }
    call.out.data(json, [
      `Restored ${file}.`,
      ...files.map((name) => `Restored ${name}.`),
      ...environment.map(describeChange),
      ...(aside === null ? [] : [`The previous files are in ${aside}.`]),
      ...(uncertainCount === 0
        ? []
        : [`Messages now uncertain, because they may have been sent: ${uncertainCount}.`]),
      ...(missingCount === 0 ? [] : [`Attachments whose files are missing: ${missingCount}.`]),
      ...describeReturns(cameBack),
    ])
    return EXIT.ok
  } finally {
    rmSync(held.directory.incoming, { recursive: true, force: true })
    held.lock.release()
  }
}

const RETURNS_SHOWN = 100

function describeReturns(cameBack: readonly CameBack[]): readonly string[] {
  if (cameBack.length === 0) return []
  const left = cameBack.length - RETURNS_SHOWN
  return [
    'The replaced database could not tell what was revoked since the backup. These are valid now; revoke with:',
    ...cameBack
      .slice(0, RETURNS_SHOWN)
      .map(({ kind, name, revoke }) => `  ${revoke}  (${kind} ${name})`),
    ...(left > 0 ? [`  and ${left} more`] : []),
  ]
}

/** Unpacks an archive; returns the path of its database. */
async function unpack(file: string, { path, incoming }: DataDirectory): Promise<string> {
  rmSync(incoming, { recursive: true, force: true })
  const requireRoom = (bytes: number) => {
    if (freeBytes(path) < bytes) throw storageFull()
  }
  try {
    return (await receiveBackup(createReadStream(file), incoming, requireRoom)).file
  } catch (error) {
    if (!(error instanceof BadBackupError)) throw error
    throw new UnusableDatabaseError(`${file} cannot be restored: ${error.message}`)
  }
}

function describeChange({ variable, value, isTaken }: EnvironmentChange): string {
  const what = value === null ? `${variable} (not set)` : `${variable}=${value}`
  return isTaken
    ? `hookline.env changed: ${what}`
    : `hookline.env unchanged: the backup has ${what} (restore it with --with-environment)`
}

/** The path of a file, or of the backup with that name in the data directory; null if neither exists. */
function findBackup(call: Call, name: string): string | null {
  const path = resolve(call.surroundings.folder, name)
  if (existsSync(path)) return path
  const own = join(directoryOf(call).backups, basename(name))
  return name === basename(name) && existsSync(own) ? own : null
}

function directoryOf(call: Call): DataDirectory {
  return dataDirectoryAt(call.loadConfig().config.dataDir)
}
