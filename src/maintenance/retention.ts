import { timestamp, type Timestamp } from '../domain/ids.ts'
import type { Tx } from '../storage/database.ts'
import {
  deleteOldAudit,
  deleteOldIdempotency,
  deleteOldMessages,
  deleteRejectedEvents,
  deleteWaitingReceipts,
  refreshStatistics,
} from '../storage/retention.ts'
import type { Settings } from '../storage/settings.ts'
import type { Writer } from '../storage/writer.ts'
import type { Age, ConfirmedClock } from '../system/confirmed-clock.ts'
import type { Job } from './timetable.ts'

/**
 * Goes through at most `limit` rows that are old by `age`, deletes those that nothing needs, and says
 * how many it went through: fewer at the end.
 */
export type Purge = (tx: Tx, age: Age, limit: number) => number

export type RetentionTools = {
  readonly writer: Pick<Writer, 'write'>
  readonly clock: ConfirmedClock
  readonly settings: Pick<Settings, 'get'>
  /** Called before as many messages from before a time are deleted. */
  readonly keepAnswers: (tx: Tx, before: Timestamp, limit: number) => void
  /** What other modules keep and let go. */
  readonly purges: readonly Purge[]
}

const BATCH_ROWS = 500
/** Between two batches, so that whoever sends or delivers is never held up by more than one. */
const PAUSE_MS = 20
const DAY_MS = 86_400_000

/** Every hour: deletes what has grown old, in small steps. */
export function retentionJob(tools: RetentionTools): Job {
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
    fix: 'See the log for the reason; a full or failing disk is the usual one.',
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
    fix: 'See the log for the reason; a full or failing disk is the usual one.',
    firstAfterMs: null,
    run: () => tools.writer.write((tx) => refreshStatistics(tx)),
  }
}

async function purgeAll(tools: RetentionTools, purge: Purge, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const passed = await tools.writer.write((tx) => purge(tx, tools.clock, BATCH_ROWS))
    if (passed < BATCH_ROWS) return
    await tools.clock.sleep(PAUSE_MS, signal)
  }
}

function deleteMessages(tools: RetentionTools, tx: Tx, age: Age, limit: number): number {
  const days = tools.settings.get('message_retention_days')
  if (days === null) return 0
  const before = timestamp(age.ago(days * DAY_MS))
  tools.keepAnswers(tx, before, limit)
  return deleteOldMessages(tx, before, limit)
}
