// What is known of the chats of a phone, as text for the line's checkpoint: there is no database behind
// Messages' screen, so what was seen is remembered here.

import { Type } from 'typebox'
import { Compile } from 'typebox/compile'

import { deviceHandle, type Handle } from '../../../../domain/handle.ts'
import { readDescriptor, storedDescriptor, STORED_DESCRIPTOR } from './stored-descriptor.ts'
import type { Descriptor } from './transcript.ts'

const BUBBLES_MAX = 60
/** All of it is written down with each event: of chats that rest a few bubbles find the place again. */
const RESTING_BUBBLES_MAX = 12
const AWAKE_CHATS_MAX = 20
const CHATS_MAX = 500
const MARKS_MAX = 500
const OWED_MAX = 100

const SHAPE = Compile(
  Type.Object({
    since: Type.Number(),
    marks: Type.Union([Type.Null(), Type.Array(Type.Tuple([Type.String(), Type.String()]))]),
    owed: Type.Array(Type.String()),
    chats: Type.Array(Type.Tuple([Type.String(), Type.Array(STORED_DESCRIPTOR)])),
  }),
)

export class TranscriptMemory {
  /** When the line began, in milliseconds since 1970: older bubbles are no news. */
  readonly since: number
  /** The chats, those that were looked at last behind the others. */
  readonly #chats = new Map<Handle, readonly Descriptor[]>()
  /** Marks of conversations as they were when they were looked at, with their names. */
  readonly #marks = new Map<string, string>()
  readonly #owed = new Set<Handle>()
  #hasSeenList = false

  constructor(since: number) {
    this.since = since
  }

  /** The memory of `text`; a new one, from now on, for none and for one that nobody can read. */
  static fromText(text: string | null, now: number): TranscriptMemory {
    const value = parse(text)
    if (!SHAPE.Check(value)) return new TranscriptMemory(now)
    const memory = new TranscriptMemory(value.since)
    for (const [handle, stored] of value.chats) {
      memory.keep(deviceHandle(handle), stored.map(readDescriptor))
    }
    for (const [mark, name] of value.marks ?? []) memory.#marks.set(mark, name)
    for (const handle of value.owed) memory.owe(deviceHandle(handle))
    memory.#hasSeenList = value.marks !== null
    return memory
  }

  toText(): string {
    const chats = [...this.#chats].map(([handle, known]) => [handle, known.map(storedDescriptor)])
    const marks = this.#hasSeenList ? [...this.#marks] : null
    return JSON.stringify({ since: this.since, marks, owed: [...this.#owed], chats })
  }

  /** False until the list of conversations was seen for the first time. */
  get hasSeenList(): boolean {
    return this.#hasSeenList
  }

  get handles(): readonly Handle[] {
    return [...this.#chats.keys()]
  }

  /** The bubbles of a chat, oldest first; null for one that was never looked at. */
  chat(handle: Handle): readonly Descriptor[] | null {
    return this.#chats.get(handle) ?? null
  }

  /** Keeps the last bubbles of a chat. */
  keep(handle: Handle, known: readonly Descriptor[]): void {
    this.#chats.delete(handle)
    this.#chats.set(handle, known.slice(-BUBBLES_MAX))
    dropOldest(this.#chats, CHATS_MAX)
    const resting = [...this.#chats.keys()].at(-AWAKE_CHATS_MAX - 1)
    if (resting !== undefined) this.#chats.set(resting, endOf(this.#chats.get(resting) ?? []))
  }

  /** Puts what `change` makes of it in the place of one bubble. */
  amend(handle: Handle, guid: string, change: Partial<Descriptor>): void {
    const known = this.#chats.get(handle)
    if (known === undefined) return
    const amended = known.map((one) => (one.guid === guid ? { ...one, ...change } : one))
    this.#chats.set(handle, amended)
  }

  knowsMark(mark: string): boolean {
    return this.#marks.has(mark)
  }

  /** The conversation is known as it is; `isOneChat` where no other can have the same name. */
  keepMark(mark: string, name: string, isOneChat: boolean): void {
    this.#hasSeenList = true
    if (isOneChat) {
      for (const [other, otherName] of this.#marks) {
        if (otherName === name) this.#marks.delete(other)
      }
    }
    this.#marks.set(mark, name)
    dropOldest(this.#marks, MARKS_MAX)
  }

  /** Even of an empty list there is a first look. */
  keepList(): void {
    this.#hasSeenList = true
  }

  /** Chats that have to be looked at, whatever the list says. */
  get owed(): readonly Handle[] {
    return [...this.#owed]
  }

  owe(handle: Handle): void {
    if (this.#owed.size < OWED_MAX) this.#owed.add(handle)
  }

  settle(handle: Handle): void {
    this.#owed.delete(handle)
  }
}

/** The last few, and all from the first that was not told. */
function endOf(known: readonly Descriptor[]): readonly Descriptor[] {
  const untold = known.findIndex(({ isTold }) => !isTold)
  const start = known.length - RESTING_BUBBLES_MAX
  return known.slice(Math.max(0, untold === -1 ? start : Math.min(start, untold)))
}

function parse(text: string | null): unknown {
  if (text === null) return null
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function dropOldest<K>(map: Map<K, unknown>, max: number): void {
  if (map.size <= max) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}
