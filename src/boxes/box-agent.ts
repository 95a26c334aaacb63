// The box's side of the link: greets the head, and runs lines of its drivers when the head asks.

import { mkdirSync, rmSync } from 'node:fs'

import type { Finding } from '../domain/finding.ts'
import { DriverWatch, failureFinding } from '../lines/driver-watch.ts'
import type { Found, LineDriver } from '../lines/driver.ts'
import { NEVER, whenAborted, withTimeout } from '../system/clock.ts'
import type { Service } from '../system/service.ts'
import { Signal } from '../system/signal.ts'
import { BoxLine } from './box-line.ts'
import type { ThisBox } from './box-send.ts'
import type { BoxUpgrade } from './box-upgrade.ts'
import { LinkError, SUBJECTS } from './link.ts'
import {
  type Answer,
  ask,
  type Hello,
  isNewer,
  PROTOCOL,
  type Request,
  SENTENCE_LENGTH_MAX,
  serve,
  sessionOrder,
  SILENCE_MS,
} from './wire.ts'

/** Facts about this machine, for each hello. */
type Facts = () => Pick<Hello, 'version' | 'platform' | 'health'>

const HELLO_EVERY_MS = 2_000
/** Longest wait for an earlier session's end; then the answer is "busy". */
const BUSY_MS = 500
const CHECKUP_MS = 3_500
const STOP_MS_MAX = 60_000
const STOP_LOOK_MS = 100
const RUNNING = { isRunning: true } as const
const OBSOLETE = { refused: 'The session is over.' } as const
const OVER = { isOver: true } as const

export class BoxAgent implements Service {
  readonly name = 'box'
  readonly #box: ThisBox
  readonly #facts: Facts
  readonly #upgrade: Pick<BoxUpgrade, 'take' | 'report'>
  readonly #watches: readonly DriverWatch[]
  readonly #devices = new Map<string, readonly Found[]>()
  readonly #lines = new Map<string, BoxLine>()
  /** Newest session of each device; `isClosed` once it started, or ended before it started. */
  readonly #newest = new Map<string, { readonly session: string; readonly isClosed: boolean }>()
  /** Sessions whose outcomes the head has requested since this box began to leave. */
  readonly #reported = new Set<string>()
  readonly #wake = new Signal()
  #heardAt = -Infinity
  #wasHeard = false
  #since: number
  #refused: string | null = null
  #isLeaving = false

  constructor(
    box: ThisBox,
    given: {
      readonly facts: Facts
      readonly drivers: readonly LineDriver[]
      readonly upgrade: Pick<BoxUpgrade, 'take' | 'report'>
    },
  ) {
    this.#box = box
    this.#facts = given.facts
    this.#upgrade = given.upgrade
    this.#since = box.clock.now()
    this.#watches = given.drivers.map(
      (driver) =>
        new DriverWatch(box, driver, {
          onFound: async (found) => this.#found(driver.kind, found),
          onFailure: () => {},
        }),
    )
  }

  /** The state for the owner: `since` is the wall clock time at which `isHeard` last changed. */
  status() {
    const isHeard = this.#isHeard()
    const refused = isHeard ? this.#refused : null
    return { isHeard, since: this.#since, refused, sessions: [...this.#lines.keys()] }
  }

  isOnline(kind: string, key: string): boolean {
    return this.#linesOf(kind, key).some(({ isOnline }) => isOnline)
  }

  async run(signal: AbortSignal): Promise<void> {
    const { id, link, journal, folder } = this.#box
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const stopServing = serve(link, SUBJECTS.to(id, journal.boot), {
      ping: async () => ({}),
      run: (request) => this.#run(request),
      end: (request) => this.#end(request),
      send: async (request) => this.#lines.get(request.session)?.send(request) ?? OVER,
      knows: async (request) =>
        (await this.#lines.get(request.session)?.knows(request)) ?? { isKnown: null },
      checkup: ({ kind }) => this.#checkup(kind),
      upgrade: async (request) => {
        const answer = this.#upgrade.take(request)
        this.#wake.notify()
        return answer
      },
      received_file: async (request) =>
        (await this.#lines.get(request.session)?.file(request)) ?? { isMissing: true },
    })
    const silent = new AbortController()
    const watching = this.#watches.map((watch) => watch.run(signal))
    const greeting = this.#greet(silent.signal)
    await whenAborted(signal)
    await this.#leave()
    silent.abort()
    await Promise.all([...watching, greeting])
    stopServing()
  }

  async #greet(signal: AbortSignal): Promise<void> {
    const { clock } = this.#box
    while (!signal.aborted) {
      const nextAt = clock.monotonic() + HELLO_EVERY_MS
      await this.#hello()
      this.#noteHearing()
      await this.#wake.wait(clock, Math.max(0, nextAt - clock.monotonic()), signal)
    }
  }

  async #hello(): Promise<void> {
    const { id, link, clock, log } = this.#box
    const address = { link, subject: SUBJECTS.hello(id), timeoutMs: HELLO_EVERY_MS }
    try {
      const answer = await ask(address, 'hello', this.#helloOf())
      this.#heardAt = clock.monotonic()
      await this.#heard(answer)
    } catch (error) {
      if (!(error instanceof LinkError)) log.error('hello failed', { error })
    }
  }

  #helloOf(): Hello {
    const { journal } = this.#box
    return {
      protocol: PROTOCOL,
      ...this.#facts(),
      boot: journal.boot,
      fence: journal.fence,
      sessions: [...this.#lines].flatMap(([session, line]) => (line.isOver ? [] : [session])),
      kinds: this.#watches.map(({ driver }) => driver.kind),
      devices: [...this.#devices].flatMap(([kind, found]) =>
        found.map(({ key, number }) => ({ kind, key, number })),
      ),
      upgrade: this.#upgrade.report(),
      isLeaving: this.#isLeaving,
    }
  }

  async #heard(answer: Answer<'hello'>): Promise<void> {
    const { journal, log } = this.#box
    const refused = 'refused' in answer ? answer.refused : null
    if (refused !== this.#refused) log.warn('head answers the box', { refused })
    this.#refused = refused
    if ('refused' in answer) {
      for (const line of this.#lines.values()) line.end()
      return
    }
    for (const session of answer.closed) this.#lines.get(session)?.end()
    if (answer.epoch >= journal.fence) await this.#raiseFence(answer.epoch)
  }

  /** Ends sessions of lower epochs; resolves when the epoch is on disk. */
  async #raiseFence(epoch: number): Promise<void> {
    for (const [session, line] of this.#lines) if (sessionOrder(session)[0] < epoch) line.end()
    await this.#box.journal.raiseFence(epoch)
  }

  #isHeard(): boolean {
    return this.#box.clock.monotonic() - this.#heardAt <= SILENCE_MS
  }

  #noteHearing(): void {
    const { clock, log } = this.#box
    const isHeard = this.#isHeard()
    if (isHeard === this.#wasHeard) return
    this.#wasHeard = isHeard
    this.#since = clock.now()
    if (isHeard) log.info('head is reachable')
    else log.warn('head is unreachable')
  }

  /** Stores the devices of a kind; keeps the known devices if the driver can't list them (null). */
  #found(kind: string, found: readonly Found[] | null): void {
    if (found === null) return
    const known = this.#devices.get(kind)
    this.#devices.set(kind, found)
    if (JSON.stringify(known) !== JSON.stringify(found)) this.#wake.notify()
  }

  /** Starts a run once the device's earlier run and all its sends have ended. */
  async #run(request: Request<'run'>): Promise<Answer<'run'>> {
    const { session, kind, line } = request
    const [epoch] = sessionOrder(session)
    if (epoch >= this.#box.journal.fence) await this.#raiseFence(epoch)
    const watch = this.#watchOf(kind)
    if (watch === undefined) return { refused: `This box has no ${kind} driver.` }
    if (this.#isRunning(session)) return RUNNING
    if (!this.#begin(request)) return OBSOLETE
    const earlier = this.#linesOf(kind, line.key)
    for (const one of earlier) one.end()
    if (!(await this.#areDone(earlier))) return { isBusy: true }
    // Another request may have started or ended it meanwhile.
    if (this.#isRunning(session)) return RUNNING
    if (!this.#begin(request)) return OBSOLETE
    this.#start(watch.driver, request)
    return RUNNING
  }

  #watchOf(kind: string): DriverWatch | undefined {
    return this.#watches.find(({ driver }) => driver.kind === kind)
  }

  #isRunning(session: string): boolean {
    return this.#lines.get(session)?.isOver === false
  }

  #start(driver: LineDriver, request: Request<'run'>): void {
    const { session, kind, line } = request
    this.#newest.set(deviceOf(kind, line.key), { session, isClosed: true })
    const started = new BoxLine(this.#box, driver, request)
    this.#lines.set(session, started)
    void started.done.finally(() => this.#lines.delete(session))
  }

  /** True if the session is the newest of its device and may start. */
  #begin({ session, kind, line }: Request<'run'>): boolean {
    if (this.#isLeaving || sessionOrder(session)[0] !== this.#box.journal.fence) return false
    const device = deviceOf(kind, line.key)
    const newest = this.#newest.get(device)
    if (newest === undefined || isNewer(session, newest.session)) {
      this.#newest.set(device, { session, isClosed: false })
      return true
    }
    return newest.session === session && !newest.isClosed
  }

  #linesOf(kind: string, key: string): readonly BoxLine[] {
    return [...this.#lines.values()].filter((line) => line.kind === kind && line.key === key)
  }

  async #areDone(lines: readonly BoxLine[]): Promise<boolean> {
    const done = Promise.all(lines.map(({ done }) => done)).then(() => true)
    return withTimeout(this.#box.clock, BUSY_MS, done, false)
  }

  /** Ends a session, and reports what became of messages that it may have sent. */
  async #end(request: Request<'end'>): Promise<Answer<'end'>> {
    const { journal } = this.#box
    const { session, kind, key, boot, mark, messages } = request
    const device = deviceOf(kind, key)
    const newest = this.#newest.get(device)?.session ?? session
    if (!isNewer(newest, session)) this.#newest.set(device, { session, isClosed: true })
    const line = this.#lines.get(session)
    line?.end()
    if (line !== undefined && !(await this.#areDone([line]))) {
      if (messages.length === 0 || line.hasSends) return { isBusy: true }
    }
    if (this.#isLeaving) this.#reported.add(session)
    const records = messages.map((message) => {
      const record = journal.recordOf(message, { session, boot, mark })
      if (typeof record === 'string') return { message, state: record, outcome: null }
      return { message, state: 'row', outcome: record.outcome } as const
    })
    return { records }
  }

  async #checkup(kind: string): Promise<Answer<'checkup'>> {
    const watch = this.#watchOf(kind)
    if (watch === undefined) return { findings: [] }
    const silent = [failureFinding(kind, null)]
    const findings = await withTimeout(this.#box.clock, CHECKUP_MS, watch.checkup(NEVER), silent)
    return { findings: findings.map(shortened) }
  }

  /** Announces that the box leaves, and lets every send end: the head then asks each session for its outcomes. */
  async #leave(): Promise<void> {
    const { clock } = this.#box
    this.#isLeaving = true
    this.#wake.notify()
    const lines = [...this.#lines.values()]
    for (const line of lines) line.stop()
    const until = clock.monotonic() + STOP_MS_MAX
    const isSettled = (line: BoxLine) =>
      !line.hasSends && line.isRunOver && (this.#reported.has(line.session) || !this.#isHeard())
    do {
      await clock.sleep(STOP_LOOK_MS, NEVER)
    } while (!lines.every(isSettled) && clock.monotonic() < until)
    for (const line of lines) line.end()
  }
}

function deviceOf(kind: string, key: string): string {
  return `${kind}\0${key}`
}

function shortened({ title, why, fix, ...finding }: Finding): Finding {
  const cut = (text: string) => text.slice(0, SENTENCE_LENGTH_MAX)
  return { ...finding, title: cut(title), why: cut(why), fix: cut(fix) }
}
