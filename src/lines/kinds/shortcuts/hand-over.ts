// Messages on their way to the shortcuts of one iPhone: offered until a shortcut asks, then handed out
// until it reports the outcome.

import type { MessageId } from '../../../domain/ids.ts'
import type { OutgoingMessage, Unsettled } from '../../../domain/message.ts'
import type { Clock } from '../../../system/clock.ts'
import { dropOldest } from '../../../system/memoize.ts'
import { Signal } from '../../../system/signal.ts'
import { isGranted, type PointOfNoReturn, type Settlement } from '../../driver.ts'
import type { Requester, HandedOver } from '../../line-kind.ts'

type Offer = {
  readonly message: OutgoingMessage
  readonly note: string
  readonly pointOfNoReturn: PointOfNoReturn
  /** Called once, when the message is handed out or never will be. */
  readonly settle: (isHandedOut: boolean) => void
}

type WaitingShortcut = { readonly wakeUp: Signal; isDismissed: boolean }

/** Most waiting calls. If there are more, iOS has probably killed a shortcut: the longest wait is dismissed. */
const WAITING_MAX = 10

const NOTHING: HandedOver = { answer: 'nothing' }

/** Pairs offered messages with asking shortcuts; each message goes to one shortcut only. */
export class HandOver {
  readonly #clock: Clock
  readonly #offers: Offer[] = []
  readonly #waiting = new Set<WaitingShortcut>()
  #isOver = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves with true once the message is handed out, or with false once it never will be. */
  offer(order: Omit<Offer, 'settle'>, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted || this.#isOver) return Promise.resolve(false)
    return new Promise((resolve) => {
      const withdraw = () => {
        const index = this.#offers.indexOf(offer)
        // A shortcut is about to get the message: its point of no return decides.
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
      for (const { wakeUp } of this.#waiting) wakeUp.notify()
    })
  }

  /** Returns the message that has waited longest, or waits for one. */
  async take(requester: Requester): Promise<HandedOver> {
    const shortcut = this.#enter()
    try {
      return await this.#wait(requester, shortcut)
    } finally {
      this.#waiting.delete(shortcut)
    }
  }

  /** Withdraws every offer and dismisses every waiting shortcut. */
  end(): void {
    this.#isOver = true
    for (const { wakeUp } of this.#waiting) wakeUp.notify()
    for (const offer of this.#offers.splice(0)) offer.settle(false)
  }

  async #wait(
    { waitMs, signal, isGood }: Requester,
    shortcut: WaitingShortcut,
  ): Promise<HandedOver> {
    const until = this.#clock.monotonic() + waitMs
    for (;;) {
      if (signal.aborted || shortcut.isDismissed || this.#isOver) return NOTHING
      if (!isGood()) return { answer: 'refused' }
      const offer = this.#offers.shift()
      const leftMs = until - this.#clock.monotonic()
      if (offer === undefined && leftMs <= 0) return NOTHING
      if (offer === undefined) await shortcut.wakeUp.wait(this.#clock, leftMs, signal)
      else if (await hasPassed(offer)) return { answer: 'message', message: offer.message }
    }
  }

  #enter(): WaitingShortcut {
    const shortcut = { wakeUp: new Signal(), isDismissed: false }
    this.#waiting.add(shortcut)
    const [oldest] = this.#waiting
    if (oldest !== undefined && this.#waiting.size > WAITING_MAX) {
      this.#waiting.delete(oldest)
      oldest.isDismissed = true
      oldest.wakeUp.notify()
    }
    return shortcut
  }
}

/**
 * Passes the point of no return. From here on the message counts as handed out, even if the shortcut is gone and
 * never gets it.
 */
async function hasPassed({ pointOfNoReturn, note, settle }: Offer): Promise<boolean> {
  const isHandedOut = await isGranted(pointOfNoReturn, note)
  settle(isHandedOut)
  return isHandedOut
}

export type PendingReport = {
  readonly message: OutgoingMessage
  /** Answers the waiting send; null if that send has given up. */
  readonly confirm: ((outcome: Settlement) => void) | null
}

/** Longest wait for a shortcut to report that a message is sent. */
const CONFIRM_MS = 300_000
/** Most messages of each kind that are kept: as many as a line may have unsettled. */
const KEPT_MAX = 1_000

const NOT_CONFIRMED: Settlement = { outcome: 'unknown', reason: 'not_confirmed' }

/** Messages that shortcuts have taken, until they report the outcome, and for some time after that. */
export class HandedOut {
  readonly #clock: Clock
  readonly #pending = new Map<MessageId, PendingReport>()
  readonly #closed = new Map<MessageId, Settlement['outcome']>()

  /** `unsettled` has messages that were handed out in earlier runs. */
  constructor(clock: Clock, unsettled: readonly Unsettled[]) {
    this.#clock = clock
    for (const { message } of unsettled) this.#pending.set(message.id, { message, confirm: null })
  }

  /** The message if its outcome is not reported yet, else the outcome that was reported; null if the id is unknown. */
  find(id: string): PendingReport | Settlement['outcome'] | null {
    // Only looked up: an unknown id finds nothing.
    const known = id as MessageId
    return this.#pending.get(known) ?? this.#closed.get(known) ?? null
  }

  /**
   * Resolves with the reported outcome, or with unknown after five minutes or if `signal` aborts. The
   * report may still come later.
   */
  wait(message: OutgoingMessage, signal: AbortSignal): Promise<Settlement> {
    return new Promise((resolve) => {
      const finish = (outcome: Settlement) => {
        cancel()
        signal.removeEventListener('abort', giveUp)
        if (this.#pending.has(message.id)) this.#keep({ message, confirm: null })
        resolve(outcome)
      }
      const giveUp = () => finish(NOT_CONFIRMED)
      const cancel = this.#clock.after(CONFIRM_MS, giveUp)
      signal.addEventListener('abort', giveUp)
      this.#keep({ message, confirm: finish })
      if (signal.aborted) giveUp()
    })
  }

  /** Called once the outcome is durable. */
  close({ message, confirm }: PendingReport, outcome: Settlement): void {
    this.#pending.delete(message.id)
    this.#closed.set(message.id, outcome.outcome)
    dropOldest(this.#closed, KEPT_MAX)
    confirm?.(outcome)
  }

  #keep(pending: PendingReport): void {
    this.#pending.set(pending.message.id, pending)
    dropOldest(this.#pending, KEPT_MAX)
  }
}
