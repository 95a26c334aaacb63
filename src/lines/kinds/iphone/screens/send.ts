// The way out of a phone line: all that can fail harmlessly, the point of no return, one touch of the button,
// and then the bubble, which alone shows the outcome, whatever the touch answered.

import type { OutgoingMessage } from '../../../../domain/message.ts'
import { deadline } from '../../../../system/clock.ts'
import {
  isGranted,
  type PointOfNoReturn,
  type SendOutcome,
  type Settlement,
  WITHDRAWN,
} from '../../../driver.ts'
import { AgentError, type AgentErrorCode } from '../agent/wda-http.ts'
import type { AgentElement } from '../agent/wda.ts'
import { isChatWith, showChat } from './chat-identity.ts'
import { type ChatTools, compare, outcomeOf, storeMemory } from './chat-reader.ts'
import { compose, type Composed, type Draft, emptyComposer, holds, wipe } from './compose.ts'
import { hasControls, withPlainLines } from './labels.ts'
import { readScreen, type TranscriptScreen } from './messages-screen.ts'
import { LOOK_MS, troubleCodeOf, type UiTroubleCode } from './navigation.ts'
import { isTimeOf, noteText, saysText } from './own-sends.ts'
import type { ReadRow } from './transcript.ts'
import type { UiService } from './ui-words.ts'

/** The outcome, and the service that the bubble names; null where it is unknown, or nothing went. */
type Sent<Outcome> = { readonly outcome: Outcome; readonly service: UiService | null }

export type UiSend = Sent<SendOutcome> & {
  /** The trouble of the line that kept the message from leaving. */
  readonly trouble: UiTroubleCode | AgentErrorCode | null
}

/** The chat is read by the next poll, which comes within this time. */
const UNREAD: SendOutcome = { outcome: 'postponed', reason: 'pacing', delayMs: 4_000 }
const CLEAR_MS_MAX = 15_000
/** A send has to be over 90 s after its line went away, and looks for its bubble after this. */
const TOUCH_MS_MAX = 30_000
const BUBBLE_MS_MAX = 8_000
/** The agent may be slow; after so long the bubble is not waited for any longer. */
const GIVE_UP_MS = 25_000

export async function sendByUi(
  tools: ChatTools,
  message: OutgoingMessage,
  pointOfNoReturn: PointOfNoReturn,
  signal: AbortSignal,
): Promise<UiSend> {
  const text = withPlainLines(message.text)
  if (hasControls(text)) return ended(notSent('unsupported_characters', 'message'))
  const ui = { ...tools, agent: tools.agent.at('send') }
  try {
    return await tools.queue.run('send', signal, () =>
      send(ui, { ...message, text }, pointOfNoReturn, signal),
    )
  } catch (error) {
    // The task never began.
    if (error instanceof AgentError) return ended(WITHDRAWN)
    throw error
  }
}

async function send(
  tools: ChatTools,
  message: OutgoingMessage,
  pointOfNoReturn: PointOfNoReturn,
  signal: AbortSignal,
): Promise<UiSend> {
  const draft: Draft = { handle: message.to, text: message.text, mayBeThere: false }
  const composed = await prepare(tools, draft, signal)
  if ('outcome' in composed) return composed
  // The baseline is stored first: after a crash its bubbles must not be taken for this message.
  const isReady = !composed.hasNewGuids || (await isStored(tools))
  const at = tools.clock.now()
  if (!isReady || signal.aborted || !(await isGranted(pointOfNoReturn, noteText(at)))) {
    await discard(tools, draft)
    return ended(WITHDRAWN)
  }
  const mayBeTouched = await touchOnce(tools, composed.button)
  const sent = mayBeTouched ? confirm : confirmUntouched
  const { outcome, service } = await sent(tools, draft, composed)
  if (outcome.outcome === 'unknown') {
    const { to: handle, text } = message
    tools.own.expect({ messageId: message.id, handle, text, at, canFail: true })
  }
  // Before the outcome: after a crash in between the bubble is found as the message's, and never taken for
  // one that was typed on the phone. Where it cannot be stored the outcome is true all the same.
  await isStored(tools)
  return { outcome, service, trouble: null }
}

/** All up to the point of no return; where it fails, nothing of the text stays behind. */
async function prepare(
  tools: ChatTools,
  draft: Draft,
  signal: AbortSignal,
): Promise<Composed | UiSend> {
  try {
    const composed = await compose(tools, draft, signal)
    if (composed !== null && 'guids' in composed) return composed
    await discard(tools, draft)
    if (composed === null) return ended(UNREAD)
    return ended(notSent(composed.reason, composed.blame))
  } catch (error) {
    const trouble = troubleCodeOf(error)
    if (trouble === null) throw error
    await discard(tools, draft)
    if (trouble === 'aborted' || signal.aborted) return ended(WITHDRAWN)
    return { outcome: notSent(trouble, 'line'), service: null, trouble }
  }
}

/** Empties the composer again; a chat where that fails is emptied at the next look. */
async function discard(tools: ChatTools, draft: Draft): Promise<void> {
  if (!draft.mayBeThere) return
  const limit = deadline(tools.clock, CLEAR_MS_MAX)
  const isClean = await wipe(tools, draft.handle, limit.signal)
  limit.clear()
  if (!isClean) tools.own.leaveDraft(draft.handle)
}

/** Errors that come before the touch: the button is gone, or the session whose element it is. */
const UNTOUCHED: readonly AgentErrorCode[] = ['stale', 'invalid_session']

/**
 * Touches the button that was seen with the text, if no alert is in front. False if that certainly did
 * nothing; any other answer proves nothing: an error may come after the touch was done.
 */
async function touchOnce({ agent, clock }: ChatTools, button: AgentElement): Promise<boolean> {
  const limit = deadline(clock, TOUCH_MS_MAX)
  const isFree = await agent.alerts(limit.signal).then(
    (alert) => alert === null,
    () => false,
  )
  const tap = isFree ? agent.tap(button, limit.signal) : Promise.resolve()
  const error = await tap.then(
    () => null,
    (reason: unknown) => reason,
  )
  limit.clear()
  return isFree && !(error instanceof AgentError && UNTOUCHED.includes(error.code))
}

/** The outcome if the button was not clicked; the owner may have done it on the phone all the same. */
async function confirmUntouched(
  tools: ChatTools,
  draft: Draft,
  composed: Composed,
): Promise<Sent<Settlement>> {
  const limit = deadline(tools.clock, GIVE_UP_MS)
  const sent = await lastLook(tools, draft, composed, limit.signal)
  limit.clear()
  const { outcome } = sent
  if (outcome.outcome !== 'unknown' || outcome.reason === 'no_bubble') return sent
  tools.own.leaveDraft(draft.handle)
  return { outcome: notSent('not_touched', 'line'), service: null }
}

/** Stores the memory as it is now; false where that failed. */
async function isStored(tools: ChatTools): Promise<boolean> {
  return await storeMemory(tools).then(
    () => true,
    () => false,
  )
}

/** The outcome by the screen. Never touches the button again, and never rejects. */
async function confirm(
  tools: ChatTools,
  draft: Draft,
  composed: Composed,
): Promise<Sent<Settlement>> {
  const { clock } = tools
  const limit = deadline(clock, GIVE_UP_MS)
  const startedAt = clock.monotonic()
  try {
    for (;;) {
      const screen = await chatNow(tools, draft, limit.signal)
      const row = screen === null ? null : ownRow(tools, draft, composed, screen)
      const isLate = clock.monotonic() - startedAt >= BUBBLE_MS_MAX
      const isDone = row !== null && (isLate || screen?.composer?.draft === '')
      if (isDone) return accept(tools, draft, row)
      if (isLate) break
      await clock.sleep(LOOK_MS, limit.signal)
    }
    return await lastLook(tools, draft, composed, limit.signal)
  } finally {
    limit.clear()
  }
}

/** The chat as it is now; null where it is not on the screen, or the agent does not answer. */
async function chatNow(
  tools: ChatTools,
  { handle }: Draft,
  signal: AbortSignal,
): Promise<TranscriptScreen | null> {
  try {
    const screen = readScreen(await tools.agent.tree(signal))
    return screen.screen === 'transcript' && isChatWith(tools, screen, handle) ? screen : null
  } catch {
    return null
  }
}

/** The bubble that came after the baseline and has our text. */
function ownRow(
  tools: ChatTools,
  { handle, text }: Draft,
  { guids }: Composed,
  { bubbles }: TranscriptScreen,
): ReadRow | null {
  const { rows } = compare(tools, handle, bubbles)
  const now = tools.clock.now()
  const isOurs = ({ bubble, descriptor: { guid, at } }: ReadRow) =>
    bubble.isFromMe && !guids.has(guid) && isTimeOf(now, at) && saysText(bubble.text, text)
  return rows.find(isOurs) ?? null
}

/** The bubble is known from now on, under the guid that the outcome names. */
function accept(tools: ChatTools, { handle, text }: Draft, row: ReadRow): Sent<Settlement> {
  const { memory } = tools
  const known = memory.chat(handle) ?? []
  memory.keep(handle, [...known, { ...row.descriptor, isReported: true }])
  tools.own.noteLink(handle, text, { bubbleText: row.bubble.text, at: row.descriptor.at })
  return { outcome: outcomeOf(row), service: row.bubble.service }
}

/** The time is up. A text that is still in the composer is removed from it, and then it was never sent. */
async function lastLook(
  tools: ChatTools,
  draft: Draft,
  composed: Composed,
  signal: AbortSignal,
): Promise<Sent<Settlement>> {
  try {
    const screen =
      (await chatNow(tools, draft, signal)) ?? (await showChat(tools, draft.handle, signal))
    const row = ownRow(tools, draft, composed, screen)
    if (row !== null) return accept(tools, draft, row)
    if (!(await holds(tools, screen, draft, signal))) return unknown('no_bubble')
    return await takeBack(tools, draft, composed)
  } catch {
    return unknown('no_answer')
  }
}

async function takeBack(
  tools: ChatTools,
  draft: Draft,
  composed: Composed,
): Promise<Sent<Settlement>> {
  const limit = deadline(tools.clock, CLEAR_MS_MAX)
  try {
    const screen = await chatNow(tools, draft, limit.signal)
    if (screen === null) return unknown('no_answer')
    await emptyComposer(tools, screen, limit.signal)
    const after = await chatNow(tools, draft, limit.signal)
    const row = after === null ? null : ownRow(tools, draft, composed, after)
    if (row !== null) return accept(tools, draft, row)
    if (after?.composer?.draft !== '') return unknown('not_cleared')
    return { outcome: notSent('not_touched', 'line'), service: null }
  } finally {
    limit.clear()
  }
}

function unknown(reason: string): Sent<Settlement> {
  return { outcome: { outcome: 'unknown', reason }, service: null }
}

function notSent(reason: string, blame: 'line' | 'message') {
  return { outcome: 'not_sent', reason, blame } as const
}

function ended(outcome: SendOutcome): UiSend {
  return { outcome, service: null, trouble: null }
}
