// Messages on an iPhone, as far as WebDriverAgent shows and touches it. Where a turn comes from stands beside
// it; what nobody has seen on a phone is marked unproven, and is the worse of what may be.

import type { Clock } from '../../../src/system/clock.ts'
import { screenTree, type JsonNode } from './messages-tree.ts'

export type PhoneService = 'iMessage' | 'SMS'

export type PhoneBubble = {
  readonly isFromMe: boolean
  /** The other side, as Messages names it. */
  readonly sender: string
  text: string
  /** Messages may send an iMessage as a text message after all. */
  service: PhoneService
  readonly at: number
  tapback: string | null
  stage: 'sent' | 'delivered' | 'read' | 'failed'
  readAt: number | null
}

export type PhoneChat = {
  /** The number or address; of a group what its members are. */
  readonly key: string
  title: string
  readonly isGroup: boolean
  bubbles: PhoneBubble[]
  draft: string
  isUnread: boolean
}

export type PhoneAlert = { readonly text: string; readonly buttons: readonly string[] }

/** What becomes of the next touch of the send button. */
export type TouchEffect =
  | 'sends'
  /** The button does not react: a tap that lands beside it. */
  | 'nothing'
  /** The bubble comes with the failure mark. */
  | 'fails'
  /** It goes as a text message after all. */
  | 'as_text'
  /** The composer is empty at once, the bubble comes later. */
  | 'late_bubble'

/** How an address turns out: what the composer says at first, and what it says after a while. */
export type Reach = {
  readonly first: PhoneService
  readonly settled: PhoneService
  readonly afterMs: number
}

export type ChatScreen = Extract<PhoneScreen, { readonly on: 'chat' }>

export type PhoneScreen =
  | { readonly on: 'list' }
  | { readonly on: 'chat'; readonly chat: PhoneChat; readonly openedAt: number }
  /** The details of a chat, which its title leads to; what is on them is unproven. */
  | { readonly on: 'details'; readonly behind: ChatScreen }
  /** Another app, or a screen of Messages that nobody knows. */
  | { readonly on: 'elsewhere' }

const ON_IMESSAGE: Reach = { first: 'iMessage', settled: 'iMessage', afterMs: 0 }
/** The lock screen of a phone without a passcode opens by the home button (WebDriverAgent's unlock). */
const NEVER = new AbortController().signal

export class MessagesPhone {
  readonly clock: Clock
  screen: PhoneScreen = { on: 'list' }
  isLocked = false
  hasPasscode = false
  /** Alerts, the front one first. */
  alerts: PhoneAlert[] = []
  /** What a touch that lands on an alert does, which is answered as done; null if it is refused. */
  onAlertTouch: (() => void) | null = null
  /** Touches of whatever kind that came while an alert was in front. */
  touchesUnderAlert = 0
  /** Cells of the list that are no conversations, such as those of its filters. */
  listHeaders: string[] = []
  /** Keys of the chats that stand above all others, in this order. */
  pinned: string[] = []
  /** How long until `Delivered`, and until `Read`; null for never. */
  deliveredAfterMs: number | null = 400
  readAfterMs: number | null = null
  /** Whether text messages have a caption too, as RCS is said to have; unproven. */
  hasTextCaptions = false
  /** How many rows of a chat are in the tree; unproven whether all are. */
  windowRows = 40
  /** How many conversations are in the tree. */
  windowCells = 9
  /** How long a chat that is opened shows none of its bubbles. */
  loadMs = 0
  /** By how much the phone's clock is ahead. */
  aheadMs = 0
  /** What the composer says if nothing is typed. */
  words: Readonly<Record<PhoneService, string>> = { iMessage: 'iMessage', SMS: 'Text Message' }
  /** What the keyboard makes of a text. */
  typed: (text: string) => string = (text) => text
  /** What the composer says where a link brought a text. */
  linked: (text: string) => string = (text) => text
  canClear = true
  /** How long after its touch a late bubble comes. */
  lateBubbleMs = 5_000
  nextTouches: TouchEffect[] = []
  /** Whom the next link opens instead. */
  wrongChats: string[] = []
  /** Contacts of the phone: their names stand where their numbers would. */
  readonly contacts = new Map<string, string>()
  readonly reach = new Map<string, Reach>()
  /** What the details of a chat show: whose it is, nothing of that, or the title leads nowhere. */
  details: 'people' | 'nobody' | 'absent' = 'people'
  /** What stands in the bar for some time after a chat was opened, in the place of its title. */
  firstTitle: { readonly text: string; readonly forMs: number } | null = null
  /** How often the details of a chat were opened. */
  detailsOpened = 0
  /** How often the send button was touched. */
  touches = 0
  /** Whether the list is where it was when a chat is left; else it is at its top. */
  keepsListPlace = true
  /** How far the window of the open chat, and that of the list, has been moved. */
  chatScroll = 0
  listScroll = 0
  #chats: PhoneChat[] = []

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** The pinned ones, then those with the newest bubble first, as the list has them. */
  get chats(): readonly PhoneChat[] {
    const rank = ({ key }: PhoneChat) => (this.pinned.indexOf(key) + 1 || Infinity) - 1
    const order = (a: PhoneChat, b: PhoneChat) =>
      rank(a) === rank(b) ? newest(b) - newest(a) : rank(a) - rank(b)
    return this.#chats.toSorted(order)
  }

  chat(key: string): PhoneChat {
    const known = this.#chats.find((chat) => chat.key === key)
    if (known !== undefined) return known
    const isGroup = key.includes(' & ')
    const title = this.contacts.get(key) ?? (isGroup ? key : written(key))
    const chat = { key, title, isGroup, bubbles: [], draft: '', isUnread: false }
    this.#chats.push(chat)
    return chat
  }

  /** Messages takes a name from somewhere for a person without a contact: `Maybe: Ann`. */
  suggest(key: string, name: string): void {
    const chat = this.chat(key)
    const before = chat.title
    chat.title = `Maybe: ${name}`
    chat.bubbles = chat.bubbles.map((bubble) =>
      bubble.sender === before ? { ...bubble, sender: chat.title } : bubble,
    )
  }

  /** The members of a group, or the other side. */
  peopleOf({ key, isGroup }: PhoneChat): readonly string[] {
    return isGroup ? key.split(' & ') : [written(key)]
  }

  /** What stands in the bar of an open chat. */
  titleOf({ chat, openedAt }: ChatScreen): string {
    const { firstTitle, clock } = this
    const isEarly = firstTitle !== null && clock.monotonic() - openedAt < firstTitle.forMs
    return isEarly ? firstTitle.text : chat.title
  }

  /** Own bubbles with a text. */
  sent(key: string, text: string): readonly PhoneBubble[] {
    return this.chat(key).bubbles.filter((bubble) => bubble.isFromMe && bubble.text === text)
  }

  /** How many own bubbles say `text`, in all chats. */
  carried(text: string): number {
    return this.#chats.flatMap(({ key }) => this.sent(key, text)).length
  }

  /** A person writes, or did so some time ago. What comes into an open chat is read at once. */
  receive(
    key: string,
    text: string,
    { sender = null, agoMs = 0 }: { readonly sender?: string | null; readonly agoMs?: number } = {},
  ): PhoneBubble {
    const chat = this.chat(key)
    const from = { isFromMe: false, service: 'iMessage', sender } as const
    const bubble = this.#bubble(chat, text, { ...from, agoMs })
    chat.bubbles.push(bubble)
    chat.isUnread = !(this.screen.on === 'chat' && this.screen.chat === chat)
    return bubble
  }

  /** A person types on the phone, or did so some time ago. */
  write(key: string, text: string, agoMs = 0): PhoneBubble {
    const chat = this.chat(key)
    const from = { isFromMe: true, service: 'iMessage', sender: null } as const
    const bubble = this.#bubble(chat, text, { ...from, agoMs })
    chat.bubbles.push(bubble)
    return bubble
  }

  /** The owner clears a chat. */
  erase(key: string): void {
    this.#chats = this.#chats.filter((chat) => chat.key !== key)
  }

  tree(): JsonNode {
    return screenTree(this)
  }

  open(key: string): void {
    this.screen = { on: 'chat', chat: this.chat(key), openedAt: this.clock.monotonic() }
    this.chatScroll = 0
    this.chat(key).isUnread = false
  }

  /** `sms:<number>[&body=<text>]`, which iOS opens in Messages; the body lands in the composer. */
  openUrl(url: string): void {
    const [to = '', body] = url.replace(/^sms:/, '').split('&body=')
    const key = this.wrongChats.shift() ?? decodeURIComponent(to)
    const isOpen = this.screen.on === 'chat' && this.screen.chat.key === key
    if (!isOpen) this.open(key)
    if (body !== undefined) this.chat(key).draft = this.linked(decodeURIComponent(body))
  }

  /** The title of the open chat is touched. */
  touchTitle(): void {
    const { screen } = this
    if (screen.on === 'chat' && this.details !== 'absent') {
      this.detailsOpened += 1
      this.screen = { on: 'details', behind: screen }
    }
  }

  back(): void {
    if (this.screen.on === 'details') {
      this.screen = this.screen.behind
      return
    }
    this.screen = { on: 'list' }
    if (!this.keepsListPlace) this.listScroll = 0
  }

  type(text: string): void {
    if (this.screen.on === 'chat') this.screen.chat.draft += this.typed(text)
  }

  clear(): void {
    if (this.screen.on === 'chat' && this.canClear) this.screen.chat.draft = ''
  }

  /** The finger moves down to see what is above. */
  swipe(direction: 'up' | 'down'): void {
    const { screen, windowRows, windowCells } = this
    if (screen.on === 'chat') {
      const moved = this.chatScroll + (direction === 'down' ? windowRows - 1 : 1 - windowRows)
      this.chatScroll = Math.max(0, Math.min(moved, screen.chat.bubbles.length - windowRows))
    } else {
      const moved = this.listScroll + (direction === 'up' ? windowCells - 1 : 1 - windowCells)
      // A chat without a bubble is not in the list.
      const count = this.#chats.filter(({ bubbles }) => bubbles.length > 0).length
      this.listScroll = Math.max(0, Math.min(moved, count - windowCells))
    }
  }

  /** What the composer of the open chat says of its service. */
  serviceOf({ chat, openedAt }: ChatScreen): PhoneService {
    const reach = this.reach.get(chat.key) ?? ON_IMESSAGE
    return this.clock.monotonic() - openedAt >= reach.afterMs ? reach.settled : reach.first
  }

  /** The send button of the open chat is touched. */
  touchSend(): void {
    const { screen } = this
    if (screen.on !== 'chat' || screen.chat.draft === '') return
    this.touches += 1
    const effect = this.nextTouches.shift() ?? 'sends'
    if (effect === 'nothing') return
    const { chat } = screen
    const service = effect === 'as_text' ? 'SMS' : this.serviceOf(screen)
    const text = chat.draft
    chat.draft = ''
    if (effect === 'late_bubble') {
      void this.clock
        .sleep(this.lateBubbleMs, NEVER)
        .then(() => this.#send(chat, text, service, false))
    } else this.#send(chat, text, service, effect === 'fails')
  }

  unlock(): boolean {
    if (!this.hasPasscode) this.isLocked = false
    return !this.isLocked
  }

  /** Messages comes to the front, showing the screen that it was left on. */
  activate(): void {
    if (this.screen.on === 'elsewhere') this.screen = { on: 'list' }
  }

  #send(chat: PhoneChat, text: string, service: PhoneService, fails: boolean): void {
    const bubble = this.#bubble(chat, text, { isFromMe: true, service, sender: null, agoMs: 0 })
    if (fails) bubble.stage = 'failed'
    chat.bubbles.push(bubble)
    if (!fails && service === 'iMessage') this.#deliver(bubble)
  }

  #deliver(bubble: PhoneBubble): void {
    const { deliveredAfterMs, readAfterMs, clock } = this
    if (deliveredAfterMs !== null) {
      clock.after(deliveredAfterMs, () => {
        bubble.stage = 'delivered'
      })
    }
    if (readAfterMs !== null) {
      clock.after(readAfterMs, () => {
        bubble.stage = 'read'
        bubble.readAt = clock.now()
      })
    }
  }

  #bubble(
    chat: PhoneChat,
    text: string,
    more: {
      readonly isFromMe: boolean
      readonly service: PhoneService
      readonly sender: string | null
      readonly agoMs: number
    },
  ): PhoneBubble {
    const { isFromMe, service, agoMs } = more
    const at = this.clock.now() + this.aheadMs - agoMs
    const sender = more.sender ?? chat.title
    return { isFromMe, service, sender, text, at, tapback: null, stage: 'sent', readAt: null }
  }
}

function newest({ bubbles }: PhoneChat): number {
  return bubbles.at(-1)?.at ?? 0
}

/** As iOS writes a number of the United States: between marks of direction, with a no-break space. */
function written(key: string): string {
  const match = /^\+1(\d{3})(\d{3})(\d{4})$/.exec(key)
  if (match === null) return key
  const [, area, first, last] = match
  return `\u202A+1\u00A0(${area})\u00A0${first}-${last}\u202C`
}
