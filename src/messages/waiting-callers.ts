import type { MessageId } from '../domain/ids.ts'
import type { Message, AnswerKind } from '../domain/message.ts'
import type { Db, Tx } from '../storage/database.ts'
import { keepFirstAnswer, type KeptAnswer, type RequestKey } from '../storage/idempotency.ts'
import type { Writer } from '../storage/writer.ts'
import type { Clock } from '../system/clock.ts'
import { type WaitReason, messageResource } from './resource.ts'

type Waiting = {
  readonly requestKey: RequestKey | null
  readonly resolve: (answer: Answer | null) => void
}

type Tools = {
  readonly clock: Clock
  readonly writer: Pick<Writer, 'afterCommit'>
  readonly waitReason: WaitReason
}

/**
 * Callers that sent a message and wait for its end. An answer under an `Idempotency-Key` is kept in the
 * transaction that settles the message, so that a repeat gets the same one, word for word.
 */
export class WaitingCallers {
  readonly #tools: Tools
  /** By message: more than one where a request was repeated while it ran. */
  readonly #waiting = new Map<MessageId, Set<Waiting>>()
  #isStopping = false

  constructor(tools: Tools) {
    this.#tools = tools
  }

  /** The answer as soon as the message is settled or has to wait; null after `waitMs`. */
  async wait(id: MessageId, requestKey: RequestKey | null, waitMs: number): Promise<Answer | null> {
    if (this.#isStopping || waitMs <= 0) return null
    const { promise, resolve } = Promise.withResolvers<Answer | null>()
    const waiting = { requestKey, resolve }
    const those = this.#waiting.get(id) ?? new Set()
    this.#waiting.set(id, those.add(waiting))
    const cancel = this.#tools.clock.after(waitMs, () => resolve(null))
    const answer = await promise
    cancel()
    those.delete(waiting)
    if (those.size === 0 && this.#waiting.get(id) === those) this.#waiting.delete(id)
    return answer
  }

  /** `message` is settled, or waits for more than its turn, once this transaction is committed. */
  settled(tx: Tx, message: Message): void {
    for (const { requestKey, resolve } of this.#waiting.get(message.id) ?? []) {
      const now = answerOf(tx, message, this.#tools.waitReason)
      const answer = requestKey === null ? now : keepFirstAnswer(tx, requestKey, now)
      this.#tools.writer.afterCommit(() => resolve(answer))
    }
  }

  stop(): void {
    this.#isStopping = true
    for (const those of this.#waiting.values()) for (const { resolve } of those) resolve(null)
  }
}

/** The answer to a send; `body` is the message as JSON text, kept word for word for repeats. */
export type Answer = KeptAnswer

/** The answer to the caller who sent `message`, as it is now. */
export function answerOf(db: Db, message: Message, waitReason: WaitReason): Answer {
  const isSent = message.sentAt !== null
  const isAskedFor = message.extras?.wantedService !== undefined
  const resource = {
    ...messageResource(db, message, waitReason),
    // The contract of a send: `iMessage` where no service was asked for, and `sent` however far it came since.
    service: isAskedFor ? message.service : 'iMessage',
    ...(isSent ? { status: 'sent' } : {}),
  }
  return { kind: kindOf(message), body: JSON.stringify(resource) }
}

function kindOf(message: Message): AnswerKind {
  if (message.status === 'failed') return 'send_failed'
  return message.sentAt === null ? 'accepted' : 'sent'
}
