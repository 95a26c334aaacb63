// The problems that alerts are about, read from findings and from messages that wait for an approval.

import type { HealthFinding } from '../api/health.ts'
import { causeOfFinding, type AlertCause } from '../domain/alert.ts'
import type { FindingSubject } from '../domain/finding.ts'
import { parseId, type LineId, type Timestamp } from '../domain/ids.ts'
import { lineName, type Line, type LineState } from '../domain/line.ts'
import { waitingApprovals } from '../storage/alerts.ts'
import type { Db } from '../storage/database.ts'

export type AlertLine = {
  readonly line: Line
  readonly state: LineState
  readonly isReal: boolean
}

export type FoundCause = {
  readonly cause: AlertCause
  readonly about: FindingSubject
  readonly lineId: LineId | null
  readonly title: string
  /** The stored time of its begin; null if it counts from when it was first found. */
  readonly since: Timestamp | null
  readonly isSnoozed: boolean
}

/** Two findings with the same name are one cause. */
export function nameOfCause(cause: string, { kind, id }: FindingSubject): string {
  return `${cause} ${kind} ${id ?? ''}`
}

/** Reasons of a line that comes up or goes down with the relay. */
const PASSING: readonly string[] = ['starting', 'stopping']

export function isPassing({ state }: AlertLine): boolean {
  return state.status === 'offline' && PASSING.includes(state.reason.code)
}

/** Everything that is wrong now, by its name. */
export function foundCauses(
  db: Db,
  findings: readonly HealthFinding[],
  lines: readonly AlertLine[],
): ReadonlyMap<string, FoundCause> {
  const byId = new Map<string, AlertLine>(lines.map((found) => [found.line.id, found]))
  const ofFindings = findings.flatMap((finding): readonly FoundCause[] => {
    const cause = causeOfFinding(finding.code)
    const line = byId.get(finding.line_id ?? '')
    // An "info" reports what the owner wants, such as a line that moves.
    if (cause === null || finding.severity === 'info') return []
    if (cause === 'line_off' && line?.line.isEnabled !== true) return []
    return [
      {
        cause,
        about: finding.about,
        lineId: parseId('line', finding.line_id ?? ''),
        title: finding.title,
        since: null,
        isSnoozed: finding.snoozed_until !== undefined,
      },
    ]
  })
  const approvals = waitingApprovals(db).map(({ lineId, since }): FoundCause => {
    const line = byId.get(lineId)
    const of = line === undefined ? '' : ` of line ${lineName(line.line)}`
    const title = `Messages${of} wait for an approval`
    const about = { kind: 'line', id: lineId } as const
    return { cause: 'approval_waiting', about, lineId, title, since, isSnoozed: false }
  })
  const all = [...approvals, ...ofFindings.toReversed()]
  return new Map(all.map((found) => [nameOfCause(found.cause, found.about), found]))
}
