// The way out of a phone line: what can fail harmlessly, the point of no return, one touch of the button,
// and then the bubble, which alone says what became of the message.

import type { OutgoingMessage } from '../../../../domain/message.ts'
import { deadline } from '../../../../system/clock.ts'
import { WITHDRAWN, type PointOfNoReturn, type SendOutcome } from '../../../driver.ts'
import { AgentError, type AgentErrorCode } from '../agent/agent.ts'
import type { TurnQueue } from '../agent/turn-queue.ts'
import { noteText } from './own-sends.ts'
import { hasControls, withPlainLines } from './plain-text.ts'
import { compose, wipe, type Composed, type ComposeTools, type Draft } from './ui-compose.ts'
import { confirm } from './ui-confirm.ts'
import { UiTrouble, type UiTroubleCode } from './ui-hands.ts'
import type { UiService } from './ui-words.ts'

export type UiSendTools = ComposeTools & {
  /** One sequence of touches at a time on the phone. */
  readonly turns: TurnQueue
}

export type UiSend = {
  readonly outcome: SendOutcome
  /** By which service it went; null where nobody knows, or nothing went. */
  readonly service: UiService | null
  /** The state of the line that kept the message from leaving: it is told before the outcome is. */
  readonly trouble: UiTroubleCode | AgentErrorCode | null
}

const WIPE_MS_MAX = 15_000
/** A send has to be over 90 s after its line went away, and looks for its bubble after this. */
const TOUCH_MS_MAX = 30_000

/** `LineSession.send` of a phone line. */
export async function sendByUi(
  tools: UiSendTools,
  message: OutgoingMessage,
  pointOfNoReturn: PointOfNoReturn,
  signal: AbortSignal,
): Promise<UiSend> {
  const text = withPlainLines(message.text)
  if (hasControls(text)) return ended(notSent('unsupported_characters', 'message'))
  const hands = { ...tools, agent: tools.agent.at('send') }
  try {
    return await tools.turns.run('send', signal, () =>
      send(hands, { ...message, text }, pointOfNoReturn, signal),
    )
  } catch (error) {
    // Its turn never came.
    if (error instanceof AgentError) return ended(WITHDRAWN)
    throw error
  }
}

async function send(
  tools: UiSendTools,
  message: OutgoingMessage,
  pointOfNoReturn: PointOfNoReturn,
  signal: AbortSignal,
): Promise<UiSend> {
  const draft: Draft = { handle: message.to, text: message.text, mayBeThere: false }
  const composed = await prepare(tools, draft, signal)
  if ('outcome' in composed) return composed
  // What was there before is stored first: after a crash it must not be taken for this message.
  const isReady = !composed.hasNewGuids || (await remember(tools))
  const at = tools.clock.now()
  if (!isReady || signal.aborted || !(await mayPass(pointOfNoReturn, noteText(at)))) {
    await takeBack(tools, draft)
    return ended(WITHDRAWN)
  }
  await touchOnce(tools)
  const { outcome, service } = await confirm(tools, draft, composed)
  if (outcome.outcome === 'unknown') {
    const { to: handle, text } = message
    tools.own.expect({ messageId: message.id, handle, text, at, canFail: true })
  }
  // Before the outcome: after a crash in between the bubble is found as the message's, and never told as
  // typed on the phone. Where it cannot be stored the outcome is true all the same.
  await remember(tools)
  return { outcome, service, trouble: null }
}

/** Everything up to the point of no return; where it fails, nothing of the text stays behind. */
async function prepare(
  tools: UiSendTools,
  draft: Draft,
  signal: AbortSignal,
): Promise<Composed | UiSend> {
  try {
    const composed = await compose(tools, draft, signal)
    if ('guids' in composed) return composed
    await takeBack(tools, draft)
    return ended(notSent(composed.reason, composed.blame))
  } catch (error) {
    if (!(error instanceof AgentError || error instanceof UiTrouble)) throw error
    await takeBack(tools, draft)
    if (error.code === 'aborted' || signal.aborted) return ended(WITHDRAWN)
    return { outcome: notSent(error.code, 'line'), service: null, trouble: error.code }
  }
}

/** Empties the composer again; a chat where that fails is emptied at the next look. */
async function takeBack(tools: UiSendTools, draft: Draft): Promise<void> {
  if (!draft.mayBeThere) return
  const limit = deadline(tools.clock, WIPE_MS_MAX)
  const isClean = await wipe(tools, draft.handle, limit.signal)
  limit.clear()
  if (!isClean) tools.own.leaveDraft(draft.handle)
}

async function mayPass(pointOfNoReturn: PointOfNoReturn, note: string): Promise<boolean> {
  try {
    return await pointOfNoReturn(note)
  } catch {
    return false
  }
}

/** What the touch answers says nothing: an error may come after it was done. */
async function touchOnce({ agent, clock }: UiSendTools): Promise<void> {
  const limit = deadline(clock, TOUCH_MS_MAX)
  await agent.tap({ by: 'id', id: 'sendButton' }, limit.signal).catch(() => {})
  limit.clear()
}

/** Whether the memory could be stored as it is now. */
async function remember({ listener }: UiSendTools): Promise<boolean> {
  return await listener.onMemory().then(
    () => true,
    () => false,
  )
}

function notSent(reason: string, blame: 'line' | 'message'): SendOutcome {
  return { outcome: 'not_sent', reason, blame }
}

function ended(outcome: SendOutcome): UiSend {
  return { outcome, service: null, trouble: null }
}
