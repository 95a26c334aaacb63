// One run of a Mac line: the loop that reads chat.db, the checks of Messages, and the line's state that
// follows from both.

import {
  type DriverLine,
  FULL_CAPABILITIES,
  type LineEvent,
  type LineEvents,
  type LineSession,
  type SendOutcome,
} from '../../driver.ts'
import type { KindHost } from '../../line-kind.ts'
import { Condition, type MacTrouble, offlineReason } from './condition.ts'
import { DatabaseWatch } from './database-watch.ts'
import type { Mac } from './mac-host.ts'
import { Pacer, pauseMs, VanishingSends } from './pacing.ts'
import { Sender } from './sender.ts'
import { Staging } from './staging.ts'

/** `PRAGMA data_version` takes about a microsecond, so it is read often. */
const READ_EVERY_MS = 50
/** If the wall clock moves on by more than this and a tick, the Mac was asleep. */
const ASLEEP_MS = 10_000
/** After a start of Messages, and after a sleep, Messages finds no chats for a while (-1728). */
const SETTLE_MS = 5_000
/** The time in which Messages quits, by force after ten seconds, and starts again. */
const RESTART_MS = 20_000
const SWEEP_EVERY_MS = 86_400_000
const REVIEW_EVERY_MS = 5_000
/** After this long without trouble, nothing written in an outage can still be in transit. */
const HEALTHY_MS = 900_000

export class MacLineRun {
  readonly #host: KindHost
  readonly #mac: Mac
  readonly #line: DriverLine
  readonly #events: LineEvents
  readonly #staging: Staging
  readonly #pacer: Pacer
  readonly #condition: Condition
  readonly #vanishing: VanishingSends
  readonly #session: LineSession
  /** Sends under way, which may outlast the run for a while. */
  readonly #sends = new Set<Promise<SendOutcome>>()
  readonly database: DatabaseWatch
  #healthySince: number | null = null
  /** Last check of the history for reasons not to send, and its result. */
  #reviewedAt = -Infinity
  #pausedUntil = 0

  constructor(host: KindHost, mac: Mac, line: DriverLine, events: LineEvents) {
    const { clock, random } = host
    this.#host = host
    this.#mac = mac
    this.#line = line
    this.#events = events
    this.#pacer = new Pacer(clock, random)
    this.#staging = new Staging(host, mac.stagingFolder)
    this.#condition = new Condition(host, mac, () => this.#pacer.pause(SETTLE_MS))
    this.#vanishing = new VanishingSends(clock, () => {
      this.#pacer.pause(RESTART_MS)
      this.#condition.requestRestart()
    })
    this.database = new DatabaseWatch(host, mac.chatDb, line, (found) => this.#publish(found))
    this.#session = this.#createSession()
  }

  get trouble(): MacTrouble | null {
    const trouble = this.database.trouble ?? this.#condition.trouble
    return trouble ?? (this.#vanishing.isResting ? 'sends_vanish' : null)
  }

  get areSendsVanishing(): boolean {
    return this.#vanishing.isSuspected
  }

  /** False if we cannot write to Messages' folder, so that no file can be sent. */
  get canStage(): boolean {
    return this.#staging.isWritable
  }

  get isConnected(): boolean {
    return this.#condition.isConnected
  }

  /** Time left until the line may write to new contacts, in milliseconds. */
  get pausedMs(): number {
    return Math.max(0, this.#pausedUntil - this.#host.clock.monotonic())
  }

  /** Runs until `signal` aborts; throws if an event could not be stored. */
  async run(signal: AbortSignal): Promise<void> {
    const end = new AbortController()
    const inner = AbortSignal.any([signal, end.signal])
    const loops = [
      this.#condition.run(inner),
      this.#mac.app.keepAwake(inner),
      this.#read(inner),
      this.#sweep(inner),
    ].map((loop) => loop.finally(() => end.abort()))
    const ended = await Promise.allSettled(loops)
    // The rows of these sends are still read.
    await Promise.allSettled(this.#sends)
    this.database.close()
    if (signal.aborted) return
    const failed = ended.find((loop) => loop.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  async #sweep(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#staging.sweep()
      await this.#host.clock.sleep(SWEEP_EVERY_MS, signal)
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { clock } = this.#host
    while (!signal.aborted) {
      if (await this.database.open()) await this.#publishState(signal)
      // The line's state is published before its first message.
      if (this.#events.hasState) await this.#readNew(signal)
      await this.#publishState(signal)
      const before = clock.now()
      await clock.sleep(READ_EVERY_MS, signal)
      const asleepMs = clock.now() - before - READ_EVERY_MS
      if (asleepMs > ASLEEP_MS) this.#wakeUp(asleepMs)
    }
  }

  async #readNew(signal: AbortSignal): Promise<void> {
    try {
      await this.database.readNew(signal)
    } catch (error) {
      if (this.#events.failure !== null || signal.aborted) throw error
      this.database.lose(error)
    }
    const { clock } = this.#host
    if (clock.monotonic() - this.#reviewedAt < REVIEW_EVERY_MS) return
    this.#reviewedAt = clock.monotonic()
    if (this.database.own.tracker.isStuck(clock.now())) this.#condition.requestRestart()
    const { db } = this.database
    if (db !== null) this.#pausedUntil = clock.monotonic() + pauseMs(db, clock.now())
  }

  #wakeUp(asleepMs: number): void {
    this.database.own.sleep(asleepMs)
    this.#pacer.pause(SETTLE_MS)
    this.#healthySince = null
    this.database.close()
  }

  async #publishState(signal?: AbortSignal): Promise<void> {
    const { trouble } = this
    if (signal?.aborted === true || (trouble === null && !this.#condition.isKnown)) return
    this.#countHealthy(trouble)
    if (trouble !== null) {
      await this.#events.publishState({ type: 'offline', reason: offlineReason(trouble) })
      return
    }
    await this.#events.publishState({
      type: 'online',
      session: this.#session,
      number: this.#line.number,
      imessageActive: this.#condition.isConnected,
      capabilities: {
        ...FULL_CAPABILITIES,
        new_contacts: this.pausedMs === 0,
        // True only if an iPhone forwards its text messages.
        choose_service: this.#condition.hasSms,
      },
    })
  }

  /**
   * Ages of rows are counted to the last healthy time. It stays for a while after an outage, because
   * delayed rows may take minutes to come in.
   */
  #countHealthy(trouble: MacTrouble | null): void {
    const { clock } = this.#host
    if (trouble !== null || !this.#condition.isConnected) {
      this.#healthySince = null
      return
    }
    this.#healthySince ??= clock.monotonic()
    const isHealthy = clock.monotonic() - this.#healthySince >= HEALTHY_MS
    if (isHealthy) this.database.reading?.markHealthy(clock.now())
  }

  #createSession(): LineSession {
    const db = () => this.database.db
    const sender = new Sender(this.#host.clock, this.#mac.script, this.#staging, {
      db,
      own: this.database.own,
      pacer: this.#pacer,
      hasSms: () => this.#condition.hasSms,
      onAnswer: async (answer) => {
        this.#condition.record(answer)
        await this.#publishState()
      },
      onOutcome: async (outcome) => {
        // Without a database, no row could be seen, so the outcome shows nothing.
        if (db() !== null) this.#vanishing.record(outcome)
        await this.#publishState()
      },
    })
    return {
      capacity: 1,
      knows: async (handle) => db()?.knowsHandle(handle) ?? false,
      send: (message, pointOfNoReturn, signal) =>
        this.#during(sender.send(message, pointOfNoReturn, signal)),
    }
  }

  #during(send: Promise<SendOutcome>): Promise<SendOutcome> {
    this.#sends.add(send)
    return send.finally(() => this.#sends.delete(send))
  }

  async #publish(events: readonly LineEvent[]): Promise<void> {
    // A row of ours was found after its send, so sends do leave traces.
    if (events.some(({ type }) => type === 'settled')) this.#vanishing.reset()
    await this.#events.publish(events)
  }
}
