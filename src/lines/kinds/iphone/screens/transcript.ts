// A transcript compared with what is known of it. Messages shows a window of the chat whose bubbles have no
// identity: they are distinguished by their side, text, time and order.

import type { Handle } from '../../../../domain/handle.ts'
import { MINUTE_MS } from '../../../../domain/time.ts'
import { memoize } from '../../../../system/memoize.ts'
import { placeTimes } from './label-time.ts'
import { comparable } from './labels.ts'
import type { Bubble } from './messages-screen.ts'
import {
  bubbleGuid,
  shortHash,
  type Descriptor,
  type TranscriptMemory,
} from './transcript-memory.ts'
import { ENGLISH } from './ui-words.ts'

export type ReadRow = {
  readonly bubble: Bubble
  readonly descriptor: Descriptor
  readonly isNew: boolean
}

/** Nothing is kept by comparing. */
export type Comparison = {
  readonly rows: readonly ReadRow[]
  readonly above: readonly Descriptor[]
  /** Known bubbles that should follow the last known row and do not: perhaps not loaded yet. */
  readonly missing: readonly Descriptor[]
  /** No known bubble is in sight, or not all that were never reported: those further up may be news too. */
  readonly hasMoreAbove: boolean
  /** Something may have been lost between the known bubbles and these. */
  readonly hasGap: boolean
}

export function compareChat(
  {
    memory,
    now,
    timeZone,
  }: { readonly memory: TranscriptMemory; readonly now: number; readonly timeZone: string },
  handle: Handle,
  bubbles: readonly Bubble[],
): Comparison {
  const times = placeTimes(bubbles, now, timeZone)
  const seen = bubbles.map((bubble, index) => ({ bubble, at: times[index] ?? now }))
  const known = memory.chat(handle)
  const alignment = align(known ?? [], seen)
  // Times are to the minute: a bubble of the minute in which the line began counts as later.
  const beganAt = Math.floor(memory.since / MINUTE_MS) * MINUTE_MS
  const nameBubble = bubbleNamer(handle, known ?? [])
  const rows = alignment.rows.map((row) => {
    const isNew = row.isNew && row.seen.at >= beganAt
    return { bubble: row.seen.bubble, descriptor: describe(row, isNew, nameBubble, now), isNew }
  })
  const { above, missing, hasGap } = alignment
  // After a crash in the middle of a burst some of the known ones are not reported yet.
  const isUnreported = above.some(({ isReported }) => !isReported)
  const hasMoreAbove = hasGap || isUnreported || (known === null && rows[0]?.isNew === true)
  return { rows, above, missing, hasMoreAbove, hasGap }
}

/**
 * All that is to be kept of a chat, oldest first. Missing bubbles are kept unless they are `isGone` for
 * good: a transcript that has not loaded whole must not make old bubbles new again.
 */
export function knownAfter(
  { rows, above, missing }: Comparison,
  isGone: boolean,
): readonly Descriptor[] {
  const lastKnown = rows.findLastIndex(({ isNew }) => !isNew)
  const shown = rows.map(({ descriptor }) => descriptor)
  const kept = isGone ? [] : missing
  return [...above, ...shown.slice(0, lastKnown + 1), ...kept, ...shown.slice(lastKnown + 1)]
}

type NameBubble = (bubble: Pick<Descriptor, 'isFromMe' | 'hash' | 'at'>) => string

/** Gives each bubble a guid of its own; one that went out of sight and comes back gets the same again. */
function bubbleNamer(handle: Handle, known: readonly Descriptor[]): NameBubble {
  const taken = new Set(known.map(({ guid }) => guid))
  return (bubble) => {
    for (let nth = 0; ; nth += 1) {
      const guid = bubbleGuid(handle, bubble, nth)
      if (taken.has(guid)) continue
      taken.add(guid)
      return guid
    }
  }
}

function describe(row: Row, isNew: boolean, nameBubble: NameBubble, now: number): Descriptor {
  const { bubble, at } = row.seen
  const text = withoutMarks(comparable(bubble.text))
  if (row.known !== null && isSameText(row.known, comparable(bubble.text))) return row.known
  const seen = { hash: shortHash(text), length: text.length, minutes: bubble.minutes }
  if (row.known !== null) return { ...row.known, ...seen }
  const { isFromMe } = bubble
  return {
    ...seen,
    guid: nameBubble({ isFromMe, hash: seen.hash, at }),
    isFromMe,
    at,
    seenAt: now,
    stage: isNew && isFromMe && bubble.service !== null ? 'sent' : null,
    isText: bubble.service === 'SMS',
    isReported: !isNew,
  }
}

export type SeenBubble = { readonly bubble: Bubble; readonly at: number }

type Row = {
  readonly seen: SeenBubble
  /** Null for a bubble that was not known. */
  readonly known: Descriptor | null
  readonly isNew: boolean
}

export type Alignment = {
  readonly rows: readonly Row[]
  /** Known bubbles that lie above the window. */
  readonly above: readonly Descriptor[]
  /** Known bubbles behind the last one in sight: unsent, or not loaded yet. */
  readonly missing: readonly Descriptor[]
  /** No known bubble is on the screen: something may lie between. */
  readonly hasGap: boolean
}

/** Indices of known bubbles by those of seen ones. */
type Pairs = ReadonlyMap<number, number>

/** Finds the known bubbles among the seen ones, in order and each once. */
export function align(known: readonly Descriptor[], seen: readonly SeenBubble[]): Alignment {
  const relate = relation(known, seen)
  const shifted = bestShift(known, seen, relate)
  const common = commonPairs(known, seen, relate)
  const pairs =
    common.size > shifted.equalCount ? withChanged(common, known, seen, relate) : shifted.pairs
  if (pairs.size > 0) return fromPairs(known, seen, pairs)
  const lastAt = Math.max(-Infinity, ...known.map(({ at }) => at))
  return {
    rows: seen.map((item) => ({ seen: item, known: null, isNew: item.at >= lastAt })),
    above: seen.length > 0 ? known : [],
    missing: seen.length > 0 ? [] : known,
    hasGap: known.length > 0 && seen.length > 0,
  }
}

/** The text without the tapbacks and the word for an edit that Messages adds behind it. */
export function withoutMarks(text: string): string {
  return text.replace(ENGLISH.marks, '')
}

/** True if a text is the known one, with or without marks behind either. */
export function isSameText(known: Descriptor, text: string, hash = shortHash): boolean {
  return hash(text) === known.hash || hash(withoutMarks(text)) === known.hash
}

/** The relation of a known and a seen bubble: equal, edited as its label says, perhaps edited, or none. */
type Relate = (known: number, seen: number) => 'same' | 'edited' | 'changed' | null

function relation(known: readonly Descriptor[], seen: readonly SeenBubble[]): Relate {
  const texts = seen.map(({ bubble }) => comparable(bubble.text))
  // Each text is compared with many.
  const hash = memoize(1_000, shortHash)
  return (knownIndex, seenIndex) => {
    const descriptor = known[knownIndex]
    const bubble = seen[seenIndex]?.bubble
    if (descriptor === undefined || bubble === undefined) return null
    if (descriptor.isFromMe !== bubble.isFromMe) return null
    if (descriptor.minutes !== bubble.minutes) return null
    const text = texts[seenIndex] ?? ''
    if (isSameText(descriptor, text, hash)) return 'same'
    return text.endsWith(ENGLISH.edited) ? 'edited' : 'changed'
  }
}

/**
 * The known bubbles moved as a block: of all places without a contradiction the one with the most equal
 * bubbles, and of equal places the first, so that a text that came twice counts twice.
 */
function bestShift(
  known: readonly Descriptor[],
  seen: readonly SeenBubble[],
  relate: Relate,
): { readonly pairs: Pairs; readonly equalCount: number } {
  let best: { readonly pairs: Pairs; readonly equalCount: number } = {
    pairs: new Map(),
    equalCount: 0,
  }
  for (let end = 1; end <= seen.length; end += 1) {
    const pairs = new Map<number, number>()
    let equalCount = 0
    for (let back = 1; back <= Math.min(end, known.length); back += 1) {
      const related = relate(known.length - back, end - back)
      if (related === null) equalCount = -Infinity
      if (related === 'same' || related === 'edited') equalCount += 1
      pairs.set(end - back, known.length - back)
    }
    if (equalCount > best.equalCount)
      best = { pairs: withoutLastChanges(pairs, relate), equalCount }
  }
  return best
}

/**
 * Another text at the end of a chat is another message, unless its label says that it was edited: the known one may
 * have been taken back. Only between two equal bubbles is a change certain to be one in place.
 */
function withoutLastChanges(pairs: Pairs, relate: Relate): Pairs {
  const inOrder = [...pairs].toSorted(([a], [b]) => a - b)
  const end = inOrder.findLastIndex(([s, k]) => relate(k, s) !== 'changed')
  return new Map(inOrder.slice(0, end + 1))
}

/** The longest common subsequence, for a chat in which bubbles went away or came in between. */
function commonPairs(
  known: readonly Descriptor[],
  seen: readonly SeenBubble[],
  relate: Relate,
): Pairs {
  const width = seen.length + 1
  const lengths = new Uint16Array((known.length + 1) * width)
  const at = (k: number, s: number) => lengths[k * width + s] ?? 0
  for (let k = 1; k <= known.length; k += 1) {
    for (let s = 1; s <= seen.length; s += 1) {
      const isSame = relate(k - 1, s - 1) === 'same'
      const length = isSame ? at(k - 1, s - 1) + 1 : Math.max(at(k - 1, s), at(k, s - 1))
      lengths[k * width + s] = length
    }
  }
  const pairs = new Map<number, number>()
  let [k, s] = [known.length, seen.length]
  while (k > 0 && s > 0) {
    if (relate(k - 1, s - 1) === 'same' && at(k, s) === at(k - 1, s - 1) + 1) {
      k -= 1
      s -= 1
      pairs.set(s, k)
    } else if (at(k, s - 1) >= at(k - 1, s)) s -= 1
    else k -= 1
  }
  return pairs
}

/** Between two equal bubbles, one of the same side and minute is the known one, changed in place. */
function withChanged(
  common: Pairs,
  known: readonly Descriptor[],
  seen: readonly SeenBubble[],
  relate: Relate,
): Pairs {
  const pairs = new Map(common)
  const taken = new Set(common.values())
  let next = Math.min(...common.values())
  const last = Math.max(...common.keys())
  for (let s = Math.min(...common.keys()); s < seen.length; s += 1) {
    const equal = common.get(s)
    if (equal !== undefined) {
      next = equal + 1
    } else if (next < known.length && !taken.has(next)) {
      const related = relate(next, s)
      if (related !== 'edited' && !(related === 'changed' && s < last)) continue
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
    const found = known[pairs.get(index) ?? -1] ?? null
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
 * Two windows of one chat as one, `older` lying above `newer`, with or without an overlap. A message that came after
 * `newer` was seen ends `older`. Null if they have bubbles in common and do not fit: the chat has changed in between.
 */
export function joinWindows(
  older: readonly Bubble[],
  newer: readonly Bubble[],
): readonly Bubble[] | null {
  for (let start = 0; start < older.length; start += 1) {
    const common = older.slice(start, start + newer.length)
    if (common.every((bubble, index) => isEqual(bubble, newer[index]))) {
      return [...older, ...newer.slice(common.length)]
    }
  }
  const isShared = older.some((bubble) => newer.some((other) => isEqual(bubble, other)))
  return isShared ? null : [...older, ...newer]
}

function isEqual(bubble: Bubble, other: Bubble | undefined): boolean {
  if (other === undefined || bubble.isFromMe !== other.isFromMe) return false
  return bubble.minutes === other.minutes && bubble.text === other.text
}
