// Records when the relay ran, the lines' states and the queue's length. Also provides their metrics.

import { type LineId, timestamp } from '../domain/ids.ts'
import type { Line, LineState } from '../domain/line.ts'
import { MINUTE_MS, QUARTER_MS } from '../domain/time.ts'
import { recordedIfRoom } from '../storage/audit.ts'
import type { Core } from '../storage/core.ts'
import { contactUsage, daysOf } from '../storage/daily-contacts.ts'
import {
  attemptTotals,
  lastStateOf,
  messageCounts,
  queueNow,
  recordRun,
  recordSample,
  recordState,
  type StateChange,
} from '../storage/stats.ts'
import type { Metrics } from '../system/metrics.ts'
import type { Service } from '../system/service.ts'
import { Signal } from '../system/signal.ts'

type Lines = {
  lines(): readonly {
    readonly line: Pick<Line, 'id' | 'dailyContactLimit'>
    readonly state: LineState
  }[]
  onChange(listener: () => void): void
}

const ALIVE_MS = MINUTE_MS
const SAMPLE_MS = 5 * MINUTE_MS
/** A longer time between two records means that the machine slept. */
const ASLEEP_MS = 3 * MINUTE_MS
/** A flapping line gets at most one entry per this time, with the last state. */
const SETTLED_MS = 10_000

export class Recorder implements Service {
  readonly name = 'recorder'
  readonly #core: Core
  readonly #lines: Lines
  readonly #signal = new Signal()
  readonly #changes = new Map<LineId, StateChange>()
  readonly #recorded = new Map<LineId, StateChange>()
  #startedAt = 0
  #aliveAt = -Infinity
  #sampledAt = -Infinity

  constructor(
    core: Core,
    { lines, metrics }: { readonly lines: Lines; readonly metrics: Metrics },
  ) {
    this.#core = core
    this.#lines = lines
    lines.onChange(() => this.#noteStates())
    observeFigures(core, lines, metrics)
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#core
    this.#noteStates()
    while (!signal.aborted) {
      await this.#record(null)
      await this.#signal.wait(clock, this.#waitMs(), signal)
    }
    await this.#record(clock.now())
  }

  #noteStates(): void {
    const at = timestamp(this.#core.clock.now())
    for (const { line, state } of this.#lines.lines()) {
      const reason = state.status === 'online' ? null : state.reason.code
      // Recorded as the end of the run.
      if (reason === 'stopping') continue
      const known = this.#changes.get(line.id)
      if (known?.reason !== reason) this.#changes.set(line.id, { at, reason })
    }
    this.#signal.notify()
  }

  async #record(stoppedAt: number | null): Promise<void> {
    const { clock, writer } = this.#core
    const now = clock.now()
    const settled = this.#unrecorded().filter(({ settlesAt }) => settlesAt <= now)
    const isSampled = now - this.#sampledAt >= SAMPLE_MS
    const isAlive = now - this.#aliveAt >= ALIVE_MS || stoppedAt !== null
    if (settled.length === 0 && !isSampled && !isAlive) return
    if (now - this.#aliveAt > ASLEEP_MS) this.#startedAt = now
    await recordedIfRoom(
      writer.write((tx) => {
        for (const { id, change } of settled) recordState(tx, id, change)
        recordRun(tx, { startedAt: this.#startedAt, now, stoppedAt })
        if (isSampled) recordSample(tx, { at: timestamp(now), ...queueNow(tx) })
      }),
    )
    for (const { id, change } of settled) this.#recorded.set(id, change)
    this.#aliveAt = now
    if (isSampled) this.#sampledAt = now
  }

  #unrecorded() {
    return [...this.#changes].flatMap(([id, change]) => {
      const last = this.#recorded.get(id) ?? lastStateOf(this.#core.db, id)
      if (last?.reason === change.reason) return []
      const lastAt = last?.at ?? 0
      const at = timestamp(Math.max(change.at, lastAt + 1))
      return [{ id, change: { ...change, at }, settlesAt: lastAt + SETTLED_MS }]
    })
  }

  /** Milliseconds until the next state may be recorded, at most a minute. */
  #waitMs(): number {
    const now = this.#core.clock.now()
    const waits = this.#unrecorded().map(({ settlesAt }) => Math.max(settlesAt - now, 0))
    return Math.min(ALIVE_MS, ...waits)
  }
}

/** Metrics from the same rows as the API. Counters begin with the quarter hour of the start. */
function observeFigures(core: Core, lines: Lines, metrics: Metrics): void {
  const { db, clock } = core
  const days = daysOf(core)
  const since = Math.floor(clock.now() / QUARTER_MS) * QUARTER_MS
  metrics.onCollect(() => {
    for (const counts of messageCounts(db, since, Number.MAX_SAFE_INTEGER)) {
      const line = counts.lineId
      for (const status of ['sent', 'received', 'failed'] as const) {
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
      const { reserved, spent } = contactUsage(db, line.id, days.of(clock.now(), line.id))
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
