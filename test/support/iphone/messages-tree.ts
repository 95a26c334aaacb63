// The screen of the phone as WebDriverAgent describes it: `source?format=json`, with the attributes of
// XCUIApplication+FBHelpers.m (16.7.0). Identifiers are ChatKit's: `ConversationList`, `messageBodyField` and
// `sendButton` from photostickers, `TranscriptCollectionView` and `MessageEntryView` from kebbie,
// `ConversationTitle` and the shape of a row from a probe of macOS 27.2.

import type { ChatScreen, MessagesPhone, PhoneBubble, PhoneChat } from './messages-phone.ts'

export type JsonNode = {
  readonly type: string
  readonly rawIdentifier: string | null
  readonly name: string | null
  readonly value: string | null
  readonly label: string | null
  readonly rect: {
    readonly x: number
    readonly y: number
    readonly width: number
    readonly height: number
  }
  readonly isEnabled: '0' | '1'
  readonly placeholderValue?: string | null
  /** What XCTest binds an element to: the view, whatever it says by now. Never in the driver's sight. */
  readonly view?: string
  readonly children?: readonly JsonNode[]
}

const SCREEN = { x: 0, y: 0, width: 393, height: 852 }
/** The button of the bar that leads back. */
export const BACK = { x: 0, y: 50, width: 60, height: 44 }
const CELL_TOP = 100
const CELL_HEIGHT = 76
const ROW_HEIGHT = 44
const VALUE_BYTES_MAX = 512
/** The edge that a bubble keeps from its side of the chat. */
const EDGE = 20

type Extra = Partial<Omit<JsonNode, 'type' | 'rawIdentifier'>>

export function node(type: string, id: string | null, extra: Extra = {}): JsonNode {
  return {
    type,
    rawIdentifier: id,
    name: id ?? extra.label ?? null,
    label: null,
    rect: SCREEN,
    isEnabled: '1',
    ...extra,
    value: cut(extra.value ?? null),
  }
}

/** A snapshot reports 512 bytes of a value at most (XCUIElement+FBUtilities.h). */
function cut(value: string | null): string | null {
  if (value === null) return null
  const bytes = new Uint8Array(VALUE_BYTES_MAX)
  return value.slice(0, new TextEncoder().encodeInto(value, bytes).read)
}

export function screenTree(phone: MessagesPhone): JsonNode {
  if (phone.isLocked) return application('', [node('Other', 'lockscreen-date-view')])
  const { screen } = phone
  if (screen.on === 'list') return application('Messages', list(phone))
  if (screen.on === 'chat') return application('Messages', chat(phone, screen))
  if (screen.on === 'details') return application('Messages', details(phone, screen.behind))
  return application('Messages', [node('Other', 'SomethingElse', { label: 'Something else' })])
}

function application(label: string, children: readonly JsonNode[]): JsonNode {
  return node('Application', null, { label, children: [node('Window', null, { children })] })
}

/** All nodes, in the order of the screen. */
export function allNodes(root: JsonNode): readonly JsonNode[] {
  return [root, ...(root.children ?? []).flatMap(allNodes)]
}

/** Where the cell at a point of the screen is; -1 if there is none. */
export function cellAt(phone: MessagesPhone, y: number): PhoneChat | null {
  const index = Math.floor((y - CELL_TOP) / CELL_HEIGHT)
  return index < 0 ? null : (cells(phone)[index] ?? null)
}

function cells(phone: MessagesPhone): readonly PhoneChat[] {
  const shown = phone.chats.filter(({ bubbles }) => bubbles.length > 0)
  return shown.slice(phone.listScroll, phone.listScroll + phone.windowCells)
}

function list(phone: MessagesPhone): readonly JsonNode[] {
  const bar = node('NavigationBar', 'Messages', {
    children: [node('Button', 'composeButton', { label: 'Compose', rect: { ...BACK, x: 340 } })],
  })
  const rows = cells(phone).map((shown, index) => {
    const y = CELL_TOP + index * CELL_HEIGHT
    const rect = { x: 0, y, width: SCREEN.width, height: CELL_HEIGHT }
    return node('Cell', null, {
      label: cellLabel(shown, phone.clock.now()),
      rect,
      view: `cell of ${shown.key}`,
    })
  })
  const headers = phone.listHeaders.map((label) => node('Cell', null, { label, view: label }))
  return [bar, node('CollectionView', 'ConversationList', { children: [...headers, ...rows] })]
}

/** Name, preview, date, unread (CKConversationListCellAccessibility); the order is unproven. */
function cellLabel({ title, bubbles, isUnread }: PhoneChat, now: number): string {
  const last = bubbles.at(-1)
  const parts = [title, last?.text ?? '', last === undefined ? '' : rowTime(last.at, now)]
  return [...parts, ...(isUnread ? ['Unread'] : [])].join(', ')
}

/** The time of a row of the list, which becomes a date when its day is over. */
function rowTime(at: number, now: number): string {
  const days = dayOf(now) - dayOf(at)
  if (days <= 0) return timeLabel(at)
  if (days === 1) return 'Yesterday'
  const [year = '', month, day] = new Date(at).toISOString().slice(0, 10).split('-')
  return `${Number(month)}/${Number(day)}/${year.slice(2)}`
}

/** Unproven in all its parts: a group shows its members, and a way to leave it. */
function details(phone: MessagesPhone, behind: ChatScreen): readonly JsonNode[] {
  const { chat: shown } = behind
  const people = phone.details === 'people' ? phone.peopleOf(shown) : []
  const cells = people.map((label) => node('Cell', null, { label }))
  const leave = node('Cell', null, { label: 'Leave this Conversation' })
  return [
    node('NavigationBar', null, {
      children: [node('Button', 'BackButton', { label: 'Back', rect: BACK })],
    }),
    ...(people.length > 0 ? [node('StaticText', null, { label: shown.title })] : []),
    node('CollectionView', null, {
      children: [
        ...cells,
        node('Switch', null, { label: 'Hide Alerts', value: '0' }),
        ...(shown.isGroup && people.length > 0 ? [leave] : []),
      ],
    }),
  ]
}

function chat(phone: MessagesPhone, screen: ChatScreen): readonly JsonNode[] {
  const title = phone.titleOf(screen)
  const isLoaded = phone.clock.monotonic() - screen.openedAt >= phone.loadMs
  const bubbles = isLoaded ? screen.chat.bubbles : []
  const end = bubbles.length - phone.chatScroll
  const first = Math.max(0, end - phone.windowRows)
  const shown = bubbles.slice(first, end)
  const bar = node('NavigationBar', null, {
    children: [
      node('Button', 'BackButton', { label: 'Messages', rect: BACK }),
      node('Button', 'ConversationTitle', { label: title, value: 'Show Conversation Details' }),
    ],
  })
  const days =
    shown.length > 0 && first === 0 ? [dateRow(shown[0], phone.clock.now() + phone.aheadMs)] : []
  const rows = [
    ...days,
    ...shown.flatMap((bubble) => bubbleRows(bubble, statusOf(phone, bubble, shown))),
  ]
  return [
    bar,
    node('CollectionView', 'TranscriptCollectionView', { label: 'Messages', children: rows }),
    composer(phone, screen),
  ]
}

/** Above the first bubble of a day (`Today 4:35 PM` was seen on macOS 27.2). */
function dateRow(bubble: PhoneBubble | undefined, now: number): JsonNode {
  const at = bubble?.at ?? now
  const isToday = dayOf(at) === dayOf(now)
  const day = new Date(at).toLocaleDateString('en-US', {
    weekday: 'short',
    month: 'short',
    day: 'numeric',
    timeZone: 'UTC',
  })
  const label = isToday ? `Today ${timeLabel(at)}` : `${day} at ${timeLabel(at)}`
  return node('Cell', null, { children: [node('StaticText', null, { label, value: label })] })
}

function bubbleRows(bubble: PhoneBubble, status: string | null): readonly JsonNode[] {
  const label = bubbleLabel(bubble)
  const width = Math.min(280, 60 + bubble.text.length * 6)
  const x = bubble.isFromMe ? SCREEN.width - EDGE - width : EDGE
  const balloon = node('Other', 'Sticker', {
    label,
    rect: { x, y: 0, width, height: ROW_HEIGHT },
  })
  // A failed cell has two children (CKTranscriptMessageCellAccessibility); the words are unproven.
  const mark = node('Button', null, { label: 'Not Delivered', rect: { ...BACK, x: 360 } })
  const isFailed = bubble.stage === 'failed'
  const row = node('Cell', null, { children: isFailed ? [balloon, mark] : [balloon] })
  if (status === null) return [row]
  const caption = node('StaticText', null, { label: status, value: status })
  return [row, node('Cell', null, { children: [caption] })]
}

/** Who, what, tapback, when, joined by commas (CKTextBalloonViewAccessibility). */
function bubbleLabel({ isFromMe, service, sender, text, tapback, at }: PhoneBubble): string {
  const own = service === 'iMessage' ? 'Your iMessage' : 'Your text message'
  const parts = [isFromMe ? own : sender, text, ...(tapback === null ? [] : [tapback])]
  return [...parts, timeLabel(at)].join(', ')
}

/** Below the newest own bubble, and below one that failed; a text message has none. */
function statusOf(
  phone: MessagesPhone,
  bubble: PhoneBubble,
  shown: readonly PhoneBubble[],
): string | null {
  if (bubble.stage === 'failed') return 'Not Delivered'
  const isNewest = shown.findLast(({ isFromMe }) => isFromMe) === bubble
  const hasCaption = bubble.service === 'iMessage' || phone.hasTextCaptions
  if (!isNewest || !hasCaption) return null
  if (bubble.stage === 'read') return `Read ${timeLabel(bubble.readAt ?? bubble.at)}`
  return bubble.stage === 'delivered' ? 'Delivered' : null
}

function composer(phone: MessagesPhone, screen: ChatScreen): JsonNode {
  const { draft } = screen.chat
  const placeholderValue = phone.words[phone.serviceOf(screen)]
  // The value of an empty field is its placeholder (XCUIElement+FBWebDriverAttributes.m).
  const value = draft === '' ? placeholderValue : draft
  const field = node('TextField', 'messageBodyField', { label: 'Message', value, placeholderValue })
  // With nothing to send there is a button for audio in its place; unproven.
  const button = draft === '' ? node('Button', null, { label: 'Record audio' }) : SEND_BUTTON
  return node('Other', 'MessageEntryView', { children: [field, button] })
}

const SEND_BUTTON = node('Button', 'sendButton', {
  label: 'Send',
  rect: { ...BACK, x: 340, y: 800 },
})

/** U+202F stands between the time and its half of the day (seen on macOS 27.2). */
function timeLabel(at: number): string {
  const minutes = Math.floor(at / 60_000) % 1_440
  const hour = Math.floor(minutes / 60)
  const half = hour < 12 ? 'AM' : 'PM'
  return `${hour % 12 === 0 ? 12 : hour % 12}:${String(minutes % 60).padStart(2, '0')}\u202F${half}`
}

function dayOf(at: number): number {
  return Math.floor(at / 86_400_000)
}
