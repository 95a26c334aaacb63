// Draws histories: which people there are, what they write and how its rows come into chat.db, what else happens.

import { SeededRandom } from '../../support/seeded-random.ts'
import {
  FILE_BODIES,
  isUndated,
  type Body,
  type Copy,
  type Dated,
  type Fate,
  type Feature,
  type Group,
  type Letter,
  type Move,
  type Other,
  type Past,
  type Place,
  type Run,
  type Trouble,
} from './history.ts'
import { neighbour, somebody, type Person } from './people.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
/** Most of a history happens within these times; between them things calm down. */
const WINDOWS_MS = [0, 20, 40].map((minutes) => minutes * MINUTE_MS)
const WINDOW_MS = 90_000
/** A long trouble begins so long after its window. */
const TROUBLE_AFTER_MS = 5 * MINUTE_MS
/** The first comes after a minute, and the seconds until the line has read the first row. */
const COPIES_MS = [70, 120, 600].map((seconds) => seconds * SECOND_MS)
const LATE_COPY_MS = 3_600 * SECOND_MS
const MOVES_MAX = 9
const BACK_FILL = 60
const LONG_BACK_FILL = 1_500
/** Five failures in an hour stop a line, and that is another story. */
const FAILURES_MAX = 4
/** All other sends wait behind one for minutes. */
const SLOW_FILES_MAX = 2
const SCHEMAS = ['macos15', 'macos26a', 'macos26b'] as const

const PLACES: readonly Place[] = ['bare chat', 'two chats', 'merged chat', 'late chat', 'no chat']
const BODIES: readonly Body[] = [
  'column',
  'late text',
  'file',
  'late file',
  'late mark',
  'named file',
  'retracted text',
]
const DATES: Readonly<Partial<Record<Feature, Dated>>> = {
  'no date': 'never',
  'before 2001': 'before 2001',
  'date ahead': 'ahead',
  old: 'two years ago',
  'minutes late': 'minutes ago',
}
const FAILING: readonly Fate[] = ['failed22_at_once', 'failed22_after_2s']
const GOING: readonly Fate[] = [
  'join_3s_late',
  'slow_sending',
  'fails_then_clears',
  'failed_then_clean_row',
]
const ODD: readonly Fate[] = ['two chats', 'merged chat', 'bare chat', 'somebody else']
const LONG_TROUBLES = ['outage', 'sleep', 'stopped', 'rebuilt'] as const
const SHORT_TROUBLES = ['crash', 'line off'] as const
const OTHERS = [
  'edit of nothing',
  'edit row',
  'renames',
  'back-fill',
  'many without date',
  'self chat',
  'capitals',
  'receive only',
  'echo in a group',
] as const

export type Drawn = {
  readonly seed: number
  readonly histories: number
  readonly features: ReadonlySet<Feature>
}

/** The same run for the same seed. */
export function drawRun(drawn: Drawn): Run {
  return new Draw(drawn).run()
}

class Draw {
  readonly #drawn: Drawn
  readonly #random: SeededRandom
  readonly #moves: Move[] = []
  readonly #past: Past[] = []
  /** In some runs they come as late as an hour after, for which all of the run waits. */
  readonly #copiesMs: readonly number[]
  #serial = 1
  #failures = 0
  #slowFiles = 0
  #texts = 0

  constructor(drawn: Drawn) {
    this.#drawn = drawn
    this.#random = new SeededRandom(drawn.seed)
    this.#copiesMs = this.#chance(0.3) ? [...COPIES_MS, LATE_COPY_MS] : COPIES_MS
  }

  run(): Run {
    const schema = this.#random.of(SCHEMAS)
    for (let history = 0; history < this.#drawn.histories; history += 1) this.#history(history)
    this.#troubles()
    const moves = this.#moves.toSorted((a, b) => a.at - b.at)
    return { seed: this.#drawn.seed, schema, past: this.#past, moves }
  }

  #has(feature: Feature): boolean {
    return this.#drawn.features.has(feature)
  }

  #chance(share: number): boolean {
    return this.#random.chance() < share
  }

  /** One of those that are in the run; null for none, and most of the time. */
  #seldom<F extends Feature>(features: readonly F[], share: number): F | null {
    const enabled = features.filter((feature) => this.#has(feature))
    return enabled.length > 0 && this.#chance(share) ? this.#random.of(enabled) : null
  }

  #time(): number {
    return this.#random.of(WINDOWS_MS) + this.#random.below(WINDOW_MS)
  }

  #text(): string {
    this.#texts += 1
    return `words ${this.#texts}`
  }

  #person(): Person {
    this.#serial += 1
    const how = { isSpelled: this.#has('spellings'), hasSenders: this.#has('senders') }
    return somebody(this.#random, this.#serial, how)
  }

  /** A person with a number of the line's country whom nobody knows yet. */
  #stranger(): Person {
    this.#serial += 1
    const person = neighbour(this.#serial)
    return this.#has('spellings') ? person : { ...person, spellings: [person.handle] }
  }

  #history(history: number): void {
    const cast = [this.#person(), this.#person()]
    const before = this.#seldom(['former number', 'last addressed'], 0.3)
    if (before !== null) {
      const person = this.#stranger()
      cast.push(person)
      this.#past.push({ history, what: before, person })
    }
    const members = [...cast.filter(({ isReachable }) => isReachable), this.#stranger()]
    this.#serial += 1
    const group = { identifier: `chat${83_000 + this.#serial}`, members }
    const count = 3 + this.#random.below(MOVES_MAX - 2)
    for (let i = 0; i < count; i += 1) this.#move(history, cast, group)
  }

  #move(history: number, cast: readonly Person[], group: Group): void {
    const person = this.#random.of(cast)
    const at = this.#time()
    const other = this.#seldom(OTHERS, 0.15)
    // Most of its rows say the same as the first.
    if (other === 'back-fill' && this.#chance(0.7)) return
    if (other !== null) return this.#other(other, { history, at, person, group })
    if (this.#seldom(['stop'], 0.05) !== null) return this.#stop(history, at)
    const sending = this.#seldom(['sends', 'failures', 'odd rows', 'late error', 'slow file'], 0.15)
    if (sending !== null) return this.#send(sending, history, at, person)
    const isInGroup = this.#seldom(['groups'], 0.2) !== null
    this.#letter({ history, at, person, group: isInGroup ? group : null })
  }

  #letter(where: Pick<Letter, 'history' | 'at' | 'person' | 'group'>): void {
    const { at, group } = where
    const isOwn = this.#seldom(['typed'], 0.2) !== null
    const body = this.#body(isOwn, group)
    const isFile = FILE_BODIES.has(body)
    const person = this.#member(where, body)
    const dated = isFile ? 'now' : this.#date()
    const letter: Letter = {
      ...where,
      kind: 'letter',
      by: isOwn ? 'owner' : 'person',
      person,
      spelling: isOwn && group !== null ? null : this.#random.of(person.spellings),
      text: this.#wordsOf(body),
      isTwice: !isFile && dated === 'now' && this.#again(),
      service: this.#service(person),
      place: person.isReachable ? this.#place(person, { isOwn, group }) : 'chat',
      dated,
      body,
      copies: [],
      during: null,
    }
    this.#moves.push({ ...letter, copies: isFile ? [] : this.#copies(letter) })
    if (isFile || body === 'retracted text' || !this.#again()) return
    // The same words again, much later: that is another message.
    this.#moves.push({ ...letter, at: at + 5_000 + this.#random.below(30_000), copies: [] })
  }

  #date(): Dated {
    const feature = this.#seldom(Object.keys(DATES) as Feature[], 0.2) // Its own keys.
    return (feature === null ? undefined : DATES[feature]) ?? 'now'
  }

  #again(): boolean {
    return this.#seldom(['twice'], 0.1) !== null
  }

  #wordsOf(body: Body): string {
    return body === 'late mark' ? '' : this.#text()
  }

  /** What has no words can only be distinguished from others by its sender. */
  #member({ person, group }: Pick<Letter, 'person' | 'group'>, body: Body): Person {
    if (body === 'late mark') return this.#stranger()
    return group === null ? person : this.#random.of(group.members)
  }

  #service({ isReachable }: Person): Letter['service'] {
    if (!isReachable) return 'SMS'
    return this.#seldom(['carriers'], 0.2) === null ? 'iMessage' : this.#random.of(['SMS', 'RCS'])
  }

  #body(isOwn: boolean, group: Group | null): Body {
    const body = this.#seldom(BODIES as Feature[], 0.2) as Body | null // All are features.
    const isPlain = isOwn || group !== null
    return body === null || (isPlain && FILE_BODIES.has(body)) ? 'whole' : body
  }

  #place(
    person: Person,
    { isOwn, group }: { readonly isOwn: boolean; readonly group: Group | null },
  ): Place {
    const place = this.#seldom(PLACES as Feature[], 0.35) as Place | null // All are features.
    if (place === null || (place === 'no chat' && isOwn)) return 'chat'
    if (group !== null) return place === 'late chat' ? place : 'chat'
    return place === 'bare chat' && !person.handle.startsWith('+1') ? 'chat' : place
  }

  #copies(letter: Letter): readonly Copy[] {
    const feature = letter.by === 'owner' ? 'own copies' : 'copies'
    const isCopied = this.#seldom([feature], 0.2) !== null
    if (!isCopied || letter.isTwice || isUndated(letter) || letter.place === 'no chat') return []
    const count = 1 + this.#random.below(2)
    return Array.from({ length: count }, () => {
      const isRespelled = letter.spelling !== null && this.#chance(0.2)
      const spelling = isRespelled ? this.#random.of(letter.person.spellings) : letter.spelling
      const isBare = letter.by === 'owner' && letter.group === null
      return { afterMs: this.#random.of(this.#copiesMs), spelling: isBare ? null : spelling }
    })
  }

  #send(
    feature: 'sends' | 'failures' | 'odd rows' | 'late error' | 'slow file',
    history: number,
    at: number,
    known: Person,
  ): void {
    const fate = this.#fate(feature)
    // To an address, only who wrote before can be answered.
    const isPlain = fate === 'happy' && known.handle.startsWith('+')
    const person = isPlain ? known : this.#stranger()
    const isCopied = fate === 'happy' && this.#seldom(['own copies'], 0.3) !== null
    const copies = isCopied ? [{ afterMs: this.#random.of(this.#copiesMs), spelling: null }] : []
    this.#moves.push({ kind: 'send', history, at, person, text: this.#text(), fate, copies })
  }

  #fate(feature: 'sends' | 'failures' | 'odd rows' | 'late error' | 'slow file'): Fate {
    if (feature === 'slow file') {
      this.#slowFiles += 1
      return this.#slowFiles > SLOW_FILES_MAX ? 'happy' : feature
    }
    if (feature === 'odd rows') return this.#random.of(ODD)
    if (feature === 'sends' && this.#chance(0.7)) return 'happy'
    this.#failures += 1
    if (this.#failures > FAILURES_MAX) return 'happy'
    if (feature === 'late error') return feature
    return this.#random.of(feature === 'sends' ? GOING : FAILING)
  }

  /** A person ends it by one spelling, and perhaps begins again by another; programs try both times. */
  #stop(history: number, at: number): void {
    const person = this.#stranger()
    const say = (text: string, afterMs: number) => {
      const spelling = this.#random.of(person.spellings)
      const service = this.#service(person)
      const what = { kind: 'letter', by: 'person', body: 'whole', dated: 'now' } as const
      const how = { place: 'chat', isTwice: false, copies: [], during: null, group: null } as const
      this.#moves.push({
        ...what,
        ...how,
        history,
        at: at + afterMs,
        person,
        spelling,
        text,
        service,
      })
    }
    const send = (afterMs: number) => {
      const what = { kind: 'send', fate: 'happy', copies: [] } as const
      this.#moves.push({ ...what, history, at: at + afterMs, person, text: this.#text() })
    }
    say('STOP', 0)
    send(20_000)
    if (this.#chance(0.5)) return
    say('START', 40_000)
    send(60_000)
  }

  #other(
    what: Other['what'],
    where: Pick<Other, 'history' | 'at' | 'person'> & { readonly group: Group },
  ): void {
    const long = this.#chance(0.02) ? LONG_BACK_FILL : BACK_FILL
    const counts: Partial<Record<Other['what'], number>> = {
      'back-fill': long,
      'many without date': 5,
    }
    const isOfGroup = what === 'renames' || what === 'echo in a group'
    this.#moves.push({
      kind: 'other',
      what,
      ...where,
      group: isOfGroup ? where.group : null,
      text: this.#text(),
      count: counts[what] ?? 1,
    })
  }

  #troubles(): void {
    const long = this.#seldom(LONG_TROUBLES, 0.9)
    const later = this.#seldom(LONG_TROUBLES, 0.4)
    const short = this.#seldom(SHORT_TROUBLES, 0.8)
    const [, , last = 0] = WINDOWS_MS
    const first = this.#random.of(WINDOWS_MS.slice(0, 2))
    if (long !== null) this.#trouble(long, first + TROUBLE_AFTER_MS, 0)
    if (later !== null) this.#trouble(later, last + TROUBLE_AFTER_MS, 1)
    if (short !== null) this.#trouble(short, this.#time(), 2)
  }

  #trouble(what: Trouble['what'], at: number, number: number): void {
    this.#moves.push({ kind: 'trouble', history: null, at, number, what })
    if (what === 'crash' || what === 'line off') return
    const count = 1 + this.#random.below(4)
    for (let i = 0; i < count; i += 1) {
      const history = this.#random.below(this.#drawn.histories)
      const person = this.#person()
      const spelling = this.#random.of(person.spellings)
      const what = { kind: 'letter', by: 'person', body: 'whole', dated: 'now' } as const
      const how = { place: 'chat', isTwice: false, copies: [], group: null } as const
      const said = { text: this.#text(), service: this.#service(person) }
      this.#moves.push({ ...what, ...how, history, at, person, spelling, ...said, during: number })
    }
  }
}
