// Findings about the messages of a line: its contacts of the day, failing and uncertain sends, messages
// that were not relayed or could not be stored.

import { endOfUtcDay, limitLevel, utcDayOf, type LimitLevel } from '../domain/contact-limit.ts'
import { timestamp, type LineId, type Timestamp } from '../domain/ids.ts'
import { lineName, type Line, type LineState } from '../domain/line.ts'
import type { SentenceOf } from '../domain/message.ts'
import {
  hintFor,
  isRelayedNow,
  NOT_RELAYED_WORDS,
  type NotRelayedKind,
  type Rejection,
} from '../domain/not-relayed.ts'
import { countWords, grouped } from '../domain/number-words.ts'
import { isFailing, isOfLine, SENDS_JUDGED_MAX, SENDS_JUDGED_MS } from '../domain/send-failures.ts'
import { contactUsage } from '../storage/contacts.ts'
import type { Db } from '../storage/database.ts'
import { countRejected, listNotRelayed, type NotRelayedCount } from '../storage/intake-records.ts'
import { COUNTED_MAX, finishedSends, longUncertain } from '../storage/message-health.ts'
import { isoTime } from '../system/iso-time.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { HealthFinding } from './catalogue.ts'

/** A line as the findings need it. */
export type WatchedLine = {
  readonly line: Line
  readonly state: LineState
  /** Practice lines are not real. */
  readonly isReal: boolean
  /** It was asked for by this start. */
  readonly isConfigured: boolean
}

type Tools = {
  readonly db: Db
  readonly stamps: Pick<LogicalClock, 'now'>
  readonly lines: () => readonly WatchedLine[]
  /** Names of the kinds of practice lines. */
  readonly practiceKinds: readonly string[]
  readonly sentenceOf: SentenceOf
}

type Words = Pick<HealthFinding, 'title' | 'why' | 'fix'>

/** Reads the findings, and remembers what keeps those of a line from coming and going. */
export class LineFindings {
  readonly #tools: Tools
  readonly #levels = new Map<LineId, { readonly level: LimitLevel; readonly limit: number }>()
  readonly #failing = new Set<LineId>()

  constructor(tools: Tools) {
    this.#tools = tools
  }

  list(): readonly HealthFinding[] {
    const { db, stamps, lines, practiceKinds } = this.#tools
    const now = stamps.now()
    const all = lines().map(({ line }) => line)
    const used = lines().filter(({ line, isConfigured }) => line.isEnabled && isConfigured)
    // Numbers of practice lines fail on purpose; their limit is as real as any.
    const real = used.filter(({ isReal }) => isReal)
    return [
      ...rejectedFindings(db),
      ...all.flatMap((line) => notRelayedFindings(db, line)),
      ...used.flatMap(({ line }) => this.#limitFinding(line, now) ?? []),
      ...real.flatMap(({ line }) => this.#failingFinding(line, now) ?? []),
      ...uncertainFindings(all, longUncertain(db, now, practiceKinds)),
    ]
  }

  #limitFinding(line: Line, now: Timestamp): HealthFinding | null {
    const { reserved, spent } = contactUsage(this.#tools.db, line.id, utcDayOf(now))
    const use = { used: reserved + spent, limit: line.dailyContactLimit }
    const before = this.#levels.get(line.id)
    // Another limit is another question: the level of the old one does not matter.
    const level = limitLevel(use, before?.limit === use.limit ? before.level : 'room')
    this.#levels.set(line.id, { level, limit: use.limit })
    return level === 'room' ? null : limitFinding(line, { ...use, level, now })
  }

  #failingFinding(line: Line, now: Timestamp): HealthFinding | null {
    const judged = finishedSends(this.#tools.db, line.id)
      .filter(({ at, errorCode }) => at > now - SENDS_JUDGED_MS && isOfLine(errorCode))
      .slice(0, SENDS_JUDGED_MAX)
    const failed = judged.filter(({ isFailed }) => isFailed)
    if (!isFailing(failed.length, this.#failing.has(line.id))) {
      this.#failing.delete(line.id)
      return null
    }
    this.#failing.add(line.id)
    const reason = this.#tools.sentenceOf(failed[0]?.errorCode ?? 'send_failed')
    return ofLine(line, 'messages_failing', 'warning', {
      title: `Messages on line ${lineName(line)} are failing`,
      why: `${failed.length} of its last ${countWords(judged.length, 'message')} in the past hour failed. Latest reason: ${reason}`,
      fix: 'Send a text from the device itself. If that fails too, check its network and its iMessage account. Otherwise open the failed messages in the dashboard to see their errors.',
    })
  }
}

type Use = {
  readonly used: number
  readonly limit: number
  readonly level: 'near' | 'reached'
  readonly now: Timestamp
}

function limitFinding(line: Line, { used, limit, level, now }: Use): HealthFinding {
  const resetsAt = isoTime(timestamp(endOfUtcDay(now)))
  const figures = `${grouped(used)} of ${countWords(limit, 'new contact')} used today`
  const raise = `raise the limit: hookline lines set ${line.id} --daily-contact-limit N.`
  if (level === 'near') {
    return ofLine(line, 'limit_near', 'info', {
      title: `Line ${lineName(line)} is close to its daily limit of new contacts`,
      why: `${figures}. Resets at ${resetsAt}.`,
      fix: `No action is needed. If the rest is too few for today, add a line or ${raise}`,
    })
  }
  return ofLine(line, 'limit_reached', 'warning', {
    title: `Line ${lineName(line)} has reached its daily limit of new contacts`,
    why: `${figures}. Messages to new contacts go out on another line if there is one. Otherwise they are refused (rate_limit_exceeded) or, if already accepted, wait until ${resetsAt}. Existing contacts are not limited.`,
    fix: `Wait until ${resetsAt}, add a line, or ${raise} Apple blocks lines that message many strangers.`,
  })
}

function uncertainFindings(lines: readonly Line[], uncertain: ReturnType<typeof longUncertain>) {
  const byLine = Map.groupBy(uncertain, ({ lineId }) => lineId)
  return lines.flatMap((line) => {
    const messages = byLine.get(line.id) ?? []
    const [oldest] = messages
    if (oldest === undefined) return []
    const atLeast = messages.length === COUNTED_MAX ? 'at least ' : ''
    return ofLine(line, 'messages_uncertain', 'warning', {
      title: `Messages on line ${lineName(line)} are uncertain`,
      why: `Messages handed to the device over 10 minutes ago that could not be confirmed as sent: ${atLeast}${grouped(messages.length)}. Hookline does not resend them.`,
      fix: `Check the conversations on the device and settle each message, oldest first: hookline messages resolve ${oldest.id} sent|failed.`,
    })
  })
}

/** Events that intake refused in the last 30 days. */
function rejectedFindings(db: Db): readonly HealthFinding[] {
  return countRejected(db).map(({ lineId, reason, count }) => {
    return { ...rejectedWords(reason, count), severity: 'warning', lineId, depends_on: null }
  })
}

function rejectedWords(
  reason: Rejection | null,
  count: number,
): Words & Pick<HealthFinding, 'code'> {
  if (reason === 'sender_is_a_name') {
    return {
      code: reason,
      title: 'Messages from a contact name cannot be answered',
      why: `Messages in the last 30 days that came with a contact's name instead of a number: ${grouped(count)}.`,
      fix: 'On that iPhone, delete the contacts who message the line. Their messages stay.',
    }
  }
  return {
    code: 'events_rejected',
    title: 'Some events from the device could not be stored',
    why: `Events of this line rejected in the last 30 days: ${grouped(count)}. The line keeps working.`,
    fix: 'Search the log for "event of a line was rejected" and report it.',
  }
}

const NOT_RELAYED_CODES: Readonly<Record<NotRelayedKind, string>> = {
  sms: 'sms_not_announced',
  rcs: 'rcs_not_announced',
  group: 'group_messages_not_relayed',
  spam: 'spam_not_announced',
  unplaced: 'unplaced_messages',
  not_understood: 'messages_not_understood',
}

/** Messages that the line received and that no event announced, kind by kind. */
function notRelayedFindings(db: Db, line: Line): readonly HealthFinding[] {
  return listNotRelayed(db, line.id)
    .filter(({ kind }) => !isRelayedNow(line, kind))
    .map(({ kind, count, since }: NotRelayedCount) => {
      const { title, why } = NOT_RELAYED_WORDS[kind]
      return ofLine(line, NOT_RELAYED_CODES[kind], 'info', {
        title,
        why: `Messages since ${isoTime(since).slice(0, 10)}: ${grouped(count)}. ${why}`,
        fix: hintFor(line, kind),
      })
    })
}

/** Two programs that seem to answer each other on this line. */
export function loopFinding(line: Line): HealthFinding {
  return ofLine(line, 'possible_loop', 'warning', {
    title: 'Two programs may be replying to each other',
    why: 'More than 30 messages went to one recipient within a minute; further ones were refused.',
    fix: 'Stop your program from replying to automated messages.',
  })
}

function ofLine(
  line: Line,
  code: string,
  severity: HealthFinding['severity'],
  words: Words,
): HealthFinding {
  return { code, severity, ...words, lineId: line.id, depends_on: null }
}
