// The tables of figures. A quarter is a number of quarter hours since 1970. Every time zone is a multiple of
// quarter hours from UTC, so the days of any zone are sums of quarters.

import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

import type { LineId } from '../domain/ids.ts'
import type { MarkDetail, MarkKind } from '../domain/timeline.ts'
import { ATTEMPT_OUTCOMES, type AttemptOutcome } from '../domain/webhook.ts'
import { at, checkJson, checkName, checkWord } from './columns.ts'

const count = (name: string) => integer(name).notNull()

/**
 * Messages of a line by the quarter in which they were recorded and by their outcome so far. Triggers on
 * `messages`, made by migrations 0000 and 0017, update it: one for a new message, and one for a changed time of sending
 * or error, because no message becomes sent, failed or uncertain, or stops being so, without such a change.
 */
export const messageQuarters = sqliteTable(
  'message_quarters',
  {
    quarter: count('quarter'),
    lineSeq: count('line_seq'),
    sent: count('sent'),
    received: count('received'),
    failed: count('failed'),
    uncertain: count('uncertain'),
    /** Sent messages that the relay accepted, their total time, and the numbers sent within so many milliseconds. */
    timed: count('timed'),
    timedMs: count('timed_ms'),
    ms1000: count('ms_1000'),
    ms5000: count('ms_5000'),
    ms30000: count('ms_30000'),
    ms300000: count('ms_300000'),
    /** The messages of `failed` that were canceled or denied. */
    canceled: integer('canceled').notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.quarter, t.lineSeq] })],
)

/** Attempts of a webhook by the quarter in which they began; `ms…` count those within so many milliseconds. */
export const webhookQuarters = sqliteTable(
  'webhook_quarters',
  {
    quarter: count('quarter'),
    webhookSeq: count('webhook_seq'),
    outcome: text('outcome').$type<AttemptOutcome>().notNull(),
    attempts: count('attempts'),
    totalMs: count('total_ms'),
    ms50: count('ms_50'),
    ms250: count('ms_250'),
    ms1000: count('ms_1000'),
    ms5000: count('ms_5000'),
  },
  (t) => [
    primaryKey({ columns: [t.quarter, t.webhookSeq, t.outcome] }),
    checkWord('outcome', ATTEMPT_OUTCOMES),
  ],
)

/** Changes of a line's state; `reason` is why it is offline, null if it is online. */
export const lineStates = sqliteTable(
  'line_states',
  { lineSeq: count('line_seq'), at: at('at').notNull(), reason: text('reason') },
  (t) => [
    primaryKey({ columns: [t.lineSeq, t.at] }),
    checkName('reason'),
    index('line_states_by_time').on(t.at, t.lineSeq),
  ],
)

/** Runs of the relay. If `stopped_at` is null, it crashed soon after `alive_at`, or still runs. */
export const relayRuns = sqliteTable('relay_runs', {
  startedAt: at('started_at').primaryKey(),
  aliveAt: at('alive_at').notNull(),
  stoppedAt: at('stopped_at'),
})

/** The numbers of messages and deliveries that were waiting at a time. */
export const queueSamples = sqliteTable('queue_samples', {
  at: at('at').primaryKey(),
  messages: count('messages'),
  deliveries: count('deliveries'),
})

/** What the timeline shows and no other table has: see `timeline.ts`. */
export const timeline = sqliteTable(
  'timeline',
  {
    seq: integer('seq').primaryKey(),
    at: at('at').notNull(),
    /** A name from `MARK_KINDS`. */
    kind: text('kind').$type<MarkKind>().notNull(),
    /** The line that it is about; null if it is about none, or about all. */
    lineId: text('line_id').$type<LineId>(),
    /** The id of a webhook, or the handle of a person. */
    about: text('about'),
    detail: text('detail', { mode: 'json' }).$type<MarkDetail>().notNull(),
  },
  (t) => [checkName('kind'), checkJson('detail'), index('timeline_by_time').on(t.at)],
)

/**
 * Counts by hour: messages of a line that became `failed`, `expired` or `uncertain`, and those of them that were sent
 * after all (triggers of migrations 0012 and 0017 count them); and with line 0, the entries of the audit trail and of
 * `timeline` that retention deleted.
 */
export const timelineHours = sqliteTable(
  'timeline_hours',
  {
    /** Hours since 1970. */
    hour: count('hour'),
    lineSeq: count('line_seq'),
    failed: count('failed'),
    expired: count('expired'),
    uncertain: count('uncertain'),
    confirmed: count('confirmed'),
    changes: count('changes'),
    others: count('others'),
  },
  (t) => [primaryKey({ columns: [t.hour, t.lineSeq] })],
)
