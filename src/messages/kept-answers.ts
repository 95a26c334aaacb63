import type { Timestamp } from '../domain/ids.ts'
import type { Tx } from '../storage/database.ts'
import { rememberAnswer, untoldAnswers } from '../storage/idempotency.ts'
import { findMessage } from '../storage/message-rows.ts'
import { sentAnswerOf } from './answer.ts'

/** Before old messages go: the answers that they tell are kept, for a key lives for 7 days. */
export function keepAnswers(tx: Tx, before: Timestamp, limit: number): void {
  for (const { key, messageId } of untoldAnswers(tx, before, limit)) {
    const message = findMessage(tx, messageId)
    const answer = message === null ? null : sentAnswerOf(message)
    if (answer !== null) rememberAnswer(tx, key, { answer: answer.kind, body: answer.body })
  }
}
