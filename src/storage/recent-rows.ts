// Rows that were read or written last, as the rest of the program knows them. A message on its way is
// looked up whole at each of its steps, and reading its 27 columns costs as much as all else in a step
// but the saving; the contact that it goes to is asked for twice, and its conversation, what of that is
// unfinished, and the message of a guid for each message; an event, for each webhook that is to get it.

import type { Contact } from '../domain/contact-limit.ts'
import type { ConversationId, EventId, LineId, MessageId } from '../domain/ids.ts'
import type { Outbound } from '../domain/message.ts'
import { PassingMap } from '../system/passing.ts'
import type { Db } from './database.ts'
import { preparedBeside } from './statement.ts'

/** What is sent of an event; it never changes. */
export type SentEvent = { readonly id: EventId; readonly body: string }

/** More than are on their way at once; what waits for longer is read again when its turn comes. */
const MESSAGES_MAX = 256
const PARTIES_MAX = 4_096
/** Webhooks are told of the same events at about the same time. */
const EVENTS_MAX = 256

/** Up to `max` values; the one that came longest ago goes first. */
class Recent<T extends object, K = string> {
  readonly #values = new PassingMap<K, T>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  /** What is remembered; else what `read` gives, which is remembered where it is anything. */
  getOrRead<R extends T | null>(key: K, read: () => R): T | R {
    const known = this.get(key)
    if (known !== null) return known
    const found = read()
    if (found !== null) this.set(key, found)
    return found
  }

  /** Null where nobody remembers. */
  get(key: K): T | null {
    return this.#values.get(key)
  }

  /** Call it with what was just read or written, and only then. */
  set(key: K, value: T): void {
    this.#values.set(key, value)
    if (this.#values.size <= this.#max) return
    const oldest = this.#values.firstKey()
    if (oldest !== undefined) this.#values.delete(oldest)
  }

  clear(): void {
    this.#values.clear()
  }
}

/** What a line has under a key of its own, a handle or a guid. Up to `max` for each line. */
class RecentOfLines<T extends object> {
  readonly #max: number
  /** As many entries as there were ever lines. */
  readonly #lines = new Map<LineId, Recent<T>>()

  constructor(max: number) {
    this.#max = max
  }

  /** Two looks: a key made of both would be a new text, to be hashed each time. */
  of(lineId: LineId): Recent<T> {
    const known = this.#lines.get(lineId)
    if (known !== undefined) return known
    const recent = new Recent<T>(this.#max)
    this.#lines.set(lineId, recent)
    return recent
  }

  clear(): void {
    for (const recent of this.#lines.values()) recent.clear()
  }
}

/** What is remembered of a connection's rows: contacts and conversations of a line by handle. */
export const recentRows = preparedBeside(() => ({
  messages: new Recent<Outbound>(MESSAGES_MAX),
  guids: new RecentOfLines<{ readonly id: MessageId }>(MESSAGES_MAX),
  /** By their seq. */
  events: new Recent<SentEvent, number>(EVENTS_MAX),
  /** How many messages of a conversation are not settled: rather too many than too few. */
  unfinished: new Recent<{ count: number }>(PARTIES_MAX),
  contacts: new RecentOfLines<Contact>(PARTIES_MAX),
  conversations: new RecentOfLines<{ readonly id: ConversationId }>(PARTIES_MAX),
}))

/** After a roll-back, and after every write that is not of one row as a whole. */
export function forgetRows(db: Db): void {
  for (const rows of Object.values(recentRows(db))) rows.clear()
}
