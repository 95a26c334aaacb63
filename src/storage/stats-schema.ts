// The tables of figures. A quarter is a number of quarter hours since 1970. Every time zone is a multiple of
// quarter hours from UTC, so the days of any zone are sums of quarters.

import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

import { ATTEMPT_OUTCOMES, type AttemptOutcome } from '../domain/webhook.ts'
import { at, checkName, checkWord } from './columns.ts'

const count = (name: string) => integer(name).notNull()

/**
 * Messages of a line by the quarter in which they were recorded and by their outcome so far. Triggers on
 * `messages`, made by migrations 0000 and 0005, update it: one for a new message, and one for a changed time of sending
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
  (t) => [primaryKey({ columns: [t.lineSeq, t.at] }), checkName('reason')],
)

/** Runs of the relay. If `stopped_at` is null, it crashed soon after `alive_at`, or still runs. */
export const relayRuns = sqliteTable('relay_runs', {
  startedAt: at('started_at').primaryKey(),
  aliveAt: at('alive_at').notNull(),
  stoppedAt: at('stopped_at'),
})

/** The numbers of messages and deliveries that waited at a time. */
export const queueSamples = sqliteTable('queue_samples', {
  at: at('at').primaryKey(),
  messages: count('messages'),
  deliveries: count('deliveries'),
})
