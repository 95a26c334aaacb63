// Which bubbles of a transcript are known and which are new. Messages shows a window of the chat whose
// bubbles have no identity: they are told apart by who wrote them, what they say, when, and their order.

import type { Bubble } from './messages-screen.ts'
import { comparable } from './plain-text.ts'

/** How far an own message is known to have come. */
export type OwnStage = 'sent' | 'delivered' | 'read' | 'failed'

/** What is kept of a bubble. */
export type Descriptor = {
  /** `ui-` and a UUID, made of what it was when it was first seen. */
  readonly guid: string
  readonly isFromMe: boolean
  readonly isAttachment: boolean
  /** Of the comparable text, which had so many characters when it was first seen. */
  readonly hash: string
  readonly length: number
  /** The time on its label, in minutes after midnight. */
  readonly minutes: number
  /** Milliseconds since 1970, to the minute. */
  readonly at: number
  /** When it was first seen, in milliseconds since 1970. */
  readonly seenAt: number
  /** Of own messages by iMessage; null where nobody waits for more. */
  readonly stage: OwnStage | null
  /** Whether the core knows of it, or never will: it was there before the line, or is a message of ours. */
  readonly isTold: boolean
}

/** A bubble on the screen, and the time that was worked out for it. */
export type SeenBubble = { readonly bubble: Bubble; readonly at: number }

export type Row = {
  readonly seen: SeenBubble
  /** What it was known as; null for one that was not. */
  readonly known: Descriptor | null
  readonly isNew: boolean
}

export type Alignment = {
  readonly rows: readonly Row[]
  /** Known bubbles that lie above the window. */
  readonly above: readonly Descriptor[]
  /** Known bubbles behind the last one that is in sight: taken back, or not loaded yet. */
  readonly missing: readonly Descriptor[]
  /** Nothing that was known is on the screen: something may lie between. */
  readonly hasGap: boolean
}

export type HashText = (text: string) => string

type Pairs = ReadonlyMap<number, number>

/** `known` in order; nothing of `seen` is taken for two of them. */
export function align(
  known: readonly Descriptor[],
  seen: readonly SeenBubble[],
  hash: HashText,
): Alignment {
  const is = relation(known, seen, hash)
  const shifted = bestShift(known, seen, is)
  const common = commonPairs(known, seen, is)
  const pairs = common.size > shifted.strict ? withChanged(common, known, seen, is) : shifted.pairs
  if (pairs.size > 0) return fromPairs(known, seen, pairs)
  const lastAt = Math.max(-Infinity, ...known.map(({ at }) => at))
  return {
    rows: seen.map((item) => ({ seen: item, known: null, isNew: item.at > lastAt })),
    above: seen.length > 0 ? known : [],
    missing: seen.length > 0 ? [] : known,
    hasGap: known.length > 0 && seen.length > 0,
  }
}

/** Whether a text is the one that is known, with or without a tapback behind it. */
export function isSameText(one: Descriptor, text: string, hash: HashText): boolean {
  if (text.length === one.length) return hash(text) === one.hash
  const hasMore = text.startsWith(', ', one.length)
  return hasMore && hash(text.slice(0, one.length)) === one.hash
}

/** How a known and a seen bubble relate: the same, perhaps one that was edited, or nothing. */
type Relation = (known: number, seen: number) => 'same' | 'changed' | null

function relation(
  known: readonly Descriptor[],
  seen: readonly SeenBubble[],
  hash: HashText,
): Relation {
  const texts = seen.map(({ bubble }) => comparable(bubble.text))
  // Each text is compared with many.
  const hashes = new Map<string, string>()
  const hashOnce = (text: string) => {
    const made = hashes.get(text) ?? hash(text)
    hashes.set(text, made)
    return made
  }
  return (knownAt, seenAt) => {
    const one = known[knownAt]
    const other = seen[seenAt]?.bubble
    if (one === undefined || other === undefined || one.isFromMe !== other.isFromMe) return null
    if (one.minutes !== other.minutes) return null
    return isSameText(one, texts[seenAt] ?? '', hashOnce) ? 'same' : 'changed'
  }
}

/**
 * The known bubbles moved as a block: of all places where no bubble contradicts, that with the most equal
 * ones, and of equal places the first, so that a text that came twice counts twice.
 */
function bestShift(
  known: readonly Descriptor[],
  seen: readonly SeenBubble[],
  is: Relation,
): { readonly pairs: Pairs; readonly strict: number } {
  let best: { pairs: Map<number, number>; strict: number } = { pairs: new Map(), strict: 0 }
  for (let end = 1; end <= seen.length; end += 1) {
    const pairs = new Map<number, number>()
    let strict = 0
    for (let back = 1; back <= Math.min(end, known.length); back += 1) {
      const related = is(known.length - back, end - back)
      if (related === null) strict = -Infinity
      if (related === 'same') strict += 1
      pairs.set(end - back, known.length - back)
    }
    if (strict > best.strict) best = { pairs, strict }
  }
  return best
}

/** The longest common subsequence, for a chat in which bubbles went away or came in between. */
function commonPairs(
  known: readonly Descriptor[],
  seen: readonly SeenBubble[],
  is: Relation,
): Pairs {
  const width = seen.length + 1
  const lengths = new Uint16Array((known.length + 1) * width)
  const at = (k: number, s: number) => lengths[k * width + s] ?? 0
  for (let k = 1; k <= known.length; k += 1) {
    for (let s = 1; s <= seen.length; s += 1) {
      const isSame = is(k - 1, s - 1) === 'same'
      const length = isSame ? at(k - 1, s - 1) + 1 : Math.max(at(k - 1, s), at(k, s - 1))
      lengths[k * width + s] = length
    }
  }
  const pairs = new Map<number, number>()
  let [k, s] = [known.length, seen.length]
  while (k > 0 && s > 0) {
    if (is(k - 1, s - 1) === 'same' && at(k, s) === at(k - 1, s - 1) + 1) {
      k -= 1
      s -= 1
      pairs.set(s, k)
    } else if (at(k, s - 1) >= at(k - 1, s)) s -= 1
    else k -= 1
  }
  return pairs
}

/** Between two equal ones, a bubble of the same side and minute is the known one, changed in place. */
function withChanged(
  common: Pairs,
  known: readonly Descriptor[],
  seen: readonly SeenBubble[],
  is: Relation,
): Pairs {
  const pairs = new Map(common)
  const taken = new Set(common.values())
  let next = Math.min(...common.values())
  for (let s = Math.min(...common.keys()); s < seen.length; s += 1) {
    const here = common.get(s)
    if (here !== undefined) {
      next = here + 1
      continue
    }
    if (next < known.length && !taken.has(next) && is(next, s) === 'changed') {
      pairs.set(s, next)
      next += 1
    }
  }
  return pairs
}

function fromPairs(
  known: readonly Descriptor[],
  seen: readonly SeenBubble[],
  pairs: Pairs,
): Alignment {
  const first = Math.min(...pairs.keys())
  const rows = seen.map((item, index) => {
    const place = pairs.get(index)
    const found = place === undefined ? null : (known[place] ?? null)
    return { seen: item, known: found, isNew: found === null && index > first }
  })
  const places = [...pairs.values()]
  return {
    rows,
    above: known.slice(0, Math.min(...places)),
    missing: known.slice(Math.max(...places) + 1),
    hasGap: false,
  }
}

/**
 * Two windows of one chat as one, `older` lying above `newer`. Where they do not overlap they are put one
 * after the other.
 */
export function joinWindows(older: readonly Bubble[], newer: readonly Bubble[]): readonly Bubble[] {
  for (let overlap = Math.min(older.length, newer.length); overlap > 0; overlap -= 1) {
    const tail = older.slice(older.length - overlap)
    if (tail.every((bubble, index) => isEqual(bubble, newer[index]))) {
      return [...older, ...newer.slice(overlap)]
    }
  }
  return [...older, ...newer]
}

function isEqual(one: Bubble, other: Bubble | undefined): boolean {
  if (other === undefined || one.isFromMe !== other.isFromMe) return false
  return one.minutes === other.minutes && one.text === other.text
}
