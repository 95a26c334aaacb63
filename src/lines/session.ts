import type { Handle } from '../domain/handle.ts'
import type { OutgoingMessage } from '../domain/message.ts'
import { withTimeout } from '../system/clock.ts'
import {
  type LineSession,
  notSent,
  type PointOfNoReturn,
  type SendOutcome,
  WITHDRAWN,
} from './driver.ts'
import type { KindHost } from './line-kind.ts'

/** The sessions of one line: the open session, and earlier sessions that still have sends. */
export class LineSessions {
  readonly #core: Pick<KindHost, 'clock' | 'log'>
  readonly #onTraffic: () => void
  readonly #onDrained: () => void
  readonly #ending = new Map<OpenSession, Promise<void>>()
  #latest: OpenSession | null = null

  /**
   * `onTraffic` is called when a send begins or ends, `onDrained` when the last send of earlier sessions
   * has returned.
   */
  constructor(core: Pick<KindHost, 'clock' | 'log'>, onTraffic: () => void, onDrained: () => void) {
    this.#core = core
    this.#onTraffic = onTraffic
    this.#onDrained = onDrained
  }

  /** The open session; null also while an earlier session has a send that did not return. */
  get current(): OpenSession | null {
    return this.#ending.size === 0 ? this.#latest : null
  }

  get inFlight(): number {
    let count = this.#latest?.inFlight ?? 0
    for (const session of this.#ending.keys()) count += session.inFlight
    return count
  }

  /** A new session ends the one before. */
  open(session: LineSession): void {
    if (this.#latest?.isOf(session) === true) return
    this.end()
    this.#latest = new OpenSession(this.#core, session, this.#onTraffic)
  }

  end(): void {
    const session = this.#latest
    this.#latest = null
    if (session === null) return
    const ended = session.end()
    if (session.inFlight > 0) this.#ending.set(session, this.#forget(session, ended))
  }

  /** Resolves once no send of an earlier session is left. */
  async drained(): Promise<void> {
    while (this.#ending.size > 0) await Promise.all(this.#ending.values())
  }

  /** Gives up sends when the relay stops: first those that wait, then all. */
  giveUp(which: 'waiting' | 'all'): void {
    for (const session of this.#ending.keys()) {
      if (which === 'waiting') session.giveUpWaiting()
      else session.giveUp()
    }
  }

  async #forget(session: OpenSession, ended: Promise<void>): Promise<void> {
    await ended
    this.#ending.delete(session)
    if (this.#ending.size === 0) this.#onDrained()
  }
}

/** A send may take this long to return after its session has ended. */
const OVERDUE_MS = 90_000
const KNOWS_MS_MAX = 100

export class OpenSession {
  readonly #core: Pick<KindHost, 'clock' | 'log'>
  readonly #session: LineSession
  readonly #onTraffic: () => void
  readonly #controller = new AbortController()
  readonly #sends = new Set<SendInFlight>()
  readonly #drained = Promise.withResolvers<void>()

  constructor(core: Pick<KindHost, 'clock' | 'log'>, session: LineSession, onTraffic: () => void) {
    this.#core = core
    this.#session = session
    this.#onTraffic = onTraffic
  }

  get capacity(): number {
    return this.#session.capacity
  }

  get inFlight(): number {
    return this.#sends.size
  }

  isOf(session: LineSession): boolean {
    return this.#session === session
  }

  /** Resolves with null if the device does not answer within 100 ms. */
  knows(handle: Handle): Promise<boolean | null> {
    const asked = Promise.resolve(handle).then((whom) => this.#session.knows(whom))
    return withTimeout(this.#core.clock, KNOWS_MS_MAX, asked, null)
  }

  /**
   * Gives the message to the driver. Never rejects: a driver that throws, answers twice or not at all is answered for
   * truthfully. Resolves in the turn in which the driver answers, or when the send is given up.
   */
  send(message: OutgoingMessage, pointOfNoReturn: PointOfNoReturn): Promise<SendAnswer> {
    const send: SendInFlight = new SendInFlight({
      message,
      pointOfNoReturn,
      signal: this.#controller.signal,
      onAnswer: () => {
        this.#sends.delete(send)
        if (this.#sends.size === 0 && this.#controller.signal.aborted) this.#drained.resolve()
        this.#onTraffic()
      },
      onFault: (fault, error) =>
        this.#core.log.error(`driver ${fault}`, { message_id: message.id, error }),
    })
    this.#sends.add(send)
    this.#onTraffic()
    send.start(this.#session)
    return send.answer
  }

  /**
   * Ends the session: nothing passes its point of no return any more. Resolves once every send has
   * answered; a send without an answer after 90 s counts as unknown.
   */
  async end(): Promise<void> {
    this.#controller.abort()
    if (this.#sends.size === 0) return
    await withTimeout(this.#core.clock, OVERDUE_MS, this.#drained.promise, null)
    this.giveUp()
  }

  /** Answers the sends that have not passed their point of no return: they were not sent. */
  giveUpWaiting(): void {
    for (const send of this.#sends) if (!send.isPastPointOfNoReturn) send.giveUp(WITHDRAWN)
  }

  giveUp(): void {
    const outcome = { outcome: 'unknown', reason: 'session_ended' } as const
    for (const send of this.#sends) send.giveUp(outcome)
  }
}

export type SendAnswer = {
  readonly outcome: SendOutcome
  /** True if the session was over when the answer came: the line's own state may be the reason. */
  readonly isSessionOver: boolean
}

/** The line has no session, so its driver never saw the message. */
export const NO_SESSION: SendAnswer = { outcome: WITHDRAWN, isSessionOver: true }

/** Whether the send may pass its point of no return; `granted` once the driver got that answer. */
type Permission = 'unasked' | 'asked' | 'granted' | 'refused'

type Order = {
  readonly message: OutgoingMessage
  readonly pointOfNoReturn: PointOfNoReturn
  /** Aborts when the session ends. */
  readonly signal: AbortSignal
  /** Called if a driver threw or broke a rule of the interface. */
  readonly onFault: (fault: string, error: unknown) => void
  /** Called just before the answer is given. */
  readonly onAnswer: () => void
}

/**
 * One send in the hands of a driver. Whatever the driver does, the answer is truthful: a message that may
 * have left is never called unsent, and the point of no return is granted once at most.
 */
export class SendInFlight {
  readonly answer: Promise<SendAnswer>
  readonly #order: Order
  readonly #resolve: (answer: SendAnswer) => void
  #permission: Permission = 'unasked'
  #isAnswered = false
  /** The driver's outcome, if it came before `pointOfNoReturn` had answered. */
  #early: SendOutcome | null = null

  constructor(order: Order) {
    const { promise, resolve } = Promise.withResolvers<SendAnswer>()
    this.answer = promise
    this.#resolve = resolve
    this.#order = order
  }

  get isPastPointOfNoReturn(): boolean {
    return this.#permission === 'granted'
  }

  start(session: LineSession): void {
    const { message, signal } = this.#order
    try {
      session
        .send(message, (note) => this.#ask(note), signal)
        .then(
          (outcome) => this.#receive(outcome),
          (error: unknown) => this.#fail(error),
        )
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Answers for a driver that does not; a later outcome is dropped. */
  giveUp(outcome: SendOutcome): void {
    this.#settle(outcome)
  }

  async #ask(note: string | null): Promise<boolean> {
    const { pointOfNoReturn, signal, onFault } = this.#order
    if (this.#permission !== 'unasked') {
      onFault('asked for its point of no return twice', null)
      return false
    }
    if (signal.aborted || this.#isAnswered) return false
    this.#permission = 'asked'
    try {
      const isGranted = await pointOfNoReturn(note)
      const isTooLate = signal.aborted || this.#isAnswered || this.#early !== null
      this.#permission = isGranted && !isTooLate ? 'granted' : 'refused'
      return this.#permission === 'granted'
    } catch (error) {
      this.#permission = 'refused'
      throw error
    } finally {
      if (this.#early !== null) this.#settle(this.#early)
    }
  }

  #receive(outcome: SendOutcome): void {
    const isWithdrawn = outcome.outcome === 'not_sent' && outcome.reason === 'withdrawn'
    const isTakenBack = isWithdrawn || outcome.outcome === 'postponed'
    const isProven = outcome.outcome === 'not_sent' && outcome.proof === true
    if (isTakenBack && !isProven && this.#permission === 'granted') {
      this.#order.onFault('took back after its point of no return', null)
      this.#settle({ outcome: 'unknown', reason: 'driver_error' })
      return
    }
    this.#end(outcome)
  }

  #fail(error: unknown): void {
    this.#order.onFault('failed in a send', error)
    const reason = 'driver_error'
    if (this.#permission === 'granted') this.#end({ outcome: 'unknown', reason })
    else this.#end(notSent(reason, 'line'))
  }

  /** Waits for the transaction of a running `pointOfNoReturn`, which comes first. */
  #end(outcome: SendOutcome): void {
    if (this.#permission === 'asked') this.#early = outcome
    else this.#settle(outcome)
  }

  #settle(outcome: SendOutcome): void {
    if (this.#isAnswered) return
    this.#isAnswered = true
    this.#order.onAnswer()
    this.#resolve({ outcome, isSessionOver: this.#order.signal.aborted })
  }
}
