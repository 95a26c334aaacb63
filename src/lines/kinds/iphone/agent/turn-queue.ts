import type { Clock } from '../../../../system/clock.ts'
import { AgentError, type Urgency } from './agent.ts'

type Waiting = { readonly urgency: Urgency; readonly wake: () => void }

const ORDER: readonly Urgency[] = ['send', 'receipt', 'poll']
const WAITING_MAX = 100

/** One work after the other; of those that wait the most urgent is next, and of equals the first. */
export class TurnQueue {
  readonly #clock: Clock
  #waiting: Waiting[] = []
  #startedAt: number | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** For how long the present work has been running, in milliseconds; null where none is. */
  get runningMs(): number | null {
    return this.#startedAt === null ? null : this.#clock.monotonic() - this.#startedAt
  }

  /** Whether somebody waits who is more urgent than this. */
  isWantedBefore(urgency: Urgency): boolean {
    return this.#waiting.some((other) => rank(other.urgency) < rank(urgency))
  }

  /** Rejects with `aborted` where the signal fires before the turn has come; then nothing was done. */
  async run<T>(urgency: Urgency, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#turn(urgency, signal)
    try {
      return await work()
    } finally {
      this.#pass()
    }
  }

  async #turn(urgency: Urgency, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw new AgentError('aborted', 'Aborted before its turn.')
    if (this.#startedAt === null) {
      this.#startedAt = this.#clock.monotonic()
      return
    }
    if (this.#waiting.length >= WAITING_MAX) throw new AgentError('other', 'Too many wait.')
    const turn = Promise.withResolvers<void>()
    const waiting: Waiting = { urgency, wake: turn.resolve }
    this.#waiting.push(waiting)
    const leave = () => {
      this.#waiting = this.#waiting.filter((other) => other !== waiting)
      turn.reject(new AgentError('aborted', 'Aborted before its turn.'))
    }
    signal.addEventListener('abort', leave)
    await turn.promise.finally(() => signal.removeEventListener('abort', leave))
  }

  #pass(): void {
    const [next] = this.#waiting.toSorted((a, b) => rank(a.urgency) - rank(b.urgency))
    this.#waiting = this.#waiting.filter((other) => other !== next)
    // Taken at once: whoever comes between this and the waking finds the place occupied.
    this.#startedAt = next === undefined ? null : this.#clock.monotonic()
    next?.wake()
  }
}

function rank(urgency: Urgency): number {
  return ORDER.indexOf(urgency)
}
