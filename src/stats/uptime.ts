// Computes a line's uptime from its logged state changes and the relay's runs.

import type { UptimeCell } from '../api/stats.ts'
import { timestamp } from '../domain/ids.ts'
import { RESTORED, type RelayRun, type StateChange } from '../storage/stats.ts'
import { isoTime } from '../system/iso-time.ts'

type Segment = { readonly from: number; readonly to: number; readonly reason: string | null }

type Step = { readonly at: number } & (
  | { readonly line: string | null }
  | { readonly gap: string | null }
)

/** One cell between each two `bounds`. Unknown time, such as the future, doesn't count. */
export function uptimeCells(
  bounds: readonly number[],
  log: { readonly changes: readonly StateChange[]; readonly runs: readonly RelayRun[] },
  now: number,
): readonly UptimeCell[] {
  const cells = bounds.slice(0, -1).map((from, place) => {
    return { from, to: bounds[place + 1] ?? from, ms: new Map<string | null, number>() }
  })
  let first = 0
  for (const { from, to, reason } of segmentsOf(log, now)) {
    while ((cells[first]?.to ?? Infinity) <= from) first += 1
    for (const cell of cells.slice(first)) {
      if (cell.from >= to) break
      const ms = Math.min(to, cell.to) - Math.max(from, cell.from)
      cell.ms.set(reason, (cell.ms.get(reason) ?? 0) + ms)
    }
  }
  return cells.map(({ from, to, ms }) => cellOf(from, to, ms))
}

function cellOf(from: number, to: number, ms: ReadonlyMap<string | null, number>): UptimeCell {
  const knownMs = ms.values().reduce((sum, part) => sum + part, 0)
  const reasons = [...ms].flatMap(([reason, part]) =>
    reason === null ? [] : [{ reason, seconds: Math.round(part / 1_000) }],
  )
  return {
    from: isoTime(timestamp(from)),
    to: isoTime(timestamp(to)),
    online_share: knownMs === 0 ? null : (ms.get(null) ?? 0) / knownMs,
    reasons: reasons.sort((a, b) => b.seconds - a.seconds),
  }
}

/** Known states in order, without overlap. While the relay isn't running, the line counts as offline because of it. */
function segmentsOf({ changes, runs }: Parameters<typeof uptimeCells>[1], now: number) {
  const steps = [
    ...changes.map(({ at, reason }): Step => ({ at, line: reason })),
    ...runs.flatMap(({ aliveAt, stoppedAt }, place): Step[] => {
      const next = runs[place + 1]
      if (next === undefined) return []
      const gap = stoppedAt === null ? 'relay_interrupted' : 'relay_stopped'
      return [
        { at: aliveAt, gap },
        { at: next.startedAt, gap: null },
      ]
    }),
  ].sort((a, b) => a.at - b.at)
  const segments: Segment[] = []
  let line: string | null | undefined
  let gap: string | null = null
  for (const [place, step] of steps.entries()) {
    if ('line' in step) line = step.line === RESTORED ? undefined : step.line
    else gap = step.gap
    const to = steps[place + 1]?.at ?? now
    if (line !== undefined && to > step.at)
      segments.push({ from: step.at, to, reason: gap ?? line })
  }
  return segments
}
