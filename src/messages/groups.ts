// Groups of a line that relays them. A group is known by the device's identifier, never by its members:
// two groups may have the same people.

import { deviceHandle, parseRecipient } from '../domain/handle.ts'
import { derivedId, type ConversationId, type Timestamp } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import { deviceTime } from '../domain/message.ts'
import type { DeviceChange, DeviceGroup } from '../lines/driver.ts'
import { findConversation, lastMessageAt, type Group } from '../storage/conversations.ts'
import type { Tx } from '../storage/database.ts'
import { openGroup } from '../storage/groups.ts'
import { messageIdOfGuid, rememberGuid } from '../storage/intake-records.ts'
import { placedGroup } from '../storage/message-parts.ts'
import { sha256 } from '../system/hash.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { PublishUnplaced } from '../webhooks/publish.ts'

type GroupTools = { readonly ids: LogicalClock; readonly publish: PublishUnplaced }

/**
 * The conversation of a group, with its name and members as the device has them now. Null where the
 * identifier is a person's handle: a send to that person would reach the group.
 */
export function openDeviceGroup(
  { ids }: Pick<GroupTools, 'ids'>,
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
  const party = { lineId: line.id, phoneNumber: line.number, handle, now: ids.now() }
  const members = participants.map(deviceHandle)
  return openGroup(tx, ids, party, { chatGuid, name, participants: members, state })
}

type GroupChanged = Extract<DeviceChange, { readonly kind: 'group' }>

/**
 * A member came or went, or the group has another name or picture. iCloud writes the rows of one change several
 * times, under guids of their own. Of history, what is older than the last message says nothing of the group now.
 */
export function takeGroupChange(
  { ids, publish }: GroupTools,
  tx: Tx,
  line: Line,
  changed: GroupChanged,
): void {
  const { guid, group, isHistory, change, actor, target, replaced } = changed
  if (!line.relayGroups || messageIdOfGuid(tx, line.id, guid) !== null) return
  const now = ids.now()
  const at = deviceTime(changed.at, now)
  const same = sameChange(changed, at)
  const isKnown = messageIdOfGuid(tx, line.id, same) !== null
  for (const known of [guid, same]) {
    rememberGuid(tx, line.id, known, derivedId('msg', now, sha256(`${line.id}\0${known}`)))
  }
  if (isKnown || (isHistory && isBeforeLast(tx, line, group, at))) return
  const conversationId = openDeviceGroup({ ids }, tx, line, {
    ...group,
    state: stateAfter(changed),
  })
  const placed = conversationId && placedGroup(tx, conversationId)
  if (placed === null || isHistory) return
  const what = { change, actor, target, replaced, at }
  publish.groupUpdate(tx, { lineId: line.id, guid, group: placed, ...what })
}

function isBeforeLast(tx: Tx, line: Line, { identifier }: DeviceGroup, at: Timestamp): boolean {
  const id = findConversation(tx, { lineId: line.id, handle: deviceHandle(identifier) })
  return id !== null && (lastMessageAt(tx, id) ?? 0) > at
}

/** The guid of all rows of one change: the same of the same member, or to the same name, in one second. */
function sameChange({ group, change, target }: GroupChanged, at: Timestamp): string {
  const about = change === 'renamed' ? group.name : target
  const second = Math.floor(at / 1_000)
  return `group:${sha256(JSON.stringify([group.identifier, change, about, second])).toHex()}`
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
