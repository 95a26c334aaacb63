// Finds out whose a chat is. Its title alone proves nothing: anybody can name a group after a number, and Messages
// may show a suggested name. The senders of its bubbles and its details page, which is opened once, prove it.

import { type Handle, isSamePerson } from '../../../../domain/handle.ts'
import type { Clock } from '../../../../system/clock.ts'
import type { NodePlace, UiNode } from '../agent/ui-tree.ts'
import type { PhoneAgent } from '../agent/wda.ts'
import { handleIn } from './labels.ts'
import type { ChatIdentity } from './list-memory.ts'
import {
  backOf,
  type Bubble,
  type ChatDetails,
  readDetails,
  readScreen,
  type TranscriptScreen,
} from './messages-screen.ts'
import { LOOK_MS, PhoneScreen, UiTrouble } from './navigation.ts'
import type { TranscriptMemory } from './transcript-memory.ts'
import { compareChat, type Comparison } from './transcript.ts'

/** A chat as it was read, and whose it is. */
export type ReadChat = { readonly screen: TranscriptScreen; readonly identity: ChatIdentity }

const TITLE_ID = 'ConversationTitle'
const TRIES = 3
const DETAILS_LOOKS = 4
/** Number of last bubbles that a chat must still show: two chats may share one text and its time. */
const BUBBLES_OF_PROOF = 3

/** The screen of a phone, with the memory by which its chats are recognized. */
export class PhoneChats extends PhoneScreen {
  readonly memory: TranscriptMemory
  /** The phone's time zone, as the IANA names it. */
  readonly timeZone: () => string

  constructor(
    agent: PhoneAgent,
    clock: Clock,
    { memory, timeZone }: Pick<PhoneChats, 'memory' | 'timeZone'>,
  ) {
    super(agent, clock)
    this.memory = memory
    this.timeZone = timeZone
  }

  compare(handle: Handle, bubbles: readonly Bubble[]): Comparison {
    const { memory, clock } = this
    return compareChat({ memory, now: clock.now(), timeZone: this.timeZone() }, handle, bubbles)
  }

  /** True if the bubbles name two people, or a person other than the title does. */
  hasOtherSender(screen: TranscriptScreen): boolean {
    const senders = senderHandles(screen)
    const first = shownHandle(screen) ?? senders[0]
    return first !== undefined && !this.#isOnlyBy(senders, first)
  }

  #isOnlyBy(senders: readonly Handle[], person: Handle): boolean {
    return senders.every((sender) => isSamePerson(sender, person, this.memory.home))
  }

  /** True if the chat on the screen is the one with `handle`, as far as its title and its bubbles show. */
  isChatWith(screen: TranscriptScreen, handle: Handle): boolean {
    const { memory } = this
    if (screen.composer === null || this.hasOtherSender(screen)) return false
    const shown = shownHandle(screen)
    if (shown !== null) {
      const people = new Set([...memory.handles, handle])
      return isSamePerson(memory.personShown(shown, [...people]), handle, memory.home)
    }
    return memory.proven(screen.title).has(handle) && this.#isOnlyBy(senderHandles(screen), handle)
  }

  /** Finds out whose the chat is; returns the screen afterwards too, because its details may have been opened. */
  async identify(screen: TranscriptScreen, signal: AbortSignal): Promise<ReadChat> {
    const known = this.#knownIdentity(screen)
    return known === null ? await this.#ask(screen, signal) : { identity: known, screen }
  }

  /** The person or group of the chat as far as it is known; null if the details page has to be opened. */
  #knownIdentity(screen: TranscriptScreen): ChatIdentity | null {
    const { kind } = screen.chat
    if (kind === 'group' || this.hasOtherSender(screen)) return { kind: 'group' }
    if (kind === 'named') return { kind }
    // A suggested name may go from one person to another, who may have written the same.
    if (kind === 'suggested' || !isByNumbers(screen)) return null
    const [proven, ...others] = this.memory.proven(screen.title)
    if (proven === undefined || others.length > 0) return null
    if (!this.#isContinued(proven, screen)) return null
    if (!this.#isOnlyBy(senderHandles(screen), proven)) return null
    return { kind: 'person', handle: proven }
  }

  /** True if the chat on the screen is still the known one with `handle`, and not another chat with the same title. */
  isSameChat(screen: TranscriptScreen, handle: Handle): boolean {
    const isNumbered = screen.chat.kind === 'direct' && isByNumbers(screen)
    return isNumbered && this.isChatWith(screen, handle) && this.#isContinued(handle, screen)
  }

  /** True if the last known bubbles are on the screen: a single one may also be in another chat with the same title. */
  #isContinued(handle: Handle, { bubbles }: TranscriptScreen): boolean {
    const known = this.memory.chat(handle) ?? []
    const { rows } = this.compare(handle, bubbles)
    const guids = new Set(rows.map(({ descriptor }) => descriptor.guid))
    const end = known.slice(-BUBBLES_OF_PROOF)
    return end.length > 0 && end.every(({ guid }) => guids.has(guid))
  }

  async #ask(screen: TranscriptScreen, signal: AbortSignal): Promise<ReadChat> {
    const details = await this.#readDetails(signal)
    const after = await this.waitForChat(signal, (shown) => isStillThere(screen, shown))
    if (after === null) throw new UiTrouble('ui_unknown')
    const identity = this.#decide(after, details)
    if (identity.kind === 'person') this.memory.keepProven(screen.title, identity.handle)
    return { identity, screen: after }
  }

  #decide(screen: TranscriptScreen, details: ChatDetails): ChatIdentity {
    const { memory } = this
    const shown = [shownHandle(screen) ?? [], details.people, senderHandles(screen)].flat()
    const known = [...new Set([...memory.handles, ...details.people])]
    const [person, ...others] = new Set(shown.map((handle) => memory.personShown(handle, known)))
    if (details.isGroup || others.length > 0) return { kind: 'group' }
    const isProven = details.people.length > 0 || isBySenders(screen)
    return isProven && person !== undefined
      ? { kind: 'person', handle: person }
      : { kind: 'unproven' }
  }

  /** The details of the open chat; no person if its title opens nothing in all tries: alerts may take the touches. */
  async #readDetails(signal: AbortSignal): Promise<ChatDetails> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      // A touch that failed proves nothing: the next look reads the chat.
      await this.touch({ name: TITLE_ID }, signal)
      const details = await this.#settledDetails(signal)
      if (details !== null) return details
    }
    return { people: [], isGroup: false }
  }

  /** The details once they name a person and were the same twice, else the last; null if the chat stays in front. */
  async #settledDetails(signal: AbortSignal): Promise<ChatDetails | null> {
    let page: DetailsPage | null = null
    for (let looks = 0; looks < DETAILS_LOOKS; looks += 1) {
      await this.clock.sleep(LOOK_MS, signal)
      const before: DetailsPage | null = page
      page = readPage(await this.agent.tree(signal)) ?? page
      if (page?.isNamed === true && JSON.stringify(page) === JSON.stringify(before)) break
    }
    if (page !== null && page.back !== null) {
      await this.touch(page.back, signal)
      await this.clock.sleep(LOOK_MS, signal)
    }
    return page
  }

  /**
   * Opens the chat with `handle`, and returns it with its composer ready. Opens it again if the phone shows another
   * chat; nothing is typed before the chat is proven to be that person's. A chat without bubbles that a link opened
   * is no group.
   */
  async showChat(handle: Handle, signal: AbortSignal): Promise<TranscriptScreen> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (tries > 0) await this.showList(signal)
      await this.agent.openChat({ handle, body: null }, signal)
      const isSuggestion = (shown: TranscriptScreen) =>
        shown.chat.kind === 'suggested' && shown.composer !== null && !this.hasOtherSender(shown)
      const isPerhaps = (shown: TranscriptScreen) =>
        this.isChatWith(shown, handle) || isSuggestion(shown)
      const opened = await this.waitForChat(signal, isPerhaps)
      if (opened === null) continue
      const proven = await this.provenChat(opened, handle, signal)
      if (proven !== null) return proven
    }
    throw new UiTrouble('wrong_chat')
  }

  /** The chat if it is the one with `handle`; null if it is not, or that can't be proven. */
  async provenChat(
    opened: TranscriptScreen,
    handle: Handle,
    signal: AbortSignal,
  ): Promise<TranscriptScreen | null> {
    if (opened.bubbles.length === 0 && this.isChatWith(opened, handle)) return opened
    // Two people may have the same suggested name, and have written the same.
    const isSuggested = opened.chat.kind === 'suggested'
    const { identity, screen } = isSuggested
      ? await this.#ask(opened, signal)
      : await this.identify(opened, signal)
    if (identity.kind !== 'person' || (isSuggested && identity.handle !== handle)) return null
    return this.isChatWith(screen, handle) ? screen : null
  }
}

/** The number or address in the title, if it has one. */
function shownHandle({ chat }: TranscriptScreen): Handle | null {
  return chat.kind === 'direct' ? chat.handle : null
}

/** The numbers and addresses with which the labels of the other side's bubbles begin. */
function senderHandles({ bubbles }: TranscriptScreen): readonly Handle[] {
  return bubbles.flatMap(({ sender }) => (sender === null ? [] : (handleIn(sender) ?? [])))
}

/** True if every bubble of the other side names a number, which is enough proof if the details show no person. */
function isBySenders(screen: TranscriptScreen): boolean {
  return screen.bubbles.some(({ isFromMe }) => !isFromMe) && isByNumbers(screen)
}

/** True if every sender named on a bubble is a number or an address: a name may be anybody's. */
function isByNumbers({ bubbles }: TranscriptScreen): boolean {
  return bubbles.every(({ isFromMe, sender }) => isFromMe || handleIn(sender ?? '') !== null)
}

/**
 * True if the screen still shows the chat that was proven. A notification or the owner may have brought another chat
 * to the front that has the same title: a group can be named after anybody.
 */
export function isStillThere(proven: TranscriptScreen, shown: TranscriptScreen): boolean {
  const wordsOf = ({ bubbles }: TranscriptScreen) =>
    bubbles.map(({ isFromMe, text, minutes, sender }) => [isFromMe, text, minutes, sender].join())
  const [before, now] = [wordsOf(proven).slice(-BUBBLES_OF_PROOF), wordsOf(shown)]
  if (shown.title !== proven.title) return false
  if (before.length === 0) return now.length === 0
  return now.some((_, at) => before.every((words, index) => now[at + index] === words))
}

type DetailsPage = ChatDetails & { readonly isNamed: boolean; readonly back: NodePlace | null }

/** The details page; null while the chat or an alert is still in front. */
function readPage(root: UiNode): DetailsPage | null {
  const { screen } = readScreen(root)
  // The next touch dismisses the alert.
  if (screen === 'transcript' || screen === 'alert') return null
  if (screen === 'locked') throw new UiTrouble('locked')
  // A page without any of the known words may still be the details.
  if (screen !== 'details' && screen !== 'unknown') throw new UiTrouble('ui_unknown')
  const details = readDetails(root)
  return { ...details, isNamed: details.isGroup || details.people.length > 0, back: backOf(root) }
}
