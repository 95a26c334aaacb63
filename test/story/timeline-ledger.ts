// What the oracle of the timeline notes, and how it says it.

import type { TestRelay } from '../support/test-relay.ts'

const HOUR = 3_600_000

export const LAST_RUN = 'started_at = (SELECT max(started_at) FROM relay_runs)'
export const WHY = 'it crashed, or its machine slept, lost power or set its clock'
export const WORDS: Readonly<Record<string, string>> = {
  failed: 'failed',
  expired: 'expired',
  uncertain: 'became uncertain',
}
export const AFTER_ALL = 'turned out to be sent after all'
export const isSent = (status: string) => ['sent', 'delivered', 'read'].includes(status)

/** Logs every step of a message and of a webhook's breaker in this connection. */
export function log({ db: { sqlite } }: Pick<TestRelay, 'db'>): void {
  sqlite.run('CREATE TEMP TABLE steps (was TEXT, "is" TEXT, at INTEGER, line INTEGER)')
  sqlite.run(`CREATE TEMP TRIGGER steps_log AFTER UPDATE ON main.messages BEGIN
    INSERT INTO steps VALUES (OLD.status, NEW.status, NEW.updated_at, NEW.line_seq); END`)
  sqlite.run(
    'CREATE TEMP TABLE breakers (was INTEGER, "is" INTEGER, since INTEGER, waiting INTEGER)',
  )
  sqlite.run(`CREATE TEMP TRIGGER breakers_log AFTER UPDATE ON main.webhooks BEGIN
    INSERT INTO breakers VALUES (OLD.failures_in_row, NEW.failures_in_row, OLD.failing_since,
      (SELECT count(*) FROM main.deliveries WHERE status = 'pending')); END`)
}

export const iso = (at: number) => new Date(at).toISOString()

/** A duration in seconds, in hours and minutes, or in days from two on. */
export function lasting(ms: number): string {
  const words = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`
  if (ms < HOUR / 60) return words(Math.max(1, Math.round(ms / 1_000)), 'second')
  if (ms >= 48 * HOUR) return words(Math.round(ms / (24 * HOUR)), 'day')
  const minutes = Math.round(ms / (HOUR / 60))
  const parts = [words(Math.floor(minutes / 60), 'hour'), words(minutes % 60, 'minute')]
  return parts.filter((part) => !part.startsWith('0 ')).join(' ')
}
