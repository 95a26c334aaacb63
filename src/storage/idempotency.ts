import type { MessageId, Timestamp } from '../domain/ids.ts'
import type { AnswerKind } from '../domain/message.ts'
import type { CallerId } from '../domain/permissions.ts'
import type { Db, Tx } from './database.ts'
import { execute, getRow } from './statement.ts'

/** An `Idempotency-Key` and the caller whose it is: the same header of another caller is another key. */
export type RequestKey = { readonly caller: CallerId; readonly key: string }

/** The first answer under a key, word for word. */
export type KeptAnswer = { readonly kind: AnswerKind; readonly body: string }

/** A request that was accepted under an `Idempotency-Key`; without an answer while the request runs, and after a crash. */
export type IdempotencyRecord = {
  /** Empty if an earlier version, which kept no callers, accepted it: nobody can say whose it was. */
  readonly caller: CallerId | ''
  readonly fingerprint: string
  readonly messageId: MessageId
  readonly answer: KeptAnswer | null
}

type Row = Pick<IdempotencyRecord, 'caller' | 'fingerprint' | 'messageId'> & {
  readonly kind: AnswerKind | null
  readonly body: string | null
}

/** Returns the record of this caller, else one of an unknown caller, or null if there is none. */
export function findIdempotency(db: Db, { caller, key }: RequestKey): IdempotencyRecord | null {
  const sql = `SELECT caller, fingerprint, message_id AS messageId, answer AS kind, body
     FROM idempotency WHERE caller IN ($caller, '') AND key = $key ORDER BY caller DESC LIMIT 1`
  const row = getRow<Row>(db, sql, { caller, key })
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
  execute(tx, sql, record)
}

/** Keeps the first answer under a key, and returns the one that is kept then. */
export function keepFirstAnswer(tx: Tx, of: RequestKey, answer: KeptAnswer): KeptAnswer {
  const sql = `UPDATE idempotency SET answer = $kind, body = $body
     WHERE caller = $caller AND key = $key AND body IS NULL`
  const { changes } = execute(tx, sql, { ...of, ...answer })
  return changes > 0 ? answer : (findIdempotency(tx, of)?.answer ?? answer)
}
