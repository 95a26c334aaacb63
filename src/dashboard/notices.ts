// Short sentences about what just happened: shown for a few seconds, and read aloud.

import { signal, type ReadonlySignal } from '@preact/signals'

import type { Clock } from './clock.ts'

export type Notice = {
  readonly id: number
  readonly tone: 'ok' | 'bad'
  readonly text: string
}

const SHOWN_MS = 6_000
const SHOWN_MAX = 3

export class Notices {
  readonly #clock: Clock
  readonly #shown = signal<readonly Notice[]>([])
  readonly #heard = signal('')
  #lastId = 0

  readonly shown: ReadonlySignal<readonly Notice[]> = this.#shown
  /** What only those hear who cannot see it: "3 new messages". */
  readonly heard: ReadonlySignal<string> = this.#heard

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Shows that something was done; it goes by itself. */
  done(text: string): void {
    const { id } = this.#add('ok', text)
    void this.#removeLater(id)
  }

  /** Shows that something failed; it stays until it is closed. */
  failed(text: string): void {
    this.#add('bad', text)
  }

  /** Tells what can be seen anyway to those who listen. */
  say(text: string): void {
    // The same words again are told only where they are not quite the same.
    this.#heard.value = text === this.#heard.value ? `${text}\u00A0` : text
  }

  close(id: number): void {
    this.#shown.value = this.#shown.value.filter((notice) => notice.id !== id)
  }

  #add(tone: Notice['tone'], text: string): Notice {
    this.#lastId += 1
    const notice = { id: this.#lastId, tone, text }
    this.#shown.value = [...this.#shown.value, notice].slice(-SHOWN_MAX)
    return notice
  }

  async #removeLater(id: number): Promise<void> {
    await this.#clock.sleep(SHOWN_MS, new AbortController().signal)
    this.close(id)
  }
}
