import { basename, join } from 'node:path'

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

const DAY_MS = 86_400_000
/** A relay that was off at night makes up for it, but not while it starts. */
const MISSED_AFTER_MS = 15 * 60_000

/** Every night, or soon after the start where the last night was missed: a verified copy. */
export function dailyBackupJob(tools: DailyBackupTools): Job {
  const newest = listBackups(tools.directory.backups).find(({ kind }) => kind === 'daily')
  const isMissed = newest === undefined || tools.clock.ageOf(newest.createdAt) > DAY_MS
  return {
    name: 'backup',
    pattern: '17 3 * * *',
    fix: 'See whether the folder of the back-ups can be written and its disk has room.',
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
  log.info('back-up made', { size_bytes: made.sizeBytes })
  if (folder === null) return

  openBackupFolder(folder)
  await worker.take({ from: made.path, to: join(folder, basename(made.path)), files: [] })
  keepNewest(folder, 'daily', kept)
}
