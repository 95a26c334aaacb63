// Reads labels. A bubble's is `<sender>, <text>[, <tapback>], <time>`, joined by commas (ChatKit's accessibility
// bundle, CKTextBalloonViewAccessibility). The text is a stranger's and may look like anything: it is never split,
// and it does not decide who wrote it.

import { deviceHandle, type Handle } from '../../../../domain/handle.ts'
import type { Rect, UiNode } from '../agent/ui-tree.ts'
import { splitTime } from './label-time.ts'
import { ENGLISH, type UiService } from './ui-words.ts'

/** The side of the chat: our own bubbles are near the right edge, others near the left. */
export type Side = 'left' | 'right' | 'unclear'

export type ReadLabel = {
  readonly isFromMe: boolean
  /** The sender named in the label of the other side's bubble; null if it names nobody. */
  readonly sender: string | null
  /** The service of our own bubble; labels of the other side don't name it. */
  readonly service: UiService | null
  readonly text: string
  readonly minutes: number
}

/** Bubbles keep about 20 points from their edge (seen on macOS 27.2). */
const EDGES_DIFFER_BY = 8

export function sideOf(bubble: Rect, pane: Rect): Side {
  if (bubble.width <= 0 || pane.width <= 0) return 'unclear'
  const left = bubble.x - pane.x
  const right = pane.x + pane.width - (bubble.x + bubble.width)
  if (Math.abs(left - right) < EDGES_DIFFER_BY) return 'unclear'
  return right < left ? 'right' : 'left'
}

/**
 * The content of a bubble's label; null if it has no time, as in a typing indicator or an unsent message. `title` is
 * the name of the chat, with which labels of the other side begin.
 */
export function readLabel(label: string, side: Side, title: string): ReadLabel | null {
  const split = splitTime(label)
  if (split === null) return null
  const { before, minutes } = split
  const own = ENGLISH.own.find(({ prefix }) => endOf(before, prefix) !== -1)
  if (side === 'left' || (side === 'unclear' && own === undefined)) {
    return { isFromMe: false, service: null, ...withoutSender(before, title), minutes }
  }
  const text = own === undefined ? withoutSender(before, title).text : rest(before, own.prefix)
  return { isFromMe: true, service: own?.service ?? null, sender: null, text, minutes }
}

/** Splits off the sender once: the chat's title if the label begins with it, else the part before the first comma. */
function withoutSender(label: string, title: string): Pick<ReadLabel, 'sender' | 'text'> {
  if (title !== '' && endOf(label, title) !== -1) return { sender: title, text: rest(label, title) }
  const { anonymous } = ENGLISH
  if (endOf(label, anonymous) !== -1) return { sender: null, text: rest(label, anonymous) }
  const comma = label.indexOf(', ')
  if (comma === -1) return { sender: null, text: label }
  return { sender: comparable(label.slice(0, comma)), text: label.slice(comma + 2) }
}

/** The text after a sender and its comma; empty for a label without a text. */
function rest(label: string, sender: string): string {
  return label.slice(endOf(label, sender)).replace(/^\s/, '')
}

/** Index after the sender and its comma, which a label without a text may lack; -1 for another sender. */
function endOf(label: string, sender: string): number {
  return endOfPrefix(`${label},`, `${sender},`)
}

export type ChatCell = {
  /** The part before the first comma: a number or an address on a phone without contacts. */
  readonly name: string
  /**
   * Identifies the conversation's present row: the label, with the time of day after a tab if it has one, but without
   * the date, which changes as days go by. A newline at the end means unread.
   */
  readonly mark: string
  readonly isUnread: boolean
  /** The time or date of its last message. A cell without one may be no conversation, but lead to filters. */
  readonly date: string
}

const ADDED_WORDS: readonly string[] = [...ENGLISH.unread, ...ENGLISH.muted]
const TIME = /^\d{1,2}[:.]\d{2}(?:\s*[AaPp]\.?[Mm]\.?)?$/
const DATE = /^\d{1,2}\/\d{1,2}\/\d{2,4}$/

export function conversationCell(cell: UiNode): ChatCell {
  const parts = comparable(cell.label ?? '').split(', ')
  // These words count only after the date: before it they may belong to the last message.
  const end = parts.findLastIndex((part) => !ADDED_WORDS.includes(part)) + 1
  const isUnread = parts.splice(end).some((word) => ENGLISH.unread.includes(word))
  const last = parts.slice(1).at(-1) ?? ''
  const isTime = TIME.test(last)
  const hasDate = isTime || isDate(last)
  if (hasDate) parts.pop()
  return {
    name: parts[0] ?? '',
    mark: `${parts.join(', ')}${isTime ? `\t${last}` : ''}${isUnread ? '\n' : ''}`,
    isUnread,
    date: hasDate ? last : '',
  }
}

/** The mark as it is on a later day, without the time. */
export function markWithoutTime(mark: string): string {
  return mark.replace(/\t[^\n]*/, '')
}

/** The mark as it is once the conversation was read. */
export function markOfRead(mark: string): string {
  return mark.replace('\n', '')
}

/**
 * The marks of a list, with equal ones numbered after a vertical tab: two people with the same suggested name may
 * have written the same in one minute.
 */
export function numberedMarks(marks: readonly string[]): readonly string[] {
  const counts = new Map<string, number>()
  return marks.map((mark) => {
    const count = (counts.get(markOfRead(mark)) ?? 0) + 1
    counts.set(markOfRead(mark), count)
    return count === 1 ? mark : mark.replace(/(?=[\t\n]|$)/, `\v${count}`)
  })
}

/** The mark of a read conversation without its number: equal for conversations that look alike in the list. */
export function sharedMark(mark: string): string {
  return markOfRead(mark).replace(/\v\d+/, '')
}

function isDate(part: string): boolean {
  if (part === ENGLISH.today || part === ENGLISH.yesterday || DATE.test(part)) return true
  return ENGLISH.weekdays.some((day) => part.startsWith(day) && part.endsWith('day'))
}

export type ChatTitle =
  | { readonly kind: 'direct'; readonly handle: Handle }
  | { readonly kind: 'group' }
  /** A name that Messages suggests for a number without a contact. */
  | { readonly kind: 'suggested' }
  /** A contact, a business or a named group: its number is unknown. */
  | { readonly kind: 'named' }

const PHONE = /^\+?[\d\s().\-\u2010-\u2015]{3,32}$/
const EMAIL = /^[^\s@,]+@[^\s@,]+\.[^\s@,]+$/
const DIGITS_MIN = 3
/** Minimum digits without a country code, which adds up to 3. */
const NATIONAL_DIGITS_MIN = 7
const COUNTRY_DIGITS_MAX = 3

/** The kind of chat that a title looks like. A group may have any name, so a title alone proves no person. */
export function readChatTitle(text: string): ChatTitle {
  const title = comparable(text)
  const handle = handleIn(title)
  if (handle !== null) return { kind: 'direct', handle }
  if (title.startsWith(ENGLISH.suggested)) return { kind: 'suggested' }
  const people = title.split(/, | & /)
  const isGroup = people.length > 1 && people.some((person) => handleIn(person) !== null)
  return { kind: isGroup || ENGLISH.people.test(title) ? 'group' : 'named' }
}

/** True if the number on the screen may be `handle` without its country code. */
export function endsAlike(shown: string, handle: string): boolean {
  if (shown.startsWith('+') || shown.includes('@') || handle.includes('@')) return false
  const digits = digitsOf(shown)
  const missing = digitsOf(handle).length - digits.length
  const isNational = digits.length >= NATIONAL_DIGITS_MIN && missing <= COUNTRY_DIGITS_MAX
  return isNational && missing >= 0 && digitsOf(handle).endsWith(digits)
}

/** The number or address if the whole text is one; else null. */
export function handleIn(text: string): Handle | null {
  if (EMAIL.test(text)) return deviceHandle(text)
  const digits = digitsOf(text)
  if (!PHONE.test(text) || digits.length < DIGITS_MIN) return null
  return deviceHandle(text.startsWith('+') ? `+${digits}` : digits)
}

function digitsOf(text: string): string {
  return text.replaceAll(/\D/g, '')
}

// Texts are compared in a plain form: Messages writes numbers with direction marks and no-break spaces, and labels
// come through the accessibility of iOS.

/** Direction marks, which iOS puts around numbers. */
const MARKS = /[\u200E\u200F\u202A-\u202E\u2066-\u2069]/
const ALL_MARKS = new RegExp(MARKS, 'g')
const CONTROLS = /(?!\n)\p{Cc}/u

/** The plain form of a text, for comparing: NFC, white space as single spaces, without direction marks. */
export function comparable(text: string): string {
  return text.normalize('NFC').replaceAll(ALL_MARKS, '').replaceAll(/\s+/g, ' ').trim()
}

/** Like `comparable`, but keeps the line breaks, which the composer must hold before a send. */
export function comparableLines(text: string): string {
  const lines = withPlainLines(text.normalize('NFC').replaceAll(ALL_MARKS, '')).split('\n')
  return lines.map(comparable).join('\n').trim()
}

/** The text with LF as line end, in which form it is typed. */
export function withPlainLines(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n')
}

/** True if a text has control characters other than LF, which a keyboard cannot type. */
export function hasControls(text: string): boolean {
  return CONTROLS.test(text)
}

/**
 * Offset in `text` after `prefix`, or -1 if it does not begin with it. Direction marks do not count, and all white
 * space is equal.
 */
function endOfPrefix(text: string, prefix: string): number {
  const wanted = comparable(prefix)
  let at = 0
  for (const character of wanted) {
    while (MARKS.test(text.charAt(at))) at += 1
    const here = String.fromCodePoint(text.codePointAt(at) ?? 0)
    const isSame = here === character || (character === ' ' && /\s/.test(here))
    if (!isSame) return -1
    at += here.length
  }
  return at
}
