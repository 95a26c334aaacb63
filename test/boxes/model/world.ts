// Time, processes and a network for the model of the protocol. All of it follows from a seed: one event after
// the other, and between two of them promises settle.

import { type Link, LinkError } from '../../../src/boxes/link.ts'
import type { Clock } from '../../../src/system/clock.ts'
import { fits } from '../../support/memory-link.ts'
import { SeededRandom } from '../../support/seeded-random.ts'
import { TEST_START } from '../../support/test-clock.ts'

type Event = { readonly at: number; readonly act: () => void }
type Answer = (request: string, subject: string) => Promise<string | null>

/** A process that may be killed at any moment, or paused: then all that it would do comes later. */
export class Process {
  readonly name: string
  readonly clock: Clock
  readonly link: Link
  readonly #world: World
  isDead = false
  isPaused = false
  /** No packet reaches it, nor leaves it. */
  isCutOff = false
  readonly #deferred: (() => void)[] = []

  constructor(world: World, name: string) {
    this.name = name
    this.#world = world
    this.clock = world.clockOf(this)
    this.link = world.linkOf(this)
  }

  /** Does it now, after the pause, or never. */
  perform(act: () => void): void {
    if (this.isDead) return
    if (this.isPaused) this.#deferred.push(act)
    else act()
  }

  /** Goes on: each act that was due meanwhile has a turn of its own, as a runtime's timers have, so promises settle. */
  wake(): void {
    this.isPaused = false
    for (const act of this.#deferred.splice(0)) this.#world.after(0, () => this.perform(act))
  }
}

export type Faults = {
  /** Chances of a packet. */
  lost: number
  doubled: number
  late: number
}

export const CALM: Faults = { lost: 0, doubled: 0, late: 0 }
const ROUGH: Faults = { lost: 0.02, doubled: 0.03, late: 0.04 }

const LATE_MS = 12_000
const SLOW_CHANCE = 0.1
const SLOW_MS = 1_200
const QUICK_MS = 20

export class World {
  readonly random: SeededRandom
  /** Deliveries of requests and answers. */
  steps = 0
  now = 0
  faults: Faults = ROUGH
  /** In the order in which they happen. */
  readonly #events: Event[] = []
  readonly #servers: Server[] = []

  constructor(seed: number) {
    this.random = new SeededRandom(seed)
  }

  /** Between two whole numbers, both of them included. */
  between(least: number, most: number): number {
    return least + this.random.below(most - least + 1)
  }

  isChance(chance: number): boolean {
    return this.random.chance() < chance
  }

  /** Calls `act` after so long, whatever becomes of any process. */
  after(ms: number, act: () => void): () => void {
    let isCanceled = false
    const guarded = () => {
      if (!isCanceled) act()
    }
    insert(this.#events, { at: this.now + Math.max(0, ms), act: guarded })
    return () => {
      isCanceled = true
    }
  }

  /** Goes on to the next event. */
  async next(): Promise<void> {
    const event = this.#events.shift()
    if (event === undefined) throw new Error('Nothing is left to happen.')
    this.now = event.at
    event.act()
    await new Promise((resolve) => setImmediate(resolve))
  }

  async pass(ms: number): Promise<void> {
    const until = this.now + ms
    while ((this.#events[0]?.at ?? Infinity) <= until) await this.next()
    this.now = until
  }

  clockOf(process: Process): Clock {
    const clock: Clock = {
      now: () => TEST_START + this.now,
      monotonic: () => this.now,
      uptime: () => this.now,
      sleep: (ms, signal) =>
        new Promise((resolve) => {
          if (signal.aborted) return resolve()
          const done = () => {
            cancel()
            signal.removeEventListener('abort', done)
            resolve()
          }
          const cancel = clock.after(ms, done)
          signal.addEventListener('abort', done)
        }),
      after: (ms, act) => {
        let isCanceled = false
        const guarded = () => {
          if (!isCanceled) act()
        }
        const cancel = this.after(ms, () => process.perform(guarded))
        return () => {
          isCanceled = true
          cancel()
        }
      },
    }
    return clock
  }

  linkOf(process: Process): Link {
    return {
      ask: (subject, request, timeoutMs) => {
        const { promise, resolve, reject } = Promise.withResolvers<string>()
        const cancel = process.clock.after(timeoutMs, () => reject(new LinkError('No answer.')))
        const asked = { process, subject, request, resolve, reject }
        if (!process.isDead) this.#carry(process, () => this.#deliver(asked))
        return promise.finally(cancel)
      },
      serve: (pattern, answer) => {
        const server = { pattern, process, answer }
        this.#servers.push(server)
        return () => {
          const place = this.#servers.indexOf(server)
          if (place >= 0) this.#servers.splice(place, 1)
        }
      },
      close: async () => {},
    }
  }

  /** Forgets what a dead process served. */
  buried(process: Process): void {
    for (let place = this.#servers.length - 1; place >= 0; place -= 1) {
      if (this.#servers[place]?.process === process) this.#servers.splice(place, 1)
    }
  }

  #carry(from: Process, deliver: () => void): void {
    const { lost, doubled } = this.faults
    if (from.isCutOff || this.isChance(lost)) return
    this.after(this.#delay(), deliver)
    if (this.isChance(doubled)) this.after(this.#delay(), deliver)
  }

  #delay(): number {
    if (this.isChance(this.faults.late)) return this.between(SLOW_MS, LATE_MS)
    return this.faults !== CALM && this.isChance(SLOW_CHANCE)
      ? this.between(QUICK_MS, SLOW_MS)
      : this.between(1, QUICK_MS)
  }

  #deliver(asked: Asked): void {
    this.steps += 1
    const { subject, process, reject } = asked
    const server = this.#servers.find((one) => fits(one.pattern, subject) && !one.process.isDead)
    if (server === undefined) {
      const nobody = () => process.perform(() => reject(new LinkError('Nobody listens.')))
      this.after(this.#delay(), nobody)
      return
    }
    if (server.process.isCutOff) return
    server.process.perform(() => void this.#answer(server, asked))
  }

  async #answer(server: Server, { subject, request, process, resolve }: Asked): Promise<void> {
    const answer = await server.answer(request, subject)
    if (answer === null || server.process.isDead) return
    this.#carry(server.process, () => {
      this.steps += 1
      if (!process.isCutOff) process.perform(() => resolve(answer))
    })
  }
}

type Server = {
  readonly pattern: string
  readonly process: Process
  readonly answer: Answer
}

type Asked = {
  readonly process: Process
  readonly subject: string
  readonly request: string
  readonly resolve: (answer: string) => void
  readonly reject: (error: Error) => void
}

/** Puts an event behind all that come before it. */
function insert(events: Event[], event: Event): void {
  let [low, high] = [0, events.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((events[middle]?.at ?? 0) <= event.at) low = middle + 1
    else high = middle
  }
  events.splice(low, 0, event)
}
