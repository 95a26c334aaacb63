import type { AttachmentStore } from '../attachments/store.ts'
import { timestamp, type LineId, type MessageId, type Timestamp } from '../domain/ids.ts'
import { hasAttachments, QUEUED_MS_MAX, type Outbound } from '../domain/message.ts'
import { OPTED_OUT } from '../domain/opt-out.ts'
import { needsOf } from '../domain/routing.ts'
import type { SendOutcome } from '../lines/driver.ts'
import { attachmentsOf, updateAttachment, type Attachment } from '../storage/attachments.ts'
import { markKnown } from '../storage/contacts.ts'
import type { Db, Tx } from '../storage/database.ts'
import { findGroup, markUnreachable } from '../storage/groups.ts'
import { outgoing } from '../storage/message-queue.ts'
import { findMessage, saveMessage } from '../storage/messages.ts'
import type { Settings } from '../storage/settings.ts'
import type { Writer } from '../storage/writer.ts'
import type { ConfirmedClock } from '../system/confirmed-clock.ts'
import type { Log } from '../system/log.ts'
import { consumeSlot } from './contact-budget.ts'
import { deferralOf } from './conversation-order.ts'
import { defer } from './deferral.ts'
import { needUnmetBy, takesMessages, type LineDirectory } from './line-directory.ts'
import { moveTo, postpone, refuse, routeFor, turnToSms, withdraw } from './requeue.ts'
import { optOutOf } from './send-target.ts'
import {
  acceptMessage,
  assignGuid,
  failMessage,
  failPartly,
  makeUncertain,
  type SettleTools,
} from './settle.ts'

export type AttemptTools = SettleTools & {
  readonly db: Db
  readonly writer: Writer
  readonly clock: ConfirmedClock
  readonly log: Log
  readonly directory: LineDirectory
  readonly store: Pick<AttachmentStore, 'has' | 'pathOf'>
  /** False while the disk is nearly full or the relay stops: nothing may leave then. */
  readonly mayLeave: () => boolean
  readonly settings: Pick<Settings, 'get'>
}

/** The wait before an outcome that could not be written is written again. */
const REWRITE_MS = 1_000

/**
 * Gives one message to its line and writes down what became of it. Resolves when that is durable;
 * until then its line has one place less, so a full disk stops the line.
 */
export async function attempt(
  tools: AttemptTools,
  message: Outbound,
  trouble: Trouble,
): Promise<void> {
  const { directory, writer } = tools
  const settledAt = timeOfDoubt(tools, message)
  if (settledAt !== null) return holdBack(tools, message.id, settledAt)
  if (deferralOf(tools, tools.db, message) !== null) {
    return deferNow(tools, message.id)
  }
  const obstacle = obstacleTo(tools, message)
  if (obstacle !== null) return stopAt(tools, message, obstacle)
  if (message.contactHold === 'undecided') await askHistory(tools, message)
  const { lineId } = message
  // The outcome goes to the writer in the turn in which it arrives: outcomes and events keep the
  // driver's order.
  const { result, written } = await directory
    .send(lineId, outgoing(tools.db, message, tools.store), (note) => {
      const what = { id: message.id, lineId }
      return writer.write((tx) => passPointOfNoReturn(tools, tx, what, note))
    })
    .then((answer) => {
      const result = { ...answer, lineId }
      return { result, written: write(tools, message.id, result) }
    })
  if (!(await written)) await writeUntilDone(tools, message.id, result, trouble)
}

type Obstacle = 'not_supported' | 'attachment_missing' | 'group_not_reachable'

/** Reason why no driver is given the message at all; a text to a person has none. */
function obstacleTo(tools: AttemptTools, message: Outbound): Obstacle | null {
  const { db, directory } = tools
  const needs = needsOf(message)
  if (needs.length === 0) return null
  const line = directory.find(message.lineId)
  if (line !== null && needUnmetBy(line, needs) !== null) return 'not_supported'
  if (message.isGroup && findGroup(db, message.conversationId) === null) {
    return 'group_not_reachable'
  }
  return filesGone(tools, message).length > 0 ? 'attachment_missing' : null
}

function filesGone({ db, store }: AttemptTools, message: Outbound): readonly Attachment[] {
  if (!hasAttachments(message)) return []
  return attachmentsOf(db, message.id).filter((file) => !store.has(file))
}

/** Another line may be able to; a file or a group that is gone stays gone. */
async function stopAt(tools: AttemptTools, stopped: Outbound, obstacle: Obstacle): Promise<void> {
  // The message and its event then say which files are missing.
  const gone = filesGone(tools, stopped).filter(({ state }) => state === 'available')
  await tools.writer.write((tx) => {
    const message = findMessage(tx, stopped.id)
    if (message?.status !== 'queued') return
    if (obstacle === 'not_supported') refuse(tools, tx, message, obstacle)
    else {
      for (const file of gone) updateAttachment(tx, file.id, { state: 'missing' })
      failMessage(tools, tx, message, obstacle)
    }
  })
}

async function deferNow(tools: AttemptTools, id: MessageId): Promise<void> {
  await tools.writer.write((tx) => {
    const message = findMessage(tx, id)
    if (message?.status !== 'queued') return
    const deferral = deferralOf(tools, tx, message)
    if (deferral !== null) defer(tools, tx, message, deferral)
  })
}

/** Until when nobody can say whether the message is too old to be sent; null where that is known. */
function timeOfDoubt({ clock }: AttemptTools, message: Outbound): Timestamp | null {
  const doubt = clock.mayBeOlder(message, QUEUED_MS_MAX) ? clock.doubt() : null
  return doubt === null ? null : timestamp(Math.ceil(doubt.until))
}

async function holdBack(tools: AttemptTools, id: MessageId, dueAt: Timestamp): Promise<void> {
  await tools.writer.write((tx) => {
    const message = findMessage(tx, id)
    if (message?.status !== 'queued' || message.dueAt === null) return
    const held = { ...message, dueAt, queuedReason: 'clock_jumped' } as const
    tools.callers.settled(tx, saveMessage(tx, held, tools.ids.now()))
  })
}

/** Called where an outcome cannot be written; `signal` ends the tries. */
type Trouble = { readonly onUnwritten: () => void; readonly signal: AbortSignal }

type Result = {
  readonly lineId: LineId
  readonly outcome: SendOutcome
  readonly isSessionOver: boolean
}

/** Asks the device about a recipient that was accepted while it could not be asked. */
async function askHistory({ directory, writer, ids }: AttemptTools, message: Outbound) {
  const { lineId, handle } = message
  if ((await directory.knows(lineId, handle)) !== true) return
  await writer.write((tx) => markKnown(tx, { lineId, handle }, ids.now()))
}

/** `queued` to `sending`, only if nothing speaks against it at this very moment. */
function passPointOfNoReturn(
  tools: AttemptTools,
  tx: Tx,
  what: { readonly id: MessageId; readonly lineId: LineId },
  note: string | null,
): boolean {
  const message = findMessage(tx, what.id)
  const now = tools.ids.now()
  const found = tools.directory.find(what.lineId)
  if (message?.status !== 'queued' || message.lineId !== what.lineId) return false
  if (found === null || !takesMessages(found) || !tools.mayLeave()) return false
  if (tools.clock.mayBeOlder(message, QUEUED_MS_MAX)) return false
  // An earlier message came to the line meanwhile: it goes first.
  if (message.dueAt === null) return false
  const deferral = deferralOf(tools, tx, message)
  if (deferral !== null) {
    defer(tools, tx, message, deferral)
    return false
  }
  if (optOutOf(tools, tx, message) !== null) {
    failMessage(tools, tx, message, OPTED_OUT)
    return false
  }

  const contactHold = consumeSlot(tx, found.line, message, tools.days.of(now))
  if (contactHold === null) {
    waitForBudget(tools, tx, message, now)
    return false
  }
  saveMessage(
    tx,
    {
      ...message,
      status: 'sending',
      note,
      passedAt: now,
      contactHold,
      dueAt: null,
      queuedReason: null,
    },
    now,
  )
  return true
}

/** The day's contacts are spent: another line takes it, or it waits for tomorrow. */
function waitForBudget(tools: AttemptTools, tx: Tx, message: Outbound, now: Timestamp): void {
  const route = message.isPinned ? null : routeFor(tx, tools, { ...message, now }, [message.lineId])
  if (route?.route === 'take') {
    moveTo(tools, tx, message, { lineId: route.lineId, now })
    return
  }
  const dueAt = timestamp(tools.days.endOf(now))
  const waiting = saveMessage(tx, { ...message, dueAt, queuedReason: 'daily_contact_limit' }, now)
  tools.callers.settled(tx, waiting)
}

function write(tools: AttemptTools, id: MessageId, result: Result): Promise<boolean> {
  return tools.writer
    .write((tx) => {
      const message = findMessage(tx, id)
      if (message !== null) applyOutcome(tools, tx, message, result)
    })
    .then(
      () => true,
      (error: unknown) => {
        tools.log.error('outcome could not be written', { message_id: id, error })
        return false
      },
    )
}

/** A relay that stops meanwhile leaves the message as `sending`: the next start finds it uncertain. */
async function writeUntilDone(
  tools: AttemptTools,
  id: MessageId,
  result: Result,
  trouble: Trouble,
): Promise<void> {
  trouble.onUnwritten()
  do {
    await tools.clock.sleep(REWRITE_MS, trouble.signal)
  } while (!(await write(tools, id, result)) && !trouble.signal.aborted)
}

function applyOutcome(tools: AttemptTools, tx: Tx, message: Outbound, result: Result): void {
  const { outcome, isSessionOver } = result
  switch (outcome.outcome) {
    case 'accepted':
      acceptMessage(tools, tx, message, outcome)
      return
    case 'held':
      assignGuid(tools, tx, message, outcome)
      return
    case 'unknown':
      makeUncertain(tools, tx, message, outcome)
      return
    case 'partly_sent':
      failPartly(tools, tx, message, outcome)
      return
    case 'postponed':
      if (message.lineId === result.lineId) postpone(tools, tx, message, outcome.delayMs)
      return
    case 'not_sent':
      // It may have gone to another line at the point of no return: then this one has no say.
      if (message.lineId === result.lineId) {
        applyNotSent(tools, tx, message, { outcome, isSessionOver })
      }
  }
}

type NotSent = Extract<SendOutcome, { readonly outcome: 'not_sent' }>

function applyNotSent(
  tools: AttemptTools,
  tx: Tx,
  message: Outbound,
  { outcome, isSessionOver }: Pick<Result, 'isSessionOver'> & { readonly outcome: NotSent },
): void {
  const { reason, blame } = outcome
  if (message.isGroup && reason === 'group_not_reachable') {
    markUnreachable(tx, message.conversationId)
    failMessage(tools, tx, message, reason)
  } else if (blame === 'message') {
    const isTurned = reason === 'not_on_imessage' && turnToSms(tools, tx, message)
    if (!isTurned) failMessage(tools, tx, message, reason)
  } else if (reason === 'withdrawn' || isSessionOver) withdraw(tools, tx, message, isSessionOver)
  else refuse(tools, tx, message)
}
