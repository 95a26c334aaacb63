// Reads and writes the figures of the API and the charts. The tables are in `stats-schema.ts`.

import type { Day } from '../domain/days.ts'
import type { LineId, Timestamp, WebhookId } from '../domain/ids.ts'
import { DAY_MS, QUARTER_MS } from '../domain/time.ts'
import type { Db, Tx } from './database.ts'
import { countByStatus } from './message-queue.ts'
import type { Purge } from './retention.ts'
import { LINE_SEQ } from './statement.ts'
import type {
  messageQuarters,
  queueSamples as queueSampleTable,
  relayRuns as relayRunTable,
  webhookQuarters,
} from './stats-schema.ts'

/** Messages by outcome, and by how long sending took. */
export type MessageCounts = Readonly<
  Omit<typeof messageQuarters.$inferSelect, 'quarter' | 'lineSeq'>
> & {
  readonly lineId: LineId
}

/** Messages by line, recorded from `from` until before `to`; both are starts of quarter hours. */
export function messageCounts(db: Db, from: number, to: number): readonly MessageCounts[] {
  const sql = `SELECT l.id AS lineId, sum(sent) AS sent, sum(received) AS received, sum(failed) AS failed,
          sum(uncertain) AS uncertain, sum(timed) AS timed, sum(timed_ms) AS timedMs, sum(ms_1000) AS ms1000,
          sum(ms_5000) AS ms5000, sum(ms_30000) AS ms30000, sum(ms_300000) AS ms300000, sum(canceled) AS canceled
   FROM message_quarters q CROSS JOIN lines l ON l.seq = q.line_seq
   WHERE quarter >= $from / ${QUARTER_MS} AND quarter < $to / ${QUARTER_MS}
   GROUP BY l.seq ORDER BY l.seq`
  return db.rows<MessageCounts>(sql, { from, to })
}

/** Attempts with one outcome, by how long they took. */
export type AttemptCounts = Readonly<
  Omit<typeof webhookQuarters.$inferSelect, 'quarter' | 'webhookSeq'>
>

type WebhookAttempts = AttemptCounts & { readonly webhookId: WebhookId }

/** Attempts by quarter, webhook and outcome, begun from `since` on. */
export function attemptQuarters(db: Db, since: number) {
  const sql = `SELECT quarter, w.id AS webhookId, outcome, attempts, total_ms AS totalMs, ms_50 AS ms50,
          ms_250 AS ms250, ms_1000 AS ms1000, ms_5000 AS ms5000
   FROM webhook_quarters q CROSS JOIN webhooks w ON w.seq = q.webhook_seq
   WHERE quarter >= $from ORDER BY quarter`
  const from = Math.floor(since / QUARTER_MS)
  return db.rows<WebhookAttempts & { readonly quarter: number }>(sql, { from })
}

/** Attempts by webhook and outcome, begun from `since` (the start of a quarter hour) on. */
export function attemptTotals(db: Db, since: number) {
  const sql = `SELECT w.id AS webhookId, outcome, sum(attempts) AS attempts, sum(total_ms) AS totalMs,
          sum(ms_50) AS ms50, sum(ms_250) AS ms250, sum(ms_1000) AS ms1000, sum(ms_5000) AS ms5000
   FROM webhook_quarters q CROSS JOIN webhooks w ON w.seq = q.webhook_seq
   WHERE quarter >= $since / ${QUARTER_MS} GROUP BY w.seq, outcome`
  return db.rows<WebhookAttempts>(sql, { since })
}

/** New contacts by line and day, from the day `first` on. */
export function contactDays(db: Db, first: Day) {
  const sql = 'SELECT line_id AS lineId, day, spent FROM contact_days WHERE day >= $first'
  return db.rows<{ lineId: LineId; day: Day; spent: number }>(sql, { first })
}

/** The state of a line from `at` on; `reason` is null while it is online. */
export type StateChange = { readonly at: Timestamp; readonly reason: string | null }

/** The state of a line at `since`, if known, and all later ones. */
export function stateChanges(db: Db, lineId: LineId, since: number): readonly StateChange[] {
  const sql = `SELECT at, reason FROM line_states WHERE line_seq = ${LINE_SEQ} AND at >= coalesce(
     (SELECT max(at) FROM line_states WHERE line_seq = ${LINE_SEQ} AND at <= $since), 0)
   ORDER BY at`
  return db.rows<StateChange>(sql, { lineId, since })
}

/** The `reason` for the time from a backup to its restore, in which the line's state is unknown. */
export const RESTORED = 'restored'

/** Records that the state is unknown from the end of the last run in a restored backup until `now`. */
export function recordRestore(tx: Pick<Tx, 'sqlite'>, now: Timestamp): void {
  const since = '(SELECT max(alive_at) FROM relay_runs)'
  const last = '(SELECT max(at) FROM line_states s WHERE s.line_seq = lines.seq)'
  const states = `INSERT INTO line_states
   SELECT seq, max(${since}, coalesce(${last} + 1, 0)), $reason FROM lines
   WHERE deleted_at IS NULL AND ${since} IS NOT NULL AND ${last} IS NOT NULL`
  const blank = `INSERT INTO timeline (at, kind, detail)
   SELECT $now, 'restored', json_object('since', ${since}) WHERE ${since} IS NOT NULL`
  tx.sqlite.query(states).run({ reason: RESTORED })
  tx.sqlite.query(blank).run({ now })
}

export function lastStateOf(db: Db, lineId: LineId): StateChange | null {
  const sql = `SELECT at, reason FROM line_states WHERE line_seq = ${LINE_SEQ} ORDER BY at DESC LIMIT 1`
  return db.row<StateChange>(sql, { lineId })
}

export function recordState(tx: Tx, lineId: LineId, state: StateChange): void {
  const sql = `INSERT INTO line_states SELECT seq, $at, $reason FROM lines WHERE id = $lineId
   ON CONFLICT DO UPDATE SET reason = excluded.reason`
  tx.execute(sql, { lineId, ...state })
}

/** A run of the relay. `aliveAt` is the last time when it is known to have run; `stoppedAt` is null if it crashed. */
export type RelayRun = Readonly<typeof relayRunTable.$inferSelect>

/** The runs of the relay since `since`, and the last run before that, oldest first. */
export function relayRuns(db: Db, since: number): readonly RelayRun[] {
  const sql = `SELECT started_at AS startedAt, alive_at AS aliveAt, stopped_at AS stoppedAt FROM relay_runs
   WHERE alive_at >= coalesce((SELECT max(alive_at) FROM relay_runs WHERE alive_at < $since), 0)
   ORDER BY started_at`
  return db.rows<RelayRun>(sql, { since })
}

export function recordRun(
  tx: Tx,
  run: { readonly startedAt: number; readonly now: number; readonly stoppedAt: number | null },
): void {
  const sql = `INSERT INTO relay_runs VALUES ($startedAt, $now, $stoppedAt)
   ON CONFLICT DO UPDATE SET alive_at = max(alive_at, $now), stopped_at = $stoppedAt`
  tx.execute(sql, run)
}

export type QueueSample = Readonly<typeof queueSampleTable.$inferSelect>

export function queueSamples(db: Db, since: number): readonly QueueSample[] {
  const sql = 'SELECT at, messages, deliveries FROM queue_samples WHERE at >= $since ORDER BY at'
  return db.rows<QueueSample>(sql, { since })
}

export function recordSample(tx: Tx, sample: QueueSample): void {
  tx.execute('INSERT OR REPLACE INTO queue_samples VALUES ($at, $messages, $deliveries)', sample)
}

/** The numbers of messages and deliveries that wait now. */
export function queueNow(db: Db): Omit<QueueSample, 'at'> {
  const sql = `SELECT count(*) AS count FROM webhooks
     CROSS JOIN deliveries d INDEXED BY deliveries_by_webhook_and_status ON d.webhook_seq = webhooks.seq
   WHERE webhooks.deleted_at IS NULL AND d.status = 'pending'`
  const deliveries = db.row<{ count: number }>(sql)?.count ?? 0
  return { messages: countByStatus(db, 'queued'), deliveries }
}

/** Delete figures older than 400 days (queue samples: 30), but keep the state that a line had at that time. */
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
  purge('queue_samples', 'at', 'at < $before', 30 * DAY_MS),
]

function purge(table: string, key: string, isOld: string, keptMs = 400 * DAY_MS): Purge {
  const sql = `DELETE FROM ${table}
   WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${isOld} LIMIT $limit)`
  return (tx, age, limit) => tx.execute(sql, { before: age.ago(keptMs), limit }).changes
}
