// Both directions of a Mac line at once: clients that send to people whom Messages treats differently,
// and the same people writing to the line.

import type { MessagesControl } from '../support/mac/mac-rig.ts'
import type { Behaviour } from '../support/mac/script-behaviours.ts'
import { inboundRow, insert, join, update } from '../support/mac/trace-steps.ts'
import type { TraceStep } from '../support/mac/trace.ts'
import type { ApiClient } from '../support/relay-process.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import type { Told } from './ledgers.ts'
import { toldBy } from './torture/load.ts'

type Person = { readonly handle: string; readonly behaviour: Behaviour }

export const PEOPLE: readonly Person[] = [
  { handle: '+15550002001', behaviour: 'happy' },
  { handle: '+15550002002', behaviour: 'slow_sending' },
  { handle: '+15550002003', behaviour: 'failed22_at_once' },
  { handle: '+15550002004', behaviour: 'hang_then_deliver_late' },
  { handle: '+15550002005', behaviour: 'failed_then_clean_row' },
  { handle: '+15550002006', behaviour: 'happy' },
]

const WRITES_MS_MIN = 40
const WRITES_MS_MAX = 240
/** A message whose row comes first, then its chat, then its text; the next one comes in between. */
const CHAT_MS = 60
const NEXT_MS = 90
const BODY_MS = 180

/** For each person a client that sends one message after another, each until it has an answer. */
export class Clients {
  readonly told: Told[] = []
  repeats = 0
  readonly #api: ApiClient
  readonly #name: string
  #isStopped = false

  /** `name` sets the idempotency keys apart from those of every other run. */
  constructor(api: ApiClient, name: string) {
    this.#api = api
    this.#name = name
  }

  async run(): Promise<void> {
    await Promise.all(PEOPLE.map(({ handle }) => this.#runOne(handle)))
  }

  stop(): void {
    this.#isStopped = true
  }

  async #runOne(to: string): Promise<void> {
    for (let count = 0; !this.#isStopped; count += 1) {
      this.told.push(await this.#sendUntilAnswered(to, `to ${to}, number ${count}`))
    }
  }

  async #sendUntilAnswered(to: string, text: string): Promise<Told> {
    for (;;) {
      const told = await this.#sendOnce(to, text)
      if (told !== null) return told
      this.repeats += 1
      await Bun.sleep(15)
    }
  }

  /** Null where the answer got lost, or asks to come again. */
  async #sendOnce(to: string, text: string): Promise<Told | null> {
    const answer = await this.#api
      .request('POST', '/api/v1/messages/send', {
        body: { to, text },
        headers: { 'Idempotency-Key': `${this.#name} ${text}` },
      })
      .catch(() => null)
    if (answer === null || answer.status === 503) return null
    return toldBy(answer.status, answer.body, text)
  }
}

/** People who write to the line, also while nobody reads. */
export class Writers {
  /** What each of them wrote, in order. */
  readonly written: Record<string, string[]> = {}
  readonly #control: MessagesControl
  readonly #random: SeededRandom
  #count = 0
  #isStopped = false

  constructor(control: MessagesControl, seed: number) {
    this.#control = control
    this.#random = new SeededRandom(seed)
  }

  async run(): Promise<void> {
    while (!this.#isStopped) {
      await Bun.sleep(WRITES_MS_MIN + this.#random.below(WRITES_MS_MAX - WRITES_MS_MIN))
      const { handle } = this.#random.of(PEOPLE)
      if (this.#random.below(3) === 0) await this.#writeTwo(handle)
      else await this.#control.receive({ from: handle, text: this.#nextOf(handle) })
    }
  }

  stop(): void {
    this.#isStopped = true
  }

  /** The second is complete before the first one is. */
  async #writeTwo(handle: string): Promise<void> {
    const [first, second] = [this.#nextOf(handle), this.#nextOf(handle)]
    const steps: readonly TraceStep[] = [
      insert(0, 'first', inboundRow(0, null, { handle })),
      join(CHAT_MS, 'first', handle),
      insert(NEXT_MS, 'second', inboundRow(NEXT_MS, second, { handle })),
      join(NEXT_MS, 'second', handle),
      update(BODY_MS, 'first', { body: first }),
    ]
    await this.#control.play(steps)
  }

  #nextOf(handle: string): string {
    this.#count += 1
    const text = `from ${handle}, number ${this.#count}`
    this.written[handle] = [...(this.written[handle] ?? []), text]
    return text
  }
}
