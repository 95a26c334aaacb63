// One Mac line while it is attended: the loop that reads chat.db, beside the watch over Messages, and
// what both together mean for the line.

import type { Capabilities } from '../../../domain/line.ts'
import type { Clock } from '../../../system/clock.ts'
import type { Random } from '../../../system/random.ts'
import type { LineEvent, DriverLine, LineSession, LineListener, Settlement } from '../../driver.ts'
import { LineEvents } from '../../line-events.ts'
import type { ChatDb } from './chat-db.ts'
import { Condition, type ConditionTools } from './condition.ts'
import { DatabaseWatch } from './database-watch.ts'
import { OwnMessages } from './own-messages.ts'
import { Pacer } from './pacer.ts'
import { offlineReason, type MacTrouble } from './reasons.ts'
import { pauseMs } from './reputation.ts'
import { sendMessage } from './sender.ts'
import { StatusTracker } from './status-tracker.ts'
import { VanishingSends } from './vanishing.ts'

export type MacLineTools = Omit<ConditionTools, 'onStarted'> & {
  readonly clock: Clock
  readonly random: Random
  readonly open: () => ChatDb
}

const CAPABILITIES: Capabilities = {
  new_contacts: true,
  choose_service: false,
  delivered: true,
  read: true,
  guid: true,
  attachments: false,
}

/** `PRAGMA data_version` costs about a microsecond, so it is asked often. */
const LOOK_MS = 50
/** A wall clock that moved on by more than a look and this: the Mac was asleep. */
const ASLEEP_MS = 10_000
/** After a start of Messages, and after a sleep, chats are not found for a while (-1728). */
const SETTLE_MS = 5_000
/** Messages is ended, by force after ten seconds, and started. */
const RESTART_MS = 20_000
const REVIEW_EVERY_MS = 5_000
/** After so long without trouble nothing of an outage can still be on its way. */
const WELL_MS = 900_000

type Online = Extract<LineEvent, { readonly type: 'online' }>

export class AttendedMacLine {
  readonly #tools: MacLineTools
  readonly #line: DriverLine
  readonly #events: LineEvents
  readonly #signal: AbortSignal
  readonly #tracker = new StatusTracker()
  readonly #own = new OwnMessages((rowId) => this.#tracker.isIll(rowId))
  readonly #pacer: Pacer
  readonly #condition: Condition
  readonly #vanishing: VanishingSends
  readonly #database: DatabaseWatch
  readonly #session: LineSession
  #state: Online | MacTrouble | null = null
  #wellSince: number | null = null
  /** When history was looked at last for what speaks against sending, and what it said. */
  #reviewedAt = -Infinity
  #pausedUntil = 0

  constructor(tools: MacLineTools, line: DriverLine, listener: LineListener, signal: AbortSignal) {
    this.#tools = tools
    this.#line = line
    this.#events = new LineEvents(listener, signal)
    this.#signal = signal
    this.#pacer = new Pacer(tools)
    const onStarted = () => this.#pacer.pause(SETTLE_MS)
    this.#condition = new Condition({ ...tools, onStarted })
    this.#vanishing = new VanishingSends(tools.clock, () => {
      this.#pacer.pause(RESTART_MS)
      this.#condition.suspect()
    })
    const tell = (events: readonly LineEvent[]) => this.#publishEvents(events)
    this.#database = new DatabaseWatch(
      { ...tools, own: this.#own, tracker: this.#tracker, tell },
      line,
    )
    this.#session = this.#createSession()
  }

  /** What keeps the line from sending, or from reading; null where nothing does. */
  get trouble(): MacTrouble | null {
    const trouble = this.#database.trouble ?? this.#condition.trouble
    return trouble ?? (this.#vanishing.isResting ? 'sends_vanish' : null)
  }

  /** Whether the last sends left no trace in Messages. */
  get areSendsVanishing(): boolean {
    return this.#vanishing.isSuspected
  }

  get isConnected(): boolean {
    return this.#condition.isConnected
  }

  get database(): DatabaseWatch {
    return this.#database
  }

  /** For how long nobody new is written to, in milliseconds; 0 for not at all. */
  get pausedMs(): number {
    return Math.max(0, this.#pausedUntil - this.#tools.clock.monotonic())
  }

  /** `LineDriver.run`: runs until its signal aborts; throws where an event could not be told. */
  async run(): Promise<void> {
    const signal = this.#signal
    const end = new AbortController()
    const inner = AbortSignal.any([signal, end.signal])
    const loops = [
      this.#condition.run(inner),
      this.#tools.app.keepAwake(inner),
      this.#read(inner),
    ].map((loop) => loop.finally(() => end.abort()))
    const ended = await Promise.allSettled(loops)
    this.#database.close()
    if (signal.aborted) return
    const failed = ended.find((loop) => loop.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { clock } = this.#tools
    while (!signal.aborted) {
      if (await this.#database.open()) await this.#publish(signal)
      // The line goes online, or says why it cannot, before it tells of a message.
      if (this.#state !== null) await this.#look(signal)
      await this.#publish(signal)
      const before = clock.now()
      await clock.sleep(LOOK_MS, signal)
      if (clock.now() - before > LOOK_MS + ASLEEP_MS) this.#wakeUp()
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    try {
      await this.#database.look(signal)
    } catch (error) {
      if (this.#events.failure !== null || signal.aborted) throw error
      this.#database.lose(error)
    }
    const { clock } = this.#tools
    if (clock.monotonic() - this.#reviewedAt < REVIEW_EVERY_MS) return
    this.#reviewedAt = clock.monotonic()
    if (this.#tracker.isStuck(clock.now())) this.#condition.suspect()
    const { db } = this.#database
    if (db !== null) this.#pausedUntil = clock.monotonic() + pauseMs(db, clock.now())
  }

  /** The Mac was asleep: everything is looked at anew, and Messages gets a moment. */
  #wakeUp(): void {
    this.#pacer.pause(SETTLE_MS)
    this.#wellSince = null
    this.#database.close()
  }

  /** Tells the line's state where it is another one. */
  async #publish(signal?: AbortSignal): Promise<void> {
    const { trouble } = this
    if (signal?.aborted === true || (trouble === null && !this.#condition.isKnown)) return
    this.#countWell(trouble)
    if (trouble !== null) {
      if (this.#state === trouble) return
      this.#state = trouble
      await this.#events.publish([{ type: 'offline', reason: offlineReason(trouble) }])
      return
    }
    const online = this.#online()
    if (isSame(this.#state, online)) return
    this.#state = online
    await this.#events.publish([online])
  }

  #online(): Online {
    return {
      type: 'online',
      session: this.#session,
      number: this.#line.number,
      imessageActive: this.#condition.isConnected,
      capabilities: { ...CAPABILITIES, new_contacts: this.pausedMs === 0 },
    }
  }

  /**
   * The age of a row is counted to the last moment at which all was well, and for a while after an
   * outage it stays where it was: what the outage kept back may take minutes to come in.
   */
  #countWell(trouble: MacTrouble | null): void {
    const { clock } = this.#tools
    if (trouble !== null || !this.#condition.isConnected) {
      this.#wellSince = null
      return
    }
    this.#wellSince ??= clock.monotonic()
    if (clock.monotonic() - this.#wellSince >= WELL_MS) this.#database.markGood()
  }

  #createSession(): LineSession {
    const { clock, script } = this.#tools
    const db = () => this.#database.db
    const sending = {
      clock,
      script,
      db,
      pacer: this.#pacer,
      own: this.#own,
      tracker: this.#tracker,
      onAnswer: async (answer: Parameters<Condition['hear']>[0]) => {
        this.#condition.hear(answer)
        await this.#publish()
      },
      onOutcome: async (outcome: Settlement) => {
        // Without a database nobody can see a row.
        if (db() !== null) this.#vanishing.hear(outcome)
        await this.#publish()
      },
    }
    return {
      capacity: 1,
      knows: async (handle) => db()?.knowsHandle(handle) ?? false,
      send: (message, pointOfNoReturn, signal) =>
        sendMessage(sending, message, pointOfNoReturn, signal),
    }
  }

  async #publishEvents(events: readonly LineEvent[]): Promise<void> {
    // Only a row of ours settles a message when nobody waits for it any more.
    if (events.some(({ type }) => type === 'settled')) this.#vanishing.seen()
    await this.#events.publish(events)
  }
}

function isSame(state: Online | MacTrouble | null, online: Online): boolean {
  if (state === null || typeof state === 'string') return false
  const { imessageActive, capabilities } = state
  return (
    imessageActive === online.imessageActive &&
    capabilities.new_contacts === online.capabilities.new_contacts
  )
}
