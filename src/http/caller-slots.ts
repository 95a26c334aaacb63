import { RelayError } from '../domain/errors.ts'

type Limits = {
  readonly ofAll: number
  readonly ofOne: number
  readonly retryAfterSeconds: number
  /** What is limited; readers of events unless it says otherwise. */
  readonly of?: { readonly limit: string; readonly noun: string; readonly doing: string }
}

const READERS = { limit: 'event_readers', noun: 'readers', doing: 'wait for events' }

/**
 * Places for those that keep a connection open: to wait for news, or to upload. Each caller has a few of them, so that
 * one caller leaves room for all others.
 */
export class CallerSlots {
  readonly #limits: Limits
  readonly #held = new Map<string, number>()

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /**
   * Takes a place until `end` aborts or what it returns is called; throws `rate_limit_exceeded` if there is none, unless
   * the caller is always let in.
   */
  take(caller: string, end: AbortSignal, isAlwaysLet = false): () => void {
    if (end.aborted) return () => {}
    const { ofAll, ofOne, retryAfterSeconds, of = READERS } = this.#limits
    const own = this.#held.get(caller) ?? 0
    const all = [...this.#held.values()].reduce((sum, count) => sum + count, 0)
    if (!isAlwaysLet && (own >= ofOne || all >= ofAll)) {
      const who = own >= ofOne ? `${ofOne} ${of.noun} of yours` : `${ofAll} ${of.noun}`
      const message = `${who} ${of.doing} already: end one of them.`
      const details = { limit: of.limit }
      throw new RelayError('rate_limit_exceeded', message, { details, retryAfterSeconds })
    }
    this.#held.set(caller, own + 1)
    let isHeld = true
    const release = () => {
      if (isHeld) this.#release(caller)
      isHeld = false
      end.removeEventListener('abort', release)
    }
    end.addEventListener('abort', release)
    return release
  }

  #release(caller: string): void {
    const left = (this.#held.get(caller) ?? 1) - 1
    if (left === 0) this.#held.delete(caller)
    else this.#held.set(caller, left)
  }
}
