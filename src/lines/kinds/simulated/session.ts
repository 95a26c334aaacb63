import type { OutgoingMessage } from '../../../domain/message.ts'
import type { Clock } from '../../../system/clock.ts'
import {
  isGranted,
  WITHDRAWN,
  type LineSession,
  type PointOfNoReturn,
  type SendOutcome,
} from '../../driver.ts'
import { behaviourOf, consequencesOf } from './correspondents.ts'
import type { SimulatedNetwork } from './network.ts'

export type SimulatedLineTools = {
  readonly network: SimulatedNetwork
  readonly clock: Clock
  /** How many simulated lines there are. */
  readonly lineCount: number
  /** How long a simulated person takes for each step: to get a message, to read it. */
  readonly delayMs: number
}

const CAPACITY = 32

type LineOfSession = {
  readonly number: string
  /** Which session of the line the network takes messages of. */
  readonly session: string
  /** Called when the line must go offline. */
  readonly drop: () => void
}

type SendTools = SimulatedLineTools & LineOfSession

/** One life of a line. */
export function createSession(tools: SendTools): LineSession {
  return {
    capacity: CAPACITY,
    knows: async (handle) => tools.network.hasHistory(tools.number, handle),
    send: (message, pointOfNoReturn, signal) => send(tools, message, pointOfNoReturn, signal),
  }
}

async function send(
  tools: SendTools,
  message: OutgoingMessage,
  pointOfNoReturn: PointOfNoReturn,
  signal: AbortSignal,
): Promise<SendOutcome> {
  const behaviour = behaviourOf(message.to, tools.lineCount)
  if (behaviour.kind === 'not_on_imessage') {
    return { outcome: 'not_sent', reason: 'not_on_imessage', blame: 'message' }
  }
  if (signal.aborted || !(await isGranted(pointOfNoReturn, tools.network.noteOf(tools.session))))
    return WITHDRAWN
  if (behaviour.kind === 'line_refuses') {
    return { outcome: 'not_sent', reason: 'line_refused', blame: 'line' }
  }

  const guid = await carry(tools, message)
  if (guid === null) return { outcome: 'not_sent', reason: 'network_failed', blame: 'line' }
  if (behaviour.kind === 'nobody_knows') return { outcome: 'unknown', reason: 'no_answer' }
  if (behaviour.dropsLine) tools.drop()
  if (behaviour.acceptMs === 0) return { outcome: 'accepted', guid }
  await tools.clock.sleep(behaviour.acceptMs, signal)
  // The network has it either way; where we cannot wait, its receipt says when it was taken.
  return signal.aborted ? { outcome: 'held', guid } : { outcome: 'accepted', guid }
}

/** The guid under which the message was carried, or null: then the ledger holds nothing of it. */
async function carry(tools: SendTools, { id, to, text }: OutgoingMessage): Promise<string | null> {
  const letter = { line: tools.number, session: tools.session, to, text }
  const consequences = consequencesOf(letter, behaviourOf(to, tools.lineCount), tools)
  try {
    return await tools.network.carry(id, letter, consequences)
  } catch {
    return null
  }
}
