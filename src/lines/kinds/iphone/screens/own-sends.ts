// Messages that were handed to the phone and whose bubbles are not known yet.

import type { Handle } from '../../../../domain/handle.ts'
import type { MessageId } from '../../../../domain/ids.ts'
import type { Unsettled } from '../../../../domain/message.ts'
import { MINUTE_MS } from '../../../../domain/time.ts'
import { dropOldest } from '../../../../system/memoize.ts'
import { comparable } from './labels.ts'
import { type Descriptor } from './transcript-memory.ts'
import { isSameText, withoutMarks } from './transcript.ts'

export type ExpectedBubble = {
  readonly messageId: MessageId
  readonly handle: Handle
  readonly text: string
  /** Time of the point of no return, in milliseconds since 1970: the bubble is not older. */
  readonly at: number
  /** False for a message without a note, from a backup: it is never given up. */
  readonly canFail: boolean
}

type Expected = ExpectedBubble & { looks: number; lookedAt: number }

/** The core hands over 1,000 unsettled messages at most. */
const WAITING_MAX = 1_000
const LOOKS = 2
/** Looks with less time between them count as one. */
const LOOKS_APART_MS = 10_000
/** Labels have only the minute, by the phone's clock, which may differ by this much. */
const SKEW_MS = 600_000
const HAS_URL = /https?:\/\/|www\./i
/** A link, and its site in the form that previews show. */
const LINK = /((?:https?:\/\/(?:www\.)?|www\.)([^\s/?#:]+)\S*)/i
/** A preview follows its message at once, but labels have only the minute. */
const PREVIEW_MS = 120_000
const LINKS_MAX = 100

/** The note for the point of no return. */
export function noteText(at: number): string {
  return JSON.stringify({ at })
}

/** The expected bubble of a message that an earlier run of the line did not settle. */
export function expectationOf({ message, note }: Unsettled): ExpectedBubble {
  const at = noteTime(note)
  return {
    messageId: message.id,
    handle: message.to,
    text: message.text,
    at: at ?? message.createdAt,
    canFail: at !== null,
  }
}

/** True if a bubble has `text`: a link may come in a separate bubble, with a preview after it. */
export function saysText(bubbleText: string, text: string): boolean {
  const [seen, wanted] = [comparable(bubbleText), comparable(text)]
  if (seen === wanted || withoutMarks(seen) === wanted) return true
  if (!HAS_URL.test(wanted) || seen === '') return false
  return wanted.startsWith(seen) || seen.startsWith(`${wanted}, `)
}

export class OwnSends {
  readonly #waiting = new Map<MessageId, Expected>()
  readonly #drafts: Set<Handle>
  /** The last message with a link in each chat whose preview may follow. */
  readonly #links = new Map<Handle, { readonly says: ReadonlySet<string>; readonly at: number }>()

  /** `drafts` has the chats with unsent texts of an earlier run of the line; this run adds to it. */
  constructor(drafts = new Set<Handle>()) {
    this.#drafts = drafts
  }

  expect(expected: ExpectedBubble): void {
    if (this.#waiting.size >= WAITING_MAX) return
    this.#waiting.set(expected.messageId, { ...expected, looks: 0, lookedAt: -Infinity })
  }

  /** Notes the link of a message whose bubble was found: the phone may show the link in a second bubble. */
  noteLink(handle: Handle, text: string, bubbleText: string, at: number): void {
    const wanted = comparable(text)
    const [, url = '', site = ''] = LINK.exec(wanted) ?? []
    this.#links.delete(handle)
    if (url === '') return
    const rest = wanted.slice(comparable(bubbleText).length).trim()
    this.#links.set(handle, { says: new Set([url, rest, site.toLowerCase()]), at })
    dropOldest(this.#links, LINKS_MAX)
  }

  /** True, but only once, if the bubble right after a link of ours has the rest of the text, the link, or its site. */
  takePreview(handle: Handle, bubbleText: string, at: number): boolean {
    const link = this.#links.get(handle)
    this.#links.delete(handle)
    if (link === undefined || Math.abs(at - link.at) > PREVIEW_MS) return false
    const seen = comparable(bubbleText)
    const site = seen.toLowerCase().split(', ').at(-1) ?? ''
    return seen !== '' && (link.says.has(seen) || link.says.has(site))
  }

  /** Removes and returns the oldest message that this bubble fits. */
  takeMatch(handle: Handle, bubbleText: string, at: number): ExpectedBubble | null {
    for (const waiting of this.#waiting.values()) {
      const isTimely = isTimeOf(waiting.at, at)
      if (waiting.handle !== handle || !isTimely || !saysText(bubbleText, waiting.text)) continue
      this.#waiting.delete(waiting.messageId)
      this.noteLink(handle, waiting.text, bubbleText, at)
      return waiting
    }
    return null
  }

  /** Removes and returns a message whose bubble an earlier run of the line stored without settling the message. */
  takeKeptMatch(
    handle: Handle,
    known: readonly Descriptor[],
  ): { readonly messageId: MessageId; readonly bubble: Descriptor } | null {
    for (const { messageId, handle: to, text, at } of this.#waiting.values()) {
      if (to !== handle) continue
      // The bubble was first seen after the point of no return: an equal text from before is another message.
      const isLater = (bubble: Descriptor) => bubble.seenAt > at && isTimeOf(at, bubble.at)
      const found = known.find(
        (bubble) => bubble.isFromMe && isLater(bubble) && isSameText(bubble, comparable(text)),
      )
      if (found === undefined) continue
      this.#waiting.delete(messageId)
      return { messageId, bubble: found }
    }
    return null
  }

  /** Chats that must be searched for a message of ours now. */
  dueLooks(now: number): readonly Handle[] {
    const due = [...this.#waiting.values()].filter(
      ({ looks, lookedAt, canFail }) =>
        looks < (canFail ? LOOKS : 1) && now - lookedAt >= LOOKS_APART_MS,
    )
    return due.map(({ handle }) => handle)
  }

  /**
   * Counts a look at the chat with these known bubbles; removes the messages that two looks have not found, and
   * returns those that are certainly not there.
   */
  takeMissing(
    handle: Handle,
    known: readonly Descriptor[],
    now: number,
  ): readonly ExpectedBubble[] {
    const here = this.#waitingIn(handle)
    for (const waiting of here) {
      if (now - waiting.lookedAt < LOOKS_APART_MS) continue
      waiting.looks += 1
      waiting.lookedAt = now
    }
    const lost = here.filter(({ looks, canFail }) => canFail && looks >= LOOKS)
    for (const { messageId } of lost) this.#waiting.delete(messageId)
    // If an equal message of the same minute was unsent, its bubble looks like this one's.
    const isLike = ({ text, at }: Expected, bubble: Descriptor) =>
      bubble.isFromMe && bubble.at >= at - (at % MINUTE_MS) && isSameText(bubble, comparable(text))
    return lost.filter((waiting) => !known.some((bubble) => isLike(waiting, bubble)))
  }

  /** True if a message with this text is expected in this chat. */
  isWaitingFor(handle: Handle, text: string): boolean {
    const wanted = comparable(text)
    return this.#waitingIn(handle).some((waiting) => comparable(waiting.text) === wanted)
  }

  #waitingIn(handle: Handle): readonly Expected[] {
    return [...this.#waiting.values()].filter((waiting) => waiting.handle === handle)
  }

  /** Chats whose composer may hold a text of ours that was not sent. */
  get drafts(): readonly Handle[] {
    return [...this.#drafts]
  }

  leaveDraft(handle: Handle): void {
    if (this.#drafts.size < WAITING_MAX) this.#drafts.add(handle)
  }

  takeDraft(handle: Handle): void {
    this.#drafts.delete(handle)
  }
}

/** True if the time of a label fits a message that was sent at `sentAt`. */
export function isTimeOf(sentAt: number, labelAt: number): boolean {
  return labelAt >= sentAt - SKEW_MS
}

function noteTime(note: string | null): number | null {
  if (note === null) return null
  try {
    // noteText wrote it, in this version or an earlier one.
    const { at } = JSON.parse(note) as { readonly at?: unknown }
    return typeof at === 'number' ? at : null
  } catch {
    return null
  }
}
