import type { Handle } from '../domain/handle.ts'
import { OFFLINE_REASONS, type Line, type LineState, type OfflineReason } from '../domain/line.ts'
import type { OutgoingMessage } from '../domain/message.ts'
import type { Db } from '../storage/database.ts'
import { getLine } from '../storage/lines.ts'
import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import { Signal } from '../system/signal.ts'
import { Attendance } from './attendance.ts'
import type { LineDriver, LineEvent, PointOfNoReturn } from './driver.ts'
import { kindOf, type KindFacts } from './line-kind.ts'
import { LineSessions } from './line-sessions.ts'
import { isSameState, logState, stateOf, type OnlineEvent } from './line-state.ts'
import type { Intake, LiveLine, LoadAttended } from './live-line.ts'
import type { LiveSession } from './live-session.ts'
import { NO_SESSION, type SendAnswer } from './send-in-flight.ts'

export type LineLifeTools = {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  readonly intake: Intake
  readonly loadAttended: LoadAttended
  readonly kinds: readonly KindFacts[]
  /** Hears when `live()` is another one; `isState` where more than the traffic changed. */
  readonly onChange: (isState: boolean) => void
}

const DELAY_MS_MIN = 1_000
const DELAY_MS_MAX = 60_000
/** A line that was attended for so long is healthy again: its delay starts anew. */
const HEALTHY_MS = 60_000
const LOOK_MS = 60_000
/** So many attendances that fail in a row are an error in the log, once: 1, 2, 4 … 60 s. */
const FAILURES_TOLD = 7

/** One line from its discovery on: whether its device is there, its attendance, its session. */
export class LineLife {
  readonly #driver: LineDriver | null
  readonly #kind: KindFacts
  readonly #tools: LineLifeTools
  readonly #wake = new Signal()
  readonly #retired = new AbortController()
  readonly #sessions: LineSessions
  #line: Line
  #attendance: Attendance | null = null
  #online: OnlineEvent | null = null
  /** Null until the driver was asked. */
  #isFound: boolean | null = null
  #foundNumber: string | null = null
  /** The device's number where that is not the stored one. */
  #otherNumber: string | null = null
  #downReason: OfflineReason | null = null
  /** What the last attendance failed by, for the log. */
  #error: Error | null = null
  /** Attendances in a row that ended early. */
  #failures = 0
  #isStopping = false
  #state: LineState = { status: 'offline', reason: OFFLINE_REASONS.starting }
  #live: LiveLine | null = null

  /** `driver` is null where this start has none of the line's kind. */
  constructor(line: Line, driver: LineDriver | null, tools: LineLifeTools) {
    this.#line = line
    this.#driver = driver
    this.#kind = kindOf(tools.kinds, line.driver)
    this.#tools = tools
    this.#sessions = new LineSessions({
      clock: tools.clock,
      log: tools.log,
      onTraffic: () => this.#touch(false),
      onDrained: () => this.#refresh(),
    })
    if (driver === null) this.lost()
  }

  get line(): Line {
    return this.#line
  }

  get kind(): KindFacts {
    return this.#kind
  }

  get isFound(): boolean | null {
    return this.#isFound
  }

  get otherNumber(): string | null {
    return this.#otherNumber
  }

  live(): LiveLine {
    this.#live ??= {
      line: this.#line,
      state: this.#state,
      isReal: this.#kind.isReal,
      isConfigured: this.#kind.isReal || this.#isFound !== false,
      inFlight: this.#sessions.inFlight,
      capacity: this.#openSession()?.capacity ?? 0,
    }
    return this.#live
  }

  /** The line as it is stored from now on: settings, number or device changed. */
  replace(line: Line): void {
    this.#line = line
    if (this.#otherNumber === line.number) this.#otherNumber = null
    this.#touch(true)
    this.#refresh()
    this.#wake.notify()
  }

  /** The device is there; `number` is null where the driver cannot say yet. */
  found(number: string | null): void {
    const isNews = this.#isFound !== true || this.#foundNumber !== number
    this.#isFound = true
    this.#foundNumber = number
    if (number !== null) this.#otherNumber = number === this.#line.number ? null : number
    if (!this.#mayAttend()) this.#endAttendance()
    if (isNews) this.#wake.notify()
    this.#refresh()
  }

  lost(): void {
    this.#isFound = false
    this.#downReason = null
    this.#error = null
    this.#failures = 0
    this.#endAttendance()
    this.#refresh()
  }

  /** The driver could not say which devices there are; what was known stays as it was. */
  notAsked(error: Error): void {
    if (this.#isFound !== null) return
    this.#downReason = OFFLINE_REASONS.driver_failed
    this.#error = error
    this.#refresh()
  }

  /** The line is attended no more; `run` returns soon. */
  retire(): void {
    this.#retired.abort()
  }

  async run(stop: AbortSignal): Promise<void> {
    const { clock } = this.#tools
    const signal = AbortSignal.any([stop, this.#retired.signal])
    const end = () => {
      this.#isStopping = true
      this.#endAttendance()
      this.#refresh()
    }
    signal.addEventListener('abort', end)
    this.#isStopping = signal.aborted
    while (!signal.aborted) {
      if (!this.#mayAttend()) {
        await this.#wake.wait(clock, LOOK_MS, signal)
        continue
      }
      await this.#attend()
      const delayMs = Math.min(DELAY_MS_MIN * 2 ** (this.#failures - 1), DELAY_MS_MAX)
      if (this.#mayAttend()) await this.#wake.wait(clock, delayMs, signal)
    }
    signal.removeEventListener('abort', end)
  }

  async knows(handle: Handle): Promise<boolean | null> {
    return (await this.#openSession()?.knows(handle)) ?? null
  }

  send(message: OutgoingMessage, pointOfNoReturn: PointOfNoReturn): Promise<SendAnswer> {
    return this.#openSession()?.send(message, pointOfNoReturn) ?? Promise.resolve(NO_SESSION)
  }

  /** Resolves when no send of a session that is over is left. */
  drained(): Promise<void> {
    return this.#sessions.drained()
  }

  /** Lets go of sends at the stop: first of those that wait, then of all. */
  giveUp(which: 'waiting' | 'all'): void {
    this.#sessions.giveUp(which)
  }

  #openSession(): LiveSession | null {
    return this.#state.status === 'online' ? this.#sessions.live : null
  }

  #mayAttend(): boolean {
    if (this.#driver === null || this.#isFound !== true) return false
    return this.#foundNumber === null || this.#foundNumber === this.#line.number
  }

  async #attend(): Promise<void> {
    const { clock } = this.#tools
    const startedAt = clock.monotonic()
    const attendance = new Attendance({
      take: (event) => this.#take(event),
      onFailure: (error) => this.#fail(error),
    })
    this.#attendance = attendance
    await this.#run(attendance)
    if (this.#attendance === attendance) this.#endAttendance()
    this.#failures = clock.monotonic() - startedAt >= HEALTHY_MS ? 1 : this.#failures + 1
    if (this.#failures === FAILURES_TOLD && this.#error !== null) {
      const fields = { line_id: this.#line.id, error: this.#error }
      this.#tools.log.error('line fails again and again', fields)
    }
    await this.drained()
  }

  async #run(attendance: Attendance): Promise<void> {
    const { db, loadAttended } = this.#tools
    if (this.#driver === null) return
    try {
      // Read again: intake has moved the checkpoint since.
      this.#line = getLine(db, this.#line.id) ?? this.#line
      const { id, key, number, checkpoint } = this.#line
      const attended = { id, key, number, checkpoint, ...loadAttended(this.#line) }
      await attendance.run(this.#driver, attended)
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #fail(error: Error): void {
    this.#error = error
    this.#downReason ??= OFFLINE_REASONS.driver_failed
    this.#endSession()
    this.#refresh()
  }

  #endAttendance(): void {
    this.#attendance?.end()
    this.#attendance = null
    this.#endSession()
  }

  /** Synchronous up to the intake: events reach the writer in the driver's order. */
  async #take(event: LineEvent): Promise<void> {
    switch (event.type) {
      case 'online':
        this.#goOnline(event)
        return
      case 'offline':
        this.#downReason = event.reason
        this.#endSession()
        this.#refresh()
        return
      case 'message':
      case 'left_out':
      case 'receipt':
      case 'settled':
      case 'checkpoint':
      case 'rejected':
        await this.#tools.intake(this.#line, event)
    }
  }

  #goOnline(event: OnlineEvent): void {
    const isSameNumber = event.number === this.#line.number
    this.#otherNumber = isSameNumber ? null : event.number
    if (!isSameNumber) {
      this.#endSession()
      this.#refresh()
      throw new Error('The device has another number than the line.')
    }
    this.#sessions.open(event.session)
    this.#online = event
    this.#downReason = null
    this.#error = null
    this.#refresh()
  }

  #endSession(): void {
    this.#online = null
    this.#sessions.end()
  }

  #refresh(): void {
    const state = stateOf({
      absence: this.#kind.reasons.absent,
      isStopping: this.#isStopping,
      isFound: this.#isFound,
      otherNumber: this.#otherNumber,
      online: this.#sessions.live === null ? null : this.#online,
      downReason: this.#downReason,
    })
    if (isSameState(state, this.#state)) return
    this.#state = state
    logState(this.#tools.log, this.#line, state, this.#error)
    this.#touch(true)
  }

  #touch(isState: boolean): void {
    this.#live = null
    this.#tools.onChange(isState)
  }
}
