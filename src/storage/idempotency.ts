import type { MessageId, Timestamp } from '../domain/ids.ts'
import type { AnswerKind } from '../domain/message.ts'
import type { Db, Tx } from './database.ts'
import { execute, getRow } from './statement.ts'

/** The first answer under a key, word for word. */
export type KeptAnswer = { readonly kind: AnswerKind; readonly body: string }

/** A request that was accepted under an `Idempotency-Key`; without an answer while the request runs, and after a crash. */
export type IdempotencyRecord = {
  readonly fingerprint: string
  readonly messageId: MessageId
  readonly answer: KeptAnswer | null
}

type Row = Pick<IdempotencyRecord, 'fingerprint' | 'messageId'> & {
  readonly kind: AnswerKind | null
  readonly body: string | null
}

export function findIdempotency(db: Db, key: string): IdempotencyRecord | null {
  const sql = `SELECT fingerprint, message_id AS messageId, answer AS kind, body
     FROM idempotency WHERE key = $key`
  const row = getRow<Row>(db, sql, { key })
  if (row === null) return null
  const { fingerprint, messageId, kind, body } = row
  const answer = kind === null || body === null ? null : { kind, body }
  return { fingerprint, messageId, answer }
}

export function recordRequest(
  tx: Tx,
  record: {
    readonly key: string
    readonly fingerprint: string
    readonly messageId: MessageId
    readonly now: Timestamp
  },
): void {
  const sql = `INSERT INTO idempotency (key, fingerprint, message_id, created_at)
     VALUES ($key, $fingerprint, $messageId, $now)`
  execute(tx, sql, record)
}

/** Keeps the first answer under a key, and gives the one that is kept then. */
export function keepFirstAnswer(tx: Tx, key: string, answer: KeptAnswer): KeptAnswer {
  const sql =
    'UPDATE idempotency SET answer = $kind, body = $body WHERE key = $key AND body IS NULL'
  const { changes } = execute(tx, sql, { key, ...answer })
  return changes > 0 ? answer : (findIdempotency(tx, key)?.answer ?? answer)
}
