// What a careful person who reads a history says that the relay has to know at its end. Nothing here knows how the
// relay finds that out.

import {
  FILE_BODIES,
  isOld,
  isUndated,
  keywordsOf,
  type Letter,
  type Move,
  type Other,
  type Run,
  type Send,
} from './history.ts'
import { edited } from './perform.ts'

/** At least and at most so many. */
export type Range = readonly [least: number, most: number]

/** Messages with one text in one conversation. */
export type Expected = {
  readonly history: number
  /** Handle of a person, or identifier of a group. */
  readonly conversation: string
  readonly isGroup: boolean
  /** Who said it; null for the owner. */
  readonly sender: string | null
  readonly text: string
  readonly stored: Range
  /** How often they are announced as received. */
  readonly received: Range
  readonly edits: Range
  readonly hasFile: boolean
  /** It came before, and is no news in any list. */
  readonly isOld: boolean
  readonly isCarriers: boolean
}

/** A quarter of an hour before that, the line did not exist. */
const FIRST_WINDOW_MS = 600_000
const NONE: Range = [0, 0]
const ONCE: Range = [1, 1]

export function expectedOf(run: Run): readonly Expected[] {
  const all = new Map<string, Expected>()
  const isFilled = hasBackFill(run)
  for (const one of run.moves.flatMap((move) => expectedOfMove(move, isFilled))) {
    const key = JSON.stringify([one.conversation, one.text, one.sender])
    const before = all.get(key)
    all.set(key, before === undefined ? one : joined(before, one))
  }
  return [...all.values()]
}

/** A person who says the same again says it once more. */
function joined(one: Expected, other: Expected): Expected {
  return {
    ...one,
    stored: sum(one.stored, other.stored),
    received: sum(one.received, other.received),
    isOld: one.isOld && other.isOld,
  }
}

function sum([a, b]: Range, [c, d]: Range): Range {
  return [a + c, b + d]
}

function expectedOfMove(move: Move, isFilled: boolean): readonly Expected[] {
  switch (move.kind) {
    case 'letter':
      return [expectedOfLetter(move, isFilled)]
    case 'send':
      return []
    case 'other':
      return expectedOfOther(move)
    case 'trouble':
      return []
  }
}

function expectedOfLetter(letter: Letter, isFilled: boolean): Expected {
  const { person, group, text, by, history, body, isTwice, service } = letter
  const count = isTwice ? 2 : 1
  return {
    history: history ?? 0,
    conversation: group === null ? person.handle : group.identifier,
    isGroup: group !== null,
    sender: by === 'owner' ? null : person.handle,
    text,
    stored: [count, count],
    received: by === 'owner' ? NONE : newsOf(letter, isFilled),
    // A text that comes too late is reported as an edit of nothing.
    edits: body === 'retracted text' || body === 'late text' ? [0, 1] : NONE,
    hasFile: FILE_BODIES.has(body),
    isOld: isOld(letter),
    isCarriers: service !== 'iMessage',
  }
}

function newsOf(letter: Letter, isFilled: boolean): Range {
  if (isOld(letter)) return NONE
  // It may be of a group that nobody knows.
  if (letter.place === 'no chat' && letter.group === null) return NONE
  // Nobody can say when it was written; years ahead is no time at all.
  if (isUndated(letter) || letter.dated === 'ahead') return [0, 1]
  if (letter.dated === 'minutes ago') {
    if (letter.at < FIRST_WINDOW_MS) return NONE
    // Among many old ones nobody can distinguish it from them.
    if (isFilled) return [0, 1]
  }
  return letter.isTwice ? [2, 2] : ONCE
}

const NOTHING = { edits: NONE, hasFile: false, isOld: false, isCarriers: false }

function expectedOfOther(move: Other): readonly Expected[] {
  const { person, group, what, count, text, history } = move
  const of = { history: Number(history), conversation: person.handle, isGroup: false }
  const received = { ...of, ...NOTHING, sender: person.handle, text, stored: ONCE, received: ONCE }
  switch (what) {
    case 'edit of nothing':
      return [received]
    case 'edit row': {
      const row = { ...received, text: `Edited to “${edited(text)}”` }
      return [
        { ...received, text: edited(text), edits: [0, 1] },
        { ...row, stored: [0, 1], received: NONE },
      ]
    }
    case 'back-fill':
      return Array.from({ length: count }, (_, i) => ({
        ...received,
        text: `${text}, ${i}`,
        received: NONE,
        isOld: true,
        isCarriers: true,
      }))
    case 'many without date':
      // They are old, as far as anybody knows: one at most can be news.
      return [{ ...received, stored: [count, count], received: [0, 1] }]
    case 'echo in a group': {
      const conversation = String(group?.identifier)
      const own = { ...received, conversation, isGroup: true, sender: null }
      return [{ ...own, stored: [0, 1], received: NONE }]
    }
    case 'renames':
    case 'self chat':
    case 'capitals':
    case 'receive only':
      return []
  }
}

/** What the owner wrote to themselves: it may be listed, and is news to nobody. */
export function wordsToOneself(run: Run): ReadonlySet<string> {
  const own = new Set<string>(['self chat', 'capitals', 'receive only'])
  return textsOf(run, own)
}

function textsOf({ moves }: Run, kinds: ReadonlySet<string>): ReadonlySet<string> {
  return new Set(
    moves.flatMap((move) => (move.kind === 'other' && kinds.has(move.what) ? [move.text] : [])),
  )
}

function hasBackFill({ moves }: Run): boolean {
  return moves.some((move) => move.kind === 'other' && move.what === 'back-fill')
}

/** True if a send comes after a person has ended it, and before they began again. */
export function isRefused(run: Run, { person, at }: Send): boolean {
  return keywordsOf(run, person.handle, at).at(-1) === 'STOP'
}

type End = 'sent' | 'failed'

const FAILING: ReadonlySet<Send['fate']> = new Set([
  'failed22_at_once',
  'failed22_after_2s',
  'somebody else',
  'late error',
] as const)

/** The truth about a send, if no crash came between. */
export function endOf({ fate }: Send): End {
  return FAILING.has(fate) ? 'failed' : 'sent'
}
