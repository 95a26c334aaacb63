// A history as plain data: what people, the owner, iCloud and programs did, each with its time. A reader of it
// can say what the relay has to make of it.

import type { SchemaName } from '../../support/mac/chat-db-schemas.ts'
import type { Person } from './people.ts'

/** Everything that may be in a history beside plain messages; each can be left out. */
export const FEATURES = [
  'spellings',
  'senders',
  'bare chat',
  'two chats',
  'merged chat',
  'late chat',
  'no chat',
  'groups',
  'echo in a group',
  'self chat',
  'capitals',
  'receive only',
  'former number',
  'last addressed',
  'no date',
  'many without date',
  'before 2001',
  'date ahead',
  'old',
  'back-fill',
  'minutes late',
  'column',
  'late text',
  'file',
  'late file',
  'late mark',
  'named file',
  'copies',
  'own copies',
  'twice',
  'carriers',
  'typed',
  'sends',
  'failures',
  'odd rows',
  'late error',
  'slow file',
  'stop',
  'edit of nothing',
  'edit row',
  'retracted text',
  'renames',
  'crash',
  'line off',
  'outage',
  'sleep',
  'stopped',
  'rebuilt',
] as const
export type Feature = (typeof FEATURES)[number]

export type Group = {
  readonly identifier: string
  readonly members: readonly Person[]
}

/** Chats that a row is joined to. */
export type Place =
  | 'chat'
  /** Its identifier lacks the country. */
  | 'bare chat'
  /** That of the other address of a merged contact, and that of the person. */
  | 'two chats'
  /** That of the other address alone. */
  | 'merged chat'
  | 'late chat'
  | 'no chat'

export type Dated = 'now' | 'never' | 'before 2001' | 'ahead' | 'two years ago' | 'minutes ago'

export type Body =
  | 'whole'
  /** Only the column `text` has it. */
  | 'column'
  | 'late text'
  | 'file'
  /** Its row is joined three seconds later. */
  | 'late file'
  /** The mark of a file without a body; the file comes three seconds later. */
  | 'late mark'
  /** The body names the file, and nothing joins its row to the message. */
  | 'named file'
  /** Its summary says that it was unsent, and its text is there. */
  | 'retracted text'

/** iCloud writes the row again so much later. */
export type Copy = { readonly afterMs: number; readonly spelling: string | null }

type Base = {
  /** Place of its history in the run; null for what happens to all of them. */
  readonly history: number | null
  /** Milliseconds since the relay was first online. */
  readonly at: number
}

/** One intended message that no program sent. */
export type Letter = Base & {
  readonly kind: 'letter'
  readonly by: 'person' | 'owner'
  readonly person: Person
  /** How its row spells the person; null for no handle at all. */
  readonly spelling: string | null
  readonly group: Group | null
  readonly text: string
  /** A person says the same twice in one second. */
  readonly isTwice: boolean
  readonly service: 'iMessage' | 'SMS' | 'RCS'
  readonly place: Place
  readonly dated: Dated
  readonly body: Body
  readonly copies: readonly Copy[]
  /** It came while that trouble lasted, and its row with the end of it. */
  readonly during: number | null
}

/** How a message that a program sends goes on its way. */
export type Fate =
  | 'happy'
  | 'join_3s_late'
  | 'slow_sending'
  | 'fails_then_clears'
  | 'failed_then_clean_row'
  | 'failed22_at_once'
  | 'failed22_after_2s'
  /** Its row is joined to the chats of a merged contact. */
  | 'two chats'
  | 'merged chat'
  | 'bare chat'
  /** Messages sends it to another person. */
  | 'somebody else'
  /** An error comes two seconds after it was sent. */
  | 'late error'
  /** A file whose Apple event times out, and whose row comes over a minute later. */
  | 'slow file'

export type Send = Base & {
  readonly kind: 'send'
  readonly person: Person
  readonly text: string
  readonly fate: Fate
  /** iCloud writes its row again, without a handle. */
  readonly copies: readonly Copy[]
}

export type Other = Base & {
  readonly kind: 'other'
  readonly what:
    | 'edit of nothing'
    | 'edit row'
    | 'renames'
    | 'back-fill'
    | 'many without date'
    | 'self chat'
    | 'capitals'
    | 'receive only'
    | 'echo in a group'
  readonly person: Person
  readonly group: Group | null
  readonly text: string
  readonly count: number
}

export type Trouble = Base & {
  readonly kind: 'trouble'
  readonly number: number
  readonly what: 'crash' | 'line off' | 'outage' | 'sleep' | 'stopped' | 'rebuilt'
}

export type Move = Letter | Send | Other | Trouble

/** Rows that are older than the relay. */
export type Past = {
  readonly history: number
  readonly what: 'former number' | 'last addressed'
  readonly person: Person
}

export type Run = {
  readonly seed: number
  readonly schema: SchemaName
  readonly past: readonly Past[]
  readonly moves: readonly Move[]
}

/** True for a message that came before, and of which iCloud writes only now. */
export function isOld({ dated }: Pick<Letter, 'dated'>): boolean {
  return dated === 'two years ago'
}

/** True if a row does not say when its message was written. */
export function isUndated({ dated }: Pick<Letter, 'dated'>): boolean {
  return dated === 'never' || dated === 'before 2001'
}

/** The words by which a person ended it, or began again, before a time. */
export function keywordsOf({ moves }: Run, handle: string, before: number): readonly string[] {
  return moves.flatMap((move) => {
    const isTheirs = move.kind === 'letter' && move.person.handle === handle && move.at < before
    return isTheirs && ['STOP', 'START'].includes(move.text) ? [move.text] : []
  })
}

export const FILE_BODIES: ReadonlySet<Body> = new Set([
  'file',
  'late file',
  'late mark',
  'named file',
])

/** A line of a history that a person can read. */
export function wordsOf(move: Move): string {
  const time = `${(move.at / 1_000).toFixed(1).padStart(7)} s `
  return `${time}${move.history === null ? '' : `[${move.history}] `}${actOf(move)}`
}

function actOf(move: Move): string {
  switch (move.kind) {
    case 'trouble':
      return `${move.what} (trouble ${move.number})`
    case 'other': {
      const many = move.count > 1 ? ` × ${move.count}` : ''
      return `${move.what}${many}: ${move.person.handle} "${move.text}"`
    }
    case 'send': {
      const { text, person, fate } = move
      return `a program sends "${text}" to ${person.handle}: ${fate}${laterOf(move)}`
    }
    case 'letter': {
      const who =
        move.by === 'owner' ? `the owner types to ${move.person.handle}` : move.person.handle
      return `${who}: "${move.text}"${oddOf(move)}${laterOf(move)}`
    }
  }
}

function laterOf({ copies }: Letter | Send): string {
  const by = (spelling: string | null) =>
    spelling === null ? '' : ` by ${JSON.stringify(spelling)}`
  const all = copies.map(
    ({ afterMs, spelling }) => `, again ${afterMs / 1_000} s later${by(spelling)}`,
  )
  return all.join('')
}

/** What is not as with a plain letter. */
function oddOf(letter: Letter): string {
  const { spelling, person, group, place, dated, body, isTwice, service, during } = letter
  const odd = [
    spelling !== person.handle && `spelled ${JSON.stringify(spelling)}`,
    group !== null && `in ${group.identifier}`,
    place !== 'chat' && place,
    dated !== 'now' && `dated ${dated}`,
    body !== 'whole' && body,
    isTwice && 'twice',
    service !== 'iMessage' && service,
    during !== null && `during trouble ${during}`,
  ]
  return odd.flatMap((words) => (words === false ? [] : [`, ${words}`])).join('')
}
