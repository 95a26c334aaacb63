import { basename } from 'node:path'

import type { Origin } from '../domain/audit.ts'
import { timestamp } from '../domain/ids.ts'
import { DAY_MS } from '../domain/time.ts'
import { recordedIfRoom, type Audit } from '../storage/audit.ts'
import { backUpTo, createdBackup, type BackupWorker } from '../storage/backup.ts'
import type { Tx } from '../storage/database.ts'
import {
  deleteDeletedWebhooks,
  deleteFinishedDeliveries,
  exhaustHeldDeliveries,
  oldEventsPurge,
  deleteOldAudit,
  deleteOldIdempotency,
  deleteOldMessages,
  deleteRejectedEvents,
  deleteWaitingReceipts,
  refreshStatistics,
} from '../storage/retention.ts'
import type { Settings } from '../storage/settings.ts'
import type { Writer } from '../storage/writer.ts'
import type { ChangeFeed } from '../system/change-feed.ts'
import type { Age, ConfirmedClock } from '../system/confirmed-clock.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import type { Log } from '../system/log.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { Signal } from '../system/signal.ts'
import { dailyBackupJob } from './backups.ts'
import { ClockWatch } from './clock-watch.ts'
import { Timetable, type Job } from './timetable.ts'

export type MaintenanceTools = RetentionTools & {
  readonly stamps: LogicalClock
  readonly log: Log
  readonly audit: Pick<Audit, 'record'>
  readonly directory: DataDirectory
  readonly changes: Pick<ChangeFeed, 'publish'>
  readonly dispatchSignal: Signal
  readonly healthSignal: Signal
  readonly backupWorker: Pick<BackupWorker, 'take'>
  /** A second folder for the daily backups, or null. */
  readonly folder: string | null
}

/** Retention, backups and statistics on a timetable, the clock watch, and backups on request. */
export function createMaintenance(tools: MaintenanceTools) {
  const { clock, log, directory, changes, writer, audit } = tools
  const worker: Pick<BackupWorker, 'take'> = {
    async take(order) {
      const made = await tools.backupWorker.take(order)
      changes.publish([{ what: 'backup', id: basename(order.to) }])
      return made
    },
  }
  const purges: readonly Purge[] = [
    deleteFinishedDeliveries,
    oldEventsPurge(),
    (tx, _age, limit) => deleteDeletedWebhooks(tx, limit),
    exhaustHeldDeliveries,
  ]
  const jobs = [
    retentionJob({ ...tools, purges }),
    statisticsJob(tools),
    dailyBackupJob({ ...tools, worker }),
  ]
  const onChange = () => {
    tools.dispatchSignal.notify()
    tools.healthSignal.notify()
  }
  return {
    clockWatch: new ClockWatch({ ...tools, onChange }),
    timetable: new Timetable(jobs, { clock, log }),
    backUp: async (to: string | null, origin: Origin) => {
      const made = await backUpTo({ worker, directory, clock }, to)
      const change = createdBackup(made.path, { isWhole: to !== null })
      await recordedIfRoom(writer.write((tx) => audit.record(tx, origin, change)))
      return made
    },
    /** Records the download of the backup with this name. */
    noteDownload: async (name: string, origin: Origin): Promise<void> => {
      const about = { kind: 'backup', id: name } as const
      const change = { action: 'backup.downloaded', about } as const
      await recordedIfRoom(writer.write((tx) => audit.record(tx, origin, change)))
    },
  }
}

/**
 * Goes through at most `limit` rows that are old by `age`, deletes those that nothing needs, and returns
 * the number of rows it went through: fewer at the end.
 */
export type Purge = (tx: Tx, age: Age, limit: number) => number

export type RetentionTools = {
  readonly writer: Pick<Writer, 'write'>
  readonly clock: ConfirmedClock
  readonly settings: Pick<Settings, 'get'>
}

const BATCH_ROWS = 500
/** Between two batches, so that no send or delivery is held up by more than one of them. */
const PAUSE_MS = 20
const SEE_LOG = 'Check the log for the error. The usual cause is a full or failing disk.'

/** Every hour: deletes old rows, in small steps. */
export function retentionJob(tools: RetentionTools & { readonly purges: readonly Purge[] }): Job {
  const purges: readonly Purge[] = [
    (tx, age, limit) => deleteMessages(tools, tx, age, limit),
    deleteOldIdempotency,
    deleteWaitingReceipts,
    deleteRejectedEvents,
    deleteOldAudit,
    ...tools.purges,
  ]
  return {
    name: 'retention',
    pattern: '13 * * * *',
    fix: SEE_LOG,
    firstAfterMs: 60_000,
    async run(signal) {
      for (const purge of purges) await purgeAll(tools, purge, signal)
    },
  }
}

/** Every night: keeps SQLite's statistics fresh. */
export function statisticsJob(tools: Pick<RetentionTools, 'writer'>): Job {
  return {
    name: 'statistics',
    pattern: '43 4 * * *',
    fix: SEE_LOG,
    firstAfterMs: null,
    run: () => tools.writer.write((tx) => refreshStatistics(tx)),
  }
}

async function purgeAll(
  { writer, clock }: Pick<RetentionTools, 'writer' | 'clock'>,
  purge: Purge,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const passed = await writer.write((tx) => purge(tx, clock, BATCH_ROWS))
    if (passed < BATCH_ROWS) return
    await clock.sleep(PAUSE_MS, signal)
  }
}

/** Messages that are older than the setting allows. */
function deleteMessages(
  { settings }: Pick<RetentionTools, 'settings'>,
  tx: Tx,
  age: Age,
  limit: number,
): number {
  const days = settings.get('message_retention_days')
  if (days === null) return 0
  const before = timestamp(age.ago(days * DAY_MS))
  return deleteOldMessages(tx, before, limit)
}
