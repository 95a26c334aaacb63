// The log of what the relay and its lines were doing: runs, states of lines, and what waited; and the metrics.

import { type LineId, timestamp } from '../domain/ids.ts'
import { MINUTE_MS } from '../domain/time.ts'
import { recordedIfRoom } from '../storage/audit.ts'
import {
  lastStateOf,
  queueNow,
  recordRun,
  recordSample,
  recordState,
  type StateChange,
} from '../storage/stats.ts'
import type { Writer } from '../storage/writer.ts'
import type { Service } from '../system/service.ts'
import { Signal } from '../system/signal.ts'
import { observeFigures, type FigureTools } from './metrics.ts'

type Tools = FigureTools & {
  readonly writer: Pick<Writer, 'write'>
  readonly lines: { onChange(listener: () => void): void }
}

const LOOK_MS = MINUTE_MS
const SAMPLE_MS = 5 * MINUTE_MS
/** Between two looks that are further apart the machine slept. */
const ASLEEP_MS = 3 * MINUTE_MS
/** A line that goes and comes has one change in this time, to the state that it has at its end. */
const SETTLED_MS = 10_000

export class Recorder implements Service {
  readonly name = 'recorder'
  readonly #tools: Tools
  readonly #signal = new Signal()
  readonly #changes = new Map<LineId, StateChange>()
  readonly #recorded = new Map<LineId, StateChange>()
  #startedAt = 0
  #aliveAt = -Infinity
  #sampledAt = -Infinity

  constructor(tools: Tools) {
    this.#tools = tools
    tools.lines.onChange(() => this.#look())
    observeFigures(tools)
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#tools
    this.#look()
    while (!signal.aborted) {
      await this.#record(null)
      await this.#signal.wait(clock, this.#waitMs(), signal)
    }
    await this.#record(clock.now())
  }

  #look(): void {
    const at = timestamp(this.#tools.clock.now())
    for (const { line, state } of this.#tools.lines.lines()) {
      const reason = state.status === 'online' ? null : state.reason.code
      // The end of the run says so.
      if (reason === 'stopping') continue
      const known = this.#changes.get(line.id)
      if (known?.reason !== reason) this.#changes.set(line.id, { at, reason })
    }
    this.#signal.notify()
  }

  async #record(stoppedAt: number | null): Promise<void> {
    const { clock, writer } = this.#tools
    const now = clock.now()
    const settled = this.#unrecorded().filter(({ settlesAt }) => settlesAt <= now)
    const isSampled = now - this.#sampledAt >= SAMPLE_MS
    const isAlive = now - this.#aliveAt >= LOOK_MS || stoppedAt !== null
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
      const last = this.#recorded.get(id) ?? lastStateOf(this.#tools.db, id)
      if (last?.reason === change.reason) return []
      const lastAt = last?.at ?? 0
      const at = timestamp(Math.max(change.at, lastAt + 1))
      return [{ id, change: { ...change, at }, settlesAt: lastAt + SETTLED_MS }]
    })
  }

  /** Milliseconds until the next change settles, at most until the next look. */
  #waitMs(): number {
    const now = this.#tools.clock.now()
    const waits = this.#unrecorded().map(({ settlesAt }) => Math.max(settlesAt - now, 0))
    return Math.min(LOOK_MS, ...waits)
  }
}
