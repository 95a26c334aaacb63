// The label of a bubble: `<sender>, <text>[, <tapback>], <time>`, joined by commas (ChatKit's accessibility
// bundle, CKTextBalloonViewAccessibility). The text is a stranger's and may look like anything: it is
// never split, and what it says does not decide who wrote it.

import type { Rect } from '../agent/ui-tree.ts'
import { splitTime } from './label-time.ts'
import { endOfPrefix } from './plain-text.ts'
import type { UiService, UiWords } from './ui-words.ts'

/** Where a bubble lies: own ones near the right edge of the chat, others near the left. */
export type Side = 'left' | 'right' | 'unclear'

export type ReadLabel = {
  readonly isFromMe: boolean
  /** Null for a bubble of somebody else: its label does not say. */
  readonly service: UiService | null
  /** Whom the label names; null for own bubbles and where it names nobody. */
  readonly sender: string | null
  readonly text: string
  readonly minutes: number
}

/** Own and other bubbles keep about 20 points from their edge (seen on macOS 27.2). */
const EDGES_DIFFER_BY = 8

export function sideOf(bubble: Rect, pane: Rect): Side {
  if (bubble.width <= 0 || pane.width <= 0) return 'unclear'
  const left = bubble.x - pane.x
  const right = pane.x + pane.width - (bubble.x + bubble.width)
  if (Math.abs(left - right) < EDGES_DIFFER_BY) return 'unclear'
  return right < left ? 'right' : 'left'
}

/**
 * What a label says; null for one without a time, which no bubble lacks: somebody is typing, a message
 * was taken back. `title` is the name of the chat, as the label of its other side begins.
 */
export function readLabel(
  label: string,
  { side, title, words }: { readonly side: Side; readonly title: string; readonly words: UiWords },
): ReadLabel | null {
  const split = splitTime(label)
  if (split === null) return null
  const { before, minutes } = split
  const own = words.own.find(({ prefix }) => endOf(before, prefix) !== -1)
  if (side === 'left' || (side === 'unclear' && own === undefined)) {
    const { sender, text } = splitSender(before, title, words)
    return { isFromMe: false, service: null, sender, text, minutes }
  }
  const text = own === undefined ? splitSender(before, title, words).text : rest(before, own.prefix)
  return { isFromMe: true, service: own?.service ?? null, sender: null, text, minutes }
}

/** Strips the sender, once: the chat's title, else what stands before the first comma. */
function splitSender(
  label: string,
  title: string,
  words: UiWords,
): { readonly sender: string | null; readonly text: string } {
  if (title !== '' && endOf(label, title) !== -1) {
    return { sender: title, text: rest(label, title) }
  }
  if (endOf(label, words.anonymous) !== -1) {
    return { sender: null, text: rest(label, words.anonymous) }
  }
  const comma = label.indexOf(', ')
  return comma === -1
    ? { sender: null, text: label }
    : { sender: label.slice(0, comma), text: label.slice(comma + 2) }
}

/** What follows a sender and its comma; of a label without a text that is nothing. */
function rest(label: string, sender: string): string {
  return label.slice(endOf(label, sender)).replace(/^\s/, '')
}

/** Where a label goes on after its sender and the comma, which a label without a text may lack; else -1. */
function endOf(label: string, sender: string): number {
  return endOfPrefix(`${label},`, `${sender},`)
}
