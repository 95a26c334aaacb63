import { option } from '../../../domain/option.ts'
import { integerKind } from '../../../domain/value-kind.ts'
import { nextTurn } from '../../../system/clock.ts'
import {
  type DriverLine,
  FULL_CAPABILITIES,
  type LineDriver,
  type LineEvent,
  LineEvents,
  type LineSession,
} from '../../driver.ts'
import type { LineKind } from '../../line-kind.ts'
import { lineEventsOf } from './events.ts'
import { type NetworkHost, SimulatedNetwork, type SimulatedOptions } from './network.ts'
import { numberOfLine } from './people.ts'
import { scriptAction } from './script.ts'
import { sendMessage, settledBy } from './send.ts'

const OPTIONS = {
  simulatedLines: option('simulated-lines', integerKind('N', 0, 99), {
    isHarmless: true,
    default: 0,
    sentence: 'Number of simulated lines.',
  }),
  simulatedDelayMs: option('simulated-delay-ms', integerKind('MS', 0, 3_600_000), {
    isHarmless: true,
    default: 400,
    sentence:
      'Milliseconds until a simulated person receives a message, and again until they read it.',
  }),
} as const

const NOT_CONFIGURED = {
  code: 'not_configured',
  title: 'The relay was started without this line',
  hint: 'This start did not ask for the line: start with more simulated lines, or delete it.',
}

export const SIMULATED_KIND: LineKind<typeof OPTIONS> = {
  name: 'simulated',
  title: 'Simulated: nothing leaves this machine',
  start: {
    words: 'Practice lines, with people who answer by themselves.',
    guide: null,
  },
  isReal: false,
  sharesNumber: false,
  abilities: FULL_CAPABILITIES,
  trialCommand: 'hookline serve --simulated-lines 2',
  practiceNumbers: { reader: '+12025550123', echo: '+12025550196' },
  options: OPTIONS,
  reasons: { absent: NOT_CONFIGURED },
  failures: {
    not_carried:
      'The message had not been sent when the relay ended; it is not resent automatically.',
    no_sms: 'The recipient takes no SMS.',
  },
  deletable: 'simulated lines that this start did not ask for',
  checklist: [{ title: 'The relay was started with this line', codes: [NOT_CONFIGURED.code] }],
  // Created even without lines, so that lines of earlier starts are shown as not configured.
  create: (host, { simulatedLines: lineCount, simulatedDelayMs: delayMs }) => {
    const ledgerPath = host.pathOf('simulated.db')
    const driver = createSimulatedDriver(host, { lineCount, delayMs, ledgerPath })
    return { driver, actions: [scriptAction(driver.network)] }
  },
}

type SimulatedDriver = LineDriver & {
  /** Created by the first line run: a start without simulated lines leaves no file behind. */
  readonly network: () => SimulatedNetwork
}

/** Lines that need no device, and people whose last four digits decide how they behave. */
export function createSimulatedDriver(
  host: NetworkHost,
  options: SimulatedOptions,
): SimulatedDriver {
  let network: SimulatedNetwork | null = null
  const open = () => (network ??= new SimulatedNetwork(host, options))
  return {
    network: open,
    kind: 'simulated',
    discover: async () =>
      Array.from({ length: options.lineCount }, (_, index) => ({
        key: String(index + 1),
        number: numberOfLine(index + 1),
      })),
    checkup: async () => [],
    run: async (line, listener, signal) => {
      await new SimulatedLineRun(open(), line, new LineEvents(listener, signal)).run(signal)
    },
  }
}

type Checkpoint = {
  /** Events up to here were published. */
  readonly position: number
  /** Events up to here are older than the relay. */
  readonly historyUntil: number
}

const OUTAGE = {
  code: 'simulated_outage',
  hint: 'The line simulates an outage. It comes back by itself, or when the fault is cleared.',
}

const BATCH_MAX = 64
const PRUNE_EVERY_MS = 3_600_000

class SimulatedLineRun {
  readonly #network: SimulatedNetwork
  readonly #line: DriverLine
  readonly #events: LineEvents
  #checkpoint: Checkpoint
  /** Settles once the last checkpoint that was published separately is durable. */
  #checkpointed: Promise<unknown> = Promise.resolve()
  #pruneAt = 0

  constructor(network: SimulatedNetwork, line: DriverLine, events: LineEvents) {
    this.#network = network
    this.#line = line
    this.#events = events
    this.#checkpoint = readCheckpoint(network, line.checkpoint)
  }

  /** Runs until `signal` aborts and nothing of it is under way. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#run(signal)
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      await Promise.allSettled([this.#checkpointed])
    }
  }

  async #run(signal: AbortSignal): Promise<void> {
    const network = this.#network
    // This comes first: from here on, a send of an earlier session that is still running is refused.
    const session = network.beginSession(this.#line.number)
    await this.#settle(signal)
    // Without a stored checkpoint, a second start would take newer events for history.
    if (this.#line.checkpoint === null) await this.#events.publish([this.#checkpointEvent()])
    await this.#goOnline(session)
    await this.#giveUpFiles()
    while (!signal.aborted) {
      // A carried send's outcome comes first, so that no receipt overtakes it.
      await nextTurn()
      const isMore = await this.#publishBatch()
      if (network.msOff(this.#line.number) > 0) await this.#dropOut(session, signal)
      if (isMore || signal.aborted) continue
      this.#prune()
      const waitMs = Math.min(network.msUntilNext(this.#line.number), PRUNE_EVERY_MS)
      await network.signalOf(this.#line.number).wait(network.clock, waitMs, signal)
    }
  }

  /**
   * Settles the messages that a crash left open, before anything new is read. Only the network's own
   * ledger proves that a message was not carried, and only if it reaches this line's position.
   */
  async #settle(signal: AbortSignal): Promise<void> {
    const network = this.#network
    const { number: line, unsettled } = this.#line
    const isRestored = this.#checkpoint.position > network.lastPosition()
    for (let at = 0; at < unsettled.length; at += BATCH_MAX) {
      await this.#events.publish(
        unsettled.slice(at, at + BATCH_MAX).flatMap(({ message, note }): LineEvent[] => {
          const isComplete = !isRestored && network.isCompleteSince(line, note)
          const outcome = settledBy(network, line, message, isComplete)
          return outcome === null ? [] : [{ type: 'settled', messageId: message.id, outcome }]
        }),
      )
    }
    if (!signal.aborted) network.settleSessions(line)
  }

  /** Gives up pending files that this ledger doesn't know, because they will never come. */
  async #giveUpFiles(): Promise<void> {
    const { number, awaited = [] } = this.#line
    const { position } = this.#checkpoint
    const lost = awaited.filter(
      ({ attachmentGuid }) => !this.#network.expectsFile(number, attachmentGuid, position),
    )
    await this.#events.publish(
      lost.map(({ messageGuid, attachmentGuid: guid }): LineEvent => {
        const file = { state: 'missing' } as const
        const attachment = { guid, filename: '', declaredType: null, size: null, file }
        return { type: 'attachment', messageGuid, attachment, checkpoint: null }
      }),
    )
  }

  async #goOnline(id: string): Promise<void> {
    const session = this.#createSession(id)
    const { number } = this.#line
    const state = { number, imessageActive: true, capabilities: FULL_CAPABILITIES }
    await this.#events.publish([{ type: 'online', session, ...state }])
  }

  async #dropOut(session: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.#network
    const { number } = this.#line
    await this.#events.publish([{ type: 'offline', reason: OUTAGE }])
    for (;;) {
      const waitMs = Math.min(this.#network.msOff(number), PRUNE_EVERY_MS)
      if (waitMs === 0 || signal.aborted) break
      await this.#network.signalOf(number).wait(clock, waitMs, signal)
    }
    await this.#goOnline(session)
  }

  /** `session` is the network's id of the session. */
  #createSession(session: string): LineSession {
    const network = this.#network
    const { number: line } = this.#line
    return {
      capacity: 32,
      knows: async (handle) => network.hasHistory(line, handle),
      send: (message, pointOfNoReturn, signal) =>
        sendMessage(network, { message, line, session }, pointOfNoReturn, signal),
    }
  }

  /** Returns false if there was nothing to publish. */
  async #publishBatch(): Promise<boolean> {
    const network = this.#network
    const { position, historyUntil } = this.#checkpoint
    const batch = network.read(this.#line.number, position, BATCH_MAX)
    const last = batch.at(-1)
    if (last === undefined) return false
    this.#checkpoint = { position: last.seq, historyUntil }
    const events = batch.flatMap((event) => lineEventsOf(event, historyUntil, network.files))
    const [only] = events
    if (events.length === 1 && only !== undefined) {
      const { checkpoint } = this.#checkpointEvent()
      await this.#events.publish([{ ...only, checkpoint }])
      return true
    }
    // The checkpoint follows its events, so that none is skipped. Only the next checkpoint waits for it, not the next
    // batch.
    await this.#events.publish(events)
    await this.#checkpointed
    this.#checkpointed = this.#events.publish([this.#checkpointEvent()])
    this.#checkpointed.catch(() => {}) // The next await of it gets the error.
    return true
  }

  #checkpointEvent(): Extract<LineEvent, { readonly type: 'checkpoint' }> {
    const { position, historyUntil } = this.#checkpoint
    const checkpoint = `${this.#network.identity}:${position}:${historyUntil}`
    return { type: 'checkpoint', checkpoint }
  }

  #prune(): void {
    const { clock } = this.#network
    if (clock.monotonic() < this.#pruneAt) return
    this.#pruneAt = clock.monotonic() + PRUNE_EVERY_MS
    this.#network.prune(this.#line.number, this.#checkpoint.position)
  }
}

/** Parses `identity:position:historyUntil`; without a checkpoint, the whole ledger is history. */
function readCheckpoint(network: SimulatedNetwork, text: string | null): Checkpoint {
  if (text === null) return { position: 0, historyUntil: network.lastPosition() }
  const [identity, position, historyUntil] = text.split(':')
  // Everything in another ledger is new.
  if (identity !== network.identity) return { position: 0, historyUntil: 0 }
  return { position: Number(position), historyUntil: Number(historyUntil) }
}
