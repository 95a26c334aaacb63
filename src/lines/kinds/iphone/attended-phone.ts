// One iPhone line while it is attended: the life of the phone, and at its top the loop that reads what
// comes in, looks after receipts, and lets sends in between.

import type { Handle } from '../../../domain/handle.ts'
import { OFFLINE_REASONS, type Capabilities } from '../../../domain/line.ts'
import type { OutgoingMessage } from '../../../domain/message.ts'
import type { Clock } from '../../../system/clock.ts'
import type { Log } from '../../../system/log.ts'
import type { Random } from '../../../system/random.ts'
import {
  type DriverLine,
  type LineEvent,
  type LineListener,
  type LineSession,
  type PointOfNoReturn,
  type SendOutcome,
} from '../../driver.ts'
import type { PhoneAgent } from './agent/agent.ts'
import type { Launcher } from './agent/launcher.ts'
import { TurnQueue } from './agent/turn-queue.ts'
import { skeletonOf } from './agent/ui-tree.ts'
import type { PhoneCable } from './cable/phone-cable.ts'
import { ImessageEvidence } from './imessage-evidence.ts'
import { PhoneLife } from './phone-life.ts'
import { offlineReason, stopOf, stopOfSend, type PhoneStop } from './phone-stops.ts'
import { ReceiptRounds } from './receipt-rounds.ts'
import { screenListener } from './screen-listener.ts'
import { OwnSends, expectationOf } from './screens/own-sends.ts'
import type { ReceiptTools } from './screens/receipt-watch.ts'
import { TranscriptMemory } from './screens/transcript-memory.ts'
import { look } from './screens/ui-hands.ts'
import { pollDelayMs, pollInbound, type PollReport } from './screens/ui-inbound.ts'
import { sendByUi } from './screens/ui-send.ts'
import type { UiWords } from './screens/ui-words.ts'

export type PhoneLineTools = {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly cable: PhoneCable
  readonly launcher: Launcher
  readonly agent: PhoneAgent
  readonly words: UiWords
  /** Chats in which a text of ours may stand that was not sent; it outlives the line's lives. */
  readonly drafts: Set<Handle>
}

/** Receipts are seen below the newest own message only, so nobody may wait for every one of them. */
const CAPABILITIES: Capabilities = {
  new_contacts: true,
  choose_service: false,
  delivered: true,
  read: true,
  guid: false,
  attachments: false,
}

/** The next life of the line finds its bubble, and settles it. */
const FORGOTTEN: SendOutcome = { outcome: 'unknown', reason: 'line_ended' }

/** A person would not write faster, and Messages needs its time. */
const FLOOR_MS = 4_000
const JITTER_MS = 1_000
const AGAIN_MS = 1_000
/** One failed look is none: the next one decides. */
const FAILURES_MAX = 2

export class AttendedPhone {
  readonly life: PhoneLife
  /** What the polls of this life have met. */
  readonly met: Omit<PollReport, 'toldCount'> = { groups: 0, named: 0, gaps: 0 }
  readonly evidence: ImessageEvidence
  readonly #tools: PhoneLineTools
  readonly #line: DriverLine
  readonly #listener: LineListener
  readonly #signal: AbortSignal
  readonly #reader: ReceiptTools
  readonly #session: LineSession
  readonly #receipts: ReceiptRounds
  /** Aborts with what the line does at the top. */
  #staying: AbortSignal = AbortSignal.abort()
  #quietSince: number
  #sentAt = -Infinity
  #told: string | null = null
  #telling: Promise<void> = Promise.resolve()
  #unknownScreen: string | null = null

  constructor(
    tools: PhoneLineTools,
    line: DriverLine,
    listener: LineListener,
    signal: AbortSignal,
  ) {
    const { clock } = tools
    this.#tools = tools
    this.#line = line
    this.#listener = listener
    this.#signal = signal
    this.#quietSince = clock.monotonic()
    this.evidence = new ImessageEvidence(clock)
    this.life = new PhoneLife(
      { ...tools, udid: line.key },
      {
        show: (inner) => this.#show(inner),
        catchUp: (inner) => this.#poll(inner),
        stay: (inner) => this.#stay(inner),
        onChange: () => this.#publish(),
      },
    )
    const memory = TranscriptMemory.fromText(line.checkpoint, clock.now())
    const own = new OwnSends(tools.drafts)
    for (const one of line.unsettled) own.expect(expectationOf(one))
    this.#reader = {
      ...tools,
      memory,
      own,
      turns: new TurnQueue(clock),
      timeZone: () => this.life.phone?.facts?.timeZone ?? boxTimeZone(),
      listener: screenListener(memory, (event) => this.#hear(event)),
    }
    this.#receipts = new ReceiptRounds({ ...tools, ...this.#reader })
    this.#session = {
      capacity: 1,
      knows: async (handle) => memory.chat(handle) !== null,
      send: (message, pointOfNoReturn, inner) => this.#send(message, pointOfNoReturn, inner),
    }
  }

  /** The last screen that nobody knew, without what anybody wrote; null where there was none. */
  get unknownScreen(): string | null {
    return this.#unknownScreen
  }

  /** `LineDriver.run`: runs until its signal aborts; throws where an event could not be told. */
  async run(): Promise<void> {
    try {
      await this.life.run(this.#signal)
    } finally {
      await this.#receipts.end()
    }
  }

  async #show(signal: AbortSignal): Promise<null> {
    const agent = this.#tools.agent.at('poll')
    try {
      await look({ ...this.#tools, agent }, signal)
      return null
    } catch (error) {
      if (stopOf(error)?.code === 'ui_unknown') await this.#keepScreen(agent, signal)
      throw error
    }
  }

  async #keepScreen(agent: PhoneAgent, signal: AbortSignal): Promise<void> {
    // It is for a report only: a phone that does not describe its screen leaves the last one.
    const tree = await agent.tree(signal).catch(() => null)
    if (tree !== null) this.#unknownScreen = skeletonOf(tree)
  }

  async #poll(signal: AbortSignal): Promise<null> {
    const report = await pollInbound(this.#reader, signal)
    this.met.groups += report.groups
    this.met.named += report.named
    this.met.gaps += report.gaps
    if (report.gaps > 0) {
      this.#tools.log.warn('a chat has a gap: messages may be missing', { line_id: this.#line.id })
    }
    if (report.toldCount > 0) this.#quietSince = this.#tools.clock.monotonic()
    return null
  }

  /** Reads, and looks after receipts, until two looks in a row have failed. */
  async #stay(signal: AbortSignal): Promise<PhoneStop> {
    const { clock } = this.#tools
    this.#staying = signal
    let failures = 0
    let stop: PhoneStop = { code: 'agent_down', detail: null }
    while (!signal.aborted && failures < FAILURES_MAX) {
      const quietMs = clock.monotonic() - this.#quietSince
      await clock.sleep(failures > 0 ? AGAIN_MS : pollDelayMs(quietMs), signal)
      if (signal.aborted) break
      const failed = await this.#round(signal)
      failures = failed === null ? 0 : failures + 1
      stop = failed ?? stop
      if (failed?.code === 'agent_shared') break
    }
    return stop
  }

  async #round(signal: AbortSignal): Promise<PhoneStop | null> {
    try {
      await this.#receipts.afterSends(signal)
      await this.#poll(signal)
      await this.#receipts.round(signal)
      await this.#publish()
      return null
    } catch (error) {
      const stop = stopOf(error)
      if (stop === null && !signal.aborted) throw error
      return stop
    }
  }

  async #send(
    message: OutgoingMessage,
    pointOfNoReturn: PointOfNoReturn,
    signal: AbortSignal,
  ): Promise<SendOutcome> {
    const { clock, random } = this.#tools
    const restMs = this.#sentAt + FLOOR_MS - clock.monotonic()
    if (restMs > 0) {
      const delayMs = Math.ceil(restMs + random.chance() * JITTER_MS)
      return { outcome: 'postponed', reason: 'pacing', delayMs }
    }
    const { outcome, service, trouble } = await this.#receipts.during(
      sendByUi(this.#reader, message, pointOfNoReturn, signal),
    )
    this.#sentAt = clock.monotonic()
    this.#note(message.to, outcome, service)
    const stop = signal.aborted ? null : stopOfSend(trouble)
    // A line that cannot send says so before its message goes back.
    if (stop !== null) this.life.fail(stop)
    // Where that cannot be told the next telling ends the line; what became of the message is true.
    await this.#publish().catch(() => {})
    return this.#isForgotten(outcome) ? FORGOTTEN : outcome
  }

  /** Whether the next life of the line would take its bubble for one that was typed on the phone. */
  #isForgotten({ outcome }: SendOutcome): boolean {
    return outcome === 'accepted' && this.#signal.aborted
  }

  /** What a send says of iMessage itself, and that its receipts are to be looked for. */
  #note(handle: Handle, outcome: SendOutcome, service: string | null): void {
    if (outcome.outcome === 'not_sent' && outcome.reason === 'not_on_imessage') {
      this.evidence.noteRefused(handle)
    }
    if (outcome.outcome === 'not_sent' && outcome.reason === 'not_delivered') {
      this.evidence.noteFailed(handle)
    }
    if (outcome.outcome !== 'accepted') return
    if (service === 'iMessage') this.evidence.noteBubble(handle)
    this.#quietSince = this.#tools.clock.monotonic()
    this.#receipts.begin(handle, this.#staying)
  }

  /** What was read off the screen; receipts tell of iMessage itself, too. */
  async #hear(event: LineEvent): Promise<void> {
    await this.#tell(event)
    if (event.type !== 'receipt') return
    const { guid, kind } = event.receipt
    const { memory } = this.#reader
    const isOf = (handle: Handle) => memory.chat(handle)?.some((one) => one.guid === guid)
    const handle = memory.handles.find(isOf)
    if (kind !== 'failed') this.evidence.noteReached()
    else if (handle !== undefined) this.evidence.noteFailed(handle)
  }

  /** Tells the line's state where it is another one; one after the other, and the last is the newest. */
  #publish(): Promise<void> {
    const publish = async () => {
      const event = this.#stateEvent()
      const key = JSON.stringify(event)
      if (key === this.#told) return
      this.#told = key
      await this.#tell(event)
    }
    this.#telling = this.#telling.then(publish)
    return this.#telling
  }

  #stateEvent(): LineEvent {
    const { stop, isOnline } = this.life
    if (!isOnline) {
      const reason = stop === null ? OFFLINE_REASONS.starting : offlineReason(stop)
      return { type: 'offline', reason }
    }
    return {
      type: 'online',
      session: this.#session,
      number: this.#line.number,
      imessageActive: !this.evidence.isOff,
      capabilities: CAPABILITIES,
    }
  }

  /** Nothing is told after the end. */
  async #tell(event: LineEvent): Promise<void> {
    if (!this.#signal.aborted) await this.#listener.onEvent(event)
  }
}

function boxTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}
