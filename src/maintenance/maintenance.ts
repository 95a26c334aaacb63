import { UNUSED_UPLOAD_MS_MAX } from '../domain/attachment.ts'
import type { Finding } from '../domain/finding.ts'
import { timestamp } from '../domain/ids.ts'
import { durationWords } from '../domain/number-words.ts'
import { DAY_MS } from '../domain/time.ts'
import { saveClockMemory } from '../storage/about.ts'
import { ALERT_PURGES } from '../storage/alerts.ts'
import { deleteUnusedUploads, oldFilesPurge } from '../storage/attachments.ts'
import type { Core } from '../storage/core.ts'
import type { Tx } from '../storage/database.ts'
import { bringBackChanges, wakeHeldBack } from '../storage/message-queue.ts'
import {
  deleteDeletedWebhooks,
  deleteFinishedDeliveries,
  deleteOldAudit,
  deleteOldIdempotency,
  deleteOldMessages,
  deleteRejectedEvents,
  deleteWaitingReceipts,
  heldDeliveriesPurge,
  oldEventsPurge,
  refreshStatistics,
  type Purge,
} from '../storage/retention.ts'
import type { Settings } from '../storage/settings.ts'
import { FIGURE_PURGES } from '../storage/stats.ts'
import { TIMELINE_PURGES } from '../storage/timeline.ts'
import { SLICE_MS } from '../system/clock.ts'
import type { Age, ClockDoubt, ClockMemory } from '../system/confirmed-clock.ts'
import { isoTime } from '../system/iso-time.ts'
import type { Service } from '../system/service.ts'
import { type Job, Timetable } from './timetable.ts'

/** The timetable of retention, statistics and the `jobs` of other modules. */
export function createTimetable(
  core: Core,
  given: {
    readonly attachments: SweptFiles
    readonly jobs: readonly Job[]
    readonly webhooks: { endCallbacks(tx: Tx): number }
  },
): Timetable {
  const { attachments, jobs, webhooks } = given
  const purges: readonly Purge[] = [
    (tx) => webhooks.endCallbacks(tx),
    deleteFinishedDeliveries,
    oldEventsPurge(),
    (tx, _age, limit) => deleteDeletedWebhooks(tx, limit),
    heldDeliveriesPurge(),
    ...FIGURE_PURGES,
    ...TIMELINE_PURGES,
    ...ALERT_PURGES,
  ]
  /** Keeps SQLite's statistics fresh. */
  const statistics: Job = {
    name: 'statistics',
    finding: 'statistics_failed',
    pattern: '43 4 * * *',
    fix: SEE_LOG,
    firstAfterMs: null,
    run: () => core.writer.write((tx) => refreshStatistics(tx)),
  }
  const own = [retentionJob(core, { attachments, purges }), statistics]
  return new Timetable([...own, ...jobs], { clock: core.clock, log: core.log })
}

type SweptFiles = {
  /** Deletes the files that nothing needs anymore. */
  sweep(signal: AbortSignal): Promise<void>
}

/** The rows of the first batch, and the most rows of any batch. */
const BATCH_ROWS = { first: 50, max: 500 }
/** The pause between two batches, so that no send or delivery waits for more than one batch. */
const PAUSE_MS = 20
const SEE_LOG = 'Check the log for the error. The usual cause is a full or failing disk.'

/** Deletes old rows every hour, in small steps. */
export function retentionJob(
  core: Core,
  given: { readonly attachments: SweptFiles; readonly purges: readonly Purge[] },
): Job {
  const { settings } = core
  const purges: readonly Purge[] = [
    (tx, age, limit) => deleteMessages(settings, tx, age, limit),
    (tx, age, limit) => deleteUnusedUploads(tx, timestamp(age.ago(UNUSED_UPLOAD_MS_MAX)), limit),
    deleteFiles(settings),
    deleteOldIdempotency,
    deleteWaitingReceipts,
    deleteRejectedEvents,
    deleteOldAudit,
    ...given.purges,
  ]
  return {
    name: 'retention',
    finding: 'retention_failed',
    pattern: '13 * * * *',
    fix: SEE_LOG,
    firstAfterMs: 60_000,
    async run(signal) {
      for (const purge of purges) await purgeAll(core, purge, signal)
      await given.attachments.sweep(signal)
    },
  }
}

async function purgeAll({ writer, clock }: Core, purge: Purge, signal: AbortSignal): Promise<void> {
  let limit = BATCH_ROWS.first
  while (!signal.aborted) {
    const rows = limit
    const { passed, ms } = await writer.write((tx) => {
      const startedAt = clock.monotonic()
      const passed = purge(tx, clock, rows)
      return { passed, ms: clock.monotonic() - startedAt }
    })
    if (passed < rows) return
    // As many as fit into a slice: a row with words in the search index takes a hundred times as long.
    const fitting = Math.floor((rows * SLICE_MS) / Math.max(ms, 1))
    limit = Math.max(1, Math.min(fitting, 2 * rows, BATCH_ROWS.max))
    await clock.sleep(PAUSE_MS, signal)
  }
}

function deleteMessages(settings: Settings, tx: Tx, age: Age, limit: number): number {
  const days = settings.get('message_retention_days')
  if (days === null) return 0
  return deleteOldMessages(tx, timestamp(age.ago(days * DAY_MS)), limit)
}

function deleteFiles(settings: Settings): Purge {
  const purge = oldFilesPurge()
  return (tx, age, limit) => {
    const days = settings.get('attachment_retention_days')
    return days === null ? 0 : purge(tx, timestamp(age.ago(days * DAY_MS)), limit)
  }
}

const CHECK_MS = 30_000
/** The running time that a later start may mistake for time off. */
const SAVE_MS = 10 * 60_000
const SAVE_IN_DOUBT_MS = 60_000
/** If timestamps are ahead by less, they wait until the clock has caught up. */
const AHEAD_MS_MAX = 24 * 3_600_000

/** Saves the confirmed time, and adopts the wall clock once the wall clock has been steady. */
export class ClockWatch implements Service {
  readonly name = 'clock-watch'
  readonly #core: Core
  readonly #onChange: () => void
  /** The doubt that was logged last. */
  #doubt: ClockDoubt | null = null
  #savedAt = -Infinity

  /** Calls `onChange` when the clock comes into doubt, and when the doubt is settled. */
  constructor(core: Core, { onChange }: { readonly onChange: () => void }) {
    this.#core = core
    this.#onChange = onChange
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#core
    // An earlier run may have held back messages, and the clock may be right by now.
    await this.#wakeHeldBack()
    let setAt = clock.lastSetAt()
    while (!signal.aborted) {
      await clock.settle((memory) => this.#save(memory))
      const doubt = clock.doubt()
      const isNew = !isSame(doubt, this.#doubt)
      if (isNew || this.#isDue(doubt)) await this.#save(clock.memory())
      if (isNew) this.#log(doubt)
      if (isNew || clock.lastSetAt() !== setAt) await this.#wakeHeldBack()
      setAt = clock.lastSetAt()
      if (this.#isAhead && doubt === null && clock.isSteady()) await this.#bringBack()
      await clock.sleep(CHECK_MS, signal)
    }
  }

  findings(): readonly Finding[] {
    const doubt = this.#core.clock.doubt()
    const words = doubt === null ? null : wordsFor(doubt)
    const found = words ?? (this.#isAhead ? wordsForAhead(this.#core.ids.aheadMs) : null)
    return found === null ? [] : [{ code: 'clock_jumped', ...found, key: null, depends_on: null }]
  }

  #isDue(doubt: ClockDoubt | null): boolean {
    const savedMs = this.#core.clock.monotonic() - this.#savedAt
    return savedMs >= (doubt === null ? SAVE_MS : SAVE_IN_DOUBT_MS)
  }

  get #isAhead(): boolean {
    return this.#core.ids.aheadMs > AHEAD_MS_MAX
  }

  /** Called if the clock was ahead for long enough to be believed, and was then set back. */
  async #bringBack(): Promise<void> {
    const { clock, ids, writer, log } = this.#core
    log.warn('dates came back from the future', { ms: Math.round(ids.aheadMs) })
    await writer.write((tx) => {
      bringBackChanges(tx, clock.now())
      ids.comeBack()
    })
  }

  async #save(memory: ClockMemory): Promise<void> {
    await this.#core.writer.write((tx) => saveClockMemory(tx, memory))
    this.#savedAt = this.#core.clock.monotonic()
  }

  #log(doubt: ClockDoubt | null): void {
    const { log } = this.#core
    this.#doubt = doubt
    if (doubt === null) log.info('the clock is no longer in doubt')
    else log.warn('the clock is in doubt', { doubt: doubt.doubt, ms: Math.round(doubt.ms) })
  }

  /** The messages that were held back because of the clock go out, expire or are held back again. */
  async #wakeHeldBack(): Promise<void> {
    const { clock, writer } = this.#core
    await writer.write((tx) => wakeHeldBack(tx, timestamp(clock.now())))
    this.#onChange()
  }
}

function isSame(a: ClockDoubt | null, b: ClockDoubt | null): boolean {
  return a?.doubt === b?.doubt && a?.since === b?.since
}

type Words = Pick<Finding, 'severity' | 'title' | 'why' | 'fix'>

function wordsForAhead(ms: number): Words {
  return {
    severity: 'warning',
    title: `The latest records are dated ${durationWords(ms)} in the future`,
    why: "This machine's clock was ahead for more than an hour and was then set back. Until it has run steadily for an hour, new records are dated by the later time, so that nothing changes its order.",
    fix: 'If the clock is right now, no action is needed: Hookline follows it again after that hour.',
  }
}

/** Every case settles by itself, without an answer from the owner. */
function wordsFor({ doubt, ms, until }: ClockDoubt): Words {
  const time = durationWords(ms)
  const end = isoTime(timestamp(Math.ceil(until)))
  switch (doubt) {
    case 'jumped':
      return {
        severity: 'warning',
        title: `This machine's clock jumped forward by ${time}`,
        why: `No other clock confirms it. Until ${end}, Hookline goes by the time before the jump and nothing ages because of it: no message expires, no Idempotency-Key is forgotten, no webhook is turned off.`,
        fix: 'If the clock is right, no action is needed: Hookline adopts the new time by itself. If it is wrong, correct it, ideally with network time, and this clears within a minute.',
      }
    case 'was_off':
      return {
        severity: 'info',
        title: `According to this machine's clock, Hookline was off for ${time}`,
        why: `That is uncertain until ${end}. Until then, messages that would be older than 24 hours by this clock are neither sent nor expired, and nothing is deleted because of its age.`,
        fix: 'If the clock is right, no action is needed: from then on the time off counts. If it is wrong, correct it, ideally with network time, and this clears within a minute.',
      }
    case 'is_behind':
      return {
        severity: 'warning',
        title: `This machine's clock is ${time} behind`,
        why: `When Hookline last ran, it was later than the clock says now. Until ${end}, Hookline goes by the time it remembers.`,
        fix: 'Set the clock, ideally with network time, and this clears within a minute. If it is right now and was wrong before, no action is needed: Hookline follows it by itself.',
      }
  }
}
