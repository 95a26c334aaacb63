// Findings of how a line's messages fare: its contacts of the day, sends that fail, and sends that
// are uncertain.

import { endOfUtcDay, limitLevel, utcDayOf, type LimitLevel } from '../domain/contact-limit.ts'
import { timestamp, type LineId, type Timestamp } from '../domain/ids.ts'
import { lineName, type Line, type LineState } from '../domain/line.ts'
import { sentenceOf } from '../domain/message.ts'
import { countWords, grouped } from '../domain/number-words.ts'
import { isFailing, isOfLine, SENDS_JUDGED_MAX, SENDS_JUDGED_MS } from '../domain/send-failures.ts'
import { contactUsage } from '../storage/contacts.ts'
import type { Db } from '../storage/database.ts'
import { COUNTED_MAX, finishedSends, longUncertain } from '../storage/message-health.ts'
import { isoTime } from '../system/iso-time.ts'
import type { Stamps } from '../system/stamps.ts'
import type { HealthFinding } from './catalogue.ts'

/** A line as the findings need it. */
export type WatchedLine = {
  readonly line: Line
  readonly state: LineState
  /** Whether this start asked for it. */
  readonly isConfigured: boolean
}

type Tools = {
  readonly db: Db
  readonly stamps: Pick<Stamps, 'now'>
  readonly lines: () => readonly WatchedLine[]
}

/** Reads the findings, and remembers of each line what it needs to keep them from coming and going. */
export class SendingFindings {
  readonly #tools: Tools
  readonly #levels = new Map<LineId, { readonly level: LimitLevel; readonly limit: number }>()
  readonly #failing = new Set<LineId>()

  constructor(tools: Tools) {
    this.#tools = tools
  }

  list(): readonly HealthFinding[] {
    const now = this.#tools.stamps.now()
    const lines = this.#tools
      .lines()
      .filter(({ line, isConfigured }) => line.isEnabled && isConfigured)
      .map(({ line }) => line)
    // Numbers of practice lines fail on purpose; their limit is as real as any.
    const real = lines.filter(({ driver }) => driver !== 'simulated')
    return [
      ...lines.flatMap((line) => this.#limitFinding(line, now) ?? []),
      ...real.flatMap((line) => this.#failingFinding(line, now) ?? []),
      ...this.#uncertainFindings(now),
    ]
  }

  #limitFinding(line: Line, now: Timestamp): HealthFinding | null {
    const { reserved, spent } = contactUsage(this.#tools.db, line.id, utcDayOf(now))
    const use = { used: reserved + spent, limit: line.dailyContactLimit }
    const before = this.#levels.get(line.id)
    // Another limit is another question: what was said of the old one does not matter.
    const level = limitLevel(use, before?.limit === use.limit ? before.level : 'room')
    this.#levels.set(line.id, { level, limit: use.limit })
    return level === 'room' ? null : limitFinding(line, { ...use, level, now })
  }

  #failingFinding(line: Line, now: Timestamp): HealthFinding | null {
    const judged = finishedSends(this.#tools.db, line.id)
      .filter(({ at, errorCode }) => at > now - SENDS_JUDGED_MS && isOfLine(errorCode))
      .slice(0, SENDS_JUDGED_MAX)
    const failed = judged.filter(({ isFailed }) => isFailed)
    const isBad = isFailing(failed.length, this.#failing.has(line.id))
    if (!isBad) this.#failing.delete(line.id)
    else this.#failing.add(line.id)
    if (!isBad) return null
    const reason = sentenceOf(failed[0]?.errorCode ?? 'send_failed')
    return failingFinding(line, { failed: failed.length, all: judged.length, reason })
  }

  #uncertainFindings(now: Timestamp): readonly HealthFinding[] {
    const byLine = Map.groupBy(longUncertain(this.#tools.db, now), ({ lineId }) => lineId)
    return this.#tools.lines().flatMap(({ line }) => {
      const messages = byLine.get(line.id) ?? []
      const [oldest] = messages
      return oldest === undefined ? [] : [uncertainFinding(line, messages.length, oldest.id)]
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
  const about = { lineId: line.id, depends_on: null } as const
  const figures = `${grouped(used)} of ${countWords(limit, 'new contact')} are used today`
  const raise = `raise the limit: hookline lines set ${line.id} --daily-contact-limit N.`
  if (level === 'near') {
    return {
      ...about,
      code: 'limit_near',
      severity: 'info',
      title: `The line ${lineName(line)} is close to its daily limit of new contacts`,
      why: `${figures}. The count starts again at ${resetsAt}.`,
      fix: `Nothing has to be done. If the rest is too few for the day, add a line or ${raise}`,
    }
  }
  return {
    ...about,
    code: 'limit_reached',
    severity: 'warning',
    title: `The line ${lineName(line)} is at its daily limit of new contacts`,
    why: `${figures}. A message to somebody new goes by another line if there is one; otherwise it is refused (rate_limit_exceeded) or, if it was accepted before, waits until ${resetsAt}. Known contacts are not limited.`,
    fix: `Wait until ${resetsAt}, add a line, or ${raise} Apple blocks lines that write to many strangers.`,
  }
}

type Failures = { readonly failed: number; readonly all: number; readonly reason: string }

function failingFinding(line: Line, { failed, all, reason }: Failures): HealthFinding {
  return {
    code: 'messages_failing',
    severity: 'warning',
    title: `Messages of the line ${lineName(line)} fail`,
    why: `${failed} of its last ${countWords(all, 'message')} in the past hour failed. The latest reason: ${reason}`,
    fix: 'Send a text from the device itself. If that fails too, check its network and its iMessage account; otherwise read the errors of the failed messages in the dashboard.',
    lineId: line.id,
    depends_on: null,
  }
}

function uncertainFinding(line: Line, count: number, oldest: string): HealthFinding {
  const atLeast = count === COUNTED_MAX ? 'at least ' : ''
  return {
    code: 'messages_uncertain',
    severity: 'warning',
    title: `Messages of the line ${lineName(line)} are uncertain`,
    why: `Messages handed to the device over 10 minutes ago whose outcome is still unknown: ${atLeast}${grouped(count)}. The relay does not send them again.`,
    fix: `Look into the conversations on the device and settle each message, the oldest first: hookline messages resolve ${oldest} sent|failed.`,
    lineId: line.id,
    depends_on: null,
  }
}
