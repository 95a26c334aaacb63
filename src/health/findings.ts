// Findings that no other room owns.

import type { Line } from '../domain/line.ts'
import type { Db } from '../storage/database.ts'
import { countRejected } from '../storage/guids.ts'
import type { HealthFinding } from './catalogue.ts'

/** What intake refused in the last 30 days. */
export function rejectedFindings(db: Db): readonly HealthFinding[] {
  return countRejected(db).map(({ lineId, count }) => ({
    code: 'events_rejected',
    severity: 'warning',
    title: 'Something the device told could not be stored',
    why: `${count} events of this line were rejected in the last 30 days; the line goes on.`,
    fix: 'Look at the log for "event of a line was rejected" and report it.',
    lineId,
    depends_on: null,
  }))
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
