import type { AttachmentStore } from '../attachments/store.ts'
import { timestamp, type LineId, type Timestamp } from '../domain/ids.ts'
import { hasAttachments, QUEUED_MS_MAX, type Outbound } from '../domain/message.ts'
import { OPTED_OUT } from '../domain/opt-out.ts'
import { needsOf } from '../domain/routing.ts'
import type { NotSent, SendOutcome } from '../lines/driver.ts'
import { attachmentsOf, updateAttachment, type Attachment } from '../storage/attachments.ts'
import type { Core } from '../storage/core.ts'
import { consumeSlot, markKnown, daysOf } from '../storage/daily-contacts.ts'
import type { Tx } from '../storage/database.ts'
import { findGroup, markUnreachable } from '../storage/groups.ts'
import { outgoing } from '../storage/message-queue.ts'
import { currentMessage, updateMessage } from '../storage/messages.ts'
import { isTakenOver } from './agents.ts'
import type { MessageQueue } from './queue.ts'
import { needUnmetBy, takesMessages, type LineDirectory } from './routing.ts'
import { optOutOf } from './send-target.ts'
import type { Outcomes } from './settle.ts'

/** Pause before an outcome that can't be written is tried again. */
const REWRITE_MS = 1_000

type Obstacle = 'not_supported' | 'attachment_missing' | 'group_not_reachable'

type Result = {
  readonly lineId: LineId
  readonly outcome: SendOutcome
  readonly isSessionOver: boolean
}

/** `onUnwritten` is called if an outcome can't be written; `signal` ends the tries. */
type Rewriting = { readonly onUnwritten: () => void; readonly signal: AbortSignal }

export class Attempts {
  readonly #core: Core
  readonly #deps: ConstructorParameters<typeof Attempts>[1]

  constructor(
    core: Core,
    deps: {
      readonly directory: LineDirectory
      readonly store: Pick<AttachmentStore, 'has' | 'pathOf'>
      /** False while the disk is nearly full or the relay is stopping: nothing may be sent then. */
      readonly mayLeave: () => boolean
      readonly outcomes: Outcomes
      readonly queue: MessageQueue
    },
  ) {
    this.#core = core
    this.#deps = deps
  }

  /**
   * Gives a due message to its line and records the outcome. Called by dispatch only, once for a message at a time;
   * may take minutes. Resolves when the outcome is durable; until then it takes one of the line's slots, so that a
   * full disk stops the line.
   */
  async make(message: Outbound, rewriting: Rewriting): Promise<void> {
    const doubtedUntil = this.#timeOfDoubt(message)
    if (doubtedUntil !== null) {
      const position = { dueAt: doubtedUntil, queuedReason: 'clock_jumped' } as const
      return this.#ifQueued(message, (tx, queued) => {
        if (queued.dueAt !== null) this.#deps.queue.wait(tx, queued, position)
      })
    }
    if (this.#deps.queue.deferralOf(this.#core.db, message) !== null) {
      return this.#ifQueued(message, (tx, queued) => void this.#deps.queue.defer(tx, queued))
    }
    const obstacle = this.#obstacleTo(message)
    if (obstacle !== null) return this.#stopAt(message, obstacle)
    if (message.contactHold === 'undecided') await this.#askHistory(message)
    const { lineId } = message
    let known = message
    // The outcome goes to the writer in the same tick in which it arrives, so that outcomes and events keep the
    // driver's order.
    const { result, written } = await this.#deps.directory
      .send(lineId, outgoing(this.#core.db, message, this.#deps.store), async (note) => {
        const passed = await this.#core.writer.write((tx) =>
          this.#passPointOfNoReturn(tx, message, note),
        )
        known = passed ?? message
        return passed !== null
      })
      .then((answer) => {
        const result = { ...answer, lineId }
        return { result, written: this.#write(known, result) }
      })
    if (!(await written)) await this.#writeUntilDone(known, result, rewriting)
  }

  /** The reason not to give the message to a driver at all; a text to a person never has one. */
  #obstacleTo(message: Outbound): Obstacle | null {
    const needs = needsOf(message)
    if (needs.length === 0) return null
    const line = this.#deps.directory.find(message.lineId)
    if (line !== null && needUnmetBy(line, needs) !== null) return 'not_supported'
    if (message.isGroup && findGroup(this.#core.db, message.conversationId) === null) {
      return 'group_not_reachable'
    }
    return this.#filesGone(message).length > 0 ? 'attachment_missing' : null
  }

  #filesGone(message: Outbound): readonly Attachment[] {
    if (!hasAttachments(message)) return []
    return attachmentsOf(this.#core.db, message.id).filter((file) => !this.#deps.store.has(file))
  }

  /** Another line may be able to send it; a missing file or group stays missing. */
  async #stopAt(stopped: Outbound, obstacle: Obstacle): Promise<void> {
    // So that the message and its event show which files are missing.
    const gone = this.#filesGone(stopped).filter(({ state }) => state === 'available')
    await this.#ifQueued(stopped, (tx, message) => {
      if (obstacle === 'not_supported') return this.#deps.queue.refuse(tx, message, obstacle)
      for (const file of gone) updateAttachment(tx, file.id, { state: 'missing' })
      this.#deps.outcomes.fail(tx, message, obstacle)
    })
  }

  async #ifQueued(known: Outbound, act: (tx: Tx, message: Outbound) => void): Promise<void> {
    await this.#core.writer.write((tx) => {
      const message = currentMessage(tx, known)
      if (message?.status === 'queued') act(tx, message)
    })
  }

  /** Until when it is unknown whether the message is too old to send; null if known. */
  #timeOfDoubt(message: Outbound): Timestamp | null {
    const { clock } = this.#core
    const doubt = clock.mayBeOlder(message, QUEUED_MS_MAX) ? clock.doubt() : null
    return doubt === null ? null : timestamp(Math.ceil(doubt.until))
  }

  /** Asks the device about a recipient that couldn't be asked about at acceptance. */
  async #askHistory(message: Outbound) {
    const { lineId, handle } = message
    if ((await this.#deps.directory.knows(lineId, handle)) !== true) return
    await this.#core.writer.write((tx) => markKnown(tx, { lineId, handle }, this.#core.ids.now()))
  }

  /** Turns `queued` into `sending`; rechecks every rule right before that. Null if the message may not leave. */
  #passPointOfNoReturn(tx: Tx, known: Outbound, note: string | null): Outbound | null {
    const message = currentMessage(tx, known)
    const now = this.#core.ids.now()
    const found = this.#deps.directory.find(known.lineId)
    if (message?.status !== 'queued' || message.lineId !== known.lineId) return null
    if (found === null || !takesMessages(found) || !this.#deps.mayLeave()) return null
    if (this.#core.clock.mayBeOlder(message, QUEUED_MS_MAX)) return null
    // An earlier message has come to the line and goes first.
    if (message.dueAt === null) return null
    if (this.#deps.queue.defer(tx, message)) return null
    const refusal = this.#refusalOf(tx, message)
    if (refusal !== null) {
      this.#deps.outcomes.fail(tx, message, refusal)
      return null
    }

    const findDay = () => daysOf(this.#core).of(now, message.lineId)
    const contactHold = consumeSlot(tx, found.line, message, findDay)
    if (contactHold === null) {
      this.#deps.queue.waitForBudget(tx, message, now)
      return null
    }
    const sending = { status: 'sending', note, passedAt: now, contactHold } as const
    return updateMessage(tx, message, { ...sending, dueAt: null, queuedReason: null }, now)
  }

  /** The reason why the message may not be sent any more, although it was accepted. */
  #refusalOf(tx: Tx, message: Outbound): 'automation_paused' | typeof OPTED_OUT | null {
    if (isTakenOver(tx, message)) return 'automation_paused'
    return optOutOf(this.#core.settings, tx, message) === null ? null : OPTED_OUT
  }

  #write(known: Outbound, result: Result): Promise<boolean> {
    return this.#core.writer
      .write((tx) => {
        const message = currentMessage(tx, known)
        if (message !== null) this.#applyOutcome(tx, message, result)
      })
      .then(
        () => true,
        (error: unknown) => {
          this.#core.log.error('outcome could not be written', { message_id: known.id, error })
          return false
        },
      )
  }

  /** If the relay stops first, the message stays `sending`, and the next start finds it uncertain. */
  async #writeUntilDone(known: Outbound, result: Result, rewriting: Rewriting): Promise<void> {
    rewriting.onUnwritten()
    do {
      await this.#core.clock.sleep(REWRITE_MS, rewriting.signal)
    } while (!(await this.#write(known, result)) && !rewriting.signal.aborted)
  }

  #applyOutcome(tx: Tx, message: Outbound, result: Result): void {
    const open = this.#deps.outcomes.applyProven(tx, message, result.outcome)
    if (open?.outcome === 'unknown') this.#deps.outcomes.makeUncertain(tx, message, open)
    // If it has moved to another line, this line's answer no longer counts.
    if (message.lineId !== result.lineId) return
    if (open?.outcome === 'postponed') this.#deps.queue.postpone(tx, message, open.delayMs)
    if (open?.outcome === 'not_sent') {
      this.#applyNotSent(tx, message, { outcome: open, isSessionOver: result.isSessionOver })
    }
  }

  #applyNotSent(
    tx: Tx,
    message: Outbound,
    { outcome, isSessionOver }: Pick<Result, 'isSessionOver'> & { readonly outcome: NotSent },
  ): void {
    const { reason, blame } = outcome
    if (message.isGroup && reason === 'group_not_reachable') {
      markUnreachable(tx, message.conversationId)
      this.#deps.outcomes.fail(tx, message, reason)
    } else if (blame === 'message') {
      const isTurned = reason === 'not_on_imessage' && this.#deps.queue.turnToSms(tx, message)
      if (!isTurned) this.#deps.outcomes.fail(tx, message, reason)
    } else if (reason === 'withdrawn' || isSessionOver)
      this.#deps.queue.withdraw(tx, message, isSessionOver)
    else this.#deps.queue.refuse(tx, message)
  }
}
