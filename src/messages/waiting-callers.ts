import { RelayError } from '../domain/errors.ts'
import type { MessageId } from '../domain/ids.ts'
import { isOnTheWay, type AnswerKind, type Message, type Outbound } from '../domain/message.ts'
import type { Core } from '../storage/core.ts'
import type { Db, Tx } from '../storage/database.ts'
import {
  findIdempotency,
  keepFirstAnswer,
  type KeptAnswer,
  type RequestKey,
} from '../storage/idempotency.ts'
import { findMessage } from '../storage/messages.ts'
import type { Clock } from '../system/clock.ts'
import { type WaitReason, messageResource } from './resource.ts'

type Waiting = {
  readonly requestKey: RequestKey | null
  readonly resolve: (answer: Answer | null) => void
}

/** An accepted request: its earlier answer, or the message to wait for. */
export type Accepted = { readonly messageId: MessageId; readonly isReplay: boolean } & (
  | { readonly answer: Answer }
  | { readonly answer: null; readonly message: Outbound }
)

/**
 * Callers that wait for their message's outcome. An answer under an `Idempotency-Key` is stored in the transaction
 * that settles the message, so that a repeat gets the same one, word for word.
 */
export class WaitingCallers {
  readonly #core: Core
  readonly #waitReason: WaitReason
  readonly #clock: Clock
  /** By message; several if a request was repeated while it ran. */
  readonly #waiting = new Map<MessageId, Set<Waiting>>()
  #isStopping = false

  constructor(
    core: Core,
    given: { readonly waitReason: WaitReason; readonly clock?: Clock | undefined },
  ) {
    this.#core = core
    this.#waitReason = given.waitReason
    this.#clock = given.clock ?? core.clock
  }

  /**
   * Handles a repeated request: returns its first answer, or the message if it is still on its way; if a crash left
   * it unanswered, the message as it is now. Null if the request is new.
   */
  repeat(tx: Tx, key: RequestKey, fingerprint: string): Accepted | null {
    const known = findIdempotency(tx, key)
    if (known === null) return null
    if (known.caller === '') throw conflict('before an upgrade of Hookline')
    if (known.fingerprint !== fingerprint) throw conflict('with other values')
    const { messageId, answer } = known
    if (answer !== null) return { messageId, isReplay: true, answer }
    const message = findMessage(tx, messageId)
    if (message === null) throw new RelayError('not_found', 'The message of this key was deleted.')
    if (isOnTheWay(message)) return { messageId, isReplay: true, answer: null, message }
    const first = keepFirstAnswer(tx, key, answerOf(tx, message, this.#waitReason))
    return { messageId, isReplay: true, answer: first }
  }

  /** Waits while a line works on the message. A message that waits for anything else is answered at once. */
  async answer(message: Outbound, key: RequestKey | null, waitMs: number): Promise<Answer> {
    const isTurn = message.queuedReason === null || message.queuedReason === 'earlier_message'
    const isWorkedOn = isTurn && this.#waitReason(message.lineId) === null
    const answer = await this.wait(message.id, key, isWorkedOn ? waitMs : 0)
    if (answer !== null) return answer
    const { db, writer } = this.#core
    const latest = (read: Db) =>
      answerOf(read, findMessage(db, message.id) ?? message, this.#waitReason)
    if (key === null) return latest(db)
    return writer.write((tx) => keepFirstAnswer(tx, key, latest(tx)))
  }

  /** The answer when the message is settled or has to wait; null after `waitMs`. */
  async wait(id: MessageId, requestKey: RequestKey | null, waitMs: number): Promise<Answer | null> {
    if (this.#isStopping || waitMs <= 0) return null
    const { promise, resolve } = Promise.withResolvers<Answer | null>()
    const waiting = { requestKey, resolve }
    const those = this.#waiting.get(id) ?? new Set()
    this.#waiting.set(id, those.add(waiting))
    const cancel = this.#clock.after(waitMs, () => resolve(null))
    const answer = await promise
    cancel()
    those.delete(waiting)
    if (those.size === 0 && this.#waiting.get(id) === those) this.#waiting.delete(id)
    return answer
  }

  /** Called when the message is settled, or has to wait; answers once this transaction is committed. */
  settled(tx: Tx, message: Message): void {
    for (const { requestKey, resolve } of this.#waiting.get(message.id) ?? []) {
      const now = answerOf(tx, message, this.#waitReason)
      const answer = requestKey === null ? now : keepFirstAnswer(tx, requestKey, now)
      this.#core.writer.afterCommit(() => resolve(answer))
    }
  }

  stop(): void {
    this.#isStopping = true
    for (const those of this.#waiting.values()) for (const { resolve } of those) resolve(null)
  }
}

/** The answer to a send. `body` is the message as JSON text, stored word for word for repeats. */
export type Answer = KeptAnswer

function answerOf(db: Db, message: Message, waitReason: WaitReason): Answer {
  const isSent = message.sentAt !== null
  const isAskedFor = message.extras?.wantedService !== undefined
  const resource = {
    ...messageResource(db, message, waitReason),
    // The send contract: `iMessage` if no service was asked for, and `sent` however far the message got.
    service: isAskedFor ? message.service : 'iMessage',
    ...(isSent ? { status: 'sent' } : {}),
  }
  return { kind: kindOf(message), body: JSON.stringify(resource) }
}

function kindOf(message: Message): AnswerKind {
  if (message.status === 'failed') return 'send_failed'
  return message.sentAt === null ? 'accepted' : 'sent'
}

function conflict(how: string): RelayError {
  return new RelayError(
    'idempotency_conflict',
    `This Idempotency-Key was used ${how}: use a new key for a new message.`,
  )
}
