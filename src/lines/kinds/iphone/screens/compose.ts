// The part of a send that can fail harmlessly: the chat, its service, the text in its composer, read back.

import type { Handle } from '../../../../domain/handle.ts'
import type { AgentElement } from '../agent/wda.ts'
import {
  type IdentityTools,
  isChatWith,
  isStillThere,
  provenChat,
  showChat,
} from './chat-identity.ts'
import { type ChatTools, compare, keepSeen, settleService } from './chat-reader.ts'
import { comparableLines } from './labels.ts'
import type { Composer, TranscriptScreen } from './messages-screen.ts'
import {
  COMPOSER_ID,
  dismissAlert,
  elementOfChat,
  look,
  readDraft,
  UiTrouble,
  waitForChat,
  type UiTools,
} from './navigation.ts'

/** A reason for which nothing was sent, before anything could have been. */
export type Refusal =
  | { readonly reason: 'not_on_imessage'; readonly blame: 'message' }
  | {
      readonly reason: 'composer_dirty' | 'chat_left' | 'compose_mismatch' | 'send_button_absent'
      readonly blame: 'line'
    }

/** The composer holds the text, and the send button can be pressed. */
export type Composed = {
  /** The send button of the very chat that was seen with the text. */
  readonly button: AgentElement
  readonly guids: ReadonlySet<string>
  /** True where some of them are not stored yet. */
  readonly hasNewGuids: boolean
}

export type Draft = {
  readonly handle: Handle
  readonly text: string
  /** True once a part of it may be in the composer. */
  mayBeThere: boolean
}

/** A chat that is new to the line and shows fewer bubbles is taken for a whole one. */
const SHORT_CHAT = 8
const SEND_BUTTON_ID = 'sendButton'
/** Messages needs about 3 s for a new address (platform-imessage waits as long). */
const NEW_ADDRESS_MS = 3_000
/** Longer ones come in the link, which spares the typing: 60 characters a second. */
const TYPED_LENGTH_MAX = 300

/** Null if the chat has to be read first: a bubble of ours would hide the news above it. */
export async function compose(
  tools: ChatTools,
  draft: Draft,
  signal: AbortSignal,
): Promise<Composed | Refusal | null> {
  const { handle } = draft
  await dismissAlert(tools, signal)
  const opened = await showChat(tools, handle, signal)
  if (isUnread(tools, handle, opened)) return null
  if (!(await emptyComposer(tools, opened, signal))) return refusal('composer_dirty')
  const settled = await settle(tools, handle, signal)
  if (settled === null) return refusal('chat_left')
  const { proven, composer } = settled
  const refused = refusalOf(composer)
  if (refused !== null) return refused
  const written = await write(tools, draft, { proven, signal })
  if (written === null) return refusal('compose_mismatch')
  if (written.composer?.canSend !== true) return refusal('send_button_absent')
  return await lastCheck(tools, draft, { proven, signal })
}

/** The chat that was proven to be the person's, for the looks that follow. */
type Look = { readonly proven: TranscriptScreen; readonly signal: AbortSignal }

/** The chat as it is at last, with its send button; null if it has to be read first. */
async function lastCheck(
  tools: ChatTools,
  draft: Draft,
  { proven, signal }: Look,
): Promise<Composed | Refusal | null> {
  const isReady = async (shown: TranscriptScreen) =>
    isStillThere(proven, shown) && (await holds(tools, shown, draft, signal))
  const ready = await elementOfChat(tools, SEND_BUTTON_ID, isReady, signal)
  if (ready === null || ready.screen.composer === null) return refusal('chat_left')
  // The service may have changed its mind while the text was typed.
  const late = refusalOf(ready.screen.composer)
  if (late !== null) return late
  if (isUnread(tools, draft.handle, ready.screen)) return null
  return { ...keepBaseline(tools, draft.handle, ready.screen), button: ready.element }
}

/** True if news may lie above what the chat shows: then the next poll reads it. */
function isUnread(tools: ChatTools, handle: Handle, { bubbles }: TranscriptScreen): boolean {
  const isShort = tools.memory.chat(handle) === null && bubbles.length < SHORT_CHAT
  if (isShort || !compare(tools, handle, bubbles).hasMoreAbove) return false
  tools.memory.addPending(handle)
  return true
}

/** The chat and its composer once its service is certain; null if the chat turns out to be another one. */
async function settle(
  tools: ChatTools,
  handle: Handle,
  signal: AbortSignal,
): Promise<{ readonly proven: TranscriptScreen; readonly composer: Composer } | null> {
  const certainMs = (tools.memory.chat(handle) ?? []).length === 0 ? NEW_ADDRESS_MS : 0
  const settled = await settleService(tools, handle, { certainMs, signal })
  // Bubbles may have come since the chat was opened without any.
  const proven = settled && (await provenChat(tools, settled, { handle, signal }))
  const composer = proven?.composer ?? null
  return proven === null || composer === null ? null : { proven, composer }
}

function refusal(reason: Extract<Refusal, { readonly blame: 'line' }>['reason']): Refusal {
  return { reason, blame: 'line' }
}

/** A text message is never sent in the place of an iMessage. */
function refusalOf({ service }: Composer): Refusal | null {
  // An unknown placeholder, of another language or a new iOS, shows nothing about the recipient.
  if (service === null) throw new UiTrouble('ui_unknown')
  return service === 'iMessage' ? null : { reason: 'not_on_imessage', blame: 'message' }
}

/**
 * Keeps the bubbles that the chat showed at last: only a later one can be ours. What is new among them is
 * emitted at the next look, which is pending from now on.
 */
function keepBaseline(
  tools: ChatTools,
  handle: Handle,
  { bubbles }: TranscriptScreen,
): Omit<Composed, 'button'> {
  const guidsOf = () => new Set(tools.memory.chat(handle)?.map(({ guid }) => guid))
  const before = guidsOf()
  keepSeen(tools, handle, compare(tools, handle, bubbles), false)
  tools.memory.addPending(handle)
  const guids = guidsOf()
  return { guids, hasNewGuids: !guids.isSubsetOf(before) }
}

/** Clears the composer of a draft, if its chat is still open; true if the composer is empty now. */
export async function emptyComposer(
  tools: UiTools,
  { composer, title }: TranscriptScreen,
  signal: AbortSignal,
): Promise<boolean> {
  if (composer?.draft === '') return true
  const isSame = (shown: TranscriptScreen) => shown.title === title
  const field = await elementOfChat(tools, COMPOSER_ID, isSame, signal)
  if (field === null) return false
  await tools.agent.clear(field.element, signal)
  const screen = await look(tools, signal)
  return screen.screen === 'transcript' && isSame(screen) && screen.composer?.draft === ''
}

/**
 * Puts the text into the composer, by the keyboard or by a link, and the other way where it does not read
 * back as it was written; null where neither does.
 */
async function write(
  tools: ChatTools,
  draft: Draft,
  { proven, signal }: Look,
): Promise<TranscriptScreen | null> {
  const isLong = draft.text.length > TYPED_LENGTH_MAX
  const ways: readonly Way[] = isLong ? ['link', 'keyboard'] : ['keyboard', 'link']
  // Typed, the end of a line might send the first line.
  const isOneLine = !draft.text.includes('\n')
  for (const way of ways.filter((other) => isOneLine || other === 'link')) {
    const isOurs = (shown: TranscriptScreen) =>
      isStillThere(proven, shown) && isChatWith(tools, shown, draft.handle)
    const field = await elementOfChat(tools, COMPOSER_ID, isOurs, signal)
    if (field === null) return null
    if (draft.mayBeThere) await tools.agent.clear(field.element, signal)
    draft.mayBeThere = true
    if (way === 'keyboard') await tools.agent.type(field.element, draft.text, signal)
    else await tools.agent.openChat({ handle: draft.handle, body: draft.text }, signal)
    const screen = await waitForChat(tools, signal, (shown) => holds(tools, shown, draft, signal))
    if (screen !== null) return screen
  }
  return null
}

type Way = 'keyboard' | 'link'

/** True where the chat of `draft` is open and its composer holds that text. */
export async function holds(
  tools: IdentityTools,
  screen: TranscriptScreen,
  { handle, text }: Draft,
  signal: AbortSignal,
): Promise<boolean> {
  if (!isChatWith(tools, screen, handle)) return false
  return comparableLines(await readDraft(tools, screen, signal)) === comparableLines(text)
}

/** Removes the typed text; true where the composer was then seen empty. */
export async function wipe(
  tools: IdentityTools,
  handle: Handle,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const screen = await look(tools, signal)
    const isOpen = screen.screen === 'transcript' && isChatWith(tools, screen, handle)
    const shown = isOpen ? screen : await showChat(tools, handle, signal)
    return await emptyComposer(tools, shown, signal)
  } catch {
    // The phone does not answer, or shows something else.
    return false
  }
}
