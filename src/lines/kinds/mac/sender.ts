// Sends the messages of a Mac line: first everything that can fail harmlessly, then the point of no return, then the
// script, and then the row in chat.db, which alone proves the outcome. Each file of a message, and its text, is sent
// that way.

import type { OutgoingMessage } from '../../../domain/message.ts'
import { type Clock, NEVER } from '../../../system/clock.ts'
import {
  isGranted,
  type NotSent,
  notSent,
  type PointOfNoReturn,
  type SendOutcome,
  type Settlement,
  WITHDRAWN,
} from '../../driver.ts'
import type { ChatDb } from './chat-db.ts'
import {
  type Expectation,
  expectationOf,
  handedOverNow,
  keyOf,
  noteText,
  partsOf,
  type StagedFile,
} from './expectation.ts'
import { type OwnMessages, MultipartSend } from './own-messages.ts'
import { isKnownAbsent, type Pacer, pauseMs } from './pacing.ts'
import { type OpenDb, watchRow } from './row-watch.ts'
import { classOf, type MessagesScript, type ScriptAnswer, type Target } from './script-runner.ts'
import type { Staging } from './staging.ts'

export type SendingLine = {
  readonly db: OpenDb
  readonly own: OwnMessages
  readonly pacer: Pacer
  /** False if Messages has no SMS account. */
  readonly hasSms: () => boolean
  /** Called before the send returns, with an answer that may concern the line. */
  readonly onAnswer: (answer: ScriptAnswer) => Promise<void>
  /** Called before the send returns, with the outcome of a part that Messages took. */
  readonly onOutcome: (outcome: Settlement) => Promise<void>
}

/** A longer wait is returned as `postponed`. */
const PATIENCE_MS = 5_000
const CARRIER_SERVICES = new Set(['SMS', 'RCS'])

type Order = {
  readonly message: OutgoingMessage
  readonly target: Target
  readonly isNew: boolean
  readonly files: readonly StagedFile[]
}

type Part = {
  readonly expectation: Expectation
  readonly isLast: boolean
  readonly end: AbortSignal
}

export class Sender {
  readonly #clock: Clock
  readonly #script: MessagesScript
  readonly #staging: Staging
  readonly #line: SendingLine

  constructor(clock: Clock, script: MessagesScript, staging: Staging, line: SendingLine) {
    this.#clock = clock
    this.#script = script
    this.#staging = staging
    this.#line = line
  }

  async send(
    message: OutgoingMessage,
    pointOfNoReturn: PointOfNoReturn,
    signal: AbortSignal,
  ): Promise<SendOutcome> {
    const { pacer } = this.#line
    const db = this.#line.db()
    if (db === null || signal.aborted) return WITHDRAWN
    const isNew = message.chatGuid === undefined && !db.knowsHandle(message.to)
    const obstacle = this.#obstacleOf(db, message, isNew)
    if (obstacle !== null) return obstacle
    await this.#clock.sleep(pacer.delayMs(isNew), signal)
    if (signal.aborted) return WITHDRAWN

    const target = await this.#findTarget(db, message, signal)
    if (signal.aborted) return WITHDRAWN
    if ('outcome' in target) return target
    const files = await this.#staging.stageAll(message.attachments ?? [])
    if ('outcome' in files) return files
    return this.#handOver({ message, target, isNew, files }, pointOfNoReturn, signal)
  }

  /** The outcome if the message can't be sent now, as far as that is known without asking Messages; else null. */
  #obstacleOf(
    db: ChatDb,
    { to, service, chatGuid }: OutgoingMessage,
    isNew: boolean,
  ): SendOutcome | null {
    const now = this.#clock.now()
    if (service === 'SMS' && !this.#line.hasSms()) return notSent('not_supported', 'line')
    const isOfImessage = service !== 'SMS' && chatGuid === undefined
    if (isOfImessage && isKnownAbsent(db, to, now)) return notSent('not_on_imessage', 'message')
    const delayMs = Math.max(this.#line.pacer.delayMs(isNew), isNew ? pauseMs(db, now) : 0)
    return delayMs <= PATIENCE_MS ? null : { outcome: 'postponed', reason: 'pacing', delayMs }
  }

  async #findTarget(
    db: ChatDb,
    message: OutgoingMessage,
    signal: AbortSignal,
  ): Promise<Target | NotSent> {
    let answer: ScriptAnswer = { answer: 'not_run', number: null, why: 'not asked' }
    for (const target of routesOf(db, message)) {
      answer = await this.#script.check(target, signal)
      if (answer.answer === 'done') return target
      if (answer.answer !== 'refused' || answer.stage !== 'resolve') break
    }
    // A missing SMS account says nothing about iMessage.
    if (!signal.aborted && message.service !== 'SMS') await this.#line.onAnswer(answer)
    return refusal(message, answer)
  }

  async #handOver(
    order: Order,
    pointOfNoReturn: PointOfNoReturn,
    signal: AbortSignal,
  ): Promise<SendOutcome> {
    const { message, files } = order
    const { own } = this.#line
    const [db, clock] = [this.#line.db(), this.#clock]
    const note = db === null ? null : noteText(db.identity, db.maxRowId(), clock.now(), files)
    const parts = db === null ? [] : partsOf(expectationOf({ message, note }, db.identity), files)
    const [first] = parts
    // Expected before the transaction, because the row can come before the first read.
    if (first !== undefined) own.expect(first, true)
    if (first === undefined || !(await isGranted(pointOfNoReturn, note))) {
      if (first !== undefined) own.forget(keyOf(first))
      await this.#staging.remove(files)
      return WITHDRAWN
    }
    const end = endAfter(clock, signal)
    try {
      return await this.#sendParts(order, parts, end.signal)
    } finally {
      end.clear()
    }
  }

  /** Sends one part after the other; the first part that is not proven ends the message. */
  async #sendParts(
    order: Order,
    parts: readonly Expectation[],
    end: AbortSignal,
  ): Promise<SendOutcome> {
    const { own, pacer } = this.#line
    const sent = new MultipartSend(parts, null)
    for (const [place, part] of parts.entries()) {
      if (place > 0) await this.#clock.sleep(pacer.delayMs(false), NEVER)
      if (place > 0 && end.aborted) return sent.endWith(notSent('session_ended', 'line'))
      const expectation = place === 0 ? part : this.#expectNext(part)
      sent.handOver(place)
      const isLast = place === parts.length - 1
      const outcome = await this.#sendPart(order, { expectation, isLast, end })
      if (outcome.outcome === 'unknown') own.multipart.keep(order.message.id, sent)
      else if (part.file !== undefined) await this.#staging.markDone(part.file)
      if (outcome.outcome !== 'accepted') return sent.endWith(outcome)
      sent.prove(place, outcome)
    }
    return sent.endWith({ outcome: 'accepted', guid: null })
  }

  #expectNext(part: Expectation): Expectation {
    const rowId = this.#line.db()?.maxRowId() ?? part.afterRowId
    const expectation = handedOverNow(part, rowId, this.#clock.now())
    this.#line.own.expect(expectation, true)
    return expectation
  }

  async #sendPart(
    { message, target, isNew }: Order,
    { expectation, isLast, end }: Part,
  ): Promise<Settlement> {
    const { db, own, pacer, onAnswer, onOutcome } = this.#line
    const { file } = expectation
    const key = keyOf(expectation)
    pacer.spend(isNew)
    const content = file === undefined ? message.text : { path: this.#staging.pathOf(file) }
    const answer = await this.#script.send(target, content, end)
    if (isProvenUnsent(answer)) {
      own.forget(key)
      if (message.service !== 'SMS') await onAnswer(answer)
      return refusal(message, answer)
    }
    const mustReturn = () => end.aborted
    const handedOver = { expectation, answer, isLast, mustReturn }
    const outcome = await watchRow(this.#clock, own, db, handedOver)
    if (outcome.outcome === 'not_sent') own.forget(key)
    else own.finishSend(key, outcome.outcome === 'accepted')
    // Messages takes minutes for a file, so its silence says nothing about the app.
    const isSlow = file !== undefined && isSilent(answer)
    if (outcome.outcome === 'unknown' && !isSlow) await onAnswer(answer)
    await onOutcome(outcome)
    return outcome
  }
}

/**
 * The targets to try, in order. A group only by its own guid. A person by the chat that Messages has; if the app does
 * not know that chat (quiet for long, or another form of guid), and for a new contact, by the recipient itself, whom
 * the iMessage account reaches by iMessage or not at all (error 22).
 */
function routesOf(db: ChatDb, message: OutgoingMessage): readonly Target[] {
  const { to: handle, service, chatGuid } = message
  if (chatGuid !== undefined) return [{ by: 'chat', guid: chatGuid }]
  if (service === 'SMS') return [{ by: 'participant', handle, service }]
  return [...chatRoute(db, handle, service === 'iMessage'), { by: 'participant', handle }]
}

/**
 * A chat that sends by iMessage. Since macOS 26 one chat carries all services (`any;-;`), and BlueBubbles uses its
 * `service_name`. No source says which service the next message takes, so a chat whose last message went by the
 * carrier is not used, and no such chat if iMessage was asked for.
 */
function chatRoute(db: ChatDb, handle: string, isAskedFor: boolean): readonly Target[] {
  // If another person is in the chat too, Messages decides whom it writes to.
  const chat = db
    .directChats(handle)
    .find(({ rowId }) => db.membersOf(rowId).every((member) => db.isSamePerson(member, handle)))
  if (chat === undefined) return []
  const isOfOneService = chat.guid.toLowerCase().startsWith('imessage;')
  if (isAskedFor && !isOfOneService) return []
  const [last] = isOfOneService ? [] : db.lastWith(handle, 1)
  const isUsable = last === undefined || !CARRIER_SERVICES.has(last.service)
  return isUsable ? [{ by: 'chat', guid: chat.guid }] : []
}

/** Nothing was sent: Messages does not know the recipient, or has a problem itself. */
function refusal({ chatGuid }: OutgoingMessage, answer: ScriptAnswer): NotSent {
  const isRecipient = answer.answer === 'refused' && answer.stage === 'resolve'
  if (isRecipient && chatGuid !== undefined && classOf(answer.number) === 'not_found') {
    return notSent('group_not_reachable', 'message')
  }
  return notSent(isRecipient ? 'recipient_unreachable' : 'messages_refused', 'line')
}

/** A send may go on for this long after its session has ended. */
const AFTER_END_MS = 20_000

/** The returned `signal` aborts when the send must return; `clear` stops the timer. */
function endAfter(clock: Clock, signal: AbortSignal) {
  const end = new AbortController()
  let cancel = () => {}
  const onEnd = () => {
    cancel = clock.after(AFTER_END_MS, () => end.abort())
  }
  if (signal.aborted) onEnd()
  else signal.addEventListener('abort', onEnd, { once: true })
  const clear = () => {
    signal.removeEventListener('abort', onEnd)
    cancel()
  }
  return { signal: end.signal, clear }
}

/**
 * True if nothing was handed over. The script reports its progress: before its stage `send` it has handed over
 * nothing, and it has ended, so nothing can act any more. From that stage on, only the row counts.
 */
function isProvenUnsent(answer: ScriptAnswer): boolean {
  return answer.answer === 'not_run' || (answer.answer === 'refused' && answer.stage !== 'send')
}

function isSilent(answer: ScriptAnswer): boolean {
  if (answer.answer === 'silent') return true
  return answer.answer === 'refused' && classOf(answer.number) === 'timeout'
}
