// Groups of a line that relays them. A group is known by the device's identifier, never by its members:
// two groups may have the same people.

import type { Group } from '../domain/conversation.ts'
import { deviceHandle, parseRecipient } from '../domain/handle.ts'
import { derivedId, type ConversationId } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import type { DeviceChange, DeviceGroup } from '../lines/driver.ts'
import type { Tx } from '../storage/database.ts'
import { openGroup } from '../storage/groups.ts'
import { messageIdOfGuid, rememberGuid } from '../storage/intake-records.ts'
import { placedGroup } from '../storage/message-parts.ts'
import { sha256 } from '../system/hash.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { PublishUnplaced } from '../webhooks/publish.ts'
import { deviceTime } from './device-message.ts'

type GroupTools = { readonly stamps: LogicalClock; readonly publish: PublishUnplaced }

/**
 * The conversation of a group, with its name and members as the device has them now. Null where the
 * identifier is a person's handle: a send to that person would reach the group.
 */
export function openDeviceGroup(
  { stamps }: Pick<GroupTools, 'stamps'>,
  tx: Tx,
  line: Line,
  {
    chatGuid,
    identifier,
    name,
    participants,
    state,
  }: DeviceGroup & { readonly state?: Group['state'] | undefined },
): ConversationId | null {
  const handle = deviceHandle(identifier)
  if (parseRecipient(handle) !== null) return null
  const party = { lineId: line.id, phoneNumber: line.number, handle, now: stamps.now() }
  const members = participants.map(deviceHandle)
  return openGroup(tx, stamps, party, { chatGuid, name, participants: members, state })
}

type GroupChanged = Extract<DeviceChange, { readonly kind: 'group' }>

/** A member came or went, or the group has another name or picture. */
export function takeGroupChange(
  { stamps, publish }: GroupTools,
  tx: Tx,
  line: Line,
  changed: GroupChanged,
): void {
  const { guid, group, isHistory, change, actor, target } = changed
  if (!line.relayGroups || messageIdOfGuid(tx, line.id, guid) !== null) return
  const now = stamps.now()
  const at = deviceTime(changed.at, now)
  rememberGuid(tx, line.id, guid, derivedId('msg', now, sha256(`${line.id}\0${guid}`)))
  const conversationId = openDeviceGroup({ stamps }, tx, line, {
    ...group,
    state: stateAfter(changed),
  })
  const placed = conversationId && placedGroup(tx, conversationId)
  if (placed === null || isHistory) return
  publish.groupUpdate(tx, { lineId: line.id, guid, group: placed, change, actor, target, at })
}

/** The owner's own membership; undefined where the change is about other people. */
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
