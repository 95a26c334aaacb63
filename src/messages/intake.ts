// The way in: an event of a device becomes a message or a receipt, with conversation, contact,
// deliveries and the line's checkpoint in one transaction. A crash before the commit reads the row
// again; after it, the guid stops a double.

import { RelayError } from '../domain/errors.ts'
import {
  derivedId,
  guidFromBytes,
  timestamp,
  uuidV7,
  type MessageId,
  type Timestamp,
} from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import { TEXT_LENGTH_MAX, type Outbound, type Receipt } from '../domain/message.ts'
import { carrierKind, type NotRelayedKind } from '../domain/not-relayed.ts'
import type { DeviceMessage, LeftOutMessage, LineEvent } from '../lines/driver.ts'
import { markKnown } from '../storage/contacts.ts'
import { noteMessage, openConversation } from '../storage/conversations.ts'
import type { Tx } from '../storage/database.ts'
import {
  keepReceipt,
  messageIdOfGuid,
  rejectEvent,
  rememberGuid,
  countNotRelayed,
} from '../storage/intake-records.ts'
import { saveCheckpoint } from '../storage/lines.ts'
import { findMessage, insertMessage, newMessage } from '../storage/messages.ts'
import { NotWrittenError } from '../storage/sqlite-errors.ts'
import type { Writer } from '../storage/writer.ts'
import { sha256 } from '../system/hash.ts'
import type { Log } from '../system/log.ts'
import type { Signal } from '../system/signal.ts'
import type { LineDirectory } from './line-directory.ts'
import { requeue } from './requeue.ts'
import { acceptMessage, applyReceipt, assignGuid, failMessage, type SettleTools } from './settle.ts'

export type IntakeEvent = Extract<
  LineEvent,
  { readonly type: 'message' | 'left_out' | 'receipt' | 'settled' | 'checkpoint' | 'rejected' }
>

export type IntakeTools = SettleTools & {
  readonly writer: Writer
  readonly log: Log
  readonly dispatchSignal: Signal
  readonly directory: LineDirectory
}

const UPPER_CASE_UUID = /^[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}$/

/** Makes an event of a line durable; rejects only where that is impossible now. */
export function createIntake(
  tools: IntakeTools,
): (line: Line, event: IntakeEvent) => Promise<void> {
  return async (line, event) => {
    try {
      await tools.writer.write((tx) => take(tools, tx, line, event))
    } catch (error) {
      if (isPassing(error)) throw error
      await reject(tools, line, event, error)
    }
  }
}

function take(tools: IntakeTools, tx: Tx, line: Line, event: IntakeEvent): void {
  switch (event.type) {
    case 'message':
      takeMessage(tools, tx, line, event.message)
      break
    case 'left_out':
      takeLeftOut(tools, tx, line, event.leftOut)
      break
    case 'receipt':
      takeReceipt(tools, tx, line, event.receipt)
      break
    case 'settled':
      takeSettled(tools, tx, event)
      return
    case 'rejected':
      rejectEvent(tx, line.id, event.reason, tools.stamps.now())
      return
    case 'checkpoint':
      break
  }
  if (event.checkpoint !== null) saveCheckpoint(tx, line.id, event.checkpoint)
  tools.writer.afterCommit(() => tools.dispatchSignal.notify())
}

function takeMessage(tools: IntakeTools, tx: Tx, line: Line, device: DeviceMessage): void {
  if (messageIdOfGuid(tx, line.id, device.guid) !== null) return
  const message = recordMessage(tools, tx, line, device)
  rememberGuid(tx, line.id, device.guid, message.id)
  markKnown(tx, { lineId: line.id, handle: message.handle }, message.createdAt)
  if (device.isHistory) return
  const notRelayed = notRelayedKind(line, device)
  if (notRelayed !== null) {
    if (!device.isFromMe) countNotRelayed(tx, line.id, notRelayed, message.createdAt)
    return
  }
  if (!device.isFromMe) tools.publish(tx, 'message.received', message)
  else if (tools.announcesDeviceMessages()) tools.publish(tx, 'message.sent', message)
}

/** The kind of a message that is announced to nobody; null where it is announced. */
function notRelayedKind(line: Line, { withheld, service }: DeviceMessage): NotRelayedKind | null {
  return withheld ?? (line.relaySms ? null : carrierKind(service))
}

/** The guid is known from now on, with the id of a message that there never was: it counts once. */
function takeLeftOut(tools: IntakeTools, tx: Tx, line: Line, leftOut: LeftOutMessage): void {
  const { guid, kind } = leftOut
  if (messageIdOfGuid(tx, line.id, guid) !== null) return
  const now = tools.stamps.now()
  const hash = sha256(`${line.id}\0${guid}`)
  rememberGuid(tx, line.id, guid, derivedId('msg', deviceTime(leftOut.at, now), hash))
  countNotRelayed(tx, line.id, kind, now)
}

function recordMessage(tools: IntakeTools, tx: Tx, line: Line, device: DeviceMessage): Outbound {
  const createdAt = tools.stamps.now()
  const at = deviceTime(device.at, createdAt)
  const hash = sha256(`${line.id}\0${device.guid}`)
  const party = { lineId: line.id, phoneNumber: line.number, handle: device.handle }
  const conversationId = openConversation(tx, tools.stamps, { ...party, now: createdAt })
  const message = insertMessage(
    tx,
    newMessage(
      {
        ...party,
        id: derivedId('msg', at, hash),
        conversationId,
        text: mended(device.text),
        guid: UPPER_CASE_UUID.test(device.guid) ? device.guid : guidFromBytes(uuidV7(at, hash)),
        source: 'device',
        createdAt,
      },
      {
        direction: device.isFromMe ? 'outbound' : 'inbound',
        status: device.isFromMe ? 'sent' : 'received',
        service: device.service,
        platformGuid: device.guid,
        sentAt: at,
      },
    ),
  )
  noteMessage(tx, conversationId, { seq: message.seq, service: device.service, now: createdAt })
  return message
}

/** The date that a device gives, as far as it can be one. */
function deviceTime(at: Timestamp, now: Timestamp): Timestamp {
  return timestamp(Number.isFinite(at) ? Math.max(0, at) : now)
}

function takeReceipt(tools: IntakeTools, tx: Tx, line: Line, receipt: Receipt): void {
  const id = messageIdOfGuid(tx, line.id, receipt.guid)
  if (id === null) {
    keepReceipt(tx, line.id, receipt, tools.stamps.now())
    return
  }
  const message = findMessage(tx, id)
  if (message?.direction === 'outbound') applyReceipt(tools, tx, message, receipt)
}

/** The end of an unsettled message, found by its driver. Only proof sends one again. */
function takeSettled(
  tools: IntakeTools,
  tx: Tx,
  { messageId, outcome }: Extract<IntakeEvent, { readonly type: 'settled' }>,
): void {
  const message = unsettled(tx, messageId)
  if (message === null) return
  tools.writer.afterCommit(() => tools.dispatchSignal.notify())
  switch (outcome.outcome) {
    case 'accepted':
      acceptMessage(tools, tx, message, outcome)
      return
    case 'held':
      assignGuid(tools, tx, message, outcome)
      return
    case 'not_sent':
      if (outcome.proof === true && mayGoAgain(message)) requeue(tools, tx, message, outcome.reason)
      else failMessage(tools, tx, message, outcome.reason)
      return
    case 'unknown':
  }
}

/**
 * A message that the device gave a guid was handed over. One of a backup is the past: a restore never
 * causes a send. One whose failure was announced may have been sent again by a receiver.
 */
function mayGoAgain({ status, error, dueAt, platformGuid }: Outbound): boolean {
  if (platformGuid !== null || error?.code === 'restored') return false
  return status === 'sending' || dueAt !== null
}

function unsettled(tx: Tx, id: MessageId): Outbound | null {
  const message = findMessage(tx, id)
  return message?.status === 'sending' || message?.status === 'uncertain' ? message : null
}

/** One bad row never stops a line: it is kept among the rejected events, and the checkpoint goes on. */
async function reject(
  { writer, log, stamps }: IntakeTools,
  line: Line,
  event: IntakeEvent,
  error: unknown,
): Promise<void> {
  log.error('event of a line was rejected', { line_id: line.id, type: event.type, error })
  await writer.write((tx) => {
    const reason = error instanceof Error ? error.message : String(error)
    rejectEvent(tx, line.id, `${event.type}: ${reason}`, stamps.now())
    const checkpoint = 'checkpoint' in event ? event.checkpoint : null
    if (checkpoint !== null) saveCheckpoint(tx, line.id, checkpoint)
  })
}

/**
 * True where the storage is at fault, not the event: a full disk, a group that was rolled back, a database
 * that is busy. Whatever else fails, fails for this event again and again.
 */
function isPassing(error: unknown): boolean {
  if (error instanceof RelayError || error instanceof NotWrittenError) return true
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  const isRefusal = /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE)/.test(code)
  return (code.startsWith('SQLITE_') && !isRefusal) || isPassing(error.cause)
}

/** SQLite stores a lone surrogate as U+FFFD and ends text at NUL: both are made visible before. */
function mended(text: string): string {
  const wellFormed = text.toWellFormed().replaceAll('\0', '\uFFFD')
  if (wellFormed.length <= TEXT_LENGTH_MAX) return wellFormed
  const points = Array.from(wellFormed)
  return points.length <= TEXT_LENGTH_MAX ? wellFormed : points.slice(0, TEXT_LENGTH_MAX).join('')
}
