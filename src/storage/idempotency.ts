import type { MessageId, Timestamp } from '../domain/ids.ts'
import type { AnswerKind } from '../domain/message.ts'
import type { Db, Tx } from './database.ts'
import { statement } from './statement.ts'

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

const byKey = statement<Row>(
  `SELECT fingerprint, message_id AS messageId, answer AS kind, body
     FROM idempotency WHERE key = $key`,
)

export function findIdempotency(db: Db, key: string): IdempotencyRecord | null {
  const row = byKey(db).get({ key })
  if (row === null) return null
  const { fingerprint, messageId, kind, body } = row
  const answer = kind === null || body === null ? null : { kind, body }
  return { fingerprint, messageId, answer }
}

const insertion = statement(
  `INSERT INTO idempotency (key, fingerprint, message_id, created_at)
     VALUES ($key, $fingerprint, $messageId, $now)`,
)

export function recordRequest(
  tx: Tx,
  record: {
    readonly key: string
    readonly fingerprint: string
    readonly messageId: MessageId
    readonly now: Timestamp
  },
): void {
  insertion(tx).run(record)
}

const answering = statement(
  'UPDATE idempotency SET answer = $kind, body = $body WHERE key = $key AND body IS NULL',
)

/** Keeps the first answer under a key, and gives the one that is kept then. */
export function keepFirstAnswer(tx: Tx, key: string, answer: KeptAnswer): KeptAnswer {
  const { changes } = answering(tx).run({ key, ...answer })
  return changes > 0 ? answer : (findIdempotency(tx, key)?.answer ?? answer)
}
