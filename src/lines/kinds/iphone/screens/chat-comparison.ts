import type { Handle } from '../../../../domain/handle.ts'
import { placeTimes } from './label-time.ts'
import type { Bubble } from './messages-screen.ts'
import { comparable } from './plain-text.ts'
import { bubbleGuid, shortHash } from './stored-descriptor.ts'
import type { TranscriptMemory } from './transcript-memory.ts'
import { align, isSameText, type Descriptor, type Row } from './transcript.ts'

export type ComparisonTools = {
  readonly memory: TranscriptMemory
  /** Milliseconds since 1970. */
  readonly now: number
  /** The phone's, as the IANA names it. */
  readonly timeZone: string
}

export type ReadRow = {
  readonly bubble: Bubble
  readonly descriptor: Descriptor
  readonly isNew: boolean
}

/** A transcript beside what was known of it. Nothing is kept by comparing. */
export type Comparison = {
  readonly rows: readonly ReadRow[]
  /** Known bubbles above those rows. */
  readonly above: readonly Descriptor[]
  /** Known bubbles that should be behind the last known row and are not: perhaps not loaded yet. */
  readonly missing: readonly Descriptor[]
  /** Nothing that was known is in sight: what is further up may be new too. */
  readonly hasMoreAbove: boolean
  /** Something may have been lost between what was known and this. */
  readonly hasGap: boolean
}

const MINUTE_MS = 60_000

export function compareChat(
  tools: ComparisonTools,
  handle: Handle,
  bubbles: readonly Bubble[],
): Comparison {
  const { memory, now, timeZone } = tools
  const times = placeTimes(bubbles, now, timeZone)
  const seen = bubbles.map((bubble, index) => ({ bubble, at: times[index] ?? now }))
  const known = memory.chat(handle)
  const alignment = align(known ?? [], seen, shortHash)
  // Times are to the minute: what came in the minute in which the line began counts as after it.
  const beganAt = Math.floor(memory.since / MINUTE_MS) * MINUTE_MS
  const name = namer(handle, known ?? [])
  const rows = alignment.rows.map((row) => {
    const isNew = row.isNew && row.seen.at >= beganAt
    return { bubble: row.seen.bubble, descriptor: describe(row, isNew, { name, now }), isNew }
  })
  const hasMoreAbove = alignment.hasGap || (known === null && rows[0]?.isNew === true)
  const { above, missing, hasGap } = alignment
  return { rows, above, missing, hasMoreAbove, hasGap }
}

/**
 * All that is to be kept of a chat, oldest first. What is missing is kept too unless it `isGone` for good:
 * a transcript that has not loaded whole must not make old bubbles new again.
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

type Named = Pick<Descriptor, 'isFromMe' | 'hash' | 'at'>
type NameBubble = (bubble: Named) => string

/**
 * Names bubbles one after the other; none gets a name that another one has. One that went out of sight and
 * comes back has the name that it had, by which the core knows it.
 */
function namer(handle: Handle, known: readonly Descriptor[]): NameBubble {
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

function describe(
  row: Row,
  isNew: boolean,
  { name, now }: { readonly name: NameBubble; readonly now: number },
): Descriptor {
  const { bubble, at } = row.seen
  const text = comparable(bubble.text)
  if (row.known !== null && isSameText(row.known, text, shortHash)) return row.known
  const seen = { hash: shortHash(text), length: text.length, minutes: bubble.minutes }
  if (row.known !== null) return { ...row.known, ...seen }
  const isFollowed = isNew && bubble.isFromMe && bubble.service === 'iMessage'
  return {
    ...seen,
    guid: name({ isFromMe: bubble.isFromMe, hash: seen.hash, at }),
    isFromMe: bubble.isFromMe,
    isAttachment: bubble.isAttachment,
    at,
    seenAt: now,
    stage: isFollowed ? 'sent' : null,
    isTold: !isNew,
  }
}
