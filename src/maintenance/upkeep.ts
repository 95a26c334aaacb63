import { basename } from 'node:path'

import type { Origin } from '../domain/audit.ts'
import { recordedIfRoom, type Audit } from '../storage/audit.ts'
import { backUpTo, createdBackup, type BackupWorker } from '../storage/backup.ts'
import {
  deleteDeletedWebhooks,
  deleteFinishedDeliveries,
  deleteUntoldEvents,
  exhaustHeldDeliveries,
  oldEventsPurge,
} from '../storage/delivery-retention.ts'
import type { Settings } from '../storage/settings.ts'
import type { Writer } from '../storage/writer.ts'
import type { Changes } from '../system/changes.ts'
import type { ConfirmedClock } from '../system/confirmed-clock.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import type { Log } from '../system/log.ts'
import type { Signal } from '../system/signal.ts'
import type { Stamps } from '../system/stamps.ts'
import { ClockWatch } from './clock-watch.ts'
import { dailyBackupJob } from './daily-backup.ts'
import { retentionJob, statisticsJob, type Purge, type RetentionTools } from './retention.ts'
import { Timetable } from './timetable.ts'

export type UpkeepTools = {
  readonly clock: ConfirmedClock
  readonly stamps: Stamps
  readonly log: Log
  readonly writer: Writer
  readonly audit: Pick<Audit, 'record'>
  readonly settings: Pick<Settings, 'get'>
  readonly keepAnswers: RetentionTools['keepAnswers']
  readonly directory: DataDirectory
  readonly changes: Pick<Changes, 'tell'>
  /** Wakes dispatch. */
  readonly dispatchSignal: Signal
  readonly healthSignal: Signal
  readonly backupWorker: Pick<BackupWorker, 'take'>
  /** A second folder for the daily back-ups, or null. */
  readonly folder: string | null
}

/** Retention, back-ups and statistics, by the clock, and a look at the clock itself; and a back-up when somebody asks for one. */
export function createUpkeep(tools: UpkeepTools) {
  const { clock, log, directory, changes, writer, audit } = tools
  const worker: Pick<BackupWorker, 'take'> = {
    async take(order) {
      const made = await tools.backupWorker.take(order)
      changes.tell([{ what: 'backup', id: basename(order.to) }])
      return made
    },
  }
  const purges: readonly Purge[] = [
    deleteFinishedDeliveries,
    oldEventsPurge(),
    deleteUntoldEvents,
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
    /** Records that somebody takes the back-up of this name away. */
    noteDownload: async (name: string, origin: Origin): Promise<void> => {
      const about = { kind: 'backup', id: name } as const
      const change = { action: 'backup.downloaded', about } as const
      await recordedIfRoom(writer.write((tx) => audit.record(tx, origin, change)))
    },
  }
}
