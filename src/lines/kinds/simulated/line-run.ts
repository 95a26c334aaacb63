// One run of a simulated line: settles what a crash left open, goes online, and then publishes what the
// simulated network has for it, batch by batch.

import { deviceHandle } from '../../../domain/handle.ts'
import { timestamp } from '../../../domain/ids.ts'
import type { Capabilities } from '../../../domain/line.ts'
import type { OutgoingMessage, Unsettled } from '../../../domain/message.ts'
import { nextTurn, type Clock } from '../../../system/clock.ts'
import {
  LineEvents,
  WITHDRAWN,
  isGranted,
  type DriverLine,
  type LineEvent,
  type LineListener,
  type LineSession,
  type PointOfNoReturn,
  type SendOutcome,
  type Settled,
} from '../../driver.ts'
import { behaviourOf, effectsOf } from './correspondents.ts'
import type { NetworkEvent } from './ledger.ts'
import type { SimulatedNetwork } from './network.ts'

export type SimulatedLineTools = {
  readonly network: SimulatedNetwork
  readonly clock: Clock
  /** Count of all simulated lines. */
  readonly lineCount: number
  /** Time a simulated person takes for each step: to get a message, to read it. */
  readonly delayMs: number
}

/** Position of a line in the ledger. */
type Checkpoint = {
  /** Events up to here were published. */
  readonly position: number
  /** Events up to here are older than the relay. */
  readonly historyUntil: number
}

const CAPABILITIES: Capabilities = {
  new_contacts: true,
  choose_service: false,
  delivered: true,
  read: true,
  guid: true,
  attachments: false,
}

const OUTAGE = {
  code: 'simulated_outage',
  hint: 'The line is simulating a five-second outage and comes back by itself.',
}

const CAPACITY = 32
const BATCH_MAX = 64
const OUTAGE_MS = 5_000
const PRUNE_EVERY_MS = 3_600_000

export class SimulatedLineRun {
  readonly #tools: SimulatedLineTools
  readonly #line: DriverLine
  readonly #signal: AbortSignal
  readonly #events: LineEvents
  #checkpoint: Checkpoint
  /** Settles when the last checkpoint that was published alone is durable. */
  #checkpointed: Promise<unknown> = Promise.resolve()
  #mustDrop = false
  #pruneAt = 0

  constructor(
    tools: SimulatedLineTools,
    line: DriverLine,
    listener: LineListener,
    signal: AbortSignal,
  ) {
    this.#tools = tools
    this.#line = line
    this.#signal = signal
    this.#events = new LineEvents(listener, signal)
    this.#checkpoint = readCheckpoint(tools.network, line.checkpoint)
  }

  /** Runs until its signal aborts and nothing of it is under way. */
  async run(): Promise<void> {
    try {
      await this.#run()
    } catch (error) {
      if (!this.#signal.aborted) throw error
    } finally {
      await Promise.allSettled([this.#checkpointed])
    }
  }

  async #run(): Promise<void> {
    const { network, clock } = this.#tools
    // Before any look-up: a send of an earlier session that is still under way is refused from here on.
    const session = network.beginSession(this.#line.number)
    await this.#settle()
    // Without a checkpoint on disk, a second start would take newer events for history.
    if (this.#line.checkpoint === null) await this.#events.publish([this.#checkpointEvent()])
    await this.#goOnline(session)
    while (!this.#signal.aborted) {
      // A carried send has its outcome out first: a receipt never overtakes it.
      await nextTurn()
      const isMore = await this.#publishBatch()
      if (this.#mustDrop) await this.#dropOut(session)
      if (isMore || this.#signal.aborted) continue
      this.#prune()
      const waitMs = Math.min(network.msUntilNext(this.#line.number), PRUNE_EVERY_MS)
      await network.signalOf(this.#line.number).wait(clock, waitMs, this.#signal)
    }
  }

  /** Settles the messages that a crash left open, before anything new is read. */
  async #settle(): Promise<void> {
    const { network } = this.#tools
    for (let at = 0; at < this.#line.unsettled.length; at += BATCH_MAX) {
      const batch = this.#line.unsettled.slice(at, at + BATCH_MAX)
      await this.#events.publish(
        batch.flatMap((unsettled): LineEvent[] => {
          const outcome = this.#outcomeOf(unsettled)
          const messageId = unsettled.message.id
          return outcome === null ? [] : [{ type: 'settled', messageId, outcome }]
        }),
      )
    }
    if (!this.#signal.aborted) network.ledger.settleSessions(this.#line.number)
  }

  /** Null where it cannot be known. Only the network's own ledger proves that a message was not carried. */
  #outcomeOf({ message, note }: Unsettled): Settled | null {
    const { network, lineCount } = this.#tools
    const behaviour = behaviourOf(message.to, lineCount)
    if (behaviour.kind === 'nobody_knows') return null
    const guid = network.ledger.guidOf(message.id)
    if (guid !== null) {
      const isSlow = behaviour.kind === 'carried' && behaviour.acceptMs > 0
      return { outcome: isSlow ? 'held' : 'accepted', guid }
    }
    // A ledger restored to an earlier time does not reach this line's position.
    const isRestored = this.#checkpoint.position > network.ledger.lastPosition()
    if (isRestored || !network.isCompleteSince(this.#line.number, note)) return null
    return { outcome: 'not_sent', reason: 'not_carried', blame: 'line', proof: true }
  }

  async #goOnline(session: string): Promise<void> {
    const { number } = this.#line
    await this.#events.publish([
      {
        type: 'online',
        session: this.#createSession(session),
        number,
        imessageActive: true,
        capabilities: CAPABILITIES,
      },
    ])
  }

  async #dropOut(session: string): Promise<void> {
    this.#mustDrop = false
    await this.#events.publish([{ type: 'offline', reason: OUTAGE }])
    await this.#tools.clock.sleep(OUTAGE_MS, this.#signal)
    await this.#goOnline(session)
  }

  /** `session` is the id that the network knows it by. */
  #createSession(session: string): LineSession {
    const { network } = this.#tools
    return {
      capacity: CAPACITY,
      knows: async (handle) => network.ledger.hasHistory(this.#line.number, handle),
      send: (message, pointOfNoReturn, signal) =>
        this.#send(message, session, pointOfNoReturn, signal),
    }
  }

  async #send(
    message: OutgoingMessage,
    session: string,
    pointOfNoReturn: PointOfNoReturn,
    signal: AbortSignal,
  ): Promise<SendOutcome> {
    const { network, clock, lineCount } = this.#tools
    const behaviour = behaviourOf(message.to, lineCount)
    if (behaviour.kind === 'not_on_imessage') {
      return { outcome: 'not_sent', reason: 'not_on_imessage', blame: 'message' }
    }
    if (signal.aborted || !(await isGranted(pointOfNoReturn, network.noteOf(session)))) {
      return WITHDRAWN
    }
    if (behaviour.kind === 'line_refuses') {
      return { outcome: 'not_sent', reason: 'line_refused', blame: 'line' }
    }
    const guid = await this.#carry(message, session)
    if (guid === null) return { outcome: 'not_sent', reason: 'network_failed', blame: 'line' }
    if (behaviour.kind === 'nobody_knows') return { outcome: 'unknown', reason: 'no_answer' }
    if (behaviour.dropsLine) {
      this.#mustDrop = true
      network.signalOf(this.#line.number).notify()
    }
    if (behaviour.acceptMs === 0) return { outcome: 'accepted', guid }
    await clock.sleep(behaviour.acceptMs, signal)
    // The network has it either way; after an abort, its receipt says when it was accepted.
    return signal.aborted ? { outcome: 'held', guid } : { outcome: 'accepted', guid }
  }

  /** Guid of the carried message, or null: then the ledger holds nothing of it. */
  async #carry({ id, to, text }: OutgoingMessage, session: string): Promise<string | null> {
    const { network, lineCount } = this.#tools
    const message = { line: this.#line.number, to, text }
    const effects = effectsOf(message, behaviourOf(to, lineCount), this.#tools)
    try {
      return await network.carry(id, { ...message, session }, effects)
    } catch {
      return null
    }
  }

  /** Publishes one batch; false where there was nothing. */
  async #publishBatch(): Promise<boolean> {
    const { network } = this.#tools
    const { position, historyUntil } = this.#checkpoint
    const batch = network.read(this.#line.number, position, BATCH_MAX)
    const last = batch.at(-1)
    if (last === undefined) return false
    this.#checkpoint = { position: last.seq, historyUntil }
    const events = batch.flatMap((event) => lineEventsOf(event, historyUntil))
    const [only] = events
    if (events.length === 1 && only !== undefined) {
      const { checkpoint } = this.#checkpointEvent()
      await this.#events.publish([{ ...only, checkpoint }])
      return true
    }
    // The checkpoint follows the events alone, so that none is skipped. The next batch does not wait for
    // it, only the next checkpoint does.
    await this.#events.publish(events)
    await this.#checkpointed
    this.#checkpointed = this.#events.publish([this.#checkpointEvent()])
    this.#checkpointed.catch(() => {}) // Its next reader gets the error.
    return true
  }

  #checkpointEvent(): Extract<LineEvent, { readonly type: 'checkpoint' }> {
    const { position, historyUntil } = this.#checkpoint
    const checkpoint = `${this.#tools.network.ledger.identity}:${position}:${historyUntil}`
    return { type: 'checkpoint', checkpoint }
  }

  #prune(): void {
    const { network, clock } = this.#tools
    if (clock.monotonic() < this.#pruneAt) return
    this.#pruneAt = clock.monotonic() + PRUNE_EVERY_MS
    network.prune(this.#line.number, this.#checkpoint.position)
  }
}

/** `identity:position:historyUntil`; without a checkpoint, everything in the ledger is history. */
function readCheckpoint(network: SimulatedNetwork, text: string | null): Checkpoint {
  if (text === null) return { position: 0, historyUntil: network.ledger.lastPosition() }
  const [identity, position, historyUntil] = text.split(':')
  // Another ledger than the one that was read: everything in it is new.
  if (identity !== network.ledger.identity) return { position: 0, historyUntil: 0 }
  return { position: Number(position), historyUntil: Number(historyUntil) }
}

type MessageOrReceipt = Extract<LineEvent, { readonly type: 'message' | 'receipt' }>

/** Receipts of history are left out: no send waits for them. */
function lineEventsOf(event: NetworkEvent, historyUntil: number): readonly MessageOrReceipt[] {
  const { kind, guid, handle, text } = event
  const at = timestamp(event.at)
  const isHistory = event.seq <= historyUntil
  if (kind !== 'message') {
    const receipt = { guid, kind, at, reason: null }
    return isHistory ? [] : [{ type: 'receipt', receipt, checkpoint: null }]
  }
  const message = {
    guid,
    handle: deviceHandle(handle ?? ''),
    text: text ?? '',
    isFromMe: false,
    service: 'iMessage',
    at,
    isHistory,
  }
  return [{ type: 'message', message, checkpoint: null }]
}
