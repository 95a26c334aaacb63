// The person or group of a chat. Its title alone proves nothing: anybody can name a group after a number, and Messages may show a
// suggested name. What proves it is the senders of its bubbles together with the details page, which is asked once.

import { type Handle, isSamePerson } from '../../../../domain/handle.ts'
import type { NodePlace, UiNode } from '../agent/ui-tree.ts'
import { handleIn } from './labels.ts'
import {
  backOf,
  type ChatDetails,
  readDetails,
  readScreen,
  type TranscriptScreen,
} from './messages-screen.ts'
import { LOOK_MS, showList, touch, type UiTools, UiTrouble, waitForChat } from './navigation.ts'
import type { ChatKind, TranscriptMemory } from './transcript-memory.ts'
import { compareChat } from './transcript.ts'

export type IdentityTools = UiTools & {
  readonly memory: TranscriptMemory
  /** The phone's time zone, as the IANA names it. */
  readonly timeZone: () => string
}

export type Whose =
  | { readonly kind: 'person'; readonly handle: Handle }
  | { readonly kind: Exclude<ChatKind, 'person'> }

type Identified = { readonly whose: Whose; readonly screen: TranscriptScreen }

const TITLE_ID = 'ConversationTitle'
const TRIES = 3
const DETAILS_LOOKS = 4
/** Bubbles that a chat must still show: a text and its time alone may stand in two chats. */
const BUBBLES_OF_PROOF = 3
const NOBODY: ChatDetails = { people: [], isGroup: false }

/** The number or address in the title, if it has one. */
function shownHandle({ chat }: TranscriptScreen): Handle | null {
  return chat.kind === 'direct' ? chat.handle : null
}

/** The numbers and addresses that the bubbles of the other side begin with. */
function senderHandles({ bubbles }: TranscriptScreen): readonly Handle[] {
  return bubbles.flatMap(({ sender }) => (sender === null ? [] : (handleIn(sender) ?? [])))
}

/** True if bubbles name two people, or another one than the title. */
export function hasOtherSender({ memory }: IdentityTools, screen: TranscriptScreen): boolean {
  const senders = senderHandles(screen)
  const first = shownHandle(screen) ?? senders[0]
  return first !== undefined && !isOnlyBy(memory, senders, first)
}

function isOnlyBy(memory: TranscriptMemory, senders: readonly Handle[], person: Handle): boolean {
  return senders.every((sender) => isSamePerson(sender, person, memory.home))
}

/** True if the chat on the screen is that of `handle`, as far as its title and its bubbles show. */
export function isChatWith(
  tools: IdentityTools,
  screen: TranscriptScreen,
  handle: Handle,
): boolean {
  const { memory } = tools
  if (screen.composer === null || hasOtherSender(tools, screen)) return false
  const shown = shownHandle(screen)
  if (shown !== null) {
    const people = new Set([...memory.handles, handle])
    return isSamePerson(memory.personShown(shown, [...people]), handle, memory.home)
  }
  return memory.proven(screen.title).has(handle) && isOnlyBy(memory, senderHandles(screen), handle)
}

/** The person or group of the chat as far as it is known; null if the details page has to be asked. */
function knownWhose(tools: IdentityTools, screen: TranscriptScreen): Whose | null {
  const { kind } = screen.chat
  if (kind === 'group' || hasOtherSender(tools, screen)) return { kind: 'group' }
  if (kind === 'named') return { kind }
  const { memory } = tools
  const [proven, ...others] = memory.proven(screen.title)
  if (proven === undefined || others.length > 0) return null
  if (!isContinued(tools, proven, screen)) return null
  if (!isOnlyBy(memory, senderHandles(screen), proven)) return null
  return { kind: 'person', handle: proven }
}

/** False if none of the known bubbles is on the screen: it may be another chat with the same title. */
function isContinued(
  { memory, clock, timeZone }: IdentityTools,
  handle: Handle,
  { bubbles }: TranscriptScreen,
): boolean {
  const at = { memory, now: clock.now(), timeZone: timeZone() }
  const isLoaded = bubbles.length > 0
  return isLoaded && memory.chat(handle) !== null && !compareChat(at, handle, bubbles).hasGap
}

/** The person or group of the chat on the screen, and the screen afterwards: its details may have been opened. */
export async function identify(
  tools: IdentityTools,
  screen: TranscriptScreen,
  signal: AbortSignal,
): Promise<Identified> {
  const known = knownWhose(tools, screen)
  return known === null ? await ask(tools, screen, signal) : { whose: known, screen }
}

async function ask(
  tools: IdentityTools,
  screen: TranscriptScreen,
  signal: AbortSignal,
): Promise<Identified> {
  const { details, after } = await askDetails(tools, screen, signal)
  const whose = judge(tools, after, details)
  if (whose.kind === 'person') tools.memory.keepProven(screen.title, whose.handle)
  return { whose, screen: after }
}

function judge({ memory }: IdentityTools, screen: TranscriptScreen, details: ChatDetails): Whose {
  const shown = [shownHandle(screen) ?? [], details.people, senderHandles(screen)].flat()
  const known = [...new Set([...memory.handles, ...details.people])]
  const [person, ...others] = new Set(shown.map((handle) => memory.personShown(handle, known)))
  if (details.isGroup || others.length > 0) return { kind: 'group' }
  const isProven = details.people.length > 0 || isBySenders(screen)
  return isProven && person !== undefined
    ? { kind: 'person', handle: person }
    : { kind: 'unproven' }
}

/** If the details show nobody, every bubble of the other side has to begin with the number. */
function isBySenders({ bubbles }: TranscriptScreen): boolean {
  const theirs = bubbles.filter(({ isFromMe }) => !isFromMe)
  return theirs.length > 0 && theirs.every(({ sender }) => handleIn(sender ?? '') !== null)
}

/**
 * True if the screen still shows the chat that was proven. A notification or the owner may have brought another one
 * to the front whose title is the same: a group can be named after anybody.
 */
export function isStillThere(proven: TranscriptScreen, shown: TranscriptScreen): boolean {
  const wordsOf = ({ bubbles }: TranscriptScreen) =>
    bubbles.map(({ isFromMe, text, minutes, sender }) => [isFromMe, text, minutes, sender].join())
  const [before, now] = [wordsOf(proven).slice(-BUBBLES_OF_PROOF), wordsOf(shown)]
  if (shown.title !== proven.title) return false
  if (before.length === 0) return now.length === 0
  return now.some((_, at) => before.every((words, index) => now[at + index] === words))
}

/** The content of the open chat's details page, and the chat as it is afterwards. */
async function askDetails(
  tools: IdentityTools,
  screen: TranscriptScreen,
  signal: AbortSignal,
): Promise<{ readonly details: ChatDetails; readonly after: TranscriptScreen }> {
  const details = await lookAtDetails(tools, signal)
  const after = await waitForChat(tools, signal, (shown) => isStillThere(screen, shown))
  if (after === null) throw new UiTrouble('ui_unknown')
  return { details, after }
}

/** The content of the details; nobody if the title leads nowhere, again and again: an alert may take a touch. */
async function lookAtDetails(tools: UiTools, signal: AbortSignal): Promise<ChatDetails> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    // A touch that fails proves nothing: the chat is left to the next look.
    await touch(tools, { name: TITLE_ID }, signal)
    const details = await settledDetails(tools, signal)
    if (details !== null) return details
  }
  return NOBODY
}

/** The details once they name a person and were the same twice, else as they are at last; null if the chat stays. */
async function settledDetails(tools: UiTools, signal: AbortSignal): Promise<ChatDetails | null> {
  let page: DetailsPage | null = null
  for (let looks = 0; looks < DETAILS_LOOKS; looks += 1) {
    await tools.clock.sleep(LOOK_MS, signal)
    const before: DetailsPage | null = page
    page = readPage(await tools.agent.tree(signal)) ?? page
    if (page?.isNamed === true && JSON.stringify(page) === JSON.stringify(before)) break
  }
  if (page !== null && page.back !== null) {
    await touch(tools, page.back, signal)
    await tools.clock.sleep(LOOK_MS, signal)
  }
  return page
}

type DetailsPage = ChatDetails & { readonly isNamed: boolean; readonly back: NodePlace | null }

/** Null while the chat is still in front. */
function readPage(root: UiNode): DetailsPage | null {
  const { screen } = readScreen(root)
  if (screen === 'transcript') return null
  // A page that has none of the words that are known may be the details all the same.
  if (screen !== 'details' && screen !== 'unknown') throw new UiTrouble('ui_unknown')
  const details = readDetails(root)
  return { ...details, isNamed: details.isGroup || details.people.length > 0, back: backOf(root) }
}

/**
 * The chat with `handle`, its composer ready. The phone is asked again if it shows another one; nothing is typed
 * before the chat is proven to be that person's. A chat without bubbles that a link opened is no group.
 */
export async function showChat(
  tools: IdentityTools,
  handle: Handle,
  signal: AbortSignal,
): Promise<TranscriptScreen> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (tries > 0) await showList(tools, signal)
    await tools.agent.openChat({ handle, body: null }, signal)
    const isPerhaps = (shown: TranscriptScreen) =>
      isChatWith(tools, shown, handle) || isUnknownSuggestion(tools, shown)
    const opened = await waitForChat(tools, signal, isPerhaps)
    if (opened === null) continue
    const proven = await provenChat(tools, opened, { handle, signal })
    if (proven !== null) return proven
  }
  throw new UiTrouble('wrong_chat')
}

function isUnknownSuggestion(tools: IdentityTools, screen: TranscriptScreen): boolean {
  const { chat, composer } = screen
  return chat.kind === 'suggested' && composer !== null && !hasOtherSender(tools, screen)
}

/** The chat if it is that of `handle`; null if it is not, or that can't be proven. */
export async function provenChat(
  tools: IdentityTools,
  opened: TranscriptScreen,
  { handle, signal }: { readonly handle: Handle; readonly signal: AbortSignal },
): Promise<TranscriptScreen | null> {
  if (opened.bubbles.length === 0 && isChatWith(tools, opened, handle)) return opened
  // Two people may have one suggested name, and have written the same.
  const isSuggested = opened.chat.kind === 'suggested'
  const { whose, screen } = await (isSuggested ? ask : identify)(tools, opened, signal)
  if (whose.kind !== 'person' || (isSuggested && whose.handle !== handle)) return null
  return isChatWith(tools, screen, handle) ? screen : null
}
