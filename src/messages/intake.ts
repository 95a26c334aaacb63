// Stores what devices report: a message or receipt with its conversation, contact and deliveries, and the line's
// checkpoint, in one transaction. After a crash before the commit the driver reads the row again; after the commit,
// the guid prevents a duplicate.

import type { AttachmentStore } from '../attachments/store.ts'
import { RelayError } from '../domain/errors.ts'
import { homeOfNumber, isSamePerson } from '../domain/handle.ts'
import type { ConversationId, LineId } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import {
  deviceTime,
  hasAttachments,
  mendedText,
  type Outbound,
  type Receipt,
} from '../domain/message.ts'
import { carrierKind, type LeftOut, type NotRelayedKind } from '../domain/not-relayed.ts'
import type { DeviceMessage, IntakeEvent, LeftOutMessage, Settlement } from '../lines/driver.ts'
import { attachmentsOf } from '../storage/attachments.ts'
import { openConversation } from '../storage/conversations.ts'
import type { Core } from '../storage/core.ts'
import { markKnown, noteAnswer } from '../storage/daily-contacts.ts'
import type { Tx } from '../storage/database.ts'
import { findGroup } from '../storage/groups.ts'
import {
  keepReceipt,
  messageIdOfGuid,
  NAMED,
  rejectEvent,
  ignoreGuid,
  rememberGuid,
  countNotRelayed,
} from '../storage/intake-records.ts'
import { saveCheckpoint } from '../storage/lines.ts'
import { findMessage } from '../storage/messages.ts'
import { NotWrittenError } from '../storage/sqlite-errors.ts'
import type { Signal } from '../system/signal.ts'
import type { Publish } from '../webhooks/publish.ts'
import { stopIfLoop } from './agents.ts'
import { openDeviceGroup, type DeviceChanges } from './device-changes.ts'
import {
  filesOf,
  keepFiles,
  recordFiles,
  recordMessage,
  type FileStates,
} from './device-message.ts'
import type { OptOuts } from './opt-outs.ts'
import { markSent, provenParts } from './parts.ts'
import type { MessageQueue } from './queue.ts'
import type { Outcomes } from './settle.ts'
import {
  createPersonOn,
  withPeople,
  type PersonOn,
  type ReadEvent,
  type ReadMessage,
} from './spellings.ts'

const NO_FILES: FileStates = new Map()

type Source = { readonly line: Line; readonly states: FileStates }

const UNPLACED = { kind: 'unplaced' } as const

export class Intake {
  readonly #core: Core
  readonly #deps: ConstructorParameters<typeof Intake>[1]
  readonly #personOn: PersonOn
  /** The last event per line that copies a file or waits behind such an event. */
  readonly #copying = new Map<LineId, Promise<void>>()

  constructor(
    core: Core,
    deps: {
      readonly publish: Publish
      /** Line kinds that don't really send. */
      readonly practiceKinds: readonly string[]
      readonly store: Pick<AttachmentStore, 'keep'>
      readonly dispatchSignal: Signal
      readonly outcomes: Outcomes
      readonly queue: MessageQueue
      readonly optOuts: OptOuts
      readonly deviceChanges: DeviceChanges
    },
  ) {
    this.#core = core
    this.#deps = deps
    this.#personOn = createPersonOn(core.db)
  }

  /**
   * Makes an event durable. Called by the line's run, in the device's order and without waiting for the one before.
   * Copies files first, which may take long. Rejects only if nothing can be stored now, such as on a full disk: the
   * run ends then, and the device is read again from its checkpoint.
   */
  async take(line: Line, reported: IntakeEvent): Promise<void> {
    const event = withPeople(reported, (spelling) => this.#personOn(line, spelling))
    const copying = this.#copying
    if (filesOf(event).length === 0 && !copying.has(line.id)) {
      return this.#record(line, event, NO_FILES)
    }
    const taken = this.#takeInOrder(line, event)
    copying.set(line.id, taken)
    try {
      await taken
    } finally {
      if (copying.get(line.id) === taken) copying.delete(line.id)
    }
  }

  async #takeInOrder(line: Line, event: ReadEvent): Promise<void> {
    // If an earlier event can't be stored, a later one with its checkpoint must not be either.
    await this.#copying.get(line.id)
    const guid = event.type === 'message' ? event.message.guid : ''
    const isKnown = messageIdOfGuid(this.#core.db, line.id, guid) !== null
    const isNew = event.type === 'attachment' || !isKnown
    const states = isNew ? await keepFiles(this.#deps.store, event) : NO_FILES
    await this.#record(line, event, states)
  }

  async #record(line: Line, event: ReadEvent, states: FileStates): Promise<void> {
    try {
      await this.#core.writer.write((tx) => this.#write(tx, { line, states }, event))
    } catch (error) {
      if (isPassing(error)) throw error
      await this.#reject(line, event, error)
    }
  }

  #write(tx: Tx, { line, states }: Source, event: ReadEvent): void {
    switch (event.type) {
      case 'message':
        this.#takeMessage(tx, { line, states }, event.message)
        break
      case 'attachment':
        this.#takeAttachment(tx, { line, states }, event)
        break
      case 'change':
        this.#deps.deviceChanges.take(tx, line, event.change)
        break
      case 'left_out':
        this.#takeLeftOut(tx, line, event.leftOut)
        break
      case 'receipt':
        this.#takeReceipt(tx, line, event.receipt)
        break
      case 'settled':
        this.#takeSettled(tx, line, event)
        return
      case 'checkpoint':
        break
    }
    if (event.checkpoint !== null) saveCheckpoint(tx, line.id, event.checkpoint)
    this.#core.writer.afterCommit(() => this.#deps.dispatchSignal.notify())
  }

  #takeMessage(tx: Tx, { line, states }: Source, device: ReadMessage): void {
    if (isStored(tx, device, { line, states })) return
    const conversationId = this.#conversationOf(tx, line, device)
    if (typeof conversationId === 'object') {
      this.#takeLeftOut(tx, line, { ...device, ...conversationId })
      return
    }
    const outcome = device.isHistory ? 'recorded' : this.#outcomeOf(line, device)
    const files = device.attachments ?? []
    const isPending = files.some(({ file }) => file.state === 'pending')
    const waits = outcome === 'message.received' && isPending
    const message = recordMessage(this.#core, tx, line, { device, conversationId, waits })
    rememberGuid(tx, line.id, device.guid, message.id)
    recordFiles(tx, message, files, states)
    if (!message.isGroup) noteContact(tx, message, device.isHistory)
    if (typeof outcome === 'object') countNotRelayed(tx, line.id, outcome.kind, message.createdAt)
    else if (outcome !== 'recorded' && !waits) this.#deps.publish(tx, outcome, message)
    if (!device.isHistory) this.#takeNews(tx, line, message)
    if (device.isName === true) rejectEvent(tx, line.id, NAMED, message.createdAt)
    this.#deps.outcomes.applyWaitingChanges(tx, message, device.guid)
  }

  #takeNews(tx: Tx, line: Line, message: Outbound): void {
    this.#deps.optOuts.takeKeyword(tx, message)
    // People of a practice line always answer at once.
    const isReal = !this.#deps.practiceKinds.includes(line.driver)
    if (isReal && message.direction === 'inbound') stopIfLoop(tx, message, this.#core.ids.now())
  }

  /** The event to publish, or the kind under which a message without one is counted; `recorded` if neither. */
  #outcomeOf(
    line: Line,
    device: DeviceMessage,
  ): 'message.received' | 'message.sent' | 'recorded' | { readonly kind: NotRelayedKind } {
    const kind = notRelayedKind(line, device)
    if (!device.isFromMe) return kind === null ? 'message.received' : { kind }
    return kind === null && this.#core.settings.get('announce_device_messages')
      ? 'message.sent'
      : 'recorded'
  }

  /** The message's conversation, or why to skip it: a group's row is never stored as a person's. */
  #conversationOf(
    tx: Tx,
    line: Line,
    { group, handle }: DeviceMessage,
  ): ConversationId | { readonly kind: LeftOut } {
    const { ids } = this.#core
    if (group !== undefined) {
      if (!line.relayGroups) return { kind: 'group' }
      return openDeviceGroup(ids, tx, line, { ...group, state: 'active' }) ?? UNPLACED
    }
    const party = { lineId: line.id, phoneNumber: line.number, handle }
    const id = openConversation(tx, ids, { ...party, now: ids.now() })
    return findGroup(tx, id) === null ? id : UNPLACED
  }

  /** Takes a file that has arrived or failed; ignores it if its message is gone. */
  #takeAttachment(
    tx: Tx,
    { line, states }: Source,
    { messageGuid, attachment }: Extract<IntakeEvent, { readonly type: 'attachment' }>,
  ): void {
    const id = messageIdOfGuid(tx, line.id, messageGuid)
    const message = id === null ? null : findMessage(tx, id)
    if (message !== null) this.#deps.deviceChanges.takeFile(tx, { message, attachment, states })
  }

  /** Counts a message that isn't relayed, once: its guid is remembered with an id that no message has. */
  #takeLeftOut(
    tx: Tx,
    line: Line,
    leftOut: LeftOutMessage & Partial<Pick<DeviceMessage, 'isFromMe' | 'isHistory'>>,
  ): void {
    const { guid, kind, isFromMe = false, isHistory = false } = leftOut
    if (messageIdOfGuid(tx, line.id, guid) !== null) return
    const now = this.#core.ids.now()
    ignoreGuid(tx, line.id, guid, deviceTime(leftOut.at, now))
    if (!isFromMe && !isHistory) countNotRelayed(tx, line.id, kind, now)
  }

  #takeReceipt(tx: Tx, line: Line, given: Receipt): void {
    const receipt = { ...given, at: deviceTime(given.at, this.#core.ids.now()) }
    const id = messageIdOfGuid(tx, line.id, receipt.guid)
    if (id === null) {
      keepReceipt(tx, line.id, receipt, this.#core.ids.now())
      return
    }
    const message = findMessage(tx, id)
    if (message?.direction !== 'outbound') return
    if (isOtherPart(message, receipt.guid))
      this.#deps.outcomes.applyPartReceipt(tx, message, receipt)
    else this.#deps.outcomes.applyReceipt(tx, message, receipt)
  }

  /**
   * The outcome of an unsettled message, found by its driver. Only proof that it wasn't sent sends it again. A line
   * that the message has left is ignored: another line may be sending it.
   */
  #takeSettled(
    tx: Tx,
    line: Line,
    { messageId, outcome }: Extract<IntakeEvent, { readonly type: 'settled' }>,
  ): void {
    const message = findMessage(tx, messageId)
    if (message?.status !== 'sending' && message?.status !== 'uncertain') return
    if (message.lineId !== line.id) return
    this.#core.writer.afterCommit(() => this.#deps.dispatchSignal.notify())
    const open = this.#deps.outcomes.applyProven(tx, message, outcome)
    if (open?.outcome === 'not_sent') this.#takeNotSent(tx, { line, message }, open)
    if (open?.outcome === 'unknown' && open.sent !== undefined) {
      markSent(tx, message, open.sent, null)
    }
  }

  #takeNotSent(
    tx: Tx,
    { line, message }: { readonly line: Line; readonly message: Outbound },
    { reason, proof }: Extract<Settlement, { readonly outcome: 'not_sent' }>,
  ): void {
    if (proof === true && mayGoAgain(tx, message)) this.#deps.queue.requeue(tx, message, reason)
    // A box's journal doesn't know what other boxes have sent since the backup.
    else if (proof !== true || line.box === null || !isRestored(message)) {
      this.#deps.outcomes.fail(tx, message, reason)
    }
  }

  /** A bad row never stops a line: it is kept with the rejected events, and the checkpoint moves on. */
  async #reject(line: Line, event: ReadEvent, error: unknown): Promise<void> {
    const { writer, log, ids } = this.#core
    log.error('event of a line was rejected', { line_id: line.id, type: event.type, error })
    await writer.write((tx) => {
      const reason = error instanceof Error ? error.message : String(error)
      rejectEvent(tx, line.id, `${event.type}: ${reason}`, ids.now())
      const checkpoint = 'checkpoint' in event ? event.checkpoint : null
      if (checkpoint !== null) saveCheckpoint(tx, line.id, checkpoint)
    })
  }
}

/** True if the guid is known, or an earlier version stored the same content under the former guid. */
function isStored(tx: Tx, device: DeviceMessage, { line, states }: Source): boolean {
  const { guid, formerGuid, text, handle } = device
  if (messageIdOfGuid(tx, line.id, guid) !== null) return true
  const id = formerGuid === undefined ? null : messageIdOfGuid(tx, line.id, formerGuid)
  const known = id === null ? null : findMessage(tx, id)
  if (known === null || known.text !== mendedText(text)) return false
  const hashes = [...states.values()].map((file) => file.sha256 ?? null)
  const knownHashes = attachmentsOf(tx, known.id).map((file) => file.sha256)
  const isSame = isSamePerson(known.handle, handle, homeOfNumber(line.number))
  return isSame && Bun.deepEquals(hashes, knownHashes)
}

/** Records that the line and the person know each other; a new message may answer the line's first one. */
function noteContact(tx: Tx, message: Outbound, isHistory: boolean): void {
  const { lineId, handle, direction, createdAt } = message
  if (direction === 'inbound' && !isHistory) noteAnswer(tx, { lineId, handle })
  markKnown(tx, { lineId, handle }, createdAt)
}

/** The reason to publish no event; null if one is published. */
function notRelayedKind(line: Line, { withheld, service }: DeviceMessage): NotRelayedKind | null {
  return withheld ?? (line.relaySms ? null : carrierKind(service))
}

/** True if the guid belongs to another part than the one that stands for the whole message. */
function isOtherPart(message: Outbound, guid: string): boolean {
  const { platformGuid } = message
  return hasAttachments(message) && platformGuid !== null && platformGuid !== guid
}

/**
 * True if the message may be sent again. Not if the device gave it a guid: then it was handed over. Not if it comes
 * from a backup: a restore never sends. Not if its failure was announced: the receiver may have sent it again.
 */
function mayGoAgain(tx: Tx, message: Outbound): boolean {
  const { status, dueAt, platformGuid } = message
  if (platformGuid !== null || isRestored(message)) return false
  if (hasAttachments(message) && provenParts(tx, message).length > 0) return false
  return status === 'sending' || dueAt !== null
}

function isRestored({ error }: Outbound): boolean {
  return error?.code === 'restored'
}

/**
 * True if the storage is at fault, not the event: a full disk, a busy database, a group that was rolled back.
 * Anything else would fail for this event every time.
 */
function isPassing(error: unknown): boolean {
  if (error instanceof RelayError || error instanceof NotWrittenError) return true
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  const isRefusal = /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE)/.test(code)
  return (code.startsWith('SQLITE_') && !isRefusal) || isPassing(error.cause)
}
