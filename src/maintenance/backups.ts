import { statSync } from 'node:fs'
import { basename, join } from 'node:path'

import type { Origin } from '../domain/audit.ts'
import { timestamp } from '../domain/ids.ts'
import { DAY_MS } from '../domain/time.ts'
import type { MarkKind } from '../domain/timeline.ts'
import { packArchive } from '../storage/archive.ts'
import { recordedIfRoom } from '../storage/audit.ts'
import {
  backUpTo,
  createdBackup,
  dailyBackup,
  flushedMeanwhile,
  keepNewest,
  listBackups,
  makeBackupFolder,
  timeForName,
  type BackupWish,
  type BackupWorker,
} from '../storage/backup.ts'
import type { Core } from '../storage/core.ts'
import { mark } from '../storage/timeline.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import { isoTime } from '../system/iso-time.ts'
import { VERSION } from '../system/version.ts'
import type { DiskWatch } from './storage-watch.ts'
import type { Job } from './timetable.ts'

type Destination = {
  readonly worker: Pick<BackupWorker, 'take'>
  readonly directory: DataDirectory
  /** A second folder for the daily backups; null for none. */
  readonly folder: string | null
}

/** Backups every night and on request. */
export function createBackups(
  core: Core,
  { disk, ...destination }: Destination & { readonly disk: Pick<DiskWatch, 'requireRoomFor'> },
) {
  const { clock, changes, writer, audit, random } = core
  const { directory, folder } = destination
  const worker: Destination['worker'] = {
    async take(order) {
      const made = await flushedMeanwhile(clock, order.to, destination.worker.take(order))
      changes.publish([{ what: 'backup', id: basename(order.to) }])
      return made
    },
  }
  return {
    job: dailyBackupJob(core, { worker, directory, folder }),
    list: () => listBackupResources(directory),
    backUp: async (wish: BackupWish, origin: Origin) => {
      const made = await backUpTo({ worker, directory, clock }, wish)
      const change = createdBackup(made.path, { isWhole: wish.to !== null })
      await recordedIfRoom(writer.write((tx) => audit.record(tx, origin, change)))
      return made
    },
    /** The name for an archive made now; throws if there is no room for its snapshot. */
    archiveName: (): string => {
      disk.requireRoomFor(statSync(directory.database).size)
      return `hookline-${timeForName(clock.now())}.tar`
    },
    archive: (signal: AbortSignal) => {
      const name = Buffer.from(random.bytes(12)).toString('hex')
      const order = { worker, directory, version: VERSION, now: clock.now() }
      return packArchive(order, join(directory.outgoing, name), signal)
    },
    noteDownload: async (name: string, origin: Origin): Promise<void> => {
      const about = { kind: 'backup', id: name } as const
      const change = { action: 'backup.downloaded', about } as const
      await recordedIfRoom(writer.write((tx) => audit.record(tx, origin, change)))
    },
  }
}

/** A relay that was off at night makes up for the backup, but not while it starts. */
const MISSED_AFTER_MS = 15 * 60_000

/** Takes a verified copy every night, or soon after the start if the last night was missed. */
export function dailyBackupJob(core: Core, destination: Destination): Job {
  const newest = listBackups(destination.directory.backups).find(({ kind }) => kind === 'daily')
  const isMissed = newest === undefined || core.clock.ageOf(newest.createdAt) > DAY_MS
  return {
    name: 'backup',
    finding: 'backup_failed',
    pattern: '17 3 * * *',
    fix: 'Check that the backup folder is writable and that its disk has space.',
    firstAfterMs: isMissed ? MISSED_AFTER_MS : null,
    run: () => markedBackUp(core, destination),
  }
}

/** Marks in the timeline that the backup was made, or failed. */
async function markedBackUp(core: Core, destination: Destination): Promise<void> {
  const note = (kind: MarkKind) =>
    recordedIfRoom(core.writer.write((tx) => mark(tx, { at: core.ids.now(), kind, detail: {} })))
  try {
    await backUp(core, destination)
  } catch (error) {
    await note('backup.failed')
    throw error
  }
  await note('backup.made')
}

async function backUp({ settings, clock, log }: Core, { worker, directory, folder }: Destination) {
  const kept = settings.get('backups_kept')
  const order = dailyBackup(directory, clock.now())
  const made = await worker.take(order)
  keepNewest(directory.backups, 'daily', kept)
  log.info('backup made', { size_bytes: made.sizeBytes })
  if (folder === null) return

  makeBackupFolder(folder)
  await worker.take({ from: made.path, to: join(folder, basename(made.path)), files: [] })
  keepNewest(folder, 'daily', kept)
}

function listBackupResources({ backups }: DataDirectory) {
  return listBackups(backups).map((backup) => ({
    name: basename(backup.path),
    path: backup.path,
    kind: backup.kind,
    created_at: isoTime(timestamp(backup.createdAt)),
    size_bytes: backup.sizeBytes,
  }))
}
