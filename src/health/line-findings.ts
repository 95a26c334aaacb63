// Findings about the messages of a line: its contacts of the day, failing and uncertain sends, messages
// that were not relayed or could not be stored.

import { type LimitLevel, limitLevel } from '../domain/contact-limit.ts'
import type { Days } from '../domain/days.ts'
import type { FindingCode } from '../domain/finding-codes.ts'
import type { LineId, Timestamp } from '../domain/ids.ts'
import { type Capabilities, type Line, type LineState, lineName } from '../domain/line.ts'
import type { SentenceOf } from '../domain/message.ts'
import {
  NOT_RELAYED_WORDS,
  type NotRelayedKind,
  hintFor,
  isRelayedNow,
} from '../domain/not-relayed.ts'
import { countWords, grouped } from '../domain/number-words.ts'
import type { Core } from '../storage/core.ts'
import { contactUsage } from '../storage/daily-contacts.ts'
import type { Db } from '../storage/database.ts'
import { unreachableGroups, type UnreachableGroup } from '../storage/groups.ts'
import { countRejected, listNotRelayed, type NotRelayedCount } from '../storage/intake-records.ts'
import { COUNTED_MAX, finishedSends, longUncertain } from '../storage/message-lists.ts'
import { isoTime } from '../system/iso-time.ts'
import type { HealthFinding } from './catalogue.ts'

/** A line as the findings need it. */
export type WatchedLine = {
  readonly line: Line
  readonly state: LineState
  /** Practice lines are not real. */
  readonly isReal: boolean
  /** The most that a line of its kind can do. */
  readonly abilities: Capabilities
  /** It was asked for by this start. */
  readonly isConfigured: boolean
}

export type WatchedLines = {
  lines(): readonly WatchedLine[]
  /** Names of the kinds of practice lines. */
  readonly practiceKinds: readonly string[]
}

/** Groups that a finding names. */
const GROUPS_NAMED_MAX = 3

type Words = Pick<HealthFinding, 'title' | 'why' | 'fix'>

/** Reads the findings, and remembers what keeps those of a line from coming and going. */
export class LineFindings {
  readonly #core: Core
  readonly #lines: WatchedLines
  readonly #days: Days
  readonly #sentenceOf: SentenceOf
  readonly #levels = new Map<LineId, { readonly level: LimitLevel; readonly limit: number }>()
  readonly #failing = new Set<LineId>()

  constructor(
    core: Core,
    given: {
      readonly lines: WatchedLines
      readonly days: Days
      readonly sentenceOf: SentenceOf
    },
  ) {
    this.#core = core
    this.#lines = given.lines
    this.#days = given.days
    this.#sentenceOf = given.sentenceOf
  }

  list(): readonly HealthFinding[] {
    const { db, ids } = this.#core
    const now = ids.now()
    const watched = this.#lines.lines()
    const all = watched.map(({ line }) => line)
    const used = watched.filter(({ line, isConfigured }) => line.isEnabled && isConfigured)
    // Numbers of practice lines fail on purpose; their limit is as real as any.
    const real = used.filter(({ isReal }) => isReal)
    return [
      ...rejectedFindings(db),
      ...watched.flatMap((snapshot) => notRelayedFindings(db, snapshot)),
      ...used.flatMap(({ line }) => this.#limitFinding(line, now) ?? []),
      ...real.flatMap(({ line }) => this.#failingFinding(line, now) ?? []),
      ...uncertainFindings(all, longUncertain(db, now, this.#lines.practiceKinds)),
      ...groupFindings(all, unreachableGroups(db)),
    ]
  }

  #limitFinding(line: Line, now: Timestamp): HealthFinding | null {
    const days = this.#days
    const { reserved, spent } = contactUsage(this.#core.db, line.id, days.of(now))
    const use = { used: reserved + spent, limit: line.dailyContactLimit }
    const before = this.#levels.get(line.id)
    // A changed limit resets the warning level.
    const level = limitLevel(use, before?.limit === use.limit ? before.level : 'room')
    this.#levels.set(line.id, { level, limit: use.limit })
    return level === 'room' ? null : limitFinding(line, { ...use, level, reset: days.midnight() })
  }

  #failingFinding(line: Line, now: Timestamp): HealthFinding | null {
    const judged = finishedSends(this.#core.db, line.id)
      .filter(({ at, errorCode }) => at > now - SENDS_JUDGED_MS && isOfLine(errorCode))
      .slice(0, SENDS_JUDGED_MAX)
    const failed = judged.filter(({ isFailed }) => isFailed)
    if (!isFailing(failed.length, this.#failing.has(line.id))) {
      this.#failing.delete(line.id)
      return null
    }
    this.#failing.add(line.id)
    const reason = this.#sentenceOf(failed[0]?.errorCode ?? 'send_failed')
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
  /** The end of the day, as "midnight UTC". */
  readonly reset: string
}

function limitFinding(line: Line, { used, limit, level, reset }: Use): HealthFinding {
  const figures = `${grouped(used)} of ${countWords(limit, 'new contact')} used today`
  const raise = `raise the limit in its settings or with "hookline lines set ${line.id} --daily-contact-limit N".`
  if (level === 'near') {
    return ofLine(line, 'limit_near', 'info', {
      title: `Line ${lineName(line)} is close to its daily limit of new contacts`,
      why: `${figures}. Resets at ${reset}.`,
      fix: `No action is needed. If the rest is too few for today, add a line or ${raise}`,
    })
  }
  return ofLine(line, 'limit_reached', 'warning', {
    title: `Line ${lineName(line)} has reached its daily limit of new contacts`,
    why: `${figures}. Messages to new contacts go out on another line if there is one. Otherwise they are refused (rate_limit_exceeded) or, if already accepted, wait until ${reset}. Existing contacts are not limited.`,
    fix: `Wait until ${reset}, add a line, or ${raise} Apple blocks lines that message many strangers.`,
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

/** Groups that the device does not find any more. */
function groupFindings(lines: readonly Line[], unreachable: readonly UnreachableGroup[]) {
  const byLine = Map.groupBy(unreachable, ({ lineId }) => lineId)
  return lines.flatMap((line) => {
    const groups = byLine.get(line.id) ?? []
    if (groups.length === 0) return []
    const names = groups.map(({ name, chatGuid }) => name ?? chatGuid)
    const named = [
      ...names.slice(0, GROUPS_NAMED_MAX),
      ...(names.length > GROUPS_NAMED_MAX ? ['…'] : []),
    ]
    return ofLine(line, 'group_not_reachable', 'warning', {
      title: `Line ${lineName(line)} cannot reach ${countWords(groups.length, 'group')}`,
      why: `The device did not find them when a message was to be sent: ${named.join(', ')}. Nothing was sent, and nobody was written to in their place.`,
      fix: 'Open the group in Messages on the device and send a message there. As soon as a message of the group arrives, it is reachable again.',
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
  reason: 'sender_is_a_name' | null,
  count: number,
): Words & Pick<HealthFinding, 'code'> {
  if (reason === 'sender_is_a_name') {
    return {
      code: reason,
      title: 'Messages from a contact name cannot be answered',
      why: `Messages in the last 30 days that came with a contact's name instead of a number: ${grouped(count)}.`,
      fix: 'If the name is a contact of that iPhone, delete the contact there: the messages stay, and the next ones come with the number. The name of a company can only be read.',
    }
  }
  return {
    code: 'events_rejected',
    title: 'Some events from the device could not be stored',
    why: `Events of this line rejected in the last 30 days: ${grouped(count)}. The line keeps working.`,
    fix: 'Search the log for "event of a line was rejected" and report it.',
  }
}

const NOT_RELAYED_CODES: Readonly<Record<NotRelayedKind, FindingCode>> = {
  sms: 'sms_not_announced',
  rcs: 'rcs_not_announced',
  group: 'group_messages_not_relayed',
  spam: 'spam_not_announced',
  unplaced: 'unplaced_messages',
  not_understood: 'messages_not_understood',
  own: 'own_messages_left_out',
  repeated: 'messages_repeated',
  edit_copy: 'edit_copies_left_out',
}

/** Messages that the line received and that no event announced, kind by kind. */
function notRelayedFindings(db: Db, { line, abilities }: WatchedLine): readonly HealthFinding[] {
  return listNotRelayed(db, line.id)
    .filter(({ kind }) => !isRelayedNow(line, kind))
    .map(({ kind, count, since }: NotRelayedCount) => {
      const { title, why } = NOT_RELAYED_WORDS[kind]
      return ofLine(line, NOT_RELAYED_CODES[kind], 'info', {
        title,
        why: `Messages since ${isoTime(since).slice(0, 10)}: ${grouped(count)}. ${why}`,
        fix: hintFor(line, kind, abilities.groups !== undefined),
      })
    })
}

export function loopFinding(line: Line): HealthFinding {
  return ofLine(line, 'possible_loop', 'warning', {
    title: 'Two programs may be replying to each other',
    why: 'More than 30 messages went to one recipient within a minute; further ones were refused.',
    fix: 'Stop your program from replying to automated messages.',
  })
}

function ofLine(
  line: Line,
  code: FindingCode,
  severity: HealthFinding['severity'],
  words: Words,
): HealthFinding {
  return { code, severity, ...words, lineId: line.id, depends_on: null }
}

/** Number of a line's finished sends that are looked at, and their greatest age. */
const SENDS_JUDGED_MAX = 10
const SENDS_JUDGED_MS = 3_600_000

const FAILING_FROM = 3
const FAILING_UNTIL = 2

/**
 * Decides by its last finished sends whether a line fails to send. One failure is an accident and two may be one
 * outage, so it takes three; a line that failed before is well again when at most one is left among them.
 */
export function isFailing(failedCount: number, wasFailing: boolean): boolean {
  return failedCount >= (wasFailing ? FAILING_UNTIL : FAILING_FROM)
}

/** Codes of failures that say nothing of the line: the recipient, the text, the owner or a box is the reason. */
const NOT_OF_THE_LINE: ReadonlySet<string> = new Set([
  'not_on_imessage',
  'recipient_rejected',
  'unsupported_characters',
  'not_carried',
  'not_supported',
  'group_not_reachable',
  'attachment_missing',
  'line_removed',
  'resolved_by_hand',
  'withdrawn',
])

/** True if a failure with this code speaks against the line. */
export function isOfLine(code: string | null): boolean {
  return code === null || !NOT_OF_THE_LINE.has(code)
}
