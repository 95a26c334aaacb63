// Plays a history on a phone, with the real relay behind it.

import { UDID } from '../../support/iphone/fake-phones.ts'
import type { PhoneBubble } from '../../support/iphone/messages-phone.ts'
import { PhoneLineRig } from '../../support/iphone/phone-line-rig.ts'
import { WatchedPhone } from '../../support/iphone/watched-phone.ts'
import type { CommandName, Meddling } from '../../support/iphone/wda-commands.ts'
import type { Json } from '../../support/test-relay.ts'
import { PhoneBox } from '../iphone-relay.ts'
import type { Act, History, HistoryChat, Incident } from './history.ts'
import { Ledger } from './ledger.ts'

const ASYNC = { Prefer: 'respond-async' }
const MINUTE_MS = 60_000
const EARLY_TITLE_MS = 300
/** The owner sees to an alert that the relay must not touch. */
const OWNER_MS = 60_000
/** Looks for late changes of an own message come within so long. */
const CALM_MS = 30 * MINUTE_MS
const CALM_STEP_MS = 10_000
/** The time within which an event that is reported twice is repeated. */
const AFTERWARDS_MS = 40_000
const PAGE = 100
/** The look for an alert and the touch after it are as close as this. */
const COMMANDS_AT_ONCE = 2

type ChangingAct = Extract<Act, { readonly act: 'unsend' | 'turn' | 'edit' | 'react' | 'rename' }>
type Waiting = Extract<Act, { readonly act: 'later' }> & { left: number }

export class Stage implements AsyncDisposable {
  readonly ledger = new Ledger()
  readonly phone: WatchedPhone
  readonly box: PhoneBox
  /** Touches under an alert that was there for the whole of a command before. */
  blindTouches = 0
  /** Requests of a program that the relay refused. */
  readonly refusals: string[] = []
  /** True once a message of ours may be in doubt for good. */
  hadFault = false
  readonly #history: History
  readonly #chats: ReadonlyMap<string, HistoryChat>
  #waiting: Waiting[] = []
  #isKillDue = false

  private constructor(history: History) {
    this.#history = history
    this.#chats = new Map(history.chats.map((chat) => [chat.key, chat]))
    const phones: WatchedPhone[] = []
    const rig = new PhoneLineRig([UDID], (clock) => {
      const phone = new WatchedPhone(clock)
      phones.push(phone)
      return phone
    })
    this.box = new PhoneBox(rig)
    const [phone] = phones
    if (phone === undefined) throw new Error('The rig has no phone.')
    this.phone = phone
    this.box.commands.meddle = (name) => this.#onCommand(name)
  }

  /** Plays the whole history, and then a calm, until all is reported or it is hopeless. */
  static async play(history: History): Promise<Stage> {
    const stage = new Stage(history)
    stage.#setUp()
    stage.box.plugIn()
    await stage.box.start()
    for (const act of history.acts) {
      await stage.#perform(act)
      await stage.#killIfDue()
    }
    await stage.#calmDown()
    return stage
  }

  /** Every message that the relay has, oldest first. */
  async messages(): Promise<readonly Json[]> {
    const all: Json[] = []
    for (let cursor = ''; ;) {
      const page = await this.box.relay.get(`/api/v1/messages?limit=${PAGE}${cursor}`)
      all.push(...page.data)
      if (page.has_more !== true) return all.toReversed()
      cursor = `&cursor=${page.next_cursor}`
    }
  }

  /** Ids of the messages that were reported to programs as received. */
  get announced(): readonly string[] {
    const bodies = new Map(this.box.sink.posts.map(({ id, body }) => [id, JSON.parse(body)]))
    const received = [...bodies.values()].filter(({ event }) => event === 'message.received')
    return received.map(({ message }) => message.id as string)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.box[Symbol.asyncDispose]()
  }

  #setUp(): void {
    const { phone } = this
    phone.keepsListPlace = this.#history.keepsListPlace
    if (this.#history.troubles.includes('turned to text')) {
      // What was delivered as an iMessage never turns.
      phone.deliveredAfterMs = null
      phone.readAfterMs = null
    }
    for (const chat of this.#history.chats) {
      const { key, title, senders, firstMs, earlyTitle, isPinned, knownMinutes } = chat
      Object.assign(phone.chat(key), { title, isGroup: senders !== null })
      if (firstMs > 0) phone.reach.set(key, { first: 'SMS', settled: 'iMessage', afterMs: firstMs })
      if (earlyTitle !== null)
        phone.earlyTitles.set(key, { title: earlyTitle, forMs: EARLY_TITLE_MS })
      if (isPinned) phone.pinned.push(key)
      if (knownMinutes === null) continue
      const sender = senders?.[0] ?? null
      phone.receive(key, 'from before', { sender, agoMs: knownMinutes * MINUTE_MS })
      phone.chat(key).isUnread = false
    }
  }

  async #perform(act: Act): Promise<void> {
    const { phone } = this
    switch (act.act) {
      case 'wait':
        return await this.#pass(act.ms)
      case 'later':
        return void this.#waiting.push({ ...act, left: act.place })
      case 'send':
        return await this.#send(act.key, act.text)
      case 'receive':
        return this.#receive(act.key, act.text, act.from)
      case 'write':
        return this.#note(act.key, phone.write(act.key, act.text))
      case 'read':
        phone.chat(act.key).isUnread = false
        return
      case 'unsend':
      case 'edit':
      case 'react':
      case 'rename':
      case 'turn':
        return this.#change(act)
    }
  }

  /** What is on the phone already changes. */
  #change(act: ChangingAct): void {
    const { phone, ledger } = this
    const chat = phone.chat(act.key)
    const last = chat.bubbles.findLast(({ isFromMe }) => !isFromMe)
    const said = ledger.of(last)
    switch (act.act) {
      case 'unsend':
        chat.bubbles = chat.bubbles.filter((bubble) => bubble !== last)
        if (said !== undefined) said.isKnowable = false
        return
      case 'edit':
        if (last !== undefined) last.text = act.text
        if (said !== undefined) ledger.noteEdit(said)
        return
      case 'react':
        if (last !== undefined) last.tapback = act.tapback
        return
      case 'rename':
        chat.title = act.title
        for (const bubble of chat.bubbles) Object.assign(bubble, { sender: act.title })
        return ledger.noteName(act.key)
      case 'turn':
        return this.#turn(act.key)
    }
  }

  #receive(key: string, text: string, from: number): void {
    const sender = this.#chat(key).senders?.[from] ?? null
    this.#note(key, this.phone.receive(key, text, { sender }))
  }

  #note(key: string, bubble: PhoneBubble): void {
    this.ledger.note(this.#chat(key), bubble)
  }

  async #send(key: string, text: string): Promise<void> {
    const { status, body } = await this.box.relay.send({ to: key, text }, ASYNC)
    if (status >= 300) this.refusals.push(`${status} ${JSON.stringify(body)}`)
    else this.ledger.sends.push({ id: body.id, key, text })
  }

  /** iOS gives up on an iMessage, and sends it as a text message. */
  #turn(key: string): void {
    const own = this.phone.chat(key).bubbles.findLast(({ isFromMe }) => isFromMe)
    if (own?.stage === 'sent') Object.assign(own, { service: 'SMS' })
  }

  #chat(key: string): HistoryChat {
    const chat = this.#chats.get(key)
    if (chat === undefined) throw new Error(`There is no chat ${key}.`)
    return chat
  }

  /** Time passes; a kill that falls into it happens at its moment. */
  async #pass(ms: number): Promise<void> {
    const { clock } = this.box.rig
    const until = clock.monotonic() + ms
    while (clock.monotonic() < until) {
      await clock.advanceUntil(() => this.#isKillDue, until - clock.monotonic())
      await this.#killIfDue()
    }
  }

  async #killIfDue(): Promise<void> {
    while (this.#isKillDue) {
      this.#isKillDue = false
      await this.box.crash()
      await this.box.start()
    }
  }

  #onCommand(name: CommandName): Meddling | null {
    const isTouch = name === 'click' || name === 'tap'
    let meddling: Meddling | null = null
    for (const waiting of this.#waiting) {
      if (waiting.of === 'touches' && !isTouch) continue
      waiting.left -= 1
      if (waiting.left === 0) meddling = this.#strike(waiting.incident) ?? meddling
    }
    this.#waiting = this.#waiting.filter(({ left }) => left > 0)
    return meddling
  }

  #strike(incident: Incident): Meddling | null {
    const { phone, box } = this
    switch (incident.what) {
      case 'kill':
        this.hadFault = true
        this.#isKillDue = true
        return null
      case 'unplug':
        this.hadFault = true
        box.rig.unplug()
        phone.clock.after(incident.ms, () => box.plugIn())
        return null
      case 'front':
        // A text that the owner types into the chat of a send cannot be distinguished from that of the send.
        if (phone.screen.on === 'chat' && phone.screen.chat.key === incident.key) return null
        if (incident.draft !== '') phone.chat(incident.key).draft = incident.draft
        phone.open(incident.key)
        return null
      case 'alert':
        this.#showAlert(incident.buttons)
        return null
      case 'receive':
        this.#receive(incident.key, incident.text, 0)
        return null
      case 'fail':
        this.hadFault = true
        if (incident.when === 'stale') return { how: 'stale' }
        return incident.when === 'drop'
          ? { how: 'drop', when: 'before' }
          : { how: 'error', when: incident.when }
    }
  }

  #showAlert(buttons: readonly string[]): void {
    const { phone } = this
    const { requests } = this.box.commands
    const alert = { text: 'Something of the phone', buttons }
    const shownAt = requests.length
    phone.alerts.push(alert)
    // A touch that is answered as done, and lands on the alert.
    phone.onAlertTouch = () => {
      if (requests.length - shownAt > COMMANDS_AT_ONCE) this.blindTouches += 1
    }
    phone.clock.after(OWNER_MS, () => {
      phone.alerts = phone.alerts.filter((one) => one !== alert)
    })
  }

  async #calmDown(): Promise<void> {
    const { phone, box } = this
    this.#waiting = []
    phone.alerts = []
    if (box.commands.isUnplugged) box.plugIn()
    for (let ms = 0; ms < CALM_MS && !(await this.#isOver()); ms += CALM_STEP_MS) {
      await this.#pass(CALM_STEP_MS)
    }
    await this.#pass(AFTERWARDS_MS)
  }

  async #isOver(): Promise<boolean> {
    const messages = await this.messages()
    this.ledger.match(messages)
    const isOpen = ({ id, key, text }: { id: string; key: string; text: string }) => {
      const message = messages.find((one) => one.id === id)
      const isNamed = this.ledger.namedKeys.has(key)
      const bubble = isNamed ? undefined : this.phone.sent(key, text)[0]
      const service = bubble?.service ?? message?.service
      return (
        ['queued', 'sending', 'uncertain'].includes(message?.status) || message?.service !== service
      )
    }
    return this.ledger.untold.every(({ isNamed }) => isNamed) && !this.ledger.sends.some(isOpen)
  }
}
