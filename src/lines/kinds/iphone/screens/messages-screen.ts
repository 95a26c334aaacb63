// Reads the screens of Messages from the tree. Identifiers are ChatKit's, known from UI tests of other projects
// (photostickers and kebbie on iOS) and a probe of macOS 27.2. An element type is used only if both systems have it.

import type { Handle } from '../../../../domain/handle.ts'
import {
  findById,
  findNode,
  type NodePlace,
  nodesOf,
  placeOf,
  type Rect,
  type UiNode,
} from '../agent/ui-tree.ts'
import { type DateRow, readDateRow, timeAtEnd } from './label-time.ts'
import {
  type ChatCell,
  type ChatTitle,
  comparable,
  conversationCell,
  handleIn,
  numberedMarks,
  readChatTitle,
  readLabel,
  type ReadLabel,
  sideOf,
} from './labels.ts'
import { ENGLISH, type UiService } from './ui-words.ts'

export type BubbleStatus =
  | { readonly kind: 'delivered' }
  /** Minutes after midnight; null if the status shows no time. */
  | { readonly kind: 'read'; readonly minutes: number | null }
  | { readonly kind: 'not_delivered' }

export type Bubble = ReadLabel & {
  /** True if the text is only the phone's word for an attachment. */
  readonly isAttachment: boolean
  readonly status: BubbleStatus | null
  /** The row above the bubble with its day; null if there is none. */
  readonly under: DateRow | null
}

export type Composer = {
  /** The unsent text, or the beginning of a long one (see `readDraft`); empty if only the placeholder is shown. */
  readonly draft: string
  /** The service that the placeholder names; null if its words are unknown. */
  readonly service: UiService | null
  readonly canSend: boolean
}

export type ListCell = ChatCell & { readonly place: NodePlace }

export type ListScreen = { readonly screen: 'list'; readonly cells: readonly ListCell[] }

export type TranscriptScreen = {
  readonly screen: 'transcript'
  readonly title: string
  readonly chat: ChatTitle
  /** Oldest first. */
  readonly bubbles: readonly Bubble[]
  readonly composer: Composer | null
  readonly back: NodePlace | null
}

export type Screen =
  | ListScreen
  | TranscriptScreen
  | { readonly screen: 'alert' }
  | { readonly screen: 'locked' }
  /** The details page of a chat, opened by a touch on the title. */
  | { readonly screen: 'details'; readonly back: NodePlace | null }
  | { readonly screen: 'unknown' }

/** The numbers and addresses on the details page of a chat. */
export type ChatDetails = { readonly people: readonly Handle[]; readonly isGroup: boolean }

const BUBBLES_MAX = 200
const CELLS_MAX = 100
/** Unproven: the name that the lock screen of iOS gives its clock. */
const LOCK_SCREEN_IDS = ['lockscreen-date-view']

export function readScreen(root: UiNode): Screen {
  if (findNode(root, ({ type }) => type === 'Alert' || type === 'Sheet')) return { screen: 'alert' }
  const transcript = findById(root, 'TranscriptCollectionView')
  if (isDetails(root)) return { screen: 'details', back: backOf(root) }
  const composer = readComposer(root)
  if (transcript !== null || composer !== null) {
    const title = titleOf(root)
    return {
      screen: 'transcript',
      title,
      chat: readChatTitle(title),
      bubbles: transcript === null ? [] : readBubbles(transcript, root.rect, title),
      composer,
      back: backOf(root),
    }
  }
  const list = findById(root, 'ConversationList')
  if (list !== null) return { screen: 'list', cells: readCells(root, list) }
  const isLocked = LOCK_SCREEN_IDS.some((id) => findById(root, id) !== null)
  return { screen: isLocked ? 'locked' : 'unknown' }
}

/** True if the details of a chat are open; the chat may still be in the tree below them. */
function isDetails(root: UiNode): boolean {
  const rows = ownNodes(root).filter(({ type }) => ['Button', 'Cell', 'Switch'].includes(type))
  return rows.some(({ label }) => isOneOf(ENGLISH.details, label))
}

/** Everything that the details page names, whatever its rows look like; a label may contain more than a number. */
export function readDetails(root: UiNode): ChatDetails {
  const texts = ownNodes(root).flatMap(({ label, value }) => [label ?? '', value ?? ''])
  const parts = texts.map(comparable).flatMap((text) => [text, ...text.split(', ')])
  return {
    people: parts.flatMap((part) => handleIn(part) ?? []),
    isGroup: parts.some((part) => ENGLISH.people.test(part) || isOneOf(ENGLISH.groupDetails, part)),
  }
}

function isOneOf(words: readonly string[], text: string | null): boolean {
  return text !== null && words.includes(comparable(text))
}

const OF_OTHERS = ['TranscriptCollectionView', 'ConversationList', 'messageBodyField']

/** The nodes except those with the words of other people. */
function ownNodes(node: UiNode): readonly UiNode[] {
  if (node.id !== null && OF_OTHERS.includes(node.id)) return []
  return [node, ...node.children.flatMap((child) => ownNodes(child))]
}

/** The conversations in the list. If any cell has a date in a known form, cells without one are something else. */
function readCells(root: UiNode, list: UiNode): readonly ListCell[] {
  const nodes = [...nodesOf(list)].filter(({ type, label }) => type === 'Cell' && label !== null)
  const shown = nodes
    .slice(0, CELLS_MAX)
    .map((node) => ({ ...conversationCell(node), place: placeOf(root, node) }))
  const marks = numberedMarks(shown.map(({ mark }) => mark))
  const cells = shown.map((cell, index) => ({ ...cell, mark: marks[index] ?? cell.mark }))
  return cells.some(({ date }) => date !== '') ? cells.filter(({ date }) => date !== '') : cells
}

function readComposer(root: UiNode): Composer | null {
  const field = findById(root, 'messageBodyField')
  if (field === null) return null
  const canSend = findNode(root, ({ id, isEnabled }) => id === 'sendButton' && isEnabled) !== null
  const placeholder = field.placeholder ?? ''
  const value = field.value ?? ''
  // An empty field has its placeholder as value (XCUIElement+FBWebDriverAttributes.m). So has a field in which those
  // words were typed, but then there is something to send.
  const isEmpty = value === placeholder && !canSend
  const begins = (known: readonly string[]) => known.some((word) => placeholder.startsWith(word))
  const byText = begins(ENGLISH.textField) ? 'SMS' : null
  return {
    draft: isEmpty ? '' : value,
    service: begins(ENGLISH.imessageField) ? 'iMessage' : byText,
    canSend,
  }
}

/** The chat's name in the bar, or the recipient on the sheet for a new message. */
function titleOf(root: UiNode): string {
  const named = findById(root, 'ConversationTitle')?.label ?? recipientOf(root)
  const bar = findNode(root, ({ type }) => type === 'NavigationBar')
  return comparable(named ?? bar?.id ?? bar?.label ?? '')
}

/** The number or address after the word `To:`, in the same node or the next. */
function recipientOf(root: UiNode): string | null {
  const nodes = ownNodes(root)
  const at = nodes.findIndex(({ label }) => label?.startsWith(ENGLISH.recipient) === true)
  if (at === -1) return null
  const texts = nodes.slice(at, at + 2).flatMap(({ label, value }) => [label, value])
  const names = texts.map((text) => comparable((text ?? '').replace(ENGLISH.recipient, '')))
  return names.find((name) => readChatTitle(name).kind === 'direct') ?? null
}

export function backOf(root: UiNode): NodePlace | null {
  const bar = findNode(root, ({ type }) => type === 'NavigationBar')
  if (bar === null) return null
  const buttons = [...nodesOf(bar)].filter(({ type }) => type === 'Button')
  const named = buttons.find(
    ({ id, label }) => id === 'BackButton' || ENGLISH.back.includes(label ?? ''),
  )
  const leftmost = buttons.toSorted((a, b) => a.rect.x - b.rect.x)[0]
  const button = named ?? leftmost
  return button === undefined ? null : placeOf(root, button)
}

function readBubbles(transcript: UiNode, screen: Rect, title: string): readonly Bubble[] {
  const pane = transcript.rect.width > 0 ? transcript.rect : screen
  const bubbles: Bubble[] = []
  let under: DateRow | null = null
  for (const row of rowsOf(transcript)) {
    const date = dateOf(row)
    const bubble = date === null ? bubbleOf(row, pane, title) : null
    const status = date === null && bubble === null ? statusOf(row) : null
    if (date !== null) under = date
    if (bubble !== null) bubbles.push({ ...bubble, under })
    if (status !== null) markLast(bubbles, status)
  }
  return bubbles.slice(-BUBBLES_MAX)
}

/** The rows of a transcript: its cells, or its direct children if it has none. */
function rowsOf(transcript: UiNode): readonly UiNode[] {
  const cells = cellsOf(transcript)
  return cells.length > 0 ? cells : transcript.children
}

function cellsOf(node: UiNode): readonly UiNode[] {
  return node.children.flatMap((child) => (child.type === 'Cell' ? [child] : cellsOf(child)))
}

function dateOf(row: UiNode): DateRow | null {
  const days = [ENGLISH.today, ENGLISH.yesterday, ...ENGLISH.weekdays.map((day) => `${day}[a-z]*`)]
  const begin = new RegExp(`^(?:iMessage|Text Message|SMS)?\\s*(?:${days.join('|')})[,\\s]`)
  // Only the first label counts: below it may be the words of a bubble.
  const label = findNode(row, (node) => node.label !== null)?.label ?? ''
  return begin.test(label) ? readDateRow(label) : null
}

function bubbleOf(row: UiNode, pane: Rect, title: string): Omit<Bubble, 'under'> | null {
  const nodes = [...nodesOf(row)]
  const named = nodes.find(
    ({ label, type }) => type !== 'StaticText' && label !== null && timeAtEnd(label) !== null,
  )
  if (named === undefined || named.label === null) return null
  // The row is as wide as the chat; the bubble in it has the same label, or the id `Sticker` on macOS 27.2.
  const shapes = nodes.filter(({ id, label }) => id === 'Sticker' || label === named.label)
  const [bubble] = shapes.toSorted((a, b) => a.rect.width - b.rect.width)
  const side = sideOf(bubble?.rect ?? named.rect, pane)
  const read = readLabel(named.label, side, title)
  if (read === null) return null
  const isFailed =
    read.isFromMe &&
    nodes.some(({ type, label }) => type === 'Button' && ENGLISH.failureMark.includes(label ?? ''))
  return {
    ...read,
    isAttachment: ENGLISH.attachment.test(comparable(read.text)),
    status: isFailed ? { kind: 'not_delivered' } : null,
  }
}

function statusOf(row: UiNode): BubbleStatus | null {
  for (const { label } of nodesOf(row)) {
    const text = comparable(label ?? '')
    if (ENGLISH.notDelivered.includes(text)) return { kind: 'not_delivered' }
    if (ENGLISH.delivered.includes(text)) return { kind: 'delivered' }
    const isRead = ENGLISH.read.some((word) => text === word || text.startsWith(`${word} `))
    if (isRead) return { kind: 'read', minutes: timeAtEnd(text) }
  }
  return null
}

/** Gives a status to the last own bubble above it. */
function markLast(bubbles: Bubble[], status: BubbleStatus): void {
  const index = bubbles.findLastIndex(({ isFromMe }) => isFromMe)
  const bubble = bubbles[index]
  if (bubble === undefined) return
  const isFailed = bubble.status?.kind === 'not_delivered'
  bubbles[index] = { ...bubble, status: isFailed ? bubble.status : status }
}
