import { basename, join } from 'node:path'

import { timestamp } from '../domain/ids.ts'
import { DAY_MS } from '../domain/time.ts'
import {
  dailyBackup,
  keepNewest,
  listBackups,
  openBackupFolder,
  type BackupWorker,
} from '../storage/backup.ts'
import type { Settings } from '../storage/settings.ts'
import type { ConfirmedClock } from '../system/confirmed-clock.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import { isoTime } from '../system/iso-time.ts'
import type { Log } from '../system/log.ts'
import type { Job } from './timetable.ts'

export type DailyBackupTools = {
  readonly worker: Pick<BackupWorker, 'take'>
  readonly clock: ConfirmedClock
  readonly log: Log
  readonly settings: Pick<Settings, 'get'>
  readonly directory: DataDirectory
  /** The second folder, or null. */
  readonly folder: string | null
}

/** A relay that was off at night makes up for it, but not while it starts. */
const MISSED_AFTER_MS = 15 * 60_000

/** Every night, or soon after the start where the last night was missed: a verified copy. */
export function dailyBackupJob(tools: DailyBackupTools): Job {
  const newest = listBackups(tools.directory.backups).find(({ kind }) => kind === 'daily')
  const isMissed = newest === undefined || tools.clock.ageOf(newest.createdAt) > DAY_MS
  return {
    name: 'backup',
    pattern: '17 3 * * *',
    fix: 'Check that the backup folder is writable and that its disk has space.',
    firstAfterMs: isMissed ? MISSED_AFTER_MS : null,
    run: () => backUp(tools),
  }
}

async function backUp(tools: DailyBackupTools): Promise<void> {
  const { worker, directory, folder, log } = tools
  const kept = tools.settings.get('backups_kept')
  const order = dailyBackup(directory, tools.clock.now())
  const made = await worker.take(order)
  keepNewest(directory.backups, 'daily', kept)
  log.info('backup made', { size_bytes: made.sizeBytes })
  if (folder === null) return

  openBackupFolder(folder)
  await worker.take({ from: made.path, to: join(folder, basename(made.path)), files: [] })
  keepNewest(folder, 'daily', kept)
}

export function listBackupResources({ backups }: DataDirectory) {
  return listBackups(backups).map((backup) => ({
    name: basename(backup.path),
    path: backup.path,
    kind: backup.kind,
    created_at: isoTime(timestamp(backup.createdAt)),
    size_bytes: backup.sizeBytes,
  }))
}
