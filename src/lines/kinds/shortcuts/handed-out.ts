import type { MessageId } from '../../../domain/ids.ts'
import type { OutgoingMessage, Unsettled } from '../../../domain/message.ts'
import type { Clock } from '../../../system/clock.ts'
import type { Settlement } from '../../driver.ts'

/** A message that a shortcut has, and has said nothing of. */
export type Open = {
  readonly message: OutgoingMessage
  /** Tells who waits for the outcome; null where nobody does any more. */
  readonly confirm: ((outcome: Settlement) => void) | null
}

/** How long a shortcut may take to say that a message is sent. */
const CONFIRM_MS = 300_000
/** What is remembered of each kind: as many as a line may have unsettled. */
const KEPT_MAX = 1_000

const NOT_CONFIRMED: Settlement = { outcome: 'unknown', reason: 'not_confirmed' }

/** The messages that shortcuts have taken, until they say what became of them, and for a while after. */
export class HandedOut {
  readonly #clock: Clock
  readonly #open = new Map<MessageId, Open>()
  readonly #closed = new Set<MessageId>()

  /** `unsettled` were handed out before, and nobody knows more of them. */
  constructor(clock: Clock, unsettled: readonly Unsettled[]) {
    this.#clock = clock
    for (const { message } of unsettled) this.#open.set(message.id, { message, confirm: null })
  }

  find(id: string): Open | 'closed' | null {
    // A text that is no id of ours finds nothing.
    const known = id as MessageId
    return this.#open.get(known) ?? (this.#closed.has(known) ? 'closed' : null)
  }

  /**
   * Resolves with what the shortcut says, or with unknown after five minutes or when `signal` aborts. It
   * may be said later still.
   */
  wait(message: OutgoingMessage, signal: AbortSignal): Promise<Settlement> {
    return new Promise((resolve) => {
      const finish = (outcome: Settlement) => {
        cancel()
        signal.removeEventListener('abort', giveUp)
        if (this.#open.has(message.id)) this.#keep({ message, confirm: null })
        resolve(outcome)
      }
      const giveUp = () => finish(NOT_CONFIRMED)
      const cancel = this.#clock.after(CONFIRM_MS, giveUp)
      signal.addEventListener('abort', giveUp)
      this.#keep({ message, confirm: finish })
      if (signal.aborted) giveUp()
    })
  }

  /** What became of the message is written down. */
  close({ message, confirm }: Open, outcome: Settlement): void {
    this.#open.delete(message.id)
    this.#closed.add(message.id)
    forgetOldest(this.#closed)
    confirm?.(outcome)
  }

  #keep(open: Open): void {
    this.#open.set(open.message.id, open)
    forgetOldest(this.#open)
  }
}

/** Maps and sets keep the order in which things came in. */
function forgetOldest(kept: {
  readonly size: number
  keys(): Iterator<MessageId>
  delete(id: MessageId): boolean
}): void {
  const oldest = kept.keys().next()
  if (kept.size > KEPT_MAX && oldest.done !== true) kept.delete(oldest.value)
}
