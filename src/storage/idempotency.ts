import type { MessageId, Timestamp } from '../domain/ids.ts'
import type { AnswerKind } from '../domain/message.ts'
import type { CallerId } from '../domain/permissions.ts'
import type { Db, Tx } from './database.ts'

/** An `Idempotency-Key` and its caller. The same header from another caller is another key. */
export type RequestKey = { readonly caller: CallerId; readonly key: string }

/** The first answer under a key, verbatim. */
export type KeptAnswer = { readonly kind: AnswerKind; readonly body: string }

/** A request accepted under an `Idempotency-Key`. It has no answer while it runs, or if the process crashed. */
export type IdempotencyRecord = {
  /** Empty (unknown) if it was accepted by an earlier version, which didn't store callers. */
  readonly caller: CallerId | ''
  readonly fingerprint: string
  readonly messageId: MessageId
  readonly answer: KeptAnswer | null
}

type Row = Pick<IdempotencyRecord, 'caller' | 'fingerprint' | 'messageId'> & {
  readonly kind: AnswerKind | null
  readonly body: string | null
}

// One lookup for each caller: SQLite prepares `caller IN (…)` again at every run, at twenty times the cost.
const OF_CALLER = `SELECT caller, fingerprint, message_id AS messageId, answer AS kind, body
  FROM idempotency WHERE caller`

/** The record of this caller, else the record of an unknown caller; null if there is neither. */
export function findIdempotency(db: Db, { caller, key }: RequestKey): IdempotencyRecord | null {
  const sql = `${OF_CALLER} = +$caller AND key = +$key UNION ALL ${OF_CALLER} = '' AND key = +$key LIMIT 1`
  const row = db.row<Row>(sql, { caller, key })
  if (row === null) return null
  const { kind, body, ...record } = row
  return { ...record, answer: kind === null || body === null ? null : { kind, body } }
}

export function recordRequest(
  tx: Tx,
  record: RequestKey & {
    readonly fingerprint: string
    readonly messageId: MessageId
    readonly now: Timestamp
  },
): void {
  const sql = `INSERT INTO idempotency (caller, key, fingerprint, message_id, created_at)
     VALUES ($caller, $key, $fingerprint, $messageId, $now)`
  tx.execute(sql, record)
}

/** Stores the answer if it is the first under the key, and returns the stored one. */
export function keepFirstAnswer(tx: Tx, of: RequestKey, answer: KeptAnswer): KeptAnswer {
  const sql = `UPDATE idempotency SET answer = $kind, body = $body
     WHERE caller = $caller AND key = $key AND body IS NULL`
  const { changes } = tx.execute(sql, { ...of, ...answer })
  return changes > 0 ? answer : (findIdempotency(tx, of)?.answer ?? answer)
}
