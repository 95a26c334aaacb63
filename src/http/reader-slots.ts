import { RelayError } from '../domain/errors.ts'

type Limits = { readonly ofAll: number; readonly ofOne: number; readonly retryAfterSeconds: number }

/**
 * Places for those that keep a connection open to wait for news. Each caller has a few of them, so that one caller
 * leaves room for all others.
 */
export class ReaderSlots {
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
    const { ofAll, ofOne, retryAfterSeconds } = this.#limits
    const own = this.#held.get(caller) ?? 0
    const all = [...this.#held.values()].reduce((sum, count) => sum + count, 0)
    if (!isAlwaysLet && (own >= ofOne || all >= ofAll)) {
      const who = own >= ofOne ? `${ofOne} readers of yours` : `${ofAll} readers`
      const message = `${who} wait for events already: end one of them.`
      const details = { limit: 'event_readers' }
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
