// Rows that were read or written last, as the rest of the program knows them. A message on its way is
// looked up whole at each of its steps, and reading its 27 columns costs as much as all else in a step
// but the saving; the contact that it goes to is asked for twice, and its conversation for each message.

import type { Contact } from '../domain/contact-limit.ts'
import type { Handle } from '../domain/handle.ts'
import type { ConversationId, LineId } from '../domain/ids.ts'
import type { Outbound } from '../domain/message.ts'
import { PassingMap } from '../system/passing.ts'
import type { Db } from './database.ts'
import { prepared } from './statement.ts'

/** More than are on their way at once; what waits for longer is read again when its turn comes. */
const MESSAGES_MAX = 256
const CONTACTS_MAX = 4_096
const CONVERSATIONS_MAX = 4_096

/** Up to `max` values; the one that came longest ago goes first. */
class Recent<T extends object> {
  readonly #values = new PassingMap<string, T>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  /** What is remembered; else what `read` gives, which is remembered where it is anything. */
  getOrRead<R extends T | null>(key: string, read: () => R): T | R {
    const known = this.get(key)
    if (known !== null) return known
    const found = read()
    if (found !== null) this.set(key, found)
    return found
  }

  /** Null where nobody remembers. */
  get(key: string): T | null {
    return this.#values.get(key)
  }

  /** Call it with what was just read or written, and only then. */
  set(key: string, value: T): void {
    this.#values.set(key, value)
    if (this.#values.size <= this.#max) return
    const oldest = this.#values.firstKey()
    if (oldest !== undefined) this.#values.delete(oldest)
  }

  clear(): void {
    this.#values.clear()
  }
}

type Party = { readonly lineId: LineId; readonly handle: Handle }

/** What is remembered of a connection's rows: messages by id, the others by `partyKey`. */
export const recentRows = prepared(() => ({
  messages: new Recent<Outbound>(MESSAGES_MAX),
  contacts: new Recent<Contact>(CONTACTS_MAX),
  conversations: new Recent<{ readonly id: ConversationId }>(CONVERSATIONS_MAX),
}))

/** The key of what a line has with a handle: its contact, its conversation. */
export function partyKey({ lineId, handle }: Party): string {
  return `${lineId} ${handle}`
}

/** After a roll-back, and after every write that is not of one row as a whole. */
export function forgetRows(db: Db): void {
  const { messages, contacts, conversations } = recentRows(db)
  messages.clear()
  contacts.clear()
  conversations.clear()
}
