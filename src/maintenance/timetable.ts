import type { FindingCode } from '../domain/finding-codes.ts'
import type { Finding } from '../domain/finding.ts'
import { timestamp, type Timestamp } from '../domain/ids.ts'
import type { Clock } from '../system/clock.ts'
import { isoTime, nextRunAfter } from '../system/iso-time.ts'
import type { Log } from '../system/log.ts'
import type { Service } from '../system/service.ts'

/** A recurring task. `run` returns soon after `signal` aborts. */
export type Job = {
  readonly name: string
  readonly finding: FindingCode
  /** A cron pattern, in the local time zone. */
  readonly pattern: string
  /** The finding's advice for the owner. */
  readonly fix: string
  /** The delay of the first run after the start; null if only the pattern counts. */
  readonly firstAfterMs: number | null
  run(signal: AbortSignal): Promise<void>
}

/** The wall clock may be set during a sleep, so sleeps are short. */
const SLEEP_MS_MAX = 60_000
const PLAN_AFTER_MS = 1_000

/** Runs jobs by the clock, one at a time. A failed job is a finding, and runs again by its pattern. */
export class Timetable implements Service {
  readonly name = 'timetable'
  readonly #jobs: readonly Job[]
  readonly #clock: Clock
  readonly #log: Log
  readonly #failures = new Map<Job, { readonly since: Timestamp; readonly error: string }>()

  constructor(jobs: readonly Job[], tools: { readonly clock: Clock; readonly log: Log }) {
    this.#jobs = jobs
    this.#clock = tools.clock
    this.#log = tools.log
  }

  async run(signal: AbortSignal): Promise<void> {
    let checkedAt = this.#clock.now()
    // The first use of the local time zone takes ten milliseconds, which must not delay the start.
    await this.#clock.sleep(PLAN_AFTER_MS, signal)
    const due = new Map(this.#jobs.map((job) => [job, firstRun(job, checkedAt)]))
    while (!signal.aborted) {
      const now = this.#clock.now()
      for (const [job, at] of due) {
        // If the clock was set back, the planned time may be far away.
        if (now < checkedAt) due.set(job, nextRunAfter(job.pattern, now))
        else if (at <= now && !signal.aborted) {
          await this.#runOne(job, signal)
          due.set(job, nextRunAfter(job.pattern, this.#clock.now()))
        }
      }
      checkedAt = now
      const next = Math.min(...due.values()) - this.#clock.now()
      await this.#clock.sleep(Math.min(Math.max(next, 0), SLEEP_MS_MAX), signal)
    }
  }

  /** The jobs that failed when they last ran. */
  findings(): readonly Finding[] {
    return [...this.#failures].map(([job, { since, error }]) => ({
      code: job.finding,
      severity: 'warning',
      title: `Scheduled job "${job.name}" is failing`,
      why: `Since ${isoTime(since)}: ${error}`,
      fix: job.fix,
      key: null,
      depends_on: null,
    }))
  }

  async #runOne(job: Job, signal: AbortSignal): Promise<void> {
    const startedAt = this.#clock.monotonic()
    try {
      await job.run(signal)
      this.#failures.delete(job)
      const durationMs = Math.round(this.#clock.monotonic() - startedAt)
      this.#log.debug('job done', { job: job.name, duration_ms: durationMs })
    } catch (error) {
      const since = this.#failures.get(job)?.since ?? timestamp(this.#clock.now())
      this.#failures.set(job, { since, error: String(error) })
      this.#log.error('job failed', { job: job.name, error })
    }
  }
}

function firstRun(job: Job, startedAt: number): number {
  const byPattern = nextRunAfter(job.pattern, startedAt)
  return job.firstAfterMs === null ? byPattern : Math.min(byPattern, startedAt + job.firstAfterMs)
}
