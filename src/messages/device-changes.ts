// Applies changes that devices report. A reaction, an edit or an unsend names its message by the device's guid; a
// change that comes before its message waits for it some seconds. A message whose files are still arriving is announced
// when they are here, or after a while without them. A group is known by the device's identifier, never by its
// members: two groups may have the same people.

import { deviceHandle, parseRecipient } from '../domain/handle.ts'
import { derivedId, timestamp, type ConversationId, type Timestamp } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import {
  isRepeated,
  reactionsAfter,
  type MessageChange,
  type MessageExtras,
} from '../domain/message-extras.ts'
import { deviceTime, mendedText, type Outbound } from '../domain/message.ts'
import { carrierKind } from '../domain/not-relayed.ts'
import type { DeviceAttachment, DeviceChange, DeviceGroup } from '../lines/driver.ts'
import { attachmentsOf, findDeviceAttachment, updateAttachment } from '../storage/attachments.ts'
import { findConversation, lastSentAt, type Group } from '../storage/conversations.ts'
import type { Core } from '../storage/core.ts'
import type { Tx } from '../storage/database.ts'
import { isPublished } from '../storage/events.ts'
import { openGroup } from '../storage/groups.ts'
import {
  changesWaitSince,
  countNotRelayed,
  keepChange,
  messageIdOfGuid,
  ignoreGuid,
  rememberGuid,
  takeOldChanges,
} from '../storage/intake-records.ts'
import { getLine } from '../storage/lines.ts'
import { placedGroup } from '../storage/message-parts.ts'
import { findMessage, updateMessage } from '../storage/messages.ts'
import { sha256 } from '../system/hash.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import { eventIdOf, type Publish, type PublishOther } from '../webhooks/publish.ts'
import { recordFiles, type FileStates } from './device-message.ts'

/** Longest wait of a change for its message. */
const WAIT_MS = 10_000

type GroupChanged = Extract<DeviceChange, { readonly kind: 'group' }>

type Taken = {
  readonly message: Outbound
  readonly attachment: DeviceAttachment
  readonly states: FileStates
}

export class DeviceChanges {
  readonly #core: Core
  readonly #publish: Publish & PublishOther

  constructor(core: Core, { publish }: { readonly publish: Publish & PublishOther }) {
    this.#core = core
    this.#publish = publish
  }

  /** Takes each change once, by its guid. Changes in a group that isn't relayed are ignored. */
  take(tx: Tx, line: Line, change: DeviceChange): void {
    if (change.kind === 'group') this.#takeOfGroup(tx, line, change)
    else this.#takeOfMessage(tx, line, change)
  }

  #takeOfMessage(tx: Tx, line: Line, { group, ...given }: Exclude<DeviceChange, GroupChanged>) {
    const isLeftOut = group !== undefined && !line.relayGroups
    if (isLeftOut || messageIdOfGuid(tx, line.id, given.guid) !== null) return
    const now = this.#core.ids.now()
    const change = { ...given, at: deviceTime(given.at, now) }
    const targetId = messageIdOfGuid(tx, line.id, change.targetGuid)
    // If the message isn't here, the guid is stored with an id that no message has.
    const ownId = derivedId('msg', now, sha256(`${line.id}\0${change.guid}`))
    rememberGuid(tx, line.id, change.guid, targetId ?? ownId)
    if (targetId === null) {
      const conversationId =
        group === undefined ? null : openDeviceGroup(this.#core.ids, tx, line, group)
      keepChange(tx, { lineId: line.id, conversationId, change }, now)
      return
    }
    const target = findMessage(tx, targetId)
    if (target !== null) this.apply(tx, target, change)
  }

  /** Publishes reactions whose message didn't come in time; such edits and unsends are dropped. */
  settleOld(tx: Tx): void {
    const until = timestamp(this.#core.ids.now() - WAIT_MS)
    for (const { lineId, conversationId, change } of takeOldChanges(tx, until)) {
      if (change.kind !== 'reaction' || change.isHistory) continue
      if (change.isFromMe && !this.#core.settings.get('announce_device_messages')) continue
      const group = conversationId === null ? null : placedGroup(tx, conversationId)
      this.#publish.unplacedReaction(tx, { lineId, group, reaction: change })
    }
  }

  /** The time at which the oldest change has waited long enough; null if none waits. */
  settledAt(): Timestamp | null {
    const since = changesWaitSince(this.#core.db)
    return since === null ? null : timestamp(since + WAIT_MS)
  }

  /** Applies the change and announces it unless it is history. Returns the changed message. */
  apply(tx: Tx, message: Outbound, change: MessageChange): Outbound {
    const changed = changedBy(message, change)
    if (changed === null) return message
    const isWaiting = message.status === 'received' && message.dueAt !== null
    const before = isWaiting ? this.announce(tx, message) : message
    const saved = updateMessage(tx, before, changed, this.#core.ids.now())
    if (change.isHistory || !this.#isToAnnounce(tx, saved, change)) return saved
    const { guid } = change
    const reported = change.kind === 'reaction' ? { reaction: change, guid } : { guid }
    this.#publish(tx, `message.${change.kind}`, saved, reported)
    return saved
  }

  /** Receivers get no change of a message that was never announced, except for a reaction. */
  #isToAnnounce(tx: Tx, message: Outbound, change: MessageChange): boolean {
    const isReaction = change.kind === 'reaction'
    const isOwners = isReaction
      ? change.isFromMe
      : message.direction === 'outbound' && message.source === 'device'
    if (isOwners && !this.#core.settings.get('announce_device_messages')) return false
    const carrier = carrierKind(message.service)
    if (carrier !== null && getLine(tx, message.lineId)?.relaySms !== true) {
      if (isReaction && !isOwners)
        countNotRelayed(tx, message.lineId, carrier, this.#core.ids.now())
      return false
    }
    return isReaction || message.direction === 'outbound' || isAnnounced(tx, message)
  }

  /** Takes a pending file that has arrived or failed, or a file that was added to its message later. */
  takeFile(tx: Tx, taken: Taken): void {
    const { message } = taken
    const saved = this.#storeFile(tx, taken)
    const place = { messageId: message.id, deviceGuid: taken.attachment.guid }
    const attachment = findDeviceAttachment(tx, place)
    if (saved === null || attachment === null || attachment.state === 'pending') return
    if (message.dueAt !== null) {
      const isPending = attachmentsOf(tx, message.id).some(({ state }) => state === 'pending')
      if (!isPending) this.announce(tx, saved)
      return
    }
    if (!isAnnounced(tx, message)) return
    const name = attachment.state === 'available' ? 'attachment.available' : 'attachment.failed'
    this.#publish(tx, name, saved, { attachment, guid: place.deviceGuid })
  }

  /** Stores the file's new state and returns its message; null if nothing is new. */
  #storeFile(tx: Tx, { message, attachment: device, states }: Taken): Outbound | null {
    const known = findDeviceAttachment(tx, { messageId: message.id, deviceGuid: device.guid })
    const state = states.get(device.guid)
    if (state === undefined) return null
    const now = this.#core.ids.now()
    if (known === null) {
      // The files of the relay's own messages came from their sender.
      if (message.source !== 'device') return null
      recordFiles(tx, { ...message, createdAt: now }, [device], states)
      const attachmentCount = (message.extras?.attachmentCount ?? 0) + 1
      return updateMessage(tx, message, { extras: { ...message.extras, attachmentCount } }, now)
    }
    if (known.state !== 'pending' || state.state === 'pending') return null
    updateAttachment(tx, known.id, state)
    return updateMessage(tx, message, {}, now)
  }

  /** Announces a received message, with or without its files. */
  announce(tx: Tx, message: Outbound): Outbound {
    this.#publish(tx, 'message.received', message)
    return updateMessage(tx, message, { dueAt: null }, this.#core.ids.now())
  }

  /**
   * A member joined or left, or the group has a new name or picture. iCloud writes the rows of one change several
   * times, under different guids. History from before the last message doesn't describe the group as it is now.
   */
  #takeOfGroup(tx: Tx, line: Line, changed: GroupChanged): void {
    const { ids } = this.#core
    const { guid, group, isHistory, change, actor, target, replaced } = changed
    if (!line.relayGroups || messageIdOfGuid(tx, line.id, guid) !== null) return
    const now = ids.now()
    const at = deviceTime(changed.at, now)
    const same = sameChange(changed, at)
    const isKnown = messageIdOfGuid(tx, line.id, same) !== null
    for (const known of [guid, same]) {
      ignoreGuid(tx, line.id, known, now)
    }
    if (isKnown || (isHistory && isBeforeLast(tx, line, group, at))) return
    const conversationId = openDeviceGroup(ids, tx, line, {
      ...group,
      state: stateAfter(changed),
    })
    const placed = conversationId && placedGroup(tx, conversationId)
    if (placed === null || isHistory) return
    const what = { change, actor, target, replaced, at }
    this.#publish.groupUpdate(tx, { lineId: line.id, guid, group: placed, ...what })
  }
}

function isAnnounced(tx: Tx, { id, direction, isGroup }: Outbound): boolean {
  const step = direction === 'inbound' ? 'received' : 'sent'
  const name = isGroup ? (`group_message.${step}` as const) : (`message.${step}` as const)
  return isPublished(tx, eventIdOf(name, id))
}

type Changed = { readonly text: string; readonly extras: MessageExtras }

/** The message after the change; null if nothing changes. */
function changedBy({ text, extras }: Outbound, change: MessageChange): Changed | null {
  if (change.kind === 'reaction') {
    const known = extras?.reactions ?? []
    if (isRepeated(known, change)) return null
    const reactions = reactionsAfter(known, change)
    return { text, extras: { ...extras, reactions } }
  }
  if (extras?.unsentAt !== undefined) return null
  // Unsending takes back the earlier texts too.
  if (change.kind === 'unsent') {
    return { text: '', extras: { ...extras, edits: undefined, unsentAt: change.at } }
  }
  const edits = change.edits.map((edit) => ({ ...edit, text: mendedText(edit.text) }))
  const after = { text: mendedText(change.text), extras: { ...extras, edits } }
  // An unreadable edit history doesn't replace the known one.
  const isSame = edits.length === 0 || Bun.deepEquals(edits, extras?.edits)
  return after.text === text && isSame ? null : after
}

/**
 * Opens a group's conversation with the name and members that the device reports. Null if the identifier is a
 * person's handle: a send to that person would reach the group.
 */
export function openDeviceGroup(
  ids: LogicalClock,
  tx: Tx,
  line: Line,
  given: DeviceGroup & { readonly state?: Group['state'] | undefined },
): ConversationId | null {
  const { chatGuid, identifier, name, participants, state } = given
  const handle = deviceHandle(identifier)
  if (parseRecipient(handle) !== null) return null
  const party = { lineId: line.id, phoneNumber: line.number, handle, now: ids.now() }
  const members = participants.map(deviceHandle)
  return openGroup(tx, ids, party, { chatGuid, name, participants: members, state })
}

function isBeforeLast(tx: Tx, line: Line, { identifier }: DeviceGroup, at: Timestamp): boolean {
  const id = findConversation(tx, { lineId: line.id, handle: deviceHandle(identifier) })
  return id !== null && (lastSentAt(tx, id) ?? 0) > at
}

/** One guid for all rows of a change: same group, kind, member or new name, and second. */
function sameChange({ group, change, target }: GroupChanged, at: Timestamp): string {
  const about = change === 'renamed' ? group.name : target
  const second = Math.floor(at / 1_000)
  return `group:${sha256(JSON.stringify([group.identifier, change, about, second])).toHex()}`
}

/** The owner's membership after the change; undefined if it is about other people. */
function stateAfter({ change, actor, target }: GroupChanged): Group['state'] | undefined {
  switch (change) {
    case 'left':
      return actor === null ? 'left' : undefined
    case 'participant_removed':
      return target === null ? 'left' : undefined
    case 'participant_added':
      return target === null ? 'active' : undefined
    case 'renamed':
    case 'icon_changed':
      return undefined
  }
}
