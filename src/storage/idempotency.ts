import type { MessageId, Timestamp } from '../domain/ids.ts'
import type { AnswerKind } from '../domain/message.ts'
import type { Db, Tx } from './database.ts'
import { prepared } from './statement.ts'

type Values = Record<string, string | number>

/** What was accepted under an `Idempotency-Key`. Unanswered while it runs, and after a crash. */
export type IdempotencyRecord = {
  readonly fingerprint: string
  readonly messageId: MessageId
  readonly answer: AnswerKind | null
  readonly body: string | null
}

const byKey = prepared(({ sqlite }) =>
  sqlite.prepare<IdempotencyRecord, [Values]>(
    `SELECT fingerprint, message_id AS messageId, answer, body
     FROM idempotency WHERE key = $key`,
  ),
)

export function findIdempotency(db: Db, key: string): IdempotencyRecord | null {
  return byKey(db).get({ key })
}

const insertion = prepared(({ sqlite }) =>
  sqlite.prepare<null, [Values]>(
    `INSERT INTO idempotency (key, fingerprint, message_id, created_at)
     VALUES ($key, $fingerprint, $messageId, $now)`,
  ),
)

export function rememberRequest(
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

const answering = prepared(({ sqlite }) =>
  sqlite.prepare<null, [Values]>(
    `UPDATE idempotency SET answer = $answer, body = $body
     WHERE key = $key AND body IS NULL`,
  ),
)

/** Keeps the first answer, word for word; a later one changes nothing. */
export function rememberAnswer(
  tx: Tx,
  key: string,
  first: { readonly answer: AnswerKind; readonly body: string },
): void {
  answering(tx).run({ key, ...first })
}
