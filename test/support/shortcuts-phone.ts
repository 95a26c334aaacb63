// An iPhone with the two shortcuts of a bridge: one asks for messages and sends them, the other posts what
// comes in, one after the other, and tries again until it is stored.

import type { ShortcutsDriver } from '../../src/lines/kinds/shortcuts/kind.ts'
import type { TestClock } from './test-clock.ts'

const WAIT_MS = 25_000
const RETRY_MS = 1_000

export class ShortcutsPhone {
  /** The texts that it sent. */
  readonly sent: string[] = []
  readonly #clock: TestClock
  readonly #key: string
  readonly #driver: () => ShortcutsDriver
  readonly #off = new AbortController()
  #posting: Promise<void> = Promise.resolve()
  #count = 0

  constructor(clock: TestClock, key: string, driver: () => ShortcutsDriver) {
    this.#clock = clock
    this.#key = key
    this.#driver = driver
  }

  /** Starts the shortcut that sends. */
  start(): void {
    void this.#ask()
  }

  /** A message comes to the iPhone. */
  receive(from: string, text: string, file: File | null = null): void {
    this.#count += 1
    const message = { id: `${this.#count}`, from, text, at: null, file }
    this.#posting = this.#posting.then(() => this.#post(message))
  }

  /** Resolves when the relay has taken all that has come. */
  posted(): Promise<void> {
    return this.#posting
  }

  switchOff(): void {
    this.#off.abort()
  }

  async #ask(): Promise<void> {
    const { signal } = this.#off
    const requester = { waitMs: WAIT_MS, isGood: () => true, signal }
    while (!signal.aborted) {
      const answer = await this.#driver().next(this.#key, requester)
      if (answer === 'not_ready' || answer.answer === 'nothing') await this.#rest()
      else if (answer.answer === 'message') await this.#send(answer.message)
    }
  }

  async #send({ id, text }: { readonly id: string; readonly text: string }): Promise<void> {
    this.sent.push(text)
    const report = { id, isSent: true, error: null }
    while ((await this.#driver().done(this.#key, report)) === 'not_ready') {
      if (this.#off.signal.aborted) return
      await this.#rest()
    }
  }

  async #post(message: Parameters<ShortcutsDriver['receive']>[1]): Promise<void> {
    while ((await this.#driver().receive(this.#key, message)) === 'not_ready') {
      if (this.#off.signal.aborted) return
      await this.#rest()
    }
  }

  #rest(): Promise<void> {
    return this.#clock.sleep(RETRY_MS, this.#off.signal)
  }
}
