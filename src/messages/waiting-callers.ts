import type { MessageId } from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import type { Tx } from '../storage/database.ts'
import { rememberAnswer } from '../storage/idempotency.ts'
import type { Writer } from '../storage/writer.ts'
import type { Clock } from '../system/clock.ts'
import { PassingMap } from '../system/passing.ts'
import { answerOf, isToldByMessage, type Answer } from './answer.ts'
import type { WaitReason } from './resource.ts'

type Waiting = {
  readonly idempotencyKey: string | null
  readonly resolve: (answer: Answer | null) => void
  /** The answer that is on its way, and whether its message tells it. */
  prepared: { readonly answer: Answer; readonly isTold: boolean } | null
}

type Tools = {
  readonly clock: Clock
  readonly writer: Pick<Writer, 'afterCommit'>
  readonly waitReason: WaitReason
}

/**
 * Those who asked for a send and wait for its end. An answer under an `Idempotency-Key` is kept in
 * the transaction that settles the message, so that a repeat gets the same one, word for word; but for
 * the usual one, which the message itself tells again.
 */
export class WaitingCallers {
  readonly #tools: Tools
  readonly #waiting = new PassingMap<MessageId, Waiting>()
  #isStopping = false

  constructor(tools: Tools) {
    this.#tools = tools
  }

  /** The answer as soon as the message is settled or has to wait; null after `waitMs`. */
  async wait(id: MessageId, idempotencyKey: string | null, waitMs: number): Promise<Answer | null> {
    if (this.#isStopping || waitMs <= 0) return null
    const { promise, resolve } = Promise.withResolvers<Answer | null>()
    this.#waiting.set(id, { idempotencyKey, resolve, prepared: null })
    const cancel = this.#tools.clock.after(waitMs, () => resolve(null))
    const answer = await promise
    cancel()
    this.#waiting.delete(id)
    return answer
  }

  /** `message` is settled, or waits for more than its turn, once this transaction is committed. */
  settled(tx: Tx, message: Message): void {
    const waiting = this.#waiting.get(message.id)
    if (waiting === null) return
    // Receipts that follow at once change nothing of an answer that is on its way. It is given and kept
    // again with them: what it was prepared by may have been undone.
    if (waiting.prepared === null || message.deliveredAt === null) {
      const answer = answerOf(message, this.#tools.waitReason)
      waiting.prepared = { answer, isTold: isToldByMessage(message) }
    }
    const { answer, isTold } = waiting.prepared
    if (waiting.idempotencyKey !== null && !isTold) {
      rememberAnswer(tx, waiting.idempotencyKey, { answer: answer.kind, body: answer.body })
    }
    this.#tools.writer.afterCommit(() => waiting.resolve(answer))
  }

  /** The relay stops: everyone is answered with what is known. */
  stop(): void {
    this.#isStopping = true
    for (const { resolve } of this.#waiting.values()) resolve(null)
  }
}
