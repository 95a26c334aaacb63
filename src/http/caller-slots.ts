import { RelayError } from '../domain/errors.ts'

type Limits = {
  readonly ofAll: number
  readonly ofOne: number
  readonly retryAfterSeconds: number
  /** Names the limit in errors; the default is readers of events. */
  readonly of?: { readonly limit: string; readonly noun: string; readonly doing: string }
}

const READERS = { limit: 'event_readers', noun: 'readers', doing: 'wait for events' }

/** Limits open connections, such as streams and uploads, in all and per caller, so that no caller takes them all. */
export class CallerSlots {
  readonly #limits: Limits
  readonly #held = new Map<string, number>()

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /**
   * Takes a slot until `end` aborts or the returned function is called. Throws `rate_limit_exceeded` if none is
   * free, unless `isAlwaysLet`.
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
