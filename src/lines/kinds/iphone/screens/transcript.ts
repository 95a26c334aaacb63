// Compares a transcript with the known bubbles of its chat. Messages shows a window of the chat whose bubbles have no
// ids: their side, text, time and order distinguish them.

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
  RESTING_BUBBLES_MAX,
  type TranscriptMemory,
} from './transcript-memory.ts'
import { ENGLISH } from './ui-words.ts'

export type ReadRow = {
  readonly bubble: Bubble
  readonly descriptor: Descriptor
  readonly isNew: boolean
}

/** Result of a comparison; comparing changes no state. */
export type Comparison = {
  readonly rows: readonly ReadRow[]
  readonly above: readonly Descriptor[]
  /** Known bubbles that should follow the last known row but do not: they may not be loaded yet. */
  readonly missing: readonly Descriptor[]
  /** True if bubbles further up may be new: no row is known, unreported bubbles are above, or the top row is new. */
  readonly hasMoreAbove: boolean
  /** True if bubbles between the known ones and these may be missing. */
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
  const alignment = align(known ?? [], seen, memory.openSince(handle))
  // Times are to the minute, so a bubble of the minute in which the line began counts as later.
  const beganAt = Math.floor(memory.since / MINUTE_MS) * MINUTE_MS
  const nameBubble = bubbleNamer(handle, known ?? [])
  const rows = alignment.rows.map((row) => {
    const isNew = row.isNew && row.seen.at >= beganAt
    return { bubble: row.seen.bubble, descriptor: describe(row, isNew, nameBubble, now), isNew }
  })
  const { above, missing, hasGap } = alignment
  // After a crash in the middle of a burst, some known bubbles are not reported yet.
  const isUnreported = above.some(({ isReported }) => !isReported)
  const hasMoreAbove = hasGap || isUnreported || rows[0]?.isNew === true
  return { rows, above, missing, hasMoreAbove, hasGap }
}

/**
 * The bubbles of a chat to remember, oldest first. Missing ones are kept unless `isGone` says that they are gone for
 * good: a transcript that has not loaded completely must not make old bubbles new again.
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

/** Gives each bubble a unique guid; a bubble that was out of sight gets the same guid again. */
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
  /** The known bubble that this one is; null if it is new. */
  readonly known: Descriptor | null
  readonly isNew: boolean
}

export type Alignment = {
  readonly rows: readonly Row[]
  /** Known bubbles above the bubbles in sight. */
  readonly above: readonly Descriptor[]
  /** Known bubbles after the last known one in sight: unsent, or not loaded yet. */
  readonly missing: readonly Descriptor[]
  /** True if no known bubble is on the screen: others may be in between. */
  readonly hasGap: boolean
}

/** Indices of known bubbles by indices of seen ones. */
type Pairs = ReadonlyMap<number, number>

/**
 * Finds the known bubbles among the seen ones, in order, each once. Known ones from `openSince` on may have been
 * unsent and replaced by others of the same minute, so of these only an equal text counts as known.
 */
export function align(
  known: readonly Descriptor[],
  seen: readonly SeenBubble[],
  openSince = Infinity,
): Alignment {
  const relate = relation(known, seen)
  const shifted = bestShift(known, seen, relate)
  const common = commonPairs(known, seen, relate)
  const pairs =
    common.size > shifted.equalCount ? withChanged(common, known, seen, relate) : shifted.pairs
  const isSure = (k: number, s: number) =>
    relate(k, s) === 'same' || (known[k]?.at ?? -Infinity) < openSince
  if (pairs.size > 0) return fromPairs(known, seen, pairs, isSure)
  const lastAt = newestAt(known)
  return {
    rows: seen.map((item) => ({ seen: item, known: null, isNew: item.at >= lastAt })),
    above: seen.length > 0 ? known : [],
    missing: seen.length > 0 ? [] : known,
    hasGap: known.length > 0 && seen.length > 0,
  }
}

/** The text without the tapbacks and the word for an edit that Messages appends. */
export function withoutMarks(text: string): string {
  return text.replace(ENGLISH.marks, '')
}

/** True if the texts are the same, apart from appended tapbacks and edit words. */
export function isSameText(known: Descriptor, text: string, hash = shortHash): boolean {
  return hash(text) === known.hash || hash(withoutMarks(text)) === known.hash
}

/** Relation of a known and a seen bubble: the same, edited by its label, perhaps edited (`changed`), or none. */
type Relate = (known: number, seen: number) => 'same' | 'edited' | 'changed' | null

function relation(known: readonly Descriptor[], seen: readonly SeenBubble[]): Relate {
  const texts = seen.map(({ bubble }) => comparable(bubble.text))
  // Hashes are cached, because each text is compared with many.
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
 * Moves the known bubbles as a block to the place with the most equal bubbles and no contradiction. Of equally good
 * places the first is taken, so that a text that came twice counts twice.
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
      if (related === 'same') equalCount += 1
      // An equal text proves more than the word for an edit, which any bubble may have.
      if (related === 'edited') equalCount += 0.5
      pairs.set(end - back, known.length - back)
    }
    if (equalCount > best.equalCount)
      best = { pairs: withoutLastChanges(pairs, relate), equalCount }
  }
  return best
}

/**
 * At the end of a chat, another text is another message, unless its label says that it was edited: the known one may
 * have been unsent. Only between two equal bubbles is a changed text certainly the same bubble.
 */
function withoutLastChanges(pairs: Pairs, relate: Relate): Pairs {
  const inOrder = [...pairs].toSorted(([a], [b]) => a - b)
  const end = inOrder.findLastIndex(([s, k]) => relate(k, s) !== 'changed')
  return new Map(inOrder.slice(0, end + 1))
}

/** The longest common subsequence, for a chat in which bubbles disappeared or were inserted. */
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

/** Adds changed bubbles: between two equal ones, a bubble of the same side and minute is the known one. */
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
  isSure: (known: number, seen: number) => boolean,
): Alignment {
  const first = Math.min(...pairs.keys())
  const newAt = newAboveAt(known)
  const rows = seen.map((item, index) => {
    const place = pairs.get(index) ?? -1
    const found = isSure(place, index) ? (known[place] ?? null) : null
    return {
      seen: item,
      known: found,
      isNew: found === null && (index >= first || item.at >= newAt),
    }
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
 * The time from which bubbles above all known ones are new: no older bubble of that time was forgotten, so the known
 * ones below were unsent and written again.
 */
function newAboveAt(known: readonly Descriptor[]): number {
  const [oldest, newest] = [known[0]?.at ?? Infinity, newestAt(known)]
  if (known.length < RESTING_BUBBLES_MAX) return oldest
  return oldest < newest ? newest : Infinity
}

function newestAt(known: readonly Descriptor[]): number {
  return Math.max(-Infinity, ...known.map(({ at }) => at))
}

/**
 * Joins two windows of one chat, `older` above `newer`, with or without an overlap. A message that came after `newer`
 * was read is at the end of `older`. Null if they share bubbles but do not fit: the chat has changed in between. If
 * they fit in several ways, because texts are equal, some of the messages may be missing.
 */
export function joinWindows(
  older: readonly Bubble[],
  newer: readonly Bubble[],
): { readonly bubbles: readonly Bubble[]; readonly isCertain: boolean } | null {
  const overlaps = older
    .map((_, start) => older.slice(start, start + newer.length))
    .filter((common) => common.every((bubble, index) => isEqual(bubble, newer[index])))
  const isShared = older.some((bubble) => newer.some((other) => isEqual(bubble, other)))
  if (isShared && overlaps.length === 0) return null
  const bubbles = [...older, ...newer.slice(overlaps[0]?.length ?? 0)]
  return { bubbles, isCertain: overlaps.length <= 1 }
}

function isEqual(bubble: Bubble, other: Bubble | undefined): boolean {
  if (other === undefined || bubble.isFromMe !== other.isFromMe) return false
  return bubble.minutes === other.minutes && bubble.text === other.text
}
