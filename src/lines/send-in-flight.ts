import type { OutgoingMessage } from '../domain/message.ts'
import { WITHDRAWN, type LineSession, type PointOfNoReturn, type SendOutcome } from './driver.ts'

export type SendAnswer = {
  readonly outcome: SendOutcome
  /** The session was over when the answer came: the line's own state may be the reason. */
  readonly isSessionOver: boolean
}

/** For a message whose line has no session: the driver never saw it. */
export const NO_SESSION: SendAnswer = { outcome: WITHDRAWN, isSessionOver: true }

/** Progress of a send: `granted` only where the driver was answered so. */
type Leave = 'unasked' | 'asked' | 'granted' | 'refused'

type Order = {
  readonly message: OutgoingMessage
  readonly pointOfNoReturn: PointOfNoReturn
  /** Aborts when the session ends. */
  readonly signal: AbortSignal
  /** Hears what a driver did against the seam, or threw. */
  readonly onFault: (fault: string, error: unknown) => void
  /** Called just before the answer is given. */
  readonly onAnswer: () => void
}

/**
 * One message in the hands of a driver. Whatever the driver does, the answer is truthful: a message
 * that may have left is never called unsent, and the point of no return is granted once at most.
 */
export class SendInFlight {
  readonly answer: Promise<SendAnswer>
  readonly #order: Order
  readonly #resolve: (answer: SendAnswer) => void
  #leave: Leave = 'unasked'
  #isAnswered = false
  /** The driver's outcome while its question was still open. */
  #early: SendOutcome | null = null

  constructor(order: Order) {
    const { promise, resolve } = Promise.withResolvers<SendAnswer>()
    this.answer = promise
    this.#resolve = resolve
    this.#order = order
  }

  get isPastPointOfNoReturn(): boolean {
    return this.#leave === 'granted'
  }

  /** Hands the message to the driver. */
  start(session: LineSession): void {
    const { message, signal } = this.#order
    try {
      session
        .send(message, (note) => this.#ask(note), signal)
        .then(
          (outcome) => this.#hear(outcome),
          (error: unknown) => this.#fail(error),
        )
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Answers for a driver that does not; what it says later is dropped. */
  giveUp(outcome: SendOutcome): void {
    this.#settle(outcome)
  }

  async #ask(note: string | null): Promise<boolean> {
    const { pointOfNoReturn, signal, onFault } = this.#order
    if (this.#leave !== 'unasked') {
      onFault('asked for its point of no return twice', null)
      return false
    }
    if (signal.aborted || this.#isAnswered) return false
    this.#leave = 'asked'
    try {
      const isGranted = await pointOfNoReturn(note)
      const isTooLate = signal.aborted || this.#isAnswered || this.#early !== null
      this.#leave = isGranted && !isTooLate ? 'granted' : 'refused'
      return this.#leave === 'granted'
    } catch (error) {
      this.#leave = 'refused'
      throw error
    } finally {
      if (this.#early !== null) this.#settle(this.#early)
    }
  }

  #hear(outcome: SendOutcome): void {
    const isWithdrawn = outcome.outcome === 'not_sent' && outcome.reason === 'withdrawn'
    const isTakenBack = isWithdrawn || outcome.outcome === 'postponed'
    if (isTakenBack && this.#leave === 'granted') {
      this.#order.onFault('took back after its point of no return', null)
      this.#settle({ outcome: 'unknown', reason: 'driver_error' })
      return
    }
    this.#end(outcome)
  }

  #fail(error: unknown): void {
    this.#order.onFault('failed in a send', error)
    const reason = 'driver_error'
    if (this.#leave === 'granted') this.#end({ outcome: 'unknown', reason })
    else this.#end({ outcome: 'not_sent', reason, blame: 'line' })
  }

  /** While the question is open, its transaction comes first: the outcome comes after it. */
  #end(outcome: SendOutcome): void {
    if (this.#leave === 'asked') this.#early = outcome
    else this.#settle(outcome)
  }

  #settle(outcome: SendOutcome): void {
    if (this.#isAnswered) return
    this.#isAnswered = true
    this.#order.onAnswer()
    this.#resolve({ outcome, isSessionOver: this.#order.signal.aborted })
  }
}
