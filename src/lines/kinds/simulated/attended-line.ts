import { deviceHandle } from '../../../domain/handle.ts'
import { timestamp } from '../../../domain/ids.ts'
import type { Capabilities } from '../../../domain/line.ts'
import type { Unsettled } from '../../../domain/message.ts'
import { nextTurn } from '../../../system/clock.ts'
import type { DriverLine, LineListener, LineEvent, Settled } from '../../driver.ts'
import { LineEvents } from '../../line-events.ts'
import { checkpointText, readCheckpoint, type Checkpoint } from './checkpoint.ts'
import { behaviourOf } from './correspondents.ts'
import type { Happening } from './ledger.ts'
import { createSession, type SimulatedLineTools } from './session.ts'

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
  hint: 'The line plays an outage of five seconds; it comes back by itself.',
}

const BATCH_MAX = 64
const OUTAGE_MS = 5_000
const PRUNE_EVERY_MS = 3_600_000

/** Runs one simulated line until `signal` aborts: `LineDriver.run`. */
export async function attendLine(
  tools: SimulatedLineTools,
  line: DriverLine,
  listener: LineListener,
  signal: AbortSignal,
): Promise<void> {
  const attended = new AttendedSimulatedLine(tools, line, listener, signal)
  try {
    await attended.run()
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    await attended.end()
  }
}

class AttendedSimulatedLine {
  readonly #tools: SimulatedLineTools
  readonly #line: DriverLine
  readonly #events: LineEvents
  readonly #signal: AbortSignal
  #checkpoint: Checkpoint
  /** Settles when the last checkpoint that went alone is durable. */
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
    this.#events = new LineEvents(listener, signal)
    this.#signal = signal
    this.#checkpoint = readCheckpoint(tools.network, line.checkpoint)
  }

  async run(): Promise<void> {
    const { network, clock } = this.#tools
    // Before anything is looked up: what a send of an earlier session would still write is refused.
    const session = network.beginSession(this.#line.number)
    await this.#settle()
    // Without a checkpoint on disk, a second start would take what is new by then for history.
    if (this.#line.checkpoint === null) await this.#events.publish([this.#checkpointEvent()])
    await this.#goOnline(session)
    while (!this.#signal.aborted) {
      // A send that was carried has its outcome out first: a receipt never overtakes it.
      await nextTurn()
      const isMore = await this.#tellNews()
      if (this.#mustDrop) await this.#dropOut(session)
      if (isMore || this.#signal.aborted) continue
      this.#prune()
      const waitMs = Math.min(network.msUntilNext(this.#line.number), PRUNE_EVERY_MS)
      await network.signalOf(this.#line.number).wait(clock, waitMs, this.#signal)
    }
  }

  /** Resolves when nothing that was told is under way. */
  async end(): Promise<void> {
    await Promise.allSettled([this.#checkpointed])
  }

  /** Says what became of messages that a crash left open, before anything new is read. */
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
    if (!this.#signal.aborted) network.settleSessions(this.#line.number)
  }

  /** Null where nobody can say. That a message was not carried is proven by its own ledger only. */
  #outcomeOf({ message, note }: Unsettled): Settled | null {
    const { network, lineCount } = this.#tools
    const behaviour = behaviourOf(message.to, lineCount)
    if (behaviour.kind === 'nobody_knows') return null
    const guid = network.guidOf(message.id)
    if (guid !== null) {
      const isSlow = behaviour.kind === 'carried' && behaviour.acceptMs > 0
      return { outcome: isSlow ? 'held' : 'accepted', guid }
    }
    // A ledger that was put back to an earlier time does not know its own position.
    const isPutBack = this.#checkpoint.position > network.lastPosition()
    if (isPutBack || !network.isCompleteSince(this.#line.number, note)) return null
    return { outcome: 'not_sent', reason: 'not_carried', blame: 'line', proof: true }
  }

  async #goOnline(session: string): Promise<void> {
    const { number } = this.#line
    const drop = () => {
      this.#mustDrop = true
      this.#tools.network.signalOf(number).notify()
    }
    const online = {
      session: createSession({ ...this.#tools, number, session, drop }),
      number,
      imessageActive: true,
      capabilities: CAPABILITIES,
    }
    await this.#events.publish([{ type: 'online', ...online }])
  }

  async #dropOut(session: string): Promise<void> {
    this.#mustDrop = false
    await this.#events.publish([{ type: 'offline', reason: OUTAGE }])
    await this.#tools.clock.sleep(OUTAGE_MS, this.#signal)
    await this.#goOnline(session)
  }

  /** Tells one batch; whether there was anything. */
  async #tellNews(): Promise<boolean> {
    const { network } = this.#tools
    const { position, historyUntil } = this.#checkpoint
    const happenings = network.read(this.#line.number, position, BATCH_MAX)
    const last = happenings.at(-1)
    if (last === undefined) return false
    this.#checkpoint = { position: last.seq, historyUntil }
    const events = happenings.flatMap((news) => eventsOf(news, historyUntil))
    const [only] = events
    if (events.length === 1 && only !== undefined) {
      await this.#events.publish([
        { ...only, checkpoint: checkpointText(network, this.#checkpoint) },
      ])
      return true
    }
    // Told at once, so the checkpoint goes alone, after them: none of them may be skipped. What happens
    // meanwhile need not wait for it, only the next one does.
    await this.#events.publish(events)
    await this.#checkpointed
    this.#checkpointed = this.#events.publish([this.#checkpointEvent()])
    this.#checkpointed.catch(() => {}) // Whoever waits for it hears of it.
    return true
  }

  #checkpointEvent(): LineEvent {
    const checkpoint = checkpointText(this.#tools.network, this.#checkpoint)
    return { type: 'checkpoint', checkpoint }
  }

  #prune(): void {
    const { network, clock } = this.#tools
    if (clock.monotonic() < this.#pruneAt) return
    this.#pruneAt = clock.monotonic() + PRUNE_EVERY_MS
    network.prune(this.#line.number, this.#checkpoint.position)
  }
}

type NewsEvent = Extract<LineEvent, { readonly type: 'message' | 'receipt' }>

/** The receipts of history are left out: nobody waits for them. */
function eventsOf(happening: Happening, historyUntil: number): readonly NewsEvent[] {
  const { kind, guid, handle, text } = happening
  const at = timestamp(happening.at)
  const isHistory = happening.seq <= historyUntil
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
