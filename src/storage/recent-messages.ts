// The messages that were read or saved last. One on its way out is looked up whole at each of its steps,
// and reading its 27 columns costs as much as all else in a step but the saving.

import type { Outbound } from '../domain/message.ts'
import type { Db } from './database.ts'
import { prepared } from './statement.ts'

/** More than are on their way at once; what waits for longer is read again when its turn comes. */
const RECENT_MAX = 256

const recent = prepared(() => new Map<string, Outbound>())

/** The message as it is stored, or null where nobody remembers: then it must be read. */
export function recallMessage(db: Db, id: string): Outbound | null {
  return recent(db).get(id) ?? null
}

/** Call it with what was just read or written, and only then. */
export function rememberMessage(db: Db, message: Outbound): void {
  const messages = recent(db)
  // A map is in order of entry: one that changes goes to its end, and the first one is the oldest.
  messages.delete(message.id)
  messages.set(message.id, message)
  if (messages.size <= RECENT_MAX) return
  const oldest = messages.keys().next()
  if (!oldest.done) messages.delete(oldest.value)
}

/** After a roll-back, and after every write to messages that is not of one message as a whole. */
export function forgetMessages(db: Db): void {
  recent(db).clear()
}
