import type { Handle } from '../domain/handle.ts'
import type { OutgoingMessage } from '../domain/message.ts'
import { withTimeout, type Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import { WITHDRAWN, type LineSession, type PointOfNoReturn } from './driver.ts'
import { SendInFlight, type SendAnswer } from './send-in-flight.ts'

type SessionsTools = {
  readonly clock: Clock
  readonly log: Log
  /** Called when a send begins or ends. */
  readonly onTraffic: () => void
  /** Called when the last send of earlier sessions has returned. */
  readonly onDrained: () => void
}

/** The sessions of one line: the open one, and those that are over but have sends left. */
export class LineSessions {
  readonly #tools: SessionsTools
  readonly #ending = new Map<OpenSession, Promise<void>>()
  #latest: OpenSession | null = null

  constructor(tools: SessionsTools) {
    this.#tools = tools
  }

  /** The open session; null also while an earlier one has a send that did not return. */
  get current(): OpenSession | null {
    return this.#ending.size === 0 ? this.#latest : null
  }

  get inFlight(): number {
    let count = this.#latest?.inFlight ?? 0
    for (const session of this.#ending.keys()) count += session.inFlight
    return count
  }

  /** Another session than before ends that one. */
  open(session: LineSession): void {
    if (this.#latest?.isOf(session) === true) return
    this.end()
    this.#latest = new OpenSession(session, this.#tools)
  }

  end(): void {
    const session = this.#latest
    this.#latest = null
    if (session === null) return
    const ended = session.end()
    if (session.inFlight > 0) this.#ending.set(session, this.#forget(session, ended))
  }

  /** Resolves when no send of a session that is over is left. */
  async drained(): Promise<void> {
    while (this.#ending.size > 0) await Promise.all(this.#ending.values())
  }

  /** Lets go of sends at the stop: first of those that wait, then of all. */
  giveUp(which: 'waiting' | 'all'): void {
    for (const session of this.#ending.keys()) {
      if (which === 'waiting') session.giveUpWaiting()
      else session.giveUp()
    }
  }

  async #forget(session: OpenSession, ended: Promise<void>): Promise<void> {
    await ended
    this.#ending.delete(session)
    if (this.#ending.size === 0) this.#tools.onDrained()
  }
}

/** Time for a send to return after its session has ended. */
const OVERDUE_MS = 90_000
const KNOWS_MS_MAX = 100

/** A driver's session, with the sends that it has in hand. */
export class OpenSession {
  readonly #session: LineSession
  readonly #tools: Omit<SessionsTools, 'onDrained'>
  readonly #controller = new AbortController()
  readonly #sends = new Set<SendInFlight>()
  readonly #drained = Promise.withResolvers<void>()

  constructor(session: LineSession, tools: Omit<SessionsTools, 'onDrained'>) {
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
