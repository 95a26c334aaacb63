// One sentence about a range of the timeline, and its figures.

import { MESSAGES } from '../api/operations/messages.ts'
import { PHONE_LINES } from '../api/operations/phone-lines.ts'
import { WEBHOOKS } from '../api/operations/webhooks.ts'
import type { TimelineSummary } from '../api/timeline.ts'
import { isOpen } from '../domain/breaker.ts'
import { dayOf } from '../domain/days.ts'
import { countWords, durationWords, grouped } from '../domain/number-words.ts'
import { includesLine, isNarrower } from '../domain/routing.ts'
import { DAY_MS, HOUR_MS, QUARTER_MS } from '../domain/time.ts'
import { WEBHOOKS_MAX } from '../domain/webhook.ts'
import { uptimeCells } from '../stats/uptime.ts'
import type { Core } from '../storage/core.ts'
import type { Db } from '../storage/database.ts'
import { listLines } from '../storage/lines.ts'
import { isOfLines, limitValue } from '../storage/statement.ts'
import { messageCounts, relayRuns, stateChanges } from '../storage/stats.ts'
import { listWebhooks } from '../storage/webhooks.ts'
import type { Caller } from './kinds.ts'

type Range = { readonly since: number; readonly until: number; readonly now: number }
type Figures = Omit<TimelineSummary, 'text' | 'is_quiet'>

const TO_ANSWER_MAX = 1_000
/** A night is quiet if its lines were off for less than this in total. */
const QUIET_OFF_S = 900

export function summaryOf(core: Core, caller: Caller, range: Range): TimelineSummary {
  const figures = {
    ...offTime(core, caller, range),
    ...messagesIn(core.db, caller, range),
    webhooks_failing: caller.may(WEBHOOKS.listWebhooks) ? failingNow(core.db, caller) : null,
  }
  const { failed, expired, uncertain, off_seconds, webhooks_failing } = figures
  const troubles = [failed, expired, uncertain, webhooks_failing]
  const is_quiet = troubles.every((count) => !count) && (off_seconds ?? 0) < QUIET_OFF_S
  const zone = core.settings.get('time_zone')
  return { text: sentence(figures, is_quiet, isNight(range, zone)), is_quiet, ...figures }
}

/** True for a range of at most a day that contains one midnight. */
function isNight({ since, until }: Range, zone: string): boolean {
  return dayOf(until, zone) - dayOf(since, zone) === 1 && until - since <= DAY_MS
}

function sentence(figures: Figures, isQuiet: boolean, ofNight: boolean): string {
  const { lines_off, off_seconds, received, failed, expired, uncertain, to_answer } = figures
  const time = ofNight ? 'night' : 'time'
  const some = (count: number | null, words: (count: number) => string) =>
    count === null || count === 0 ? [] : [words(count)]
  const facts = [
    ...some(lines_off, (count) => {
      return `${countWords(count, 'line')} off for ${durationWords((off_seconds ?? 0) * 1_000)}`
    }),
    ...some(failed, (count) => `${countWords(count, 'message')} failed`),
    ...some(expired, (count) => `${countWords(count, 'message')} expired`),
    ...some(uncertain, (count) => `${countWords(count, 'message')} became uncertain`),
    ...some(figures.webhooks_failing, (count) => `${countWords(count, 'webhook')} failing now`),
    ...(received === null ? [] : [`${countWords(received, 'message')} received`]),
    ...some(to_answer, (count) => {
      return `${count === TO_ANSWER_MAX ? `more than ${grouped(count - 1)}` : grouped(count)} to answer`
    }),
  ]
  const name = isQuiet ? `Quiet ${time}` : `Not a quiet ${time}`
  return facts.length === 0 ? `${name}.` : `${name}: ${facts.join(', ')}.`
}

function offTime(
  { db }: Core,
  { may, lines }: Caller,
  { since, until, now }: Range,
): Pick<Figures, 'lines_off' | 'off_seconds'> {
  if (!may(PHONE_LINES.listPhoneLines)) return { lines_off: null, off_seconds: null }
  const runs = relayRuns(db, since)
  const end = Math.min(until, now)
  const seconds = listLines(db)
    .filter(({ id }) => includesLine(lines, id))
    .map(({ id }) => {
      const [cell] = uptimeCells([since, end], { changes: stateChanges(db, id, since), runs }, end)
      return cell?.reasons.reduce((sum, reason) => sum + reason.seconds, 0) ?? 0
    })
  const off = seconds.filter((each) => each > 0)
  return { lines_off: off.length, off_seconds: off.reduce((sum, each) => sum + each, 0) }
}

const UNSENT = `SELECT coalesce(sum(failed), 0) AS failed, coalesce(sum(expired), 0) AS expired,
   coalesce(sum(uncertain), 0) AS uncertain FROM timeline_hours h
   WHERE hour >= $from AND hour < $to AND line_seq > 0
     AND ${isOfLines('(SELECT l.id FROM lines l WHERE l.seq = h.line_seq)')}`

const TO_ANSWER = `SELECT 1 FROM lines l
   CROSS JOIN conversations c INDEXED BY conversations_unanswered ON c.line_id = l.id
   WHERE ${isOfLines('l.id')} AND c.is_unanswered = 1 LIMIT ${TO_ANSWER_MAX}`

function messagesIn(
  db: Db,
  { may, lines }: Caller,
  { since, until }: Range,
): Omit<Figures, 'lines_off' | 'off_seconds' | 'webhooks_failing'> {
  if (!may(MESSAGES.listMessages)) return UNREAD
  const [from, to] = aligned(since, until, QUARTER_MS)
  const counts = messageCounts(db, from, to).filter(({ lineId }) => includesLine(lines, lineId))
  const lineIds = limitValue(lines)
  const hours = aligned(since, until, HOUR_MS).map((at) => at / HOUR_MS)
  const unsent = db.row<typeof NONE>(UNSENT, { lineIds, from: hours[0] ?? 0, to: hours[1] ?? 0 })
  return {
    received: counts.reduce((sum, row) => sum + row.received, 0),
    sent: counts.reduce((sum, row) => sum + row.sent, 0),
    ...(unsent ?? NONE),
    to_answer: db.rows(TO_ANSWER, { lineIds }).length,
  }
}

const NONE = { failed: 0, expired: 0, uncertain: 0 }
const UNREAD = {
  received: null,
  sent: null,
  failed: null,
  expired: null,
  uncertain: null,
  to_answer: null,
}

/** The range, widened to whole units. */
function aligned(since: number, until: number, unitMs: number): readonly [number, number] {
  return [Math.floor(since / unitMs) * unitMs, Math.ceil(until / unitMs) * unitMs]
}

function failingNow(db: Db, { limits }: Caller): number {
  const all = listWebhooks(db, WEBHOOKS_MAX, null)
  return all.filter((webhook) => {
    const { isActive, breaker, disabledReason } = webhook
    const isFailing = disabledReason !== null || (isActive && isOpen(breaker))
    return isFailing && isNarrower(webhook, limits)
  }).length
}
