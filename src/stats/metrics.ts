// Figures for Prometheus, read from the same rows as those of the API and the pictures.

import type { Days } from '../domain/days.ts'
import type { LineId } from '../domain/ids.ts'
import type { LineState } from '../domain/line.ts'
import { QUARTER_MS } from '../domain/time.ts'
import { contactUsage } from '../storage/contacts.ts'
import type { Db } from '../storage/database.ts'
import { attemptTotals, messageCounts } from '../storage/stats.ts'
import type { Clock } from '../system/clock.ts'
import type { Metrics } from '../system/metrics.ts'

export type FigureTools = {
  readonly db: Db
  readonly clock: Clock
  readonly days: Days
  readonly metrics: Metrics
  readonly lines: {
    lines(): readonly {
      readonly line: { readonly id: LineId; readonly dailyContactLimit: number }
      readonly state: LineState
    }[]
  }
}

const OUTCOMES = ['sent', 'received', 'failed'] as const

/** Counters begin with the quarter hour of the start. */
export function observeFigures({ db, clock, days, metrics, lines }: FigureTools): void {
  const since = Math.floor(clock.now() / QUARTER_MS) * QUARTER_MS
  metrics.onCollect(() => {
    for (const counts of messageCounts(db, since, Number.MAX_SAFE_INTEGER)) {
      const line = counts.lineId
      for (const status of OUTCOMES) {
        const help = 'Messages by their outcome, since the start.'
        metrics.total('hookline_line_messages_total', help, counts[status], { line, status })
      }
      const { timed, timedMs, ms1000, ms5000, ms30000, ms300000 } = counts
      const bounds = [1, 5, 30, 300, Infinity]
      const upTo = zip(bounds, [ms1000, ms5000, ms30000, ms300000, timed])
      const help = 'Time from the acceptance of messages until they were sent.'
      metrics.buckets('hookline_line_send_seconds', help, { upTo, sum: timedMs / 1_000 }, { line })
    }
    for (const counts of attemptTotals(db, since)) {
      const { webhookId: webhook, outcome, attempts, totalMs, ms50, ms250, ms1000, ms5000 } = counts
      const help = 'Attempts to deliver to a webhook by their outcome, since the start.'
      metrics.total('hookline_webhook_results_total', help, attempts, { webhook, outcome })
      if (outcome !== 'delivered') continue
      const upTo = zip([0.05, 0.25, 1, 5, Infinity], [ms50, ms250, ms1000, ms5000, attempts])
      const sum = totalMs / 1_000
      const taken = 'Duration of attempts that a webhook took.'
      metrics.buckets('hookline_webhook_delivery_seconds', taken, { upTo, sum }, { webhook })
    }
    for (const { line, state } of lines.lines()) {
      const { reserved, spent } = contactUsage(db, line.id, days.of(clock.now()))
      const gauge = (name: string, help: string, value: number) =>
        metrics.set(`hookline_line_${name}`, help, value, { line: line.id })
      gauge('up', 'Whether a line is online.', state.status === 'online' ? 1 : 0)
      gauge('new_contacts', 'New contacts of the day.', reserved + spent)
      gauge('new_contacts_limit', 'New contacts that a day may have.', line.dailyContactLimit)
    }
  })
}

function zip(bounds: readonly number[], counts: readonly number[]) {
  return bounds.map((bound, place) => [bound, counts[place] ?? 0] as const)
}
