// Sends a message from a phone: first everything that can fail harmlessly, then the point of no return, then one
// touch of the button. Only the bubble shows the outcome, whatever the touch answered.

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
import { isStillThere } from './chat-identity.ts'
import { type ChatReader, outcomeOf } from './chat-reader.ts'
import { CLEAR_MS_MAX, type Composed, Draft } from './compose.ts'
import { hasControls, withPlainLines } from './labels.ts'
import { readScreen, type TranscriptScreen } from './messages-screen.ts'
import { LOOK_MS, troubleCodeOf, type UiTroubleCode } from './navigation.ts'
import { isTimeOf, noteText, saysText } from './own-sends.ts'
import type { ReadRow } from './transcript.ts'
import type { UiService } from './ui-words.ts'

/** The outcome, and the service that the bubble names; null if it is unknown, or nothing was sent. */
type Sent<Outcome> = { readonly outcome: Outcome; readonly service: UiService | null }

export type UiSend = Sent<SendOutcome> & {
  /** The trouble that kept the message from being sent; null if there was none. */
  readonly trouble: UiTroubleCode | AgentErrorCode | null
}

/** The bubble of a message, and the rows above it. */
type OwnRow = { readonly row: ReadRow; readonly above: readonly ReadRow[] }

/** The chat must be read first. The next poll, which comes within this time, does that. */
const UNREAD: SendOutcome = { outcome: 'postponed', reason: 'pacing', delayMs: 4_000 }
/** Longest time for the touch: a send must end within 90 s after its line went away, and still looks for its bubble. */
const TOUCH_MS_MAX = 30_000
const BUBBLE_MS_MAX = 8_000
/** Longest wait for the bubble: the agent may be slow. */
const GIVE_UP_MS = 25_000

/** Errors that come before the touch: the button is gone, or the session in which it was found. */
const UNTOUCHED: readonly AgentErrorCode[] = ['stale', 'invalid_session']

export async function sendByUi(
  reader: ChatReader,
  message: OutgoingMessage,
  pointOfNoReturn: PointOfNoReturn,
  signal: AbortSignal,
): Promise<UiSend> {
  const text = withPlainLines(message.text)
  if (hasControls(text)) return ended(notSent('unsupported_characters', 'message'))
  const sending = new Sending(reader.at('send'), message, text)
  try {
    return await reader.queue.run('send', signal, () => sending.run(pointOfNoReturn, signal))
  } catch (error) {
    // The task never began.
    if (error instanceof AgentError) return ended(WITHDRAWN)
    throw error
  }
}

/** One message being sent by the screen. */
class Sending {
  readonly #reader: ChatReader
  readonly #message: OutgoingMessage
  readonly #draft: Draft
  /** Guids of the bubbles that were in the chat before the touch. */
  #before: ReadonlySet<string> = new Set()
  /** The chat before the touch; null until then. */
  #chat: TranscriptScreen | null = null

  constructor(reader: ChatReader, message: OutgoingMessage, text: string) {
    this.#reader = reader
    this.#message = message
    this.#draft = new Draft(reader, message.to, text)
  }

  async run(pointOfNoReturn: PointOfNoReturn, signal: AbortSignal): Promise<UiSend> {
    const { clock, own } = this.#reader
    const composed = await this.#prepare(signal)
    if ('outcome' in composed) return composed
    this.#before = composed.guids
    this.#chat = composed.chat
    // The earlier bubbles are stored first: after a crash they must not be taken for this message.
    const isReady = !composed.hasNewGuids || (await this.#isStored())
    const at = clock.now()
    if (!isReady || signal.aborted || !(await isGranted(pointOfNoReturn, noteText(at)))) {
      await this.#draft.discard()
      return ended(WITHDRAWN)
    }
    const mayBeTouched = await this.#touchOnce(composed.button)
    const sent = mayBeTouched ? await this.#confirm() : await this.#confirmUntouched()
    if (sent.outcome.outcome === 'unknown') {
      const { handle, text } = this.#draft
      own.expect({ messageId: this.#message.id, handle, text, at, canFail: true })
    }
    // Stored before the outcome: after a crash in between, the bubble is found as the message's, and never taken for
    // one that was typed on the phone. If it can't be stored, the outcome is still true.
    await this.#isStored()
    return { ...sent, trouble: null }
  }

  /** Does everything before the point of no return; if it fails, nothing of the text stays in the composer. */
  async #prepare(signal: AbortSignal): Promise<Composed | UiSend> {
    const draft = this.#draft
    try {
      const composed = await draft.compose(signal)
      if (composed !== null && 'guids' in composed) return composed
      await draft.discard()
      if (composed === null) return ended(UNREAD)
      return ended(notSent(composed.reason, composed.blame))
    } catch (error) {
      const trouble = troubleCodeOf(error)
      if (trouble === null) throw error
      await draft.discard()
      if (trouble === 'aborted' || signal.aborted) return ended(WITHDRAWN)
      return { outcome: notSent(trouble, 'line'), service: null, trouble }
    }
  }

  /**
   * Touches the button that was seen with the text, if no alert is in front. Returns false if that certainly did
   * nothing. True proves nothing: an error may come after the touch was done.
   */
  async #touchOnce(button: AgentElement): Promise<boolean> {
    const { agent, clock } = this.#reader
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

  /** The outcome if we did not touch the button; the owner may still have touched it on the phone. */
  async #confirmUntouched(): Promise<Sent<Settlement>> {
    const limit = deadline(this.#reader.clock, GIVE_UP_MS)
    const sent = await this.#lastLook(limit.signal)
    limit.clear()
    const { outcome } = sent
    if (outcome.outcome !== 'unknown' || outcome.reason === 'no_bubble') return sent
    this.#reader.own.leaveDraft(this.#draft.handle)
    return NOT_TOUCHED
  }

  /** Stores the memory as it is now; returns whether that worked. */
  async #isStored(): Promise<boolean> {
    return await this.#reader.storeMemory().then(
      () => true,
      () => false,
    )
  }

  /** The outcome that the screen shows. Never touches the button again, and never rejects. */
  async #confirm(): Promise<Sent<Settlement>> {
    const { clock } = this.#reader
    const limit = deadline(clock, GIVE_UP_MS)
    const startedAt = clock.monotonic()
    try {
      for (;;) {
        const screen = await this.#chatNow(limit.signal)
        const own = screen === null ? null : this.#ownRow(screen)
        const isLate = clock.monotonic() - startedAt >= BUBBLE_MS_MAX
        const isDone = own !== null && (isLate || screen?.composer?.draft === '')
        if (isDone) return this.#accept(own)
        if (isLate) break
        await clock.sleep(LOOK_MS, limit.signal)
      }
      return await this.#lastLook(limit.signal)
    } finally {
      limit.clear()
    }
  }

  /** The chat as it is now; null if it is not on the screen, or the agent does not answer. */
  async #chatNow(signal: AbortSignal): Promise<TranscriptScreen | null> {
    const reader = this.#reader
    try {
      const screen = readScreen(await reader.agent.tree(signal))
      if (screen.screen !== 'transcript') return null
      return reader.isChatWith(screen, this.#draft.handle) && this.#isSame(screen) ? screen : null
    } catch {
      return null
    }
  }

  /** True if no other chat with the same title has come to the front since the touch: it may have our text too. */
  #isSame(screen: TranscriptScreen): boolean {
    if (this.#chat === null || isStillThere(this.#chat, screen)) return true
    return this.#chat.bubbles.length === 0 && screen.chat.kind === 'direct'
  }

  /** The bubble that came after the touch and has our text, with the rows above it. */
  #ownRow({ bubbles }: TranscriptScreen): OwnRow | null {
    const { handle, text } = this.#draft
    const { rows } = this.#reader.compare(handle, bubbles)
    const now = this.#reader.clock.now()
    const isOurs = ({ bubble, descriptor: { guid, at } }: ReadRow) =>
      bubble.isFromMe && !this.#before.has(guid) && isTimeOf(now, at) && saysText(bubble.text, text)
    const row = rows.find(isOurs)
    return row === undefined ? null : { row, above: rows.slice(0, rows.indexOf(row)) }
  }

  /** Remembers the bubble, under the guid that the outcome names. */
  #accept({ row, above }: OwnRow): Sent<Settlement> {
    const { memory, own } = this.#reader
    const { handle, text } = this.#draft
    // If the chat was empty before, bubbles above ours came meanwhile, and are not reported yet.
    const known = memory.chat(handle) ?? above.map(({ descriptor }) => descriptor)
    memory.keep(handle, [...known, { ...row.descriptor, isReported: true }])
    own.noteLink(handle, text, row.bubble.text, row.descriptor.at)
    return { outcome: outcomeOf(row), service: row.bubble.service }
  }

  /** Called when the time is up. If the text is still in the composer, it is removed, and was never sent. */
  async #lastLook(signal: AbortSignal): Promise<Sent<Settlement>> {
    try {
      const screen =
        (await this.#chatNow(signal)) ?? (await this.#reader.showChat(this.#draft.handle, signal))
      const own = this.#ownRow(screen)
      if (own !== null) return this.#accept(own)
      if (!(await this.#draft.isIn(screen, signal))) return unknown('no_bubble')
      return await this.#takeBack()
    } catch {
      return unknown('no_answer')
    }
  }

  async #takeBack(): Promise<Sent<Settlement>> {
    const limit = deadline(this.#reader.clock, CLEAR_MS_MAX)
    try {
      const screen = await this.#chatNow(limit.signal)
      if (screen === null) return unknown('no_answer')
      await this.#reader.emptyComposer(screen, limit.signal)
      const after = await this.#chatNow(limit.signal)
      const own = after === null ? null : this.#ownRow(after)
      if (own !== null) return this.#accept(own)
      return after?.composer?.draft === '' ? NOT_TOUCHED : unknown('not_cleared')
    } finally {
      limit.clear()
    }
  }
}

const NOT_TOUCHED: Sent<Settlement> = { outcome: notSent('not_touched', 'line'), service: null }

function unknown(reason: string): Sent<Settlement> {
  return { outcome: { outcome: 'unknown', reason }, service: null }
}

function notSent(reason: string, blame: 'line' | 'message') {
  return { outcome: 'not_sent', reason, blame } as const
}

function ended(outcome: SendOutcome): UiSend {
  return { outcome, service: null, trouble: null }
}
