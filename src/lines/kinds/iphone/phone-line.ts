// A run of an iPhone line: the life of the phone, and, while it is online, the loop that reads incoming messages and
// looks for receipts. Sends go in between.

import type { Handle } from '../../../domain/handle.ts'
import { OFFLINE_REASONS } from '../../../domain/line.ts'
import type { OutgoingMessage } from '../../../domain/message.ts'
import type { Clock } from '../../../system/clock.ts'
import { dropOldest } from '../../../system/memoize.ts'
import {
  type DriverLine,
  type LineEvent,
  type LineListener,
  type LineSession,
  type PointOfNoReturn,
  refusalOf,
  type SendOutcome,
} from '../../driver.ts'
import type { KindHost } from '../../line-kind.ts'
import { skeletonOf } from './agent/ui-tree.ts'
import { TaskQueue } from './agent/wda.ts'
import { IPHONE_CAPABILITIES } from './options.ts'
import { blockerOf, blockerOfSend, offlineReason, type PhoneBlocker } from './phone-blockers.ts'
import { type DrivenPhone, PhoneLife } from './phone-life.ts'
import { ChatReader } from './screens/chat-reader.ts'
import { pollDelayMs, pollInbound, type PollReport } from './screens/inbound.ts'
import type { HiddenKind } from './screens/list-memory.ts'
import { expectationOf, OwnSends } from './screens/own-sends.ts'
import { ReceiptRounds } from './screens/receipts.ts'
import { sendByUi } from './screens/send.ts'
import { TranscriptMemory } from './screens/transcript-memory.ts'

/** The outcome of a send during which the line ended: the next run finds the bubble and settles the message. */
const LINE_ENDED: SendOutcome = { outcome: 'unknown', reason: 'line_ended' }

/** Least time between sends: no person writes faster, and Messages needs its time. */
const PACE_MS = 4_000
const JITTER_MS = 1_000
const RETRY_MS = 1_000
/** One failed round may be chance, so this many in a row take the line offline. */
const FAILURES_MAX = 2

export class PhoneLine {
  readonly life: PhoneLife
  readonly counts: PollReport = { reportedCount: 0, groups: 0, gaps: 0 }
  readonly evidence: ImessageEvidence
  readonly #host: KindHost
  readonly #line: DriverLine
  readonly #listener: LineListener
  readonly #reader: ChatReader
  readonly #session: LineSession
  readonly #receipts: ReceiptRounds
  /** Aborts at the end of the run. */
  #signal: AbortSignal = AbortSignal.abort()
  /** Aborts when the line goes offline. */
  #onlineSignal: AbortSignal = AbortSignal.abort()
  #quietSince: number
  #sentAt = -Infinity
  #publishedState: string | null = null
  #publishing: Promise<void> = Promise.resolve()
  #unknownScreen: string | null = null

  /** `drafts` are the chats whose composers may hold an unsent text of ours; the caller keeps them from run to run. */
  constructor(
    host: KindHost,
    phone: DrivenPhone & { readonly drafts: Set<Handle> },
    line: DriverLine,
    listener: LineListener,
  ) {
    const { clock } = host
    this.#host = host
    this.#line = line
    this.#listener = listener
    this.#quietSince = clock.monotonic()
    this.evidence = new ImessageEvidence(clock)
    this.life = new PhoneLife(host, phone, {
      show: (inner) => this.#show(inner),
      catchUp: (inner) => this.#poll(inner),
      stay: (inner) => this.#stay(inner),
      onChange: () => this.#publish(),
    })
    const memory = TranscriptMemory.fromText(line.checkpoint, clock.now(), line.number)
    const own = new OwnSends(phone.drafts)
    for (const unsettled of line.unsettled) own.expect(expectationOf(unsettled))
    this.#reader = new ChatReader(phone.agent, clock, {
      memory,
      own,
      queue: new TaskQueue(),
      timeZone: () =>
        this.life.phone?.facts?.timeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone,
      emit: (event) => this.#onScreenEvent(event),
    })
    this.#receipts = new ReceiptRounds(this.#reader, host.log)
    this.#session = {
      capacity: 1,
      knows: async (handle) => memory.chat(handle) !== null,
      send: (message, pointOfNoReturn, inner) => this.#send(message, pointOfNoReturn, inner),
    }
  }

  /** The last screen that was not recognized, without its texts. */
  get unknownScreen(): string | null {
    return this.#unknownScreen
  }

  /** True if the last walk over the list left unread conversations unopened. */
  get hasUnread(): boolean {
    return this.#reader.memory.walks.isUnfinished
  }

  /** True if messages under a name of this kind are not reported. */
  hasHidden(kind: HiddenKind): boolean {
    return this.#reader.memory.list.hasHidden(kind)
  }

  /** Called once. Runs until `signal` aborts; throws if an event could not be made durable. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal
    try {
      await this.life.run(signal)
    } finally {
      await this.#receipts.end()
    }
  }

  async #show(signal: AbortSignal): Promise<null> {
    const screen = this.#reader.at('poll')
    try {
      await screen.look(signal)
      return null
    } catch (error) {
      if (blockerOf(error)?.code === 'ui_unknown') {
        // Only for a report, so without an answer the last screen is kept.
        const tree = await screen.agent.tree(signal).catch(() => null)
        if (tree !== null) this.#unknownScreen = skeletonOf(tree)
      }
      throw error
    }
  }

  async #poll(signal: AbortSignal): Promise<null> {
    const { reportedCount, gaps } = this.counts
    try {
      await pollInbound(this.#reader, signal, this.counts)
    } finally {
      const { log, clock } = this.#host
      const about = { line_id: this.#line.id }
      if (this.counts.gaps > gaps) log.warn('a chat has a gap: messages may be missing', about)
      if (this.counts.reportedCount > reportedCount) this.#quietSince = clock.monotonic()
    }
    return null
  }

  /** Reads messages and receipts until two rounds in a row have failed. */
  async #stay(signal: AbortSignal): Promise<PhoneBlocker> {
    const { clock } = this.#host
    this.#onlineSignal = signal
    let failures = 0
    let blocker: PhoneBlocker = { code: 'agent_down', detail: null }
    while (!signal.aborted && failures < FAILURES_MAX) {
      const quietMs = clock.monotonic() - this.#quietSince
      await clock.sleep(failures > 0 ? RETRY_MS : pollDelayMs(quietMs), signal)
      if (signal.aborted) break
      const failed = await this.#round(signal)
      failures = failed === null ? 0 : failures + 1
      blocker = failed ?? blocker
      if (failed?.code === 'agent_shared') break
    }
    return blocker
  }

  async #round(signal: AbortSignal): Promise<PhoneBlocker | null> {
    try {
      await this.#receipts.afterSends(signal)
      await this.#poll(signal)
      await this.#receipts.round(signal)
      await this.#publish()
      return null
    } catch (error) {
      const blocker = blockerOf(error)
      if (blocker === null && !signal.aborted) throw error
      return blocker
    }
  }

  async #send(
    message: OutgoingMessage,
    pointOfNoReturn: PointOfNoReturn,
    signal: AbortSignal,
  ): Promise<SendOutcome> {
    const refusal = refusalOf(message, IPHONE_CAPABILITIES)
    if (refusal !== null) return refusal
    const { clock, random } = this.#host
    const restMs = this.#sentAt + PACE_MS - clock.monotonic()
    if (restMs > 0) {
      const delayMs = Math.ceil(restMs + random.chance() * JITTER_MS)
      return { outcome: 'postponed', reason: 'pacing', delayMs }
    }
    const { outcome, service, trouble } = await this.#receipts.during(
      sendByUi(this.#reader, message, pointOfNoReturn, signal),
    )
    this.#sentAt = clock.monotonic()
    this.#noteOutcome(message.to, outcome, service)
    const blocker = signal.aborted ? null : blockerOfSend(trouble)
    // If the line can't send, it goes offline before its message is returned.
    if (blocker !== null) this.life.fail(blocker)
    // If the state cannot be published, the next attempt ends the line; the outcome stays true.
    await this.#publish().catch(() => {})
    // Without this outcome, the next run would take the bubble for one typed on the phone.
    return outcome.outcome === 'accepted' && this.#signal.aborted ? LINE_ENDED : outcome
  }

  /** Notes what a send shows about iMessage, and watches an accepted send for receipts. */
  #noteOutcome(handle: Handle, outcome: SendOutcome, service: string | null): void {
    if (outcome.outcome === 'not_sent') {
      if (outcome.reason === 'not_on_imessage') this.evidence.noteRefused(handle)
      if (outcome.reason === 'not_delivered') this.evidence.noteFailed(handle)
    }
    if (outcome.outcome !== 'accepted') return
    if (service === 'iMessage') this.evidence.noteBubble(handle)
    this.#quietSince = this.#host.clock.monotonic()
    this.#receipts.begin(handle, this.#onlineSignal)
  }

  /** Emits the event; notes what a receipt shows about iMessage, and watches an earlier run's send for receipts. */
  async #onScreenEvent(event: LineEvent): Promise<void> {
    await this.#emit(event)
    if (event.type === 'settled' && event.outcome.outcome === 'accepted') {
      const handle = this.#chatOf(event.outcome.guid)
      if (handle !== undefined) this.#receipts.watch(handle)
    }
    if (event.type !== 'receipt') return
    const { guid, kind, service } = event.receipt
    // A text message says nothing about iMessage.
    if (service !== undefined) return
    const handle = this.#chatOf(guid)
    if (kind !== 'failed') this.evidence.noteReached()
    else if (handle !== undefined) this.evidence.noteFailed(handle)
  }

  /** The person in whose chat a message was seen. */
  #chatOf(guid: string | null): Handle | undefined {
    const { memory } = this.#reader
    const hasBubble = (handle: Handle) =>
      memory.chat(handle)?.some((bubble) => bubble.guid === guid)
    return memory.handles.find(hasBubble)
  }

  /** Emits the line's state if it has changed, one state after the other. */
  #publish(): Promise<void> {
    const publish = async () => {
      const event = this.#stateEvent()
      const state = JSON.stringify(event)
      if (state === this.#publishedState) return
      this.#publishedState = state
      await this.#emit(event)
    }
    this.#publishing = this.#publishing.then(publish)
    return this.#publishing
  }

  #stateEvent(): LineEvent {
    const { blocker, isOnline } = this.life
    if (!isOnline) {
      const reason = blocker === null ? OFFLINE_REASONS.starting : offlineReason(blocker)
      return { type: 'offline', reason }
    }
    return {
      type: 'online',
      session: this.#session,
      number: this.#line.number,
      imessageActive: !this.evidence.isOff,
      capabilities: IPHONE_CAPABILITIES,
    }
  }

  /** Emits nothing after the end of the run. */
  async #emit(event: LineEvent): Promise<void> {
    if (!this.#signal.aborted) await this.#listener.onEvent(event)
  }
}

const STRIKES_WITHIN_MS = 600_000
const STRIKES = 2
const REST_MS = 900_000
const KNOWN_MAX = 500

/**
 * The state of iMessage on the phone, as far as sends show it. It counts as working until two recipients in a row who
 * should be reachable could not be reached. Then sending pauses, and the next send is a trial.
 */
export class ImessageEvidence {
  readonly #clock: Clock
  /** Recipients who are on iMessage, latest last. */
  readonly #known = new Set<Handle>()
  #strikes = new Map<Handle, number>()
  #restsUntil: number | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isOff(): boolean {
    return this.#restsUntil !== null && this.#clock.monotonic() < this.#restsUntil
  }

  /** Notes a bubble of ours that says iMessage: its recipient is on iMessage. A mark of failure may come much later. */
  noteBubble(handle: Handle): void {
    this.#known.delete(handle)
    this.#known.add(handle)
    dropOldest(this.#known, KNOWN_MAX)
  }

  noteReached(): void {
    this.#strikes.clear()
    this.#restsUntil = null
  }

  /** Notes that the composer says the recipient is not on iMessage, which is a failure only if they were before. */
  noteRefused(handle: Handle): void {
    if (this.#known.has(handle)) this.noteFailed(handle)
  }

  noteFailed(handle: Handle): void {
    const now = this.#clock.monotonic()
    const recent = [...this.#strikes].filter(([, at]) => now - at < STRIKES_WITHIN_MS)
    this.#strikes = new Map([...recent, [handle, now]])
    const isTrial = this.#restsUntil !== null
    if (isTrial || this.#strikes.size >= STRIKES) this.#restsUntil = now + REST_MS
  }
}
