// The sends of one run on a box. The relay is asked once for each point of no return. A send ends by its outcome, by
// the journal of the box, or, if it was never granted, by the end of the session.

import type { MessageId } from '../domain/ids.ts'
import type { OutgoingMessage } from '../domain/message.ts'
import { isGranted, type PointOfNoReturn, type SendOutcome, WITHDRAWN } from '../lines/driver.ts'
import { type Answer, type BoxNote, type Request, UNUSED, writeBoxNote } from './wire.ts'

type Order = {
  readonly message: OutgoingMessage
  readonly pointOfNoReturn: PointOfNoReturn
  readonly signal: AbortSignal
  readonly deviceSession: number
}

type Send = Order & {
  readonly resolve: (outcome: SendOutcome) => void
  /** The relay's answer at the point of no return; null before it was asked. */
  grant: Promise<boolean> | null
  /** The box may send the message. */
  isGranted: boolean
  /** The relay was asked and hasn't answered. */
  isAsking: boolean
}

/** Hands a message to the box; null if the session is over before the box has it. */
type AskBox = (request: Request<'send'>) => Promise<Answer<'send'> | null>

type SendRecord = Extract<Answer<'end'>, { readonly records: unknown }>['records'][number]

export class RemoteSends {
  readonly #note: Omit<BoxNote, 'note'>
  readonly #askBox: AskBox
  readonly #onOver: () => void
  readonly #sends = new Map<number, Send>()
  #count = 0
  /** Highest mark of the box's journal that came with a `pass`. */
  #mark: number | undefined
  #isOver = false

  /** `onOver` is called if the box says that the session is over. */
  constructor(note: Omit<BoxNote, 'note'>, askBox: AskBox, onOver: () => void) {
    this.#note = note
    this.#askBox = askBox
    this.#onOver = onOver
  }

  /** Sends a message; resolves with what became of it. */
  async give(order: Order): Promise<SendOutcome> {
    const { signal, message, deviceSession } = order
    if (this.#isOver || signal.aborted) return WITHDRAWN
    this.#count += 1
    const send = this.#count
    const { promise, resolve } = Promise.withResolvers<SendOutcome>()
    this.#sends.set(send, { ...order, resolve, grant: null, isGranted: false, isAsking: false })
    const onAbort = () => this.#withdraw(send)
    signal.addEventListener('abort', onAbort)
    const { session } = this.#note
    void this.#handOver(send, { session, deviceSession, send, message })
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  async #handOver(send: number, request: Request<'send'>): Promise<void> {
    try {
      const answer = await this.#askBox(request)
      if (answer !== null && 'isOver' in answer) this.#onOver()
    } catch {
      // The message doesn't fit the link: no box has seen it.
      this.settle(send, { outcome: 'not_sent', reason: 'driver_error', blame: 'line' })
    }
  }

  get mark(): number | undefined {
    return this.#mark
  }

  message(send: number): OutgoingMessage | null {
    return this.#sends.get(send)?.message ?? null
  }

  /** Asks the relay once for each send; repeats of the request get the same answer. */
  async pass({ send: number, note, mark }: Request<'pass'>): Promise<Answer<'pass'>> {
    const send = this.#sends.get(number)
    if (mark !== undefined) this.#mark = Math.max(this.#mark ?? 0, mark)
    if (this.#isOver || send === undefined) return { isGranted: false }
    send.grant ??= this.#ask(number, send, { note, mark })
    return { isGranted: await send.grant }
  }

  settle(number: number, outcome: SendOutcome): void {
    this.#sends.get(number)?.resolve(outcome)
    this.#sends.delete(number)
  }

  /** Grants nothing any more. Sends that were never granted haven't left. */
  end(): void {
    this.#isOver = true
    for (const number of this.#sends.keys()) this.#withdraw(number)
  }

  /** Messages that the box may have sent. */
  granted(): readonly MessageId[] {
    return [...this.#sends.values()].flatMap(({ isGranted, message }) =>
      isGranted ? [message.id] : [],
    )
  }

  /** Ends a granted send by what the box's journal says. */
  settleBy({ message, state, outcome }: SendRecord): void {
    for (const [number, send] of this.#sends) {
      if (!send.isGranted || send.message.id !== message) continue
      this.settle(number, state === 'none' ? UNUSED : (outcome ?? LOST))
    }
  }

  giveUp(): void {
    for (const [number, { isGranted }] of this.#sends) if (isGranted) this.settle(number, LOST)
  }

  #withdraw(number: number): void {
    const send = this.#sends.get(number)
    if (send !== undefined && !send.isGranted && !send.isAsking) this.settle(number, WITHDRAWN)
  }

  async #ask(number: number, send: Send, asked: Pick<BoxNote, 'note' | 'mark'>): Promise<boolean> {
    send.isAsking = true
    const stored = writeBoxNote({ ...this.#note, ...asked })
    const mayLeave = await isGranted(send.pointOfNoReturn, stored)
    send.isAsking = false
    if (this.#isOver || send.signal.aborted) this.settle(number, mayLeave ? UNUSED : WITHDRAWN)
    // The outcome may have come before the grant, since the box waits only eight seconds for it.
    send.isGranted = mayLeave && this.#sends.has(number)
    return send.isGranted
  }
}

/** The outcome is unknown: the box's row has none, its journal is gone, or the box is away for too long. */
const LOST = { outcome: 'unknown', reason: 'session_ended' } as const
