// The file of the simulated network, in which it keeps all that was sent and all that is to come.

import { LastingDatabase } from '../../../system/lasting-database.ts'
import {
  createTables,
  prepareStatements,
  type CarriedMessage,
  type Chat,
  type FoundMessage,
  type NetworkEvent,
  type Part,
  type PendingEvent,
  type Statements,
  type Values,
} from './ledger-tables.ts'

const PRAGMAS = [
  'busy_timeout = 5000',
  'journal_mode = WAL',
  // The ledger must outlive a killed process, not a power cut: the file system's cache is enough.
  'synchronous = OFF',
  'temp_store = MEMORY',
  'journal_size_limit = 67108864',
]

export class Ledger {
  /** Id of this ledger: a new file has another one. */
  readonly identity: string
  readonly #sql: Statements
  readonly #carry: (messages: readonly CarriedMessage[]) => void
  readonly #bringDue: (what: Values) => void
  readonly #post: (events: readonly PendingEvent[], chats: readonly Chat[], now: number) => void

  /** Opens the file at `path`; `newIdentity` names it when it is new. */
  constructor(path: string, newIdentity: string) {
    const db = new LastingDatabase(path, { strict: true, create: true, readwrite: true })
    for (const pragma of PRAGMAS) db.run(`PRAGMA ${pragma}`)
    createTables(db)
    db.query("INSERT INTO about VALUES ('identity', $id) ON CONFLICT DO NOTHING").run({
      id: newIdentity,
    })
    this.#sql = prepareStatements(db)
    this.identity = this.#sql.identity.get()?.value ?? newIdentity
    this.#carry = db.transaction((messages: readonly CarriedMessage[]) => {
      const lines = new Map(messages.map(({ session, carried }) => [session, carried.line]))
      for (const [session, line] of lines) this.#requireNewest(line, session)
      for (const message of messages) this.#insert(message)
    }).immediate
    this.#bringDue = db.transaction((what: Values) => {
      this.#sql.copyDue.run(what)
      this.#sql.deleteDue.run(what)
    }).immediate
    this.#post = db.transaction(
      (events: readonly PendingEvent[], chats: readonly Chat[], now: number) => {
        this.#insertEvents(events, now)
        for (const chat of chats) this.#sql.saveChat.run(chat)
      },
    ).immediate
  }

  /** Seqs of the oldest and the newest message; 0 where nothing was carried. */
  carriedSeqs(): { readonly oldest: number; readonly newest: number } {
    const seqs = this.#sql.carriedSeqs.get()
    return { oldest: seqs?.oldest ?? 0, newest: seqs?.newest ?? 0 }
  }

  /** Writes messages and the events that follow from them; throws where nothing was written. */
  carry(messages: readonly CarriedMessage[]): void {
    this.#carry(messages)
  }

  /** Writes events that follow from no message, and the groups that they speak of. */
  post(events: readonly PendingEvent[], chats: readonly Chat[], now: number): void {
    this.#post(events, chats, now)
  }

  /** Begins a session of a line: every earlier one is over, and carries nothing from now on. */
  beginSession(line: string, id: string): void {
    this.#sql.insertSession.run({ line, id })
  }

  hasSession(line: string, id: string): boolean {
    return this.#sql.findSession.get({ line, id }) !== null
  }

  /** Forgets every session of a line except the newest: everything that they left open is durably settled. */
  settleSessions(line: string): void {
    this.#sql.deleteOlderSessions.run({ line })
  }

  /** Turns at most `limit` pending events of a line that are due at `now` into events. */
  bringDue(line: string, now: number, limit: number): void {
    this.#bringDue({ line, now, limit })
  }

  /** Time of the line's next pending event, or null. */
  nextDueAt(line: string): number | null {
    return this.#sql.nextDue.get({ line })?.at ?? null
  }

  /** Events of a line after a position, in order. */
  eventsAfter(line: string, seq: number, limit: number): readonly NetworkEvent[] {
    return this.#sql.events.all({ line, seq, limit })
  }

  /** Newest position of all lines. */
  lastPosition(): number {
    return this.#sql.lastPosition.get()?.seq ?? 0
  }

  lastCarriedAt(): number | null {
    return this.#sql.lastCarriedAt.get()?.at ?? null
  }

  /** Guid and service of a carried message, or null. */
  findCarried(
    messageId: string,
  ): { readonly guid: string; readonly service: string | null } | null {
    return this.#sql.findCarried.get({ messageId })
  }

  /** Files that were sent with a message, in order. */
  partsOf(messageId: string): readonly Pick<Part, 'guid' | 'attachmentId'>[] {
    return this.#sql.partsOf.all({ messageId })
  }

  findChat(line: string, chatGuid: string): Chat | null {
    return this.#sql.findChat.get({ line, chatGuid })
  }

  findMessage(line: string, guid: string): FoundMessage | null {
    return this.#sql.findMessage.get({ line, guid })
  }

  /** The changes of a message that have come or will come, oldest first. */
  changesOf(line: string, targetGuid: string): readonly Pick<PendingEvent, 'details' | 'at'>[] {
    return this.#sql.changesOf.all({ line, targetGuid })
  }

  /** True where the end of a file's wait has come after `position`, or will come. */
  expectsFile(line: string, guid: string, position: number): boolean {
    return this.#sql.expectedFile.get({ line, guid, position }) !== null
  }

  hasHistory(line: string, handle: string): boolean {
    return this.#sql.history.get({ line, handle }) !== null
  }

  /**
   * Deletes at most `limit` entries older than `before`: of `line`, only those up to `position`. The
   * newest message stays, so that no seq is given twice.
   */
  prune(line: string, what: { readonly position: number; before: number; limit: number }): void {
    this.#sql.pruneEvents.run({ line, ...what })
    this.#sql.pruneCarried.run({ before: what.before, limit: what.limit })
    this.#sql.pruneParts.run({ before: what.before, limit: what.limit })
  }

  #requireNewest(line: string, session: string): void {
    if (this.#sql.newestSession.get({ line })?.id !== session) {
      throw new Error('The session is over.')
    }
  }

  #insert({ carried, parts, isCut, events, chats }: CarriedMessage): void {
    const { messageId, line, to: handle, at } = carried
    if (!isCut) this.#sql.insertCarried.run(carried)
    for (const part of parts) this.#sql.insertPart.run({ ...part, messageId, at })
    this.#sql.insertRecipient.run({ line, handle })
    this.#insertEvents(events, at)
    for (const chat of chats) this.#sql.saveChat.run(chat)
  }

  #insertEvents(events: readonly PendingEvent[], now: number): void {
    for (const event of events) {
      const insertion = event.at <= now ? this.#sql.insertEvent : this.#sql.insertPending
      insertion.run(event)
    }
  }
}
