import type { Database, Statement } from 'bun:sqlite'

import type { ConversationId, LineId } from '../domain/ids.ts'
import type { Outbound } from '../domain/message.ts'
import { CONVERSATION_SEQ, LINE_SEQ } from './parties.ts'

/** A message as its row is to be; `isNew` where there is no row of it yet. */
export type LateMessage = {
  readonly message: Outbound
  readonly revision: number
  readonly isNew: boolean
}

type Values = Record<string, string | number | null>

/**
 * Write-behind: what works of a group save of messages is written once, as the group leaves it, before
 * the commit or before anything else is asked of the table. A message takes two steps in each of its
 * commits, and a row costs as much as all else of a step: its indexes over status and change move too.
 */
export class LateMessages {
  readonly #sqlite: Database
  #late = new Map<string, LateMessage>()
  #statements: ReturnType<typeof prepareStatements> | null = null
  /** The seq of the last new message; null where the table has to be asked. */
  #lastSeq: number | null = null

  constructor(sqlite: Database) {
    this.#sqlite = sqlite
  }

  /** The seq of a message that comes now. */
  nextSeq(): number {
    this.#lastSeq = (this.#lastSeq ?? this.#sql().newest.get()?.seq ?? 0) + 1
    return this.#lastSeq
  }

  save(late: LateMessage): void {
    const { id } = late.message
    const isNew = late.isNew || this.#late.get(id)?.isNew === true
    this.#late.set(id, { ...late, isNew })
  }

  has(id: string): boolean {
    return this.#late.has(id)
  }

  /** Those of a conversation, in no order. */
  ofConversation(id: ConversationId): readonly Outbound[] {
    return this.#those(({ conversationId }) => conversationId === id)
  }

  /** Those of a line, in no order. */
  ofLine(id: LineId): readonly Outbound[] {
    return this.#those(({ lineId }) => lineId === id)
  }

  /** Writes them all. Where that throws, the rest stays, and the next time throws too. */
  write(): void {
    if (this.#late.size === 0) return
    const { insertion, update } = this.#sql()
    for (const late of this.#late.values()) {
      if (late.isNew) insertion.run(rowOf(late))
      else update.run(changesOf(late))
      this.#late.delete(late.message.id)
    }
    this.forget()
  }

  /** They are undone. */
  forget(): void {
    this.#late = new Map()
    this.#lastSeq = null
  }

  #those(are: (message: Outbound) => boolean): readonly Outbound[] {
    const found: Outbound[] = []
    for (const { message } of this.#late.values()) if (are(message)) found.push(message)
    return found
  }

  /** Not before the tables are there. */
  #sql() {
    return (this.#statements ??= prepareStatements(this.#sqlite))
  }
}

function prepareStatements(sqlite: Database) {
  const newest: Statement<{ seq: number | null }, []> = sqlite.prepare(
    'SELECT max(seq) AS seq FROM messages',
  )
  const insertion: Statement<null, [Values]> = sqlite.prepare(
    `INSERT INTO messages (seq, id, line_seq, conversation_seq, phone_number, handle, direction, status,
       service, text, guid, platform_guid, source, is_pinned, queued_reason, due_at, round,
       refused_by, contact_hold, note, passed_at, error_code, error_message, revision, created_at,
       updated_at, sent_at, delivered_at, read_at)
     VALUES ($seq, $id, ${LINE_SEQ}, ${CONVERSATION_SEQ}, $phoneNumber, $handle, $direction, $status,
       $service, $text, $guid, $platformGuid, $source, $isPinned, $queuedReason, $dueAt, $round,
       $refusedBy, $contactHold, $note, $passedAt, $errorCode, $errorMessage, $revision, $createdAt,
       $now, $sentAt, $deliveredAt, $readAt)`,
  )
  const update: Statement<null, [Values]> = sqlite.prepare(
    `UPDATE messages SET status = $status, service = $service, platform_guid = $platformGuid,
       queued_reason = $queuedReason, due_at = $dueAt, round = $round, refused_by = $refusedBy,
       contact_hold = $contactHold, note = $note, passed_at = $passedAt, error_code = $errorCode,
       error_message = $errorMessage, sent_at = $sentAt, delivered_at = $deliveredAt,
       read_at = $readAt, updated_at = $now, revision = $revision
     WHERE seq = $seq`,
  )
  return { newest, insertion, update }
}

/** What can change of a message, but its line and its conversation. */
function changesOf({ message, revision }: LateMessage): Values {
  return {
    seq: message.seq,
    status: message.status,
    service: message.service,
    platformGuid: message.platformGuid,
    queuedReason: message.queuedReason,
    dueAt: message.dueAt,
    round: message.round,
    refusedBy: message.refusedBy.length === 0 ? null : JSON.stringify(message.refusedBy),
    contactHold: message.contactHold,
    note: message.note,
    passedAt: message.passedAt,
    errorCode: message.error?.code ?? null,
    errorMessage: message.error?.message ?? null,
    sentAt: message.sentAt,
    deliveredAt: message.deliveredAt,
    readAt: message.readAt,
    now: message.updatedAt,
    revision,
  }
}

function rowOf(late: LateMessage): Values {
  const { message } = late
  return {
    ...changesOf(late),
    id: message.id,
    lineId: message.lineId,
    conversationId: message.conversationId,
    phoneNumber: message.phoneNumber,
    handle: message.handle,
    direction: message.direction,
    text: message.text,
    guid: message.guid,
    source: message.source,
    isPinned: message.isPinned ? 1 : 0,
    createdAt: message.createdAt,
  }
}
