// Findings about the messages of a line: today's contacts, failing and uncertain sends, messages that were not
// relayed or could not be stored.

import { type LimitLevel, limitLevel } from '../domain/contact-limit.ts'
import type { Days } from '../domain/days.ts'
import type { FindingCode } from '../domain/finding-codes.ts'
import { lineScope, type ScopedFinding } from '../domain/finding.ts'
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
import { loopedConversations } from '../storage/conversations.ts'
import type { Core } from '../storage/core.ts'
import { contactUsage } from '../storage/daily-contacts.ts'
import type { Db } from '../storage/database.ts'
import { unreachableGroups, type UnreachableGroup } from '../storage/groups.ts'
import { countRejected, listNotRelayed } from '../storage/intake-records.ts'
import { COUNTED_MAX, finishedSends, longUncertain } from '../storage/message-lists.ts'
import { isoTime } from '../system/iso-time.ts'

export type WatchedLine = {
  readonly line: Line
  readonly state: LineState
  /** False for practice lines. */
  readonly isReal: boolean
  /** The most that its kind of line can do. */
  readonly abilities: Capabilities
  /** False for a practice line that this start didn't ask for. */
  readonly isConfigured: boolean
}

export type WatchedLines = {
  lines(): readonly WatchedLine[]
  readonly practiceKinds: readonly string[]
}

const GROUPS_NAMED_MAX = 3

type Words = Pick<ScopedFinding, 'title' | 'why' | 'fix'>

/** Keeps earlier levels, so that a line's findings don't flicker. */
export class LineFindings {
  readonly #core: Core
  readonly #deps: ConstructorParameters<typeof LineFindings>[1]
  readonly #levels = new Map<LineId, { readonly level: LimitLevel; readonly limit: number }>()
  readonly #failing = new Set<LineId>()

  constructor(
    core: Core,
    deps: {
      readonly lines: WatchedLines
      readonly days: Days
      readonly sentenceOf: SentenceOf
    },
  ) {
    this.#core = core
    this.#deps = deps
  }

  list(): readonly ScopedFinding[] {
    const { db, ids } = this.#core
    const now = ids.now()
    const watched = this.#deps.lines.lines()
    const all = watched.map(({ line }) => line)
    const used = watched.filter(({ line, isConfigured }) => line.isEnabled && isConfigured)
    // Some numbers of practice lines fail on purpose, so failures count on real lines only; limits count on all.
    const real = used.filter(({ isReal }) => isReal)
    return [
      ...rejectedFindings(db),
      ...watched.flatMap((snapshot) => notRelayedFindings(db, snapshot)),
      ...used.flatMap(({ line }) => this.#limitFinding(line, now) ?? []),
      ...real.flatMap(({ line }) => this.#failingFinding(line, now) ?? []),
      ...uncertainFindings(all, longUncertain(db, now, this.#deps.lines.practiceKinds)),
      ...groupFindings(all, unreachableGroups(db)),
    ]
  }

  #limitFinding(line: Line, now: Timestamp): ScopedFinding | null {
    const days = this.#deps.days
    const { reserved, spent } = contactUsage(this.#core.db, line.id, days.of(now, line.id))
    const use = { used: reserved + spent, limit: line.dailyContactLimit }
    const before = this.#levels.get(line.id)
    // A changed limit resets the warning level.
    const level = limitLevel(use, before?.limit === use.limit ? before.level : 'room')
    this.#levels.set(line.id, { level, limit: use.limit })
    return level === 'room'
      ? null
      : limitFinding(line, { ...use, level, reset: days.midnight(line.id) })
  }

  #failingFinding(line: Line, now: Timestamp): ScopedFinding | null {
    const recent = finishedSends(this.#core.db, line.id)
      .filter(({ at, errorCode }) => at > now - RECENT_SENDS_MS && isOfLine(errorCode))
      .slice(0, RECENT_SENDS_MAX)
    const failed = recent.filter(({ isFailed }) => isFailed)
    if (!isFailing(failed.length, this.#failing.has(line.id))) {
      this.#failing.delete(line.id)
      return null
    }
    this.#failing.add(line.id)
    const reason = this.#deps.sentenceOf(failed[0]?.errorCode ?? 'send_failed')
    return ofLine(line, 'messages_failing', 'warning', {
      title: `Messages on line ${lineName(line)} are failing`,
      why: `${failed.length} of its last ${countWords(recent.length, 'message')} in the past hour failed. Latest reason: ${reason}`,
      fix: 'Send a text from the device itself. If that fails too, check its network and its iMessage account. Otherwise open the failed messages in the dashboard to see their errors.',
    })
  }
}

type Use = {
  readonly used: number
  readonly limit: number
  readonly level: 'near' | 'reached'
  /** The end of the day, such as "midnight UTC". */
  readonly reset: string
}

function limitFinding(line: Line, { used, limit, level, reset }: Use): ScopedFinding {
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

/** Findings for groups that the device can no longer find. */
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

function rejectedFindings(db: Db): readonly ScopedFinding[] {
  return countRejected(db).map(({ lineId, reason, count }) => {
    const words = rejectedWords(reason, count)
    return { ...words, severity: 'warning', scope: lineScope(lineId), depends_on: null }
  })
}

function rejectedWords(
  reason: 'sender_is_a_name' | null,
  count: number,
): Words & Pick<ScopedFinding, 'code'> {
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

/** Findings for received messages that published no event, by kind. */
function notRelayedFindings(db: Db, { line, abilities }: WatchedLine): readonly ScopedFinding[] {
  return listNotRelayed(db, line.id)
    .filter(({ kind }) => !isRelayedNow(line, kind))
    .map(({ kind, count, since }) => {
      const { title, why } = NOT_RELAYED_WORDS[kind]
      return ofLine(line, NOT_RELAYED_CODES[kind], 'info', {
        title,
        why: `Messages since ${isoTime(since).slice(0, 10)}: ${grouped(count)}. ${why}`,
        fix: hintFor(line, kind, abilities.groups !== undefined),
      })
    })
}

export function loopFinding(line: Line): ScopedFinding {
  return ofLine(line, 'possible_loop', 'warning', {
    title: 'Two programs may be replying to each other',
    why: 'More than 30 messages went to one recipient within a minute; further ones were refused.',
    fix: 'Stop your program from replying to automated messages.',
  })
}

/** Findings for conversations in which programs are stopped. They are named by id, as strangers choose group names. */
export function stoppedFindings({ db }: Pick<Core, 'db'>): readonly ScopedFinding[] {
  const stopped = Map.groupBy(loopedConversations(db), ({ lineId }) => lineId)
  return [...stopped].map(([lineId, conversations]) => ({
    code: 'programs_stopped',
    severity: 'warning',
    title: 'Two programs answered each other, and were stopped',
    why: `No key sends in ${conversations.map(({ id }) => id).join(', ')} until a person lets it go on.`,
    fix: 'Look at the conversation, and turn human takeover off there to let programs go on.',
    scope: lineScope(lineId),
    depends_on: null,
  }))
}

function ofLine(
  line: Line,
  code: FindingCode,
  severity: ScopedFinding['severity'],
  words: Words,
): ScopedFinding {
  return { code, severity, ...words, scope: lineScope(line.id), depends_on: null }
}

/** The most finished sends of a line that count, and their greatest age. */
const RECENT_SENDS_MAX = 10
const RECENT_SENDS_MS = 3_600_000

/**
 * True if a line fails to send, by the failures among its last finished sends. One failure is an accident and two may
 * be one outage, so it takes three; a failing line has recovered once at most one failure is left.
 */
export function isFailing(failedCount: number, wasFailing: boolean): boolean {
  return failedCount >= (wasFailing ? 2 : 3)
}

/** Failures that are caused by the recipient, the text, the owner or a box, not by the line. */
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

/** True if the line may have caused a failure with this code. */
export function isOfLine(code: string | null): boolean {
  return code === null || !NOT_OF_THE_LINE.has(code)
}
