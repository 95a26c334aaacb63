// Reactions, edits and unsends. A change belongs to the message with the device's guid that it names; one
// that comes before its message waits for some seconds.

import { derivedId, timestamp, type Timestamp } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import {
  isRepeated,
  reactionsAfter,
  type MessageChange,
  type MessageExtras,
} from '../domain/message-extras.ts'
import { deviceTime, mendedText, type Outbound } from '../domain/message.ts'
import { carrierKind } from '../domain/not-relayed.ts'
import type { DeviceGroup } from '../lines/driver.ts'
import type { Db, Tx } from '../storage/database.ts'
import {
  changesWaitSince,
  countNotRelayed,
  keepChange,
  messageIdOfGuid,
  rememberGuid,
  takeOldChanges,
} from '../storage/intake-records.ts'
import { getLine } from '../storage/lines.ts'
import { placedGroup } from '../storage/message-parts.ts'
import { findMessage, saveMessage, saveText } from '../storage/messages.ts'
import { sha256 } from '../system/hash.ts'
import type { PublishUnplaced } from '../webhooks/publish.ts'
import { announceReceived, isAnnounced, type FileTools } from './device-files.ts'
import { openDeviceGroup } from './groups.ts'

export type ChangeTools = FileTools & {
  /** Changes made on the owner's own device are announced like those of the relay. */
  readonly announcesDeviceMessages: () => boolean
}

/** Wait of a change for its message. */
const WAIT_MS = 10_000

/** A change counts once, by its guid. One in a group that is not relayed is like the group's messages. */
export function takeChange(
  tools: ChangeTools,
  tx: Tx,
  line: Line,
  { group, ...given }: MessageChange & { readonly group?: DeviceGroup | undefined },
): void {
  const isLeftOut = group !== undefined && !line.relayGroups
  if (isLeftOut || messageIdOfGuid(tx, line.id, given.guid) !== null) return
  const now = tools.ids.now()
  const change = { ...given, at: deviceTime(given.at, now) }
  const targetId = messageIdOfGuid(tx, line.id, change.targetGuid)
  // A change of a message that is not here takes an id that no message has.
  const ownId = derivedId('msg', now, sha256(`${line.id}\0${change.guid}`))
  rememberGuid(tx, line.id, change.guid, targetId ?? ownId)
  if (targetId === null) {
    const conversationId = group === undefined ? null : openDeviceGroup(tools, tx, line, group)
    keepChange(tx, { lineId: line.id, conversationId, change }, now)
    return
  }
  const target = findMessage(tx, targetId)
  if (target !== null) applyChange(tools, tx, target, change)
}

/** Publishes reactions whose message did not come in time; edits and unsends of nothing are dropped. */
export function settleOldChanges(
  tools: ChangeTools & { readonly publish: PublishUnplaced },
  tx: Tx,
): void {
  const until = timestamp(tools.ids.now() - WAIT_MS)
  for (const { lineId, conversationId, change } of takeOldChanges(tx, until)) {
    if (change.kind !== 'reaction' || change.isHistory) continue
    if (change.isFromMe && !tools.announcesDeviceMessages()) continue
    const group = conversationId === null ? null : placedGroup(tx, conversationId)
    tools.publish.unplacedReaction(tx, { lineId, group, reaction: change })
  }
}

/** The time at which the oldest change has waited for long enough; null where none waits. */
export function changesSettledAt(db: Db): Timestamp | null {
  const since = changesWaitSince(db)
  return since === null ? null : timestamp(since + WAIT_MS)
}

const EVENTS = {
  reaction: 'message.reaction',
  edited: 'message.edited',
  unsent: 'message.unsent',
} as const

/** The message after the change, which is announced unless it is history. */
export function applyChange(
  tools: ChangeTools,
  tx: Tx,
  message: Outbound,
  change: MessageChange,
): Outbound {
  const changed = changedBy(message, change)
  if (changed === null) return message
  const isWaiting = message.status === 'received' && message.dueAt !== null
  const before = isWaiting ? announceReceived(tools, tx, message) : message
  if (changed.text !== before.text) saveText(tx, before.seq, changed.text)
  const saved = saveMessage(tx, { ...before, ...changed }, tools.ids.now())
  if (change.isHistory || !isToAnnounce(tools, tx, saved, change)) return saved
  const { guid } = change
  const reported = change.kind === 'reaction' ? { reaction: change, guid } : { guid }
  tools.publish(tx, EVENTS[change.kind], saved, reported)
  return saved
}

type Changed = { readonly text: string; readonly extras: MessageExtras }

/** The message after the change; null where it changes nothing. */
function changedBy({ text, extras }: Outbound, change: MessageChange): Changed | null {
  if (change.kind === 'reaction') {
    const known = extras?.reactions ?? []
    if (isRepeated(known, change)) return null
    const reactions = reactionsAfter(known, change)
    return { text, extras: { ...extras, reactions } }
  }
  if (extras?.unsentAt !== undefined) return null
  // The earlier texts were taken back as well.
  if (change.kind === 'unsent') {
    return { text: '', extras: { ...extras, edits: undefined, unsentAt: change.at } }
  }
  const edits = change.edits.map((edit) => ({ ...edit, text: mendedText(edit.text) }))
  const after = { text: mendedText(change.text), extras: { ...extras, edits } }
  // A history that nobody can read takes the known one from nobody.
  const isSame = edits.length === 0 || Bun.deepEquals(edits, extras?.edits)
  return after.text === text && isSame ? null : after
}

/** A change of a message that was never announced means nothing to a receiver, but for a reaction. */
function isToAnnounce(
  { announcesDeviceMessages, ids }: ChangeTools,
  tx: Tx,
  message: Outbound,
  change: MessageChange,
): boolean {
  const isReaction = change.kind === 'reaction'
  const isOwners = isReaction
    ? change.isFromMe
    : message.direction === 'outbound' && message.source === 'device'
  if (isOwners && !announcesDeviceMessages()) return false
  const carrier = carrierKind(message.service)
  if (carrier !== null && getLine(tx, message.lineId)?.relaySms !== true) {
    if (isReaction && !isOwners) countNotRelayed(tx, message.lineId, carrier, ids.now())
    return false
  }
  return isReaction || message.direction === 'outbound' || isAnnounced(tx, message)
}
