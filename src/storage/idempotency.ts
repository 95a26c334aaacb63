import type { MessageId, Timestamp } from '../domain/ids.ts'
import type { AnswerKind } from '../domain/message.ts'
import type { Db, Tx } from './database.ts'
import { firstSeqSince } from './moments.ts'
import { prepared, preparedBeside } from './statement.ts'

type Values = Record<string, string | number>

/**
 * What was accepted under an `Idempotency-Key`. Without a body while it runs, and where its message tells
 * the answer; with an answer but no body where a crash came before any answer.
 */
export type IdempotencyRecord = {
  readonly fingerprint: string
  readonly messageId: MessageId
  readonly answer: AnswerKind | null
  readonly body: string | null
}

const byKey = preparedBeside(({ sqlite }) =>
  sqlite.prepare<IdempotencyRecord, [Values]>(
    `SELECT fingerprint, message_id AS messageId, answer, body
     FROM idempotency WHERE key = $key`,
  ),
)

export function findIdempotency(db: Db, key: string): IdempotencyRecord | null {
  return byKey(db).get({ key })
}

const insertion = preparedBeside(({ sqlite }) =>
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

const answering = preparedBeside(({ sqlite }) =>
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

const untold = prepared(({ sqlite }) =>
  sqlite.prepare<{ key: string; messageId: MessageId }, [Values]>(
    `SELECT i.key, m.id AS messageId FROM messages m
     CROSS JOIN idempotency i INDEXED BY idempotency_by_age
       ON i.created_at = m.created_at AND i.message_id = m.id
     WHERE m.seq < +$kept AND m.sent_at IS NOT NULL
       AND i.body IS NULL AND i.answer IS NULL
     ORDER BY m.seq LIMIT +$limit`,
  ),
)

/** The oldest sent messages from before `before` whose answer is not kept, with their keys. */
export function untoldAnswers(
  db: Db,
  before: Timestamp,
  limit: number,
): readonly { readonly key: string; readonly messageId: MessageId }[] {
  return untold(db).all({ kept: firstSeqSince(db, 'messages', before), limit })
}

const unfinishedUnanswered = prepared(({ sqlite }) =>
  sqlite.prepare<{ key: string }, []>(
    `SELECT i.key FROM messages m INDEXED BY messages_by_status
     CROSS JOIN idempotency i INDEXED BY idempotency_by_age
       ON i.created_at = m.created_at AND i.message_id = m.id
     WHERE m.status IN ('queued', 'sending', 'uncertain')
       AND i.body IS NULL AND i.answer IS NULL`,
  ),
)

/** The keys under which nobody was answered yet, of messages that are not sent. */
export function unansweredKeys(db: Db): readonly string[] {
  return unfinishedUnanswered(db)
    .all()
    .map((row) => row.key)
}

const leaving = prepared(({ sqlite }) =>
  sqlite.prepare<null, [Values]>(
    "UPDATE idempotency SET answer = 'accepted' WHERE key = $key AND body IS NULL",
  ),
)

/** Nobody hears the first answer under this key any more: the message tells how it is when asked. */
export function leaveOpen(tx: Tx, key: string): void {
  leaving(tx).run({ key })
}
