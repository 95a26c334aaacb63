import type { Handle } from '../domain/handle.ts'
import { type Line, type LineState, OFFLINE_REASONS, type OfflineReason } from '../domain/line.ts'
import type { OutgoingMessage } from '../domain/message.ts'
import type { Core } from '../storage/core.ts'
import { getLine } from '../storage/lines.ts'
import { Signal } from '../system/signal.ts'
import type {
  DriverLine,
  IntakeEvent,
  LineDriver,
  LineEvent,
  LineListener,
  PointOfNoReturn,
} from './driver.ts'
import type { KindFacts } from './line-kind.ts'
import {
  isSameState,
  type LineSnapshot,
  logState,
  type OnlineEvent,
  stateOf,
} from './line-state.ts'
import { LineSessions, NO_SESSION, type OpenSession, type SendAnswer } from './session.ts'

export type LineMessages = {
  /** Makes an event durable; rejects if that is impossible now. */
  readonly intake: (line: Line, event: IntakeEvent) => Promise<void>
  /** Returns the messages that the driver must look for before it reads anything new. */
  readonly loadUnfinished: (line: Line) => Pick<DriverLine, 'unsettled' | 'open' | 'awaited'>
}

const DELAY_MS_MIN = 1_000
const DELAY_MS_MAX = 60_000
/** After a run of this length, the delay starts again from its minimum. */
const HEALTHY_MS = 60_000
const RECHECK_MS = 60_000
/** The failed run in a row, after delays of 1, 2, 4 … 60 s, at which the error is logged, once. */
const FAILURES_LOGGED = 7

export class LineRunner {
  readonly #core: Core
  readonly #driver: LineDriver | null
  readonly #kind: KindFacts
  readonly #messages: LineMessages
  readonly #onChange: (isState: boolean) => void
  readonly #wake = new Signal()
  readonly #retired = new AbortController()
  readonly #sessions: LineSessions
  #line: Line
  #lineRun: LineRun | null = null
  #online: OnlineEvent | null = null
  /** Null until the driver has been asked for its devices. */
  #isFound: boolean | null = null
  #foundNumber: string | null = null
  /** The device's number, if it is not the stored one. */
  #otherNumber: string | null = null
  /** Reason for having no device; null for the kind's default reason. */
  #absence: OfflineReason | null = null
  /** Reason not to run although the device is attached. */
  #obstacle: OfflineReason | null = null
  #downReason: OfflineReason | null = null
  #error: Error | null = null
  #failures = 0
  #isStopping = false
  #state: LineState = { status: 'offline', reason: OFFLINE_REASONS.starting }
  #snapshot: LineSnapshot | null = null

  constructor(
    core: Core,
    line: Line,
    given: {
      /** Null if this process has no driver for the line's kind. */
      readonly driver: LineDriver | null
      readonly kind: KindFacts
      readonly messages: LineMessages
      /** Called when `snapshot()` changes; `isState` is false if only the traffic did. */
      readonly onChange: (isState: boolean) => void
    },
  ) {
    this.#core = core
    this.#line = line
    this.#driver = given.driver
    this.#kind = given.kind
    this.#messages = given.messages
    this.#onChange = given.onChange
    const onTraffic = () => this.#changed(false)
    this.#sessions = new LineSessions(core, onTraffic, () => this.#refresh())
    if (given.driver === null) this.lost(null)
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

  isOffline(code: string): boolean {
    return this.#state.status === 'offline' && this.#state.reason.code === code
  }

  snapshot(): LineSnapshot {
    this.#snapshot ??= {
      line: this.#line,
      state: this.#state,
      isReal: this.#kind.isReal,
      abilities: this.#kind.abilities,
      isConfigured: this.#kind.isReal || this.#isFound !== false,
      inFlight: this.#sessions.inFlight,
      capacity: this.#openSession()?.capacity ?? 0,
    }
    return this.#snapshot
  }

  /** Called after settings, number or device were stored. */
  replace(line: Line): void {
    this.#line = line
    if (this.#otherNumber === line.number) this.#otherNumber = null
    this.#changed(true)
    this.#refresh()
    this.#wake.notify()
  }

  /** The device is there; `number` is null if the driver does not know it yet. */
  found(number: string | null, obstacle: OfflineReason | null = null): void {
    const isNew =
      this.#isFound !== true || this.#foundNumber !== number || this.#obstacle !== obstacle
    this.#isFound = true
    this.#obstacle = obstacle
    this.#foundNumber = number
    if (number !== null) this.#otherNumber = number === this.#line.number ? null : number
    if (!this.#mayRun()) this.#endRun()
    if (isNew) this.#wake.notify()
    this.#refresh()
  }

  /** The device is absent or cannot be asked; a null `reason` means the kind's default. */
  lost(reason: OfflineReason | null): void {
    this.#isFound = false
    this.#absence = reason
    this.#downReason = null
    this.#error = null
    this.#failures = 0
    this.#endRun()
    this.#refresh()
  }

  /** The driver could not list its devices; known devices stay. */
  discoveryFailed(error: Error): void {
    if (this.#isFound !== null) return
    this.#downReason = OFFLINE_REASONS.driver_failed
    this.#error = error
    this.#refresh()
  }

  /** Ends the line permanently; `run` returns soon. */
  retire(): void {
    this.#retired.abort()
  }

  async run(stop: AbortSignal): Promise<void> {
    const { clock } = this.#core
    const signal = AbortSignal.any([stop, this.#retired.signal])
    const end = () => {
      this.#isStopping = true
      this.#endRun()
      this.#refresh()
    }
    signal.addEventListener('abort', end)
    this.#isStopping = signal.aborted
    while (!signal.aborted) {
      if (!this.#mayRun()) {
        await this.#wake.wait(clock, RECHECK_MS, signal)
        continue
      }
      await this.#runOnce()
      const delayMs = Math.min(DELAY_MS_MIN * 2 ** (this.#failures - 1), DELAY_MS_MAX)
      if (this.#mayRun()) await this.#wake.wait(clock, delayMs, signal)
    }
    signal.removeEventListener('abort', end)
  }

  async knows(handle: Handle): Promise<boolean | null> {
    return (await this.#openSession()?.knows(handle)) ?? null
  }

  send(message: OutgoingMessage, pointOfNoReturn: PointOfNoReturn): Promise<SendAnswer> {
    return this.#openSession()?.send(message, pointOfNoReturn) ?? Promise.resolve(NO_SESSION)
  }

  /** Resolves once no send of an earlier session is left. */
  drained(): Promise<void> {
    return this.#sessions.drained()
  }

  /** Gives up sends when the relay stops: first those that wait, then all. */
  giveUp(which: 'waiting' | 'all'): void {
    this.#sessions.giveUp(which)
  }

  #openSession(): OpenSession | null {
    return this.#state.status === 'online' ? this.#sessions.current : null
  }

  #mayRun(): boolean {
    if (this.#driver === null || this.#isFound !== true || this.#obstacle !== null) return false
    return this.#foundNumber === null || this.#foundNumber === this.#line.number
  }

  async #runOnce(): Promise<void> {
    const { clock, log } = this.#core
    const startedAt = clock.monotonic()
    const lineRun = new LineRun({
      take: (event) => this.#handle(event),
      onFailure: (error) => this.#fail(error),
    })
    this.#lineRun = lineRun
    await this.#begin(lineRun)
    if (this.#lineRun === lineRun) this.#endRun()
    this.#failures = clock.monotonic() - startedAt >= HEALTHY_MS ? 1 : this.#failures + 1
    if (this.#failures === FAILURES_LOGGED && this.#error !== null) {
      log.error('line fails again and again', { line_id: this.#line.id, error: this.#error })
    }
    await this.drained()
  }

  async #begin(lineRun: LineRun): Promise<void> {
    if (this.#driver === null) return
    try {
      // Intake has saved newer checkpoints meanwhile.
      this.#line = getLine(this.#core.db, this.#line.id) ?? this.#line
      const { id, key, box, number, checkpoint } = this.#line
      const unfinished = this.#messages.loadUnfinished(this.#line)
      const driverLine = { id, key, box, number, checkpoint, ...unfinished }
      await lineRun.run(this.#driver, driverLine)
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

  #endRun(): void {
    this.#lineRun?.end()
    this.#lineRun = null
    this.#endSession()
  }

  /** Synchronous up to the intake: events reach the writer in the driver's order. */
  async #handle(event: LineEvent): Promise<void> {
    if (event.type === 'online') {
      this.#goOnline(event)
    } else if (event.type === 'offline') {
      this.#downReason = event.reason
      this.#endSession()
      this.#refresh()
    } else {
      await this.#messages.intake(this.#line, event)
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
      absence: this.#absence ?? this.#kind.reasons.absent,
      obstacle: this.#obstacle,
      isStopping: this.#isStopping,
      isFound: this.#isFound,
      otherNumber: this.#otherNumber,
      online: this.#sessions.current === null ? null : this.#online,
      downReason: this.#downReason,
    })
    if (isSameState(state, this.#state)) return
    this.#state = state
    logState(this.#core.log, this.#line, state, this.#error)
    this.#changed(true)
  }

  #changed(isState: boolean): void {
    this.#snapshot = null
    this.#onChange(isState)
  }
}

/** Most events of one line that wait to be stored. */
const EVENTS_MAX = 1_000

type RunListener = {
  /** Stores an event; called in the order of the events. */
  readonly take: (event: LineEvent) => Promise<void>
  /** Called at once, and once, when the run fails. */
  readonly onFailure: (error: Error) => void
}

/**
 * One run of a line by its driver. It ends on `end`, when the driver returns or throws, and when an event
 * could not be made durable: later events, with their checkpoints, must not be stored then.
 */
export class LineRun implements LineListener {
  readonly #controller = new AbortController()
  readonly #pending = new Set<Promise<void>>()
  readonly #listener: RunListener
  #hasFailed = false

  constructor(listener: RunListener) {
    this.#listener = listener
  }

  get isOver(): boolean {
    return this.#controller.signal.aborted
  }

  /** Resolves once the driver has returned and its last event is settled. */
  async run(driver: LineDriver, line: DriverLine): Promise<void> {
    try {
      await driver.run(line, this, this.#controller.signal)
      if (!this.isOver) this.#fail(new Error('The driver left the line by itself.'))
    } catch (error) {
      if (!this.isOver) this.#fail(error)
    }
    await Promise.allSettled(this.#pending)
  }

  end(): void {
    this.#controller.abort()
  }

  /**
   * Called by the driver for each event, in the device's order. Resolves once it is durable. Rejects, and ends the
   * run, if it could not be stored or 1,000 events are on their way.
   */
  async onEvent(event: LineEvent): Promise<void> {
    if (this.isOver) throw new Error('This run of the line is over.')
    if (this.#pending.size >= EVENTS_MAX) {
      throw this.#fail(new Error(`More than ${EVENTS_MAX} events were not waited for.`))
    }
    const taken = this.#listener.take(event)
    this.#pending.add(taken)
    try {
      await taken
    } catch (error) {
      throw this.#fail(error)
    } finally {
      this.#pending.delete(taken)
    }
  }

  #fail(cause: unknown): Error {
    const error = cause instanceof Error ? cause : new Error(String(cause))
    if (this.#hasFailed) return error
    this.#hasFailed = true
    this.end()
    this.#listener.onFailure(error)
    return error
  }
}
