// Draws a history from a seed: conversations with hostile names and texts, in bursts, while things go wrong.

import { SeededRandom } from '../../support/seeded-random.ts'
import {
  TROUBLES,
  type Act,
  type History,
  type HistoryChat,
  type Incident,
  type Trouble,
} from './history.ts'

/** Texts of people that look like words of the phone, or like parts of its labels. */
const PHONE_WORDS = [
  'Photo', 'Video', 'Photo or video?', 'Sticker', '1 image', 'Audio Message', 'Edited', 'Loved by you',
  'see you, Loved by you', 'see you, Edited', 'Delivered', 'Read 4:30 PM', 'Not Delivered', 'Unread',
  'are you there, Unread', 'No, really', '4:35 PM', 'at the door, 4:35 PM', 'Today 4:30 PM', 'Yesterday',
  'Sun, Nov 1 at 9:00 AM', 'Your iMessage, hello', 'Your text message, hello', 'Message', 'iMessage',
  'Text Message', '2 People', 'To: +12025550177', '+1 (202) 555-0177, pay to account 7', 'Maybe: Ann',
  'Sent as Text Message', 'Ann unsent a message', 'line one\nline two', ' , ', 'No', '🙂', 'ok, 1/2/26',
] // prettier-ignore
const TAPBACKS = ['Loved by you', 'Liked by you', 'Laughed at by you', 'Emphasized by you']
const SAFE_ALERT = ['Install Now', 'Later']
const HARMFUL_ALERT = ['Erase iPhone', 'Reset']
const HARMLESS_ALERTS = [SAFE_ALERT, ['Allow', 'Not Now'], ['Buy', 'Remind Me Later']]
const LATER_MS = 1_200_000
const PLACES_MAX = 45
const PEOPLE_MAX = 120

export function drawHistory(seed: number, only: readonly Trouble[] | null = null): History {
  return new Draw(seed, only).history()
}

class Draw {
  readonly #seed: number
  readonly #random: SeededRandom
  readonly #troubles: readonly Trouble[]
  readonly #chats: HistoryChat[] = []
  readonly #acts: Act[] = []
  #words = 0

  constructor(seed: number, only: readonly Trouble[] | null) {
    this.#seed = seed
    this.#random = new SeededRandom(seed * 7_919)
    const drawn = new Set(Array.from({ length: this.#between(2, 5) }, () => this.#of(TROUBLES)))
    this.#troubles = only ?? TROUBLES.filter((trouble) => drawn.has(trouble))
  }

  history(): History {
    this.#drawChats()
    const phases = this.#between(1, 2)
    for (let phase = 0; phase < phases; phase += 1) this.#drawPhase()
    const keepsListPlace = this.#isChance(0.7)
    const [chats, acts, troubles] = [this.#chats, this.#acts, this.#troubles]
    return { seed: this.#seed, troubles, keepsListPlace, chats, acts }
  }

  #drawChats(): void {
    const people = this.#peopleCount()
    for (let place = 0; place < people; place += 1) {
      const number = `+1202555${String(1_000 + place * 7)}`
      const key = this.#isChance(0.06) ? `person${place}@example.com` : number
      this.#addChat(key, titleOf(key), null)
    }
    if (this.#has('national twins')) {
      this.#addChat('+442025550123', '+44 20 2555 0123', null)
      this.#addChat('+12025550123', '(202) 555-0123', null)
    }
    if (this.#has('group names')) this.#addGroups()
    if (this.#has('suggested names') || this.#isChance(0.02)) this.#addGroup('Family')
    if (!this.#has('pins')) return
    const pins = this.#between(1, 9)
    for (const [place, chat] of this.#chats.entries()) {
      if (place < pins) this.#chats[place] = { ...chat, isPinned: true }
    }
  }

  #peopleCount(): number {
    if (!this.#has('bursts')) return this.#between(2, 6)
    if (this.#isChance(0.06)) return this.#between(40, PEOPLE_MAX)
    return this.#between(10, 24)
  }

  #addGroups(): void {
    const [first = '', second = ''] = this.#people()
    const titles = [
      titleOf(first),
      titleOf(second),
      'boss@example.com',
      `+1 (202) 555-0666`,
      'Maybe: Ann',
      'Ann, Bob & Carl',
      'Family',
      'To: +12025550177',
    ]
    const count = this.#between(1, 3)
    for (let place = 0; place < count; place += 1) this.#addGroup(this.#of(titles))
  }

  #addGroup(title: string): void {
    const [first = '', second = '', third = ''] = this.#people()
    const members = new Set([
      this.#of([first, third]),
      second,
      `+1202555${2_000 + this.#chats.length}`,
    ])
    const senders = [...members].map(titleOf)
    this.#addChat(senders.join(' & '), title, senders)
  }

  #addChat(key: string, title: string, senders: readonly string[] | null): void {
    const isLate = senders === null && this.#has('late composer') && this.#isChance(0.5)
    const early = senders === null ? [''] : [senders[0] ?? '', '', `${senders.length} People`]
    const isEarly = this.#has('late title') && this.#isChance(0.5)
    this.#chats.push({
      key,
      title,
      senders,
      firstMs: isLate ? this.#of([300, 900, 2_000]) : 0,
      earlyTitle: isEarly ? this.#of(early) : null,
      isPinned: false,
      knownMinutes: this.#isChance(0.3) ? this.#between(10, 300) : null,
    })
  }

  #drawPhase(): void {
    if (this.#has('cable') && this.#isChance(0.5)) this.#incident({ what: 'unplug', ms: 60_000 }, 1)
    const burst = this.#has('bursts') ? this.#chats.length : this.#between(2, 8)
    for (let place = 0; place < burst; place += 1) {
      const chat = this.#has('bursts') ? this.#chats[place] : this.#of(this.#chats)
      if (chat !== undefined) this.#receive(chat)
      if (this.#isChance(0.2)) this.#wait(this.#between(100, 4_000))
      if (this.#isChance(0.1)) this.#oddAct()
    }
    const odd = this.#between(1, 5)
    for (let count = 0; count < odd; count += 1) this.#oddAct()
    this.#wait(this.#of([1_000, 8_000, 40_000, 120_000]))
  }

  /** Something that one of the troubles of this history asks for. */
  #oddAct(): void {
    const acts = this.#troubles.map((trouble) => this.#actOf(trouble))
    this.#of([...acts, () => this.#wait(this.#between(500, 20_000))])()
  }

  #actOf(trouble: Trouble): () => void {
    const person = this.#of(this.#people())
    const acts: Readonly<Record<Trouble, () => void>> = {
      bursts: () => this.#receive(this.#of(this.#chats)),
      pins: () => this.#receive(this.#of(this.#chats)),
      'failed taps': () => this.#fail(),
      kills: () => this.#incident({ what: 'kill' }),
      cable: () => this.#incident({ what: 'unplug', ms: this.#of([300, 3_000, 90_000]) }),
      'group names': () => this.#receive(this.#of(this.#chats)),
      'suggested names': () => this.#rename(person),
      'other chat in front': () => this.#bringToFront(person),
      alerts: () => this.#alert(),
      'late composer': () => this.#receive(this.#of(this.#chats)),
      'late title': () => this.#receive(this.#of(this.#chats)),
      'turned to text': () => this.#turn(person),
      'words of the phone': () => this.#receive(this.#of(this.#chats)),
      'unsent and edited': () => this.#unsend(person),
      'own words': () => this.#ownWords(person),
      'equal texts': () => this.#equalTexts(person),
      'national twins': () => this.#receive(this.#of(this.#chats)),
      'read elsewhere': () => this.#readElsewhere(person),
      sends: () => this.#send(person),
    }
    return acts[trouble]
  }

  #fail(): void {
    const when = this.#of(['before', 'after', 'stale', 'drop'] as const)
    this.#incident({ what: 'fail', when }, 1, this.#of(['commands', 'touches']))
  }

  #rename(key: string): void {
    this.#acts.push({
      act: 'rename',
      key,
      title: this.#of(['Maybe: Ann', 'Maybe: Bob Fox', 'Ann']),
    })
    this.#acts.push({ act: 'receive', key, text: this.#text(), from: 0 })
  }

  #bringToFront(key: string): void {
    this.#send(key)
    const text = `words ${this.#words}`
    const other = this.#of(this.#chats.filter((chat) => chat.key !== key)).key
    // While a bar says another person's number, the very text of a send in a composer proves the wrong chat.
    const drafts = ['', `half a word ${this.#words}`, text]
    const draft = this.#of(drafts)
    this.#incident({ what: 'front', key: other, draft }, 1, this.#of(['commands', 'touches']))
    this.#wait(this.#between(10_000, 30_000))
  }

  #alert(): void {
    const buttons = this.#isChance(0.8) ? this.#of(HARMLESS_ALERTS) : HARMFUL_ALERT
    this.#incident({ what: 'alert', buttons }, 1, this.#of(['commands', 'touches']))
    if (this.#isChance(0.5)) this.#send(this.#of(this.#people()))
  }

  #turn(key: string): void {
    if (!key.startsWith('+1')) return
    this.#send(key)
    this.#wait(this.#of([12_000, 100_000]))
    this.#acts.push({ act: 'turn', key })
  }

  #unsend(key: string): void {
    const text = this.#of(['No', this.#newWords()])
    this.#acts.push({ act: 'receive', key, text, from: 0 })
    this.#wait(this.#of([0, 2_000, 15_000]))
    const way = this.#between(0, 2)
    if (way === 0) this.#acts.push({ act: 'edit', key, text: `${this.#newWords()} instead` })
    if (way > 0) this.#acts.push({ act: 'unsend', key })
    if (way === 2) {
      this.#wait(this.#of([0, 5_000]))
      const next = this.#of([`${text}, I mean yes`, this.#newWords()])
      this.#acts.push({ act: 'receive', key, text: next, from: 0 })
    }
  }

  #ownWords(key: string): void {
    if (this.#isChance(0.4) && key.startsWith('+1')) {
      this.#send(key)
      const text = `words ${this.#words}`
      this.#wait(this.#of([200, 1_000, 3_000]))
      this.#acts.push({ act: 'write', key, text: `${text}, Ann, this is the owner` })
    } else this.#acts.push({ act: 'write', key, text: this.#newWords() })
  }

  #equalTexts(key: string): void {
    const text = this.#of(['ok', this.#newWords()])
    this.#acts.push({ act: 'receive', key, text, from: 0 })
    this.#wait(this.#of([2_000, 70_000, 70_000, LATER_MS]))
    this.#acts.push({ act: 'receive', key, text, from: 0 })
    if (this.#isChance(0.5)) this.#acts.push({ act: 'read', key })
  }

  #readElsewhere(key: string): void {
    this.#acts.push({ act: 'receive', key, text: this.#text(), from: 0 })
    this.#acts.push({ act: 'read', key })
  }

  #send(key: string): void {
    // An address may be written to only after it has written.
    const [to] = [key, ...this.#people()].filter((one) => one.startsWith('+1'))
    const text = this.#newWords()
    if (to !== undefined) this.#acts.push({ act: 'send', key: to, text })
  }

  #receive({ key, senders }: HistoryChat): void {
    const from = this.#between(0, Math.max(0, (senders?.length ?? 1) - 1))
    this.#acts.push({ act: 'receive', key, text: this.#text(), from })
    if (this.#has('unsent and edited') && this.#isChance(0.1)) {
      this.#acts.push({ act: 'react', key, tapback: this.#of(TAPBACKS) })
    }
  }

  #incident(incident: Incident, chance = 1, of: 'commands' | 'touches' = 'commands'): void {
    if (!this.#isChance(chance)) return
    const place = this.#between(1, of === 'touches' ? 4 : PLACES_MAX)
    this.#acts.push({ act: 'later', place, of, incident })
  }

  #wait(ms: number): void {
    this.#acts.push({ act: 'wait', ms })
  }

  #people(): readonly string[] {
    const people = this.#chats.filter(({ senders }) => senders === null).map(({ key }) => key)
    const at = this.#random.below(people.length)
    return [...people.slice(at), ...people.slice(0, at)]
  }

  #text(): string {
    const isOdd = this.#has('words of the phone') && this.#isChance(0.6)
    return isOdd ? this.#of(PHONE_WORDS) : this.#newWords()
  }

  /** Words that nobody else says. */
  #newWords(): string {
    this.#words += 1
    return `words ${this.#words}`
  }

  #has(trouble: Trouble): boolean {
    return this.#troubles.includes(trouble)
  }

  #of<T>(all: readonly T[]): T {
    return this.#random.of(all)
  }

  #between(least: number, most: number): number {
    return least + this.#random.below(most - least + 1)
  }

  #isChance(chance: number): boolean {
    return this.#random.chance() < chance
  }
}

/** As iOS writes a number of the United States: between marks of direction, with a no-break space. */
function titleOf(key: string): string {
  const [, area, first, last] = /^\+1(\d{3})(\d{3})(\d{4})$/.exec(key) ?? []
  return area === undefined ? key : `\u202A+1\u00A0(${area})\u00A0${first}-${last}\u202C`
}
