// Findings that no other module owns.

import type { Line } from '../domain/line.ts'
import {
  hintFor,
  isRelayedNow,
  NOT_RELAYED_WORDS,
  type NotRelayedKind,
  type Rejection,
} from '../domain/not-relayed.ts'
import { grouped } from '../domain/number-words.ts'
import type { Db } from '../storage/database.ts'
import { countRejected } from '../storage/guids.ts'
import { listNotRelayed, type NotRelayedCount } from '../storage/not-relayed.ts'
import { isoTime } from '../system/iso-time.ts'
import type { HealthFinding } from './catalogue.ts'

/** What intake refused in the last 30 days. */
export function rejectedFindings(db: Db): readonly HealthFinding[] {
  return countRejected(db).map(({ lineId, reason, count }) => {
    return { ...wordsFor(reason, count), severity: 'warning', lineId, depends_on: null }
  })
}

function wordsFor(
  reason: Rejection | null,
  count: number,
): Pick<HealthFinding, 'code' | 'title' | 'why' | 'fix'> {
  if (reason === 'sender_is_a_name') {
    return {
      code: reason,
      title: 'Messages came from a name, and nobody could answer it',
      why: `Messages of the last 30 days that came with a contact's name in place of a number: ${grouped(count)}.`,
      fix: 'On that iPhone delete the contacts who write to the line; their messages are still there.',
    }
  }
  return {
    code: 'events_rejected',
    title: 'Something the device told could not be stored',
    why: `Events of this line that were rejected in the last 30 days: ${grouped(count)}. The line goes on.`,
    fix: 'Look at the log for "event of a line was rejected" and report it.',
  }
}

/** What each line received and announced to nobody, kind by kind. */
export function notRelayedFindings(db: Db, lines: readonly Line[]): readonly HealthFinding[] {
  return lines.flatMap((line) =>
    listNotRelayed(db, line.id)
      .filter(({ kind }) => !isRelayedNow(line, kind))
      .map((counted) => notRelayedFinding(line, counted)),
  )
}

function notRelayedFinding(line: Line, { kind, count, since }: NotRelayedCount): HealthFinding {
  const { title, why } = NOT_RELAYED_WORDS[kind]
  return {
    code: FINDING_CODES[kind],
    severity: 'info',
    title,
    why: `Messages that came since ${isoTime(since).slice(0, 10)}: ${grouped(count)}. ${why}`,
    fix: hintFor(line, kind),
    lineId: line.id,
    depends_on: null,
  }
}

const FINDING_CODES: Readonly<Record<NotRelayedKind, string>> = {
  sms: 'sms_not_announced',
  rcs: 'rcs_not_announced',
  group: 'group_messages_not_relayed',
  spam: 'spam_not_announced',
  unplaced: 'unplaced_messages',
  not_understood: 'messages_not_understood',
}

/** Two programs seem to answer each other on this line. */
export function loopFinding(line: Line): HealthFinding {
  return {
    code: 'possible_loop',
    severity: 'warning',
    title: 'Two programs may be answering each other',
    why: 'More than 30 messages went to one recipient within a minute; further ones were refused.',
    fix: 'Make your program stop answering automatic messages.',
    lineId: line.id,
    depends_on: null,
  }
}
