// Remembers the known bubbles of a phone's chats, because there is no database behind the screen of Messages. It is
// stored as text in the line's checkpoint.

import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'

import {
  type Handle,
  type Home,
  homeOfNumber,
  parseRecipient,
  personOf,
} from '../../../../domain/handle.ts'
import { guidFromBytes } from '../../../../domain/ids.ts'
import { MINUTE_MS } from '../../../../domain/time.ts'
import { sha256 } from '../../../../system/hash.ts'
import { dropOldest } from '../../../../system/memoize.ts'
import { endsAlike } from './labels.ts'
import { ListMemory, STORED_LIST } from './list-memory.ts'
import { WalkMemory } from './walk-memory.ts'

export type OwnStage = 'sent' | 'delivered' | 'read' | 'failed'

export type Descriptor = {
  /** `ui-` and a UUID, made from the bubble as it was first seen. */
  readonly guid: string
  readonly isFromMe: boolean
  /** Hash and length of the comparable text when the bubble was first seen. */
  readonly hash: string
  readonly length: number
  /** The time on the bubble's label, in minutes after midnight. */
  readonly minutes: number
  /** The bubble's time in milliseconds since 1970, to the minute. */
  readonly at: number
  /** The time when it was first seen, in milliseconds since 1970. */
  readonly seenAt: number
  /** The state of an own message; null if no receipt is awaited. */
  readonly stage: OwnStage | null
  /** True if an own iMessage was sent as a text message in the end. */
  readonly isText: boolean
  /** True if it was emitted, or need not be: it is older than the line, or a message of ours. */
  readonly isReported: boolean
}

const BUBBLES_MAX = 60
/**
 * Bubbles kept of a chat that isn't among the last `AWAKE_CHATS_MAX`. Few, because the memory is stored with each
 * event, and enough to find the place in the chat.
 */
export const RESTING_BUBBLES_MAX = 12
const AWAKE_CHATS_MAX = 20
const CHATS_MAX = 500
const PENDING_MAX = 100
const PROVEN_MAX = 500
/** The phone's clock, by which labels are, may be behind by this much. */
const CLOCKS_APART_MS = MINUTE_MS

/** `[id, flags, hash, length, minutes, at, seenAt]`, times in seconds. A short form, because a line may keep 30,000. */
const STORED_DESCRIPTOR = Type.Tuple([
  Type.String(),
  Type.Integer(),
  Type.String(),
  Type.Integer(),
  Type.Integer(),
  Type.Number(),
  Type.Number(),
])
type StoredDescriptor = Static<typeof STORED_DESCRIPTOR>

const STORED_MEMORY_SCHEMA = Type.Object({
  since: Type.Number(),
  ...STORED_LIST,
  owed: Type.Array(Type.String()),
  chats: Type.Array(Type.Tuple([Type.String(), Type.Array(STORED_DESCRIPTOR)])),
  // These fields are absent from memories of earlier versions.
  proven: Type.Optional(Type.Array(Type.Tuple([Type.String(), Type.String()]))),
  texting: Type.Optional(Type.Array(Type.String())),
  early: Type.Optional(Type.Array(Type.Tuple([Type.String(), Type.Number()]))),
})
type StoredMemory = Static<typeof STORED_MEMORY_SCHEMA>
const STORED_MEMORY = Compile(STORED_MEMORY_SCHEMA)

const FROM_ME = 1
/** Bit 2 is unused, because stored memories may have it set. */
const REPORTED = 4
/** The stage is in the three bits above the first flags. */
const STAGE_SHIFT = 3
const STAGE_MASK = 7
const TEXT = 64
const STAGES: readonly (OwnStage | null)[] = [null, 'sent', 'delivered', 'read', 'failed']
const HASH_BYTES = 8

export class TranscriptMemory {
  /** The time when the line began, in milliseconds since 1970: older bubbles are history. */
  readonly since: number
  /** The line's number. Numbers without a country code are read as numbers of its country. */
  readonly number: string
  readonly home: Home | null
  /** Known bubbles by handle; the most recently read chat comes last. */
  readonly #chats = new Map<Handle, readonly Descriptor[]>()
  readonly walks = new WalkMemory()
  readonly list: ListMemory
  readonly #pending = new Set<Handle>()
  /** People whose chat was proven to have this title. */
  readonly #proven = new Map<string, ReadonlySet<Handle>>()
  /** People whose chat said Text Message when it was last read. */
  readonly #texting = new Set<Handle>()
  /** Chats that were read within the minute of their newest message, and the end of that minute, in ms since 1970. */
  readonly #early = new Map<Handle, number>()
  constructor(since: number, number = '', list = new ListMemory(since)) {
    this.since = since
    this.list = list
    this.number = number
    this.home = homeOfNumber(number)
  }

  /** The memory stored as `text`; if that is null or unreadable, a new one that begins now. */
  static fromText(text: string | null, now: number, number = ''): TranscriptMemory {
    const value = parse(text)
    if (!STORED_MEMORY.Check(value)) return new TranscriptMemory(now, number)
    const list = ListMemory.fromStored(value.since, value, homeOfNumber(number))
    const memory = new TranscriptMemory(value.since, number, list)
    // Earlier versions stored numbers as the screen spelled them.
    const person = (handle: string) => personOf(handle, memory.home)
    for (const [handle, stored] of value.chats) {
      memory.keep(person(handle), stored.map(readDescriptor))
    }
    memory.#takePeople(value, person)
    return memory
  }

  #takePeople(
    { owed, proven = [], early = [], texting = [] }: StoredMemory,
    person: (handle: string) => Handle,
  ): void {
    for (const handle of owed) this.addPending(person(handle))
    for (const [title, handle] of proven) this.keepProven(title, person(handle))
    for (const [handle, until] of early) this.#early.set(person(handle), until)
    for (const handle of texting) this.keepTexting(person(handle), true)
  }

  toText(): string {
    const chats = [...this.#chats].map(([handle, known]) => [handle, known.map(storedDescriptor)])
    const proven = [...this.#proven].flatMap(([title, people]) =>
      [...people].map((handle) => [title, handle]),
    )
    const [owed, texting] = [this.#pending, this.#texting].map((one) => [...one])
    const early = [...this.#early]
    return JSON.stringify({
      since: this.since,
      ...this.list.toStored(),
      owed,
      chats,
      proven,
      texting,
      early,
    })
  }

  get handles(): readonly Handle[] {
    return [...this.#chats.keys()]
  }

  /** The bubbles of a chat, oldest first; null if it was never read. */
  chat(handle: Handle): readonly Descriptor[] | null {
    return this.#chats.get(handle) ?? null
  }

  keep(handle: Handle, known: readonly Descriptor[]): void {
    this.#chats.delete(handle)
    this.#chats.set(handle, known.slice(-BUBBLES_MAX))
    dropOldest(this.#chats, CHATS_MAX)
    const resting = [...this.#chats.keys()].at(-AWAKE_CHATS_MAX - 1)
    if (resting !== undefined) this.#chats.set(resting, endOf(this.#chats.get(resting) ?? []))
  }

  amend(handle: Handle, guid: string, change: Partial<Descriptor>): void {
    const known = this.#chats.get(handle)
    if (known === undefined) return
    const amended = known.map((bubble) =>
      bubble.guid === guid ? { ...bubble, ...change } : bubble,
    )
    this.#chats.set(handle, amended)
  }

  /**
   * The person behind a number or an address on the screen: by the rules of the line's country, else the one person
   * of `people` whose number may be meant. If that is nobody, or several people, the number as it is shown.
   */
  personShown(shown: Handle, people: readonly Handle[] = this.handles): Handle {
    const person = personOf(shown, this.home)
    if (parseRecipient(person) !== null || this.#chats.has(person)) return person
    const [alike, ...others] = people.filter((handle) => endsAlike(shown, handle))
    return alike === undefined || others.length > 0 ? person : alike
  }

  /** The people whose chat was proven to have this title: several may have the same suggested name. */
  proven(title: string): ReadonlySet<Handle> {
    return this.#proven.get(title) ?? new Set()
  }

  keepProven(title: string, handle: Handle): void {
    const people = this.proven(title).union(new Set([handle]))
    this.#proven.delete(title)
    this.#proven.set(title, people)
    dropOldest(this.#proven, PROVEN_MAX)
  }

  isTexting(handle: Handle): boolean {
    return this.#texting.has(handle)
  }

  keepTexting(handle: Handle, isTexting: boolean): void {
    this.#texting.delete(handle)
    if (isTexting && this.#texting.size < CHATS_MAX) this.#texting.add(handle)
  }

  /** Chats that must be read, whatever the list shows. */
  get pending(): readonly Handle[] {
    return [...this.#pending]
  }

  /**
   * Notes that a chat was read at `now`; called after `keep`. If the minute of its newest message isn't over, another
   * message with the same text may come without changing the list, except to unread.
   */
  noteRead(handle: Handle, now: number): void {
    const until = (this.chat(handle)?.at(-1)?.at ?? -Infinity) + MINUTE_MS + CLOCKS_APART_MS
    this.#early.delete(handle)
    if (until > now) this.#early.set(handle, until)
    dropOldest(this.#early, CHATS_MAX)
  }

  /** Known bubbles from this time on may have been unsent since, and replaced by others of the same minute. */
  openSince(handle: Handle): number {
    return this.#early.has(handle) ? (this.chat(handle)?.at(-1)?.at ?? Infinity) : Infinity
  }

  /** Chats that were last read within the minute of their newest message, now that this minute is over. */
  dueAgain(now: number): readonly Handle[] {
    return [...this.#early].flatMap(([handle, until]) => (until <= now ? [handle] : []))
  }

  addPending(handle: Handle): void {
    if (this.#pending.size < PENDING_MAX) this.#pending.add(handle)
  }

  removePending(handle: Handle): void {
    this.#pending.delete(handle)
  }
}

/**
 * A guid for a bubble: `ui-` and a UUID made from its content (RFC 9562, version 8), so that the same chat read again
 * with an older memory gives the same guid. `nth` distinguishes equal bubbles.
 */
export function bubbleGuid(
  handle: Handle,
  { isFromMe, hash, at }: Pick<Descriptor, 'isFromMe' | 'hash' | 'at'>,
  nth: number,
): string {
  const bytes = sha256(JSON.stringify([handle, isFromMe, hash, at, nth])).slice(0, 16)
  bytes[6] = 0x80 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return guidOf(bytes)
}

/** A short hash of a comparable text, or of a mark. */
export function shortHash(text: string): string {
  return Buffer.from(sha256(text).subarray(0, HASH_BYTES)).toString('base64url')
}

function storedDescriptor(bubble: Descriptor): StoredDescriptor {
  const { guid, isFromMe, isReported, isText, hash, length, minutes, at, seenAt } = bubble
  const flags = (isFromMe ? FROM_ME : 0) | (isReported ? REPORTED : 0) | (isText ? TEXT : 0)
  const stage = STAGES.indexOf(bubble.stage) << STAGE_SHIFT
  const id = Buffer.from(guid.slice(3).replaceAll('-', ''), 'hex').toString('base64url')
  return [id, flags | stage, hash, length, minutes, at / 1_000, seenAt / 1_000]
}

function readDescriptor(stored: StoredDescriptor): Descriptor {
  const [id, flags, hash, length, minutes, at, seenAt] = stored
  return {
    guid: guidOf(Buffer.from(id, 'base64url')),
    isFromMe: (flags & FROM_ME) !== 0,
    hash,
    length,
    minutes,
    at: at * 1_000,
    seenAt: Math.round(seenAt * 1_000),
    stage: STAGES[(flags >> STAGE_SHIFT) & STAGE_MASK] ?? null,
    isText: (flags & TEXT) !== 0,
    isReported: (flags & REPORTED) !== 0,
  }
}

function guidOf(bytes: Uint8Array): string {
  return `ui-${guidFromBytes(bytes).toLowerCase()}`
}

/** The last few bubbles, and all bubbles from the first unreported one on. */
function endOf(known: readonly Descriptor[]): readonly Descriptor[] {
  const unreported = known.findIndex(({ isReported }) => !isReported)
  const start = known.length - RESTING_BUBBLES_MAX
  return known.slice(Math.max(0, unreported === -1 ? start : Math.min(start, unreported)))
}

function parse(text: string | null): unknown {
  if (text === null) return null
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
