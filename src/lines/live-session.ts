import type { Handle } from '../domain/handle.ts'
import type { OutgoingMessage } from '../domain/message.ts'
import { withTimeout, type Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import { WITHDRAWN, type LineSession, type PointOfNoReturn } from './driver.ts'
import { SendInFlight, type SendAnswer } from './send-in-flight.ts'

type SessionTools = {
  readonly clock: Clock
  readonly log: Log
  /** Hears when a send begins or ends. */
  readonly onTraffic: () => void
}

/** How long a send may go on after its session ended. */
const OVERDUE_MS = 90_000
const KNOWS_MS_MAX = 100

/** A driver's session while it lives, with the sends that it has in hand. */
export class LiveSession {
  readonly #session: LineSession
  readonly #tools: SessionTools
  readonly #controller = new AbortController()
  readonly #sends = new Set<SendInFlight>()
  readonly #drained = Promise.withResolvers<void>()

  constructor(session: LineSession, tools: SessionTools) {
    this.#session = session
    this.#tools = tools
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

  /** Null where the device does not answer in time. */
  knows(handle: Handle): Promise<boolean | null> {
    const asked = Promise.resolve(handle).then((whom) => this.#session.knows(whom))
    return withTimeout(this.#tools.clock, KNOWS_MS_MAX, asked, null)
  }

  send(message: OutgoingMessage, pointOfNoReturn: PointOfNoReturn): Promise<SendAnswer> {
    const { log, onTraffic } = this.#tools
    const send: SendInFlight = new SendInFlight({
      message,
      pointOfNoReturn,
      signal: this.#controller.signal,
      onAnswer: () => {
        this.#sends.delete(send)
        if (this.#sends.size === 0 && this.#controller.signal.aborted) this.#drained.resolve()
        onTraffic()
      },
      onFault: (fault, error) => log.error(`driver ${fault}`, { message_id: message.id, error }),
    })
    this.#sends.add(send)
    onTraffic()
    send.start(this.#session)
    return send.answer
  }

  /**
   * Ends the session: nothing passes its point of no return any more. Resolves when every send has
   * answered; one that has not after 90 s counts as unknown.
   */
  async end(): Promise<void> {
    this.#controller.abort()
    if (this.#sends.size === 0) return
    await withTimeout(this.#tools.clock, OVERDUE_MS, this.#drained.promise, null)
    this.giveUp()
  }

  /** The sends that the driver never took past their point of no return have not left. */
  giveUpWaiting(): void {
    for (const send of this.#sends) if (!send.isPastPointOfNoReturn) send.giveUp(WITHDRAWN)
  }

  giveUp(): void {
    const outcome = { outcome: 'unknown', reason: 'session_ended' } as const
    for (const send of this.#sends) send.giveUp(outcome)
  }
}
