// Short sentences about the latest action, shown for a few seconds and read aloud.

import { signal, type ReadonlySignal } from '@preact/signals'

import { later, type Clock } from './clock.ts'

type Notice = { readonly id: number; readonly tone: 'ok' | 'bad'; readonly text: string }

const SHOWN_MS = 6_000
const SHOWN_MAX = 3

export class Notices {
  readonly #clock: Clock
  readonly #shown = signal<readonly Notice[]>([])
  readonly #announced = signal('')
  #lastId = 0

  readonly shown: ReadonlySignal<readonly Notice[]> = this.#shown
  /** A sentence for screen readers only: "3 new messages". */
  readonly announced: ReadonlySignal<string> = this.#announced

  constructor(clock: Clock) {
    this.#clock = clock
  }

  done(text: string): void {
    const { id } = this.#add('ok', text)
    later(this.#clock, SHOWN_MS, () => this.close(id))
  }

  failed(text: string): void {
    this.#add('bad', text)
  }

  /** Reads aloud what the page shows anyway. */
  announce(text: string): void {
    // Screen readers repeat a text only if it differs.
    this.#announced.value = text === this.#announced.value ? `${text}\u00A0` : text
  }

  close(id: number): void {
    this.#shown.value = this.#shown.value.filter((notice) => notice.id !== id)
  }

  #add(tone: Notice['tone'], text: string): Notice {
    this.#lastId += 1
    const notice = { id: this.#lastId, tone, text }
    const others = this.#shown.value.filter((each) => each.text !== text)
    this.#shown.value = [...others, notice].slice(-SHOWN_MAX)
    return notice
  }
}
