// The part of a send that can fail harmlessly: the chat, its service, the text in its composer, which is read back.

import type { Handle } from '../../../../domain/handle.ts'
import { deadline } from '../../../../system/clock.ts'
import type { AgentElement } from '../agent/wda.ts'
import { isStillThere } from './chat-identity.ts'
import type { ChatReader } from './chat-reader.ts'
import { comparableLines } from './labels.ts'
import type { Composer, TranscriptScreen } from './messages-screen.ts'
import { COMPOSER_ID, UiTrouble } from './navigation.ts'

/** The reason why nothing was sent, found before anything could be sent. */
export type Refusal =
  | { readonly reason: 'not_on_imessage'; readonly blame: 'message' }
  | {
      readonly reason: 'composer_dirty' | 'chat_left' | 'compose_mismatch' | 'send_button_absent'
      readonly blame: 'line'
    }

/** The composer holds the text, and the send button can be pressed. */
export type Composed = {
  /** The send button of the chat that was seen with the text. */
  readonly button: AgentElement
  /** The chat as it was read when the button was seen. */
  readonly chat: TranscriptScreen
  /** The known bubbles of the chat, which are older than the send. */
  readonly guids: ReadonlySet<string>
  /** True if some of these bubbles are not stored yet. */
  readonly hasNewGuids: boolean
}

/** A chat that is new to the line counts as completely shown if it has fewer bubbles. */
const SHORT_CHAT = 8
const SEND_BUTTON_ID = 'sendButton'
/** Messages needs about 3 s for a new address (platform-imessage waits as long). */
const NEW_ADDRESS_MS = 3_000
/** A longer text is passed in the link, because typing is 60 characters a second. */
const TYPED_LENGTH_MAX = 300
export const CLEAR_MS_MAX = 15_000

/** The text of a message in the composer of its chat. */
export class Draft {
  readonly handle: Handle
  readonly text: string
  readonly #reader: ChatReader
  /** True if a part of the text may be in the composer. */
  #mayBeThere = false

  constructor(reader: ChatReader, handle: Handle, text: string) {
    this.#reader = reader
    this.handle = handle
    this.text = text
  }

  /** Writes the text; returns null if the chat must be read first, because our bubble would hide new ones above it. */
  async compose(signal: AbortSignal): Promise<Composed | Refusal | null> {
    const reader = this.#reader
    await reader.dismissAlert(signal)
    const opened = await reader.showChat(this.handle, signal)
    if (this.#isUnread(opened)) return null
    if (!(await reader.emptyComposer(opened, signal))) return refusal('composer_dirty')
    const proven = await this.#settle(signal)
    if (proven === null || proven.composer === null) return refusal('chat_left')
    const refused = refusalOf(proven.composer)
    if (refused !== null) return refused
    const written = await this.#write(proven, signal)
    if (written === null) return refusal('compose_mismatch')
    if (written.composer?.canSend !== true) return refusal('send_button_absent')
    return await this.#lastCheck(proven, signal)
  }

  /** The chat right before the touch, with its send button; null if it has to be read first. */
  async #lastCheck(
    proven: TranscriptScreen,
    signal: AbortSignal,
  ): Promise<Composed | Refusal | null> {
    const isReady = async (shown: TranscriptScreen) =>
      isStillThere(proven, shown) && (await this.isIn(shown, signal))
    const ready = await this.#reader.elementOfChat(SEND_BUTTON_ID, isReady, signal)
    if (ready === null || ready.screen.composer === null) return refusal('chat_left')
    // The service may have changed while the text was typed.
    const late = refusalOf(ready.screen.composer)
    if (late !== null) return late
    if (this.#isUnread(ready.screen)) return null
    return { ...this.#keepBaseline(ready.screen), button: ready.element, chat: ready.screen }
  }

  /** True if new bubbles may be above those on the screen: the next poll reads them. */
  #isUnread({ bubbles }: TranscriptScreen): boolean {
    const { memory } = this.#reader
    const isShort = memory.chat(this.handle) === null && bubbles.length < SHORT_CHAT
    if (isShort || !this.#reader.compare(this.handle, bubbles).hasMoreAbove) return false
    memory.addPending(this.handle)
    return true
  }

  /** The chat once its service is certain; null if it turns out to be another one. */
  async #settle(signal: AbortSignal): Promise<TranscriptScreen | null> {
    const reader = this.#reader
    const isKnown = (reader.memory.chat(this.handle) ?? []).length > 0
    const certainMs = isKnown ? 0 : NEW_ADDRESS_MS
    const settled = await reader.settleService(this.handle, certainMs, signal)
    // Bubbles may have come since the chat was opened empty.
    return settled && (await reader.provenChat(settled, this.handle, signal))
  }

  /**
   * Stores the bubbles that the chat showed last: only a later one can be ours. The next look emits the new bubbles
   * among them; from now on the chat is pending.
   */
  #keepBaseline({ bubbles }: TranscriptScreen): Pick<Composed, 'guids' | 'hasNewGuids'> {
    const { memory } = this.#reader
    const guidsOf = () => new Set(memory.chat(this.handle)?.map(({ guid }) => guid))
    const before = guidsOf()
    this.#reader.keepSeen(this.handle, this.#reader.compare(this.handle, bubbles), false)
    memory.addPending(this.handle)
    const guids = guidsOf()
    return { guids, hasNewGuids: !guids.isSubsetOf(before) }
  }

  /**
   * Puts the text into the composer, by the keyboard or by a link, and the other way if it does not read back as
   * it was written; null if neither way works.
   */
  async #write(proven: TranscriptScreen, signal: AbortSignal): Promise<TranscriptScreen | null> {
    const reader = this.#reader
    const { handle, text } = this
    const isLong = text.length > TYPED_LENGTH_MAX
    const ways = isLong ? (['link', 'keyboard'] as const) : (['keyboard', 'link'] as const)
    // Typing a line break might send the first line.
    const isOneLine = !text.includes('\n')
    for (const way of ways.filter((other) => isOneLine || other === 'link')) {
      const isOurs = (shown: TranscriptScreen) =>
        isStillThere(proven, shown) && reader.isChatWith(shown, handle)
      const field = await reader.elementOfChat(COMPOSER_ID, isOurs, signal)
      if (field === null) return null
      if (this.#mayBeThere) await reader.agent.clear(field.element, signal)
      this.#mayBeThere = true
      if (way === 'keyboard') await reader.agent.type(field.element, text, signal)
      else await reader.agent.openChat({ handle, body: text }, signal)
      const screen = await reader.waitForChat(signal, (shown) => this.isIn(shown, signal))
      if (screen !== null) return screen
    }
    return null
  }

  /** True if the chat on the screen is the recipient's, and its composer holds the text. */
  async isIn(screen: TranscriptScreen, signal: AbortSignal): Promise<boolean> {
    if (!this.#reader.isChatWith(screen, this.handle)) return false
    const draft = await this.#reader.readDraft(screen, signal)
    return comparableLines(draft) === comparableLines(this.text)
  }

  /** Removes the text from the composer; if that fails, the next look at the chat does it. */
  async discard(): Promise<void> {
    if (!this.#mayBeThere) return
    const limit = deadline(this.#reader.clock, CLEAR_MS_MAX)
    const isClean = await this.#wipe(limit.signal)
    limit.clear()
    if (!isClean) this.#reader.own.leaveDraft(this.handle)
  }

  async #wipe(signal: AbortSignal): Promise<boolean> {
    const reader = this.#reader
    try {
      const screen = await reader.look(signal)
      const isOpen = screen.screen === 'transcript' && reader.isChatWith(screen, this.handle)
      const shown = isOpen ? screen : await reader.showChat(this.handle, signal)
      return await reader.emptyComposer(shown, signal)
    } catch {
      // The phone does not answer, or shows something else.
      return false
    }
  }
}

function refusal(reason: Extract<Refusal, { readonly blame: 'line' }>['reason']): Refusal {
  return { reason, blame: 'line' }
}

/** A text message is never sent in place of an iMessage. */
function refusalOf({ service }: Composer): Refusal | null {
  // A placeholder of another language or a new iOS shows nothing about the recipient.
  if (service === null) throw new UiTrouble('ui_unknown')
  return service === 'iMessage' ? null : { reason: 'not_on_imessage', blame: 'message' }
}
