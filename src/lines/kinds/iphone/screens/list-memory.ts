// Remembers the rows of the list of conversations as they were when their chats were read.

import { Type, type Static } from 'typebox'

import { type Handle, personOf, type Home } from '../../../../domain/handle.ts'
import { MINUTE_MS } from '../../../../domain/time.ts'
import { dropOldest } from '../../../../system/memoize.ts'
import { daysNamed, localDay, localMinute, timeAtEnd } from './label-time.ts'
import { type ChatCell, markWithoutTime, readChatTitle } from './labels.ts'

/** The other side of a chat. `named`: a contact or a business. `unproven`: nothing on the phone shows who it is. */
export type ChatKind = 'person' | 'group' | 'named' | 'unproven'
/** Chats with one person who is hidden behind a name: their messages are not reported. */
export type HiddenKind = Extract<ChatKind, 'named' | 'unproven'>

export type ChatIdentity =
  | { readonly kind: 'person'; readonly handle: Handle }
  | { readonly kind: Exclude<ChatKind, 'person'> }

type Row = Pick<ChatCell, 'mark' | 'name' | 'date'>

type Known = {
  readonly name: string
  /** True if it was remembered after the last finished walk. */
  readonly isFresh: boolean
  readonly hidden: HiddenKind | null
  /** The day of its last message; null if the row did not name it. */
  readonly day: string | null
  /** The person whose chat it is; null for any other chat, or one that was not opened. */
  readonly handle: Handle | null
}

export const STORED_LIST = {
  marks: Type.Union([Type.Null(), Type.Array(Type.Tuple([Type.String(), Type.String()]))]),
  /** Marks remembered since the last finished walk; absent until a walk has finished. */
  fresh: Type.Optional(Type.Array(Type.String())),
  // Absent from memories of earlier versions.
  day: Type.Optional(Type.String()),
  hidden: Type.Optional(Type.Array(Type.Tuple([Type.String(), Type.Enum(['named', 'unproven'])]))),
  /** The day and the person of each mark. */
  about: Type.Optional(
    Type.Array(
      Type.Tuple([
        Type.Union([Type.Null(), Type.String()]),
        Type.Union([Type.Null(), Type.String()]),
      ]),
    ),
  ),
}
const STORED_LIST_SCHEMA = Type.Object(STORED_LIST)
type StoredList = Static<typeof STORED_LIST_SCHEMA>

const MARKS_MAX = 500
/** If the list was not read for longer, its rows may have changed before the day did. */
const UNWATCHED_MS = 2 * MINUTE_MS

export class ListMemory {
  /** Conversations by their marks. */
  readonly #known = new Map<string, Known>()
  readonly #since: number
  /** The phone's date on which the marks' times were read; undefined in memories of earlier versions. */
  #day: string | undefined
  #timeZone = 'UTC'
  #readAt = -Infinity
  /** True if the list was seen, even if it was empty. */
  hasSeen = false
  #hasWalked = false

  /** `since` is the time when the line began, in milliseconds since 1970. */
  constructor(since: number) {
    this.#since = since
  }

  static fromStored(since: number, stored: StoredList, home: Home | null): ListMemory {
    const list = new ListMemory(since)
    const [fresh, hidden] = [new Set(stored.fresh), new Map(stored.hidden)]
    for (const [index, [mark, name]] of (stored.marks ?? []).entries()) {
      const [day = null, person = null] = stored.about?.[index] ?? []
      const handle = person === null ? null : personOf(person, home)
      const [isFresh, isHidden] = [fresh.has(mark), hidden.get(mark) ?? null]
      list.#known.set(mark, { name, isFresh, hidden: isHidden, day, handle })
    }
    list.#day = stored.day
    list.hasSeen = stored.marks !== null
    list.#hasWalked = stored.fresh !== undefined
    return list
  }

  toStored(): object {
    const kept = [...this.#known]
    const marks = this.hasSeen ? kept.map(([mark, { name }]) => [mark, name]) : null
    const fresh = kept.flatMap(([mark, { isFresh }]) => (isFresh ? [mark] : []))
    const hidden = kept.flatMap(([mark, one]) => (one.hidden ? [[mark, one.hidden]] : []))
    const about = kept.map(([, { day, handle }]) => [day, handle])
    return { marks, ...(this.#hasWalked ? { fresh } : {}), day: this.#day, hidden, about }
  }

  /**
   * Called before the list is read, with times that are of this day. Known marks lose theirs if the day has changed,
   * and are forgotten if the list was not read at the end of the day before, because other messages may have come.
   * Returns whether a new day has begun, which must be stored.
   */
  beginReading(now: number, timeZone: string): boolean {
    const day = localDay(now, timeZone)
    const isNewDay = this.#day !== undefined && this.#day !== day
    const withTime = [...this.#known].filter(([mark]) => mark.includes('\t'))
    const isWatched = now - this.#readAt < UNWATCHED_MS
    for (const [mark, one] of isNewDay ? withTime : []) {
      this.#known.delete(mark)
      if (isWatched) this.#known.set(markWithoutTime(mark), one)
    }
    this.#day = day
    this.#timeZone = timeZone
    this.#readAt = now
    return isNewDay
  }

  knows(row: Row): boolean {
    return this.#find(row) !== undefined
  }

  /** The conversation with this mark, or with the mark that it had while it showed a time instead of a date. */
  #find({ mark, date }: Row): Known | undefined {
    const wasTimed = ([known]: readonly [string, Known]) => markWithoutTime(known) === mark
    const found = this.#known.get(mark) ?? [...this.#known].findLast(wasTimed)?.[1]
    const day = found?.day ?? null
    const days = this.#daysOf(date)
    // The same words on a later day are another message.
    const isLater = day !== null && days.length > 0 && days.every((one) => one > day)
    return isLater ? undefined : found
  }

  /** The days that a row may mean, earliest first. */
  #daysOf(date: string): readonly string[] {
    return this.#day === undefined ? [] : daysNamed(date, this.#day).toSorted()
  }

  /** Remembers a conversation as the row shows it; `identity` is null if it was not opened. */
  keep({ mark, name, date }: Row, identity: ChatIdentity | null): void {
    this.hasSeen = true
    const kind = identity?.kind ?? 'person'
    const hidden = kind === 'named' || kind === 'unproven' ? kind : null
    const handle = identity?.kind === 'person' ? identity.handle : null
    if (handle !== null) this.#forget(handle, name)
    const [day = null] = this.#daysOf(date)
    const kept = { name: kind === 'person' ? name : '', isFresh: true, hidden, day, handle }
    this.#known.set(mark, kept)
    dropOldest(this.#known, MARKS_MAX)
  }

  /** Forgets the person's earlier row, and other rows with their name, unless Messages only suggests that name. */
  #forget(handle: Handle, name: string): void {
    const isTheirs = readChatTitle(name).kind !== 'suggested'
    for (const [mark, one] of this.#known) {
      if (one.handle === handle || (isTheirs && one.name === name)) this.#known.delete(mark)
    }
  }

  /** True if the last message of a row may have come after the line began. */
  mayBeNew({ date }: Row): boolean {
    const sinceDay = localDay(this.#since, this.#timeZone)
    const sinceMinute = localMinute(this.#since, this.#timeZone)
    const [day = ''] = this.#daysOf(date)
    // The phone's clock may be behind.
    return (
      day > sinceDay || (day === sinceDay && (timeAtEnd(date) ?? sinceMinute) >= sinceMinute - 1)
    )
  }

  /** True if the conversation is as the last finished walk left it, and was not read since. */
  isUnchanged(row: Row): boolean {
    return this.#find(row)?.isFresh === false
  }

  /** True if a walk over the list has ever finished. */
  get hasWalked(): boolean {
    return this.#hasWalked
  }

  /** True if a conversation of one of these kinds is in the list, as far as the list has been read. */
  hasHidden(...kinds: readonly HiddenKind[]): boolean {
    return [...this.#known.values()].some(({ hidden }) => hidden && kinds.includes(hidden))
  }

  /**
   * Called when everything due was read: the next walk may end at these conversations. Returns whether that changed
   * anything. `list` has the marks of all conversations; null if not all were seen.
   */
  finishWalk(list: ReadonlySet<string> | null): boolean {
    let isNew = !this.#hasWalked
    this.#hasWalked = true
    for (const [mark, one] of this.#known) {
      const isThere = list === null || list.has(mark) || list.has(markWithoutTime(mark))
      isNew ||= one.isFresh || (one.hidden !== null && !isThere)
      if (one.hidden !== null && !isThere) this.#known.delete(mark)
      else this.#known.set(mark, { ...one, isFresh: false })
    }
    return isNew
  }
}
