import type { OutgoingMessage } from '../../../domain/message.ts'
import type { Clock } from '../../../system/clock.ts'
import { Signal } from '../../../system/signal.ts'
import { isGranted, type PointOfNoReturn } from '../../driver.ts'

/** A shortcut that asks for a message. */
export type Asker = {
  /** How long it waits for one. */
  readonly waitMs: number
  /** Whether its token is good: asked again just before a message is handed out. */
  readonly isGood: () => boolean
  /** Aborts when it goes away. */
  readonly signal: AbortSignal
}

export type HandedOver =
  | { readonly answer: 'message'; readonly message: OutgoingMessage }
  | { readonly answer: 'nothing' }
  /** The token died while it waited. */
  | { readonly answer: 'refused' }

/** A message that waits for a shortcut. */
type Offer = {
  readonly message: OutgoingMessage
  readonly note: string
  readonly pointOfNoReturn: PointOfNoReturn
  /** Called once: whether the message was handed out. */
  readonly settle: (isHandedOut: boolean) => void
}

type Waiting = { readonly wake: Signal; isDismissed: boolean }

/** More than these are calls of shortcuts that iOS has killed: the one that waits longest goes. */
const WAITING_MAX = 10

const NOTHING: HandedOver = { answer: 'nothing' }

/** Where messages that may leave meet shortcuts that ask. A message is handed to one of them only. */
export class HandOver {
  readonly #clock: Clock
  readonly #offers: Offer[] = []
  readonly #waiting = new Set<Waiting>()
  #isOver = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves with true once the message is handed out, with false where it is not and will not be. */
  offer(order: Omit<Offer, 'settle'>, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted || this.#isOver) return Promise.resolve(false)
    return new Promise((resolve) => {
      const withdraw = () => {
        const index = this.#offers.indexOf(offer)
        // One that a shortcut is about to get is left to its point of no return.
        if (index === -1) return
        this.#offers.splice(index, 1)
        offer.settle(false)
      }
      const settle = (isHandedOut: boolean) => {
        signal.removeEventListener('abort', withdraw)
        resolve(isHandedOut)
      }
      const offer: Offer = { ...order, settle }
      signal.addEventListener('abort', withdraw)
      this.#offers.push(offer)
      for (const { wake } of this.#waiting) wake.notify()
    })
  }

  /** The message that has waited longest; waits for one where there is none. */
  async take(asker: Asker): Promise<HandedOver> {
    const waiting = this.#enter()
    try {
      return await this.#wait(asker, waiting)
    } finally {
      this.#waiting.delete(waiting)
    }
  }

  /** Lets go of everyone who waits. */
  end(): void {
    this.#isOver = true
    for (const { wake } of this.#waiting) wake.notify()
    for (const offer of this.#offers.splice(0)) offer.settle(false)
  }

  async #wait({ waitMs, signal, isGood }: Asker, waiting: Waiting): Promise<HandedOver> {
    const until = this.#clock.monotonic() + waitMs
    for (;;) {
      if (signal.aborted || waiting.isDismissed || this.#isOver) return NOTHING
      if (!isGood()) return { answer: 'refused' }
      const offer = this.#offers.shift()
      const leftMs = until - this.#clock.monotonic()
      if (offer === undefined && leftMs <= 0) return NOTHING
      if (offer === undefined) await waiting.wake.wait(this.#clock, leftMs, signal)
      else if (await hasPassed(offer)) return { answer: 'message', message: offer.message }
    }
  }

  #enter(): Waiting {
    const waiting = { wake: new Signal(), isDismissed: false }
    this.#waiting.add(waiting)
    const [oldest] = this.#waiting
    if (oldest !== undefined && this.#waiting.size > WAITING_MAX) {
      this.#waiting.delete(oldest)
      oldest.isDismissed = true
      oldest.wake.notify()
    }
    return waiting
  }
}

/**
 * Passes the point of no return. From here on the message counts as handed out, also where the shortcut
 * is gone and its answer reaches nobody.
 */
async function hasPassed({ pointOfNoReturn, note, settle }: Offer): Promise<boolean> {
  const isHandedOut = await isGranted(pointOfNoReturn, note)
  settle(isHandedOut)
  return isHandedOut
}
