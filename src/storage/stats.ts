// Figures, written with what they count and read for the API and the charts. See `stats-schema.ts`.

import type { Day } from '../domain/days.ts'
import type { LineId, Timestamp, WebhookId } from '../domain/ids.ts'
import { DAY_MS, QUARTER_MS } from '../domain/time.ts'
import type { AttemptOutcome } from '../domain/webhook.ts'
import type { Db, Tx } from './database.ts'
import { countByStatus } from './message-queue.ts'
import type { Purge } from './retention.ts'
import { LINE_SEQ, statement } from './statement.ts'

/** Messages of some quarters, by outcome and by the time that their sending took. */
export type MessageCounts = {
  readonly lineId: LineId
  readonly sent: number
  readonly received: number
  readonly failed: number
  readonly uncertain: number
  readonly timed: number
  readonly timedMs: number
  readonly ms1000: number
  readonly ms5000: number
  readonly ms30000: number
  readonly ms300000: number
}

const messages = statement<MessageCounts>(
  `SELECT l.id AS lineId, sum(sent) AS sent, sum(received) AS received, sum(failed) AS failed,
          sum(uncertain) AS uncertain, sum(timed) AS timed, sum(timed_ms) AS timedMs, sum(ms_1000) AS ms1000,
          sum(ms_5000) AS ms5000, sum(ms_30000) AS ms30000, sum(ms_300000) AS ms300000
   FROM message_quarters q CROSS JOIN lines l ON l.seq = q.line_seq
   WHERE quarter >= $from / ${QUARTER_MS} AND quarter < $to / ${QUARTER_MS}
   GROUP BY l.seq ORDER BY l.seq`,
)

/** Messages recorded from `from` until before `to`, both at quarters, by line. */
export function messageCounts(db: Db, from: number, to: number): readonly MessageCounts[] {
  return messages(db).all({ from, to })
}

/** Attempts of some quarters with one outcome, by their duration. */
export type AttemptCounts = {
  readonly outcome: AttemptOutcome
  readonly attempts: number
  readonly totalMs: number
  readonly ms50: number
  readonly ms250: number
  readonly ms1000: number
  readonly ms5000: number
}

const attempts = statement<
  AttemptCounts & { readonly quarter: number; readonly webhookId: WebhookId }
>(
  `SELECT quarter, w.id AS webhookId, outcome, attempts, total_ms AS totalMs, ms_50 AS ms50, ms_250 AS ms250,
          ms_1000 AS ms1000, ms_5000 AS ms5000
   FROM webhook_quarters q CROSS JOIN webhooks w ON w.seq = q.webhook_seq
   WHERE quarter >= $from ORDER BY quarter`,
)

/** Attempts begun from `since` on, by quarter, webhook and outcome. */
export function attemptQuarters(db: Db, since: number) {
  return attempts(db).all({ from: Math.floor(since / QUARTER_MS) })
}

const totals = statement<AttemptCounts & { readonly webhookId: WebhookId }>(
  `SELECT w.id AS webhookId, outcome, sum(attempts) AS attempts, sum(total_ms) AS totalMs,
          sum(ms_50) AS ms50, sum(ms_250) AS ms250, sum(ms_1000) AS ms1000, sum(ms_5000) AS ms5000
   FROM webhook_quarters q CROSS JOIN webhooks w ON w.seq = q.webhook_seq
   WHERE quarter >= $since / ${QUARTER_MS} GROUP BY w.seq, outcome`,
)

/** Attempts begun from `since` on, a quarter, by webhook and outcome. */
export function attemptTotals(db: Db, since: number) {
  return totals(db).all({ since })
}

const contacts = statement<{
  readonly lineId: LineId
  readonly day: Day
  readonly spent: number
}>('SELECT line_id AS lineId, day, spent FROM contact_days WHERE day >= $first')

/** New contacts by line and day, from the day `first` on. */
export function contactDays(db: Db, first: Day) {
  return contacts(db).all({ first })
}

/** A state of a line from `at` on; `reason` is null while it is online. */
export type StateChange = { readonly at: Timestamp; readonly reason: string | null }

const states = statement<StateChange>(
  `SELECT at, reason FROM line_states WHERE line_seq = ${LINE_SEQ} AND at >= coalesce(
     (SELECT max(at) FROM line_states WHERE line_seq = ${LINE_SEQ} AND at <= $since), 0)
   ORDER BY at`,
)

/** The state of a line at `since`, where one is known, and all later ones. */
export function stateChanges(db: Db, lineId: LineId, since: number): readonly StateChange[] {
  return states(db).all({ lineId, since })
}

const lastState = statement<StateChange>(
  `SELECT at, reason FROM line_states WHERE line_seq = ${LINE_SEQ} ORDER BY at DESC LIMIT 1`,
)

export function lastStateOf(db: Db, lineId: LineId): StateChange | null {
  return lastState(db).get({ lineId })
}

const changing = statement(
  `INSERT INTO line_states SELECT seq, $at, $reason FROM lines WHERE id = $lineId
   ON CONFLICT DO UPDATE SET reason = excluded.reason`,
)

export function recordState(tx: Tx, lineId: LineId, state: StateChange): void {
  changing(tx).run({ lineId, ...state })
}

/** A run of the relay; `aliveAt` is the last time at which it is known to have run. */
export type RelayRun = {
  readonly startedAt: Timestamp
  readonly aliveAt: Timestamp
  /** Null where it did not end by itself. */
  readonly stoppedAt: Timestamp | null
}

const runs = statement<RelayRun>(
  `SELECT started_at AS startedAt, alive_at AS aliveAt, stopped_at AS stoppedAt FROM relay_runs
   WHERE alive_at >= coalesce((SELECT max(alive_at) FROM relay_runs WHERE alive_at < $since), 0)
   ORDER BY started_at`,
)

/** The runs of the relay since `since`, and the last one before it, oldest first. */
export function relayRuns(db: Db, since: number): readonly RelayRun[] {
  return runs(db).all({ since })
}

const living = statement(
  `INSERT INTO relay_runs VALUES ($startedAt, $now, $stoppedAt)
   ON CONFLICT DO UPDATE SET alive_at = max(alive_at, $now), stopped_at = $stoppedAt`,
)

export function recordRun(
  tx: Tx,
  run: { readonly startedAt: number; readonly now: number; readonly stoppedAt: number | null },
): void {
  living(tx).run(run)
}

export type QueueSample = {
  readonly at: Timestamp
  readonly messages: number
  readonly deliveries: number
}

const samples = statement<QueueSample>(
  'SELECT at, messages, deliveries FROM queue_samples WHERE at >= $since ORDER BY at',
)

export function queueSamples(db: Db, since: number): readonly QueueSample[] {
  return samples(db).all({ since })
}

const sampling = statement(
  'INSERT OR REPLACE INTO queue_samples VALUES ($at, $messages, $deliveries)',
)

export function recordSample(tx: Tx, sample: QueueSample): void {
  sampling(tx).run(sample)
}

const pending = statement<{ readonly count: number }>(
  `SELECT count(*) AS count FROM webhooks
     CROSS JOIN deliveries d INDEXED BY deliveries_by_webhook_and_status ON d.webhook_id = webhooks.id
   WHERE webhooks.deleted_at IS NULL AND d.status = 'pending'`,
)

/** Messages and deliveries that wait now. */
export function queueNow(db: Db): Omit<QueueSample, 'at'> {
  return { messages: countByStatus(db, 'queued'), deliveries: pending(db).get({})?.count ?? 0 }
}

const KEPT_MS = 400 * DAY_MS
const SAMPLES_KEPT_MS = 30 * DAY_MS

/** Deletes figures of 400 days ago; the state in which a line was then stays. */
export const FIGURE_PURGES: readonly Purge[] = [
  purge('message_quarters', 'quarter, line_seq', `quarter < $before / ${QUARTER_MS}`),
  purge('webhook_quarters', 'quarter, webhook_seq, outcome', `quarter < $before / ${QUARTER_MS}`),
  purge('relay_runs', 'started_at', 'alive_at < $before'),
  purge(
    'line_states',
    'line_seq, at',
    `line_seq IN (SELECT seq FROM lines) AND at < $before AND at < (SELECT max(at) FROM line_states later
           WHERE later.line_seq = line_states.line_seq AND later.at <= $before)`,
  ),
  purge('queue_samples', 'at', 'at < $before', SAMPLES_KEPT_MS),
]

function purge(table: string, key: string, isOld: string, keptMs = KEPT_MS): Purge {
  const deletion = statement(
    `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${isOld} LIMIT $limit)`,
  )
  return (tx, age, limit) => deletion(tx).run({ before: age.ago(keptMs), limit }).changes
}
