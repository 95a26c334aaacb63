// Groups. A group is a conversation with an additional row.

import type { Handle } from '../domain/handle.ts'
import type { ConversationId, LineId } from '../domain/ids.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import { findConversation, openConversation, type Group } from './conversations.ts'
import type { Db, Tx } from './database.ts'
import { groups } from './schema.ts'
import {
  CONVERSATION_SEQ,
  assigned,
  columnsOf,
  inserted,
  selected,
  type RawRow,
} from './statement.ts'

const byConversation = `SELECT c.handle AS identifier, ${selected(groups, columnsOf(groups), 'g.')}
   FROM conversations c JOIN groups g ON g.seq = c.seq WHERE c.id = $id`

type Identified = { readonly identifier: Handle }

/** The group of a conversation, with the device's identifier of it; null for a conversation with one person. */
export function findGroup(db: Db, id: ConversationId): (Group & Identified) | null {
  const row = db.row<RawRow<typeof groups> & Identified>(byConversation, { id })
  if (row === null) return null
  const { seq: _seq, participants, ...group } = row
  return { ...group, participants: JSON.parse(participants) as Handle[] } // `save` wrote it.
}

/**
 * Opens the group's conversation and saves the group; without a `state`, the present state stays. Returns null if
 * `party.handle` has a conversation with one person.
 */
export function openGroup(
  tx: Tx,
  ids: LogicalClock,
  party: Parameters<typeof openConversation>[2],
  group: Omit<Group, 'state'> & { readonly state?: Group['state'] | undefined },
): ConversationId | null {
  const known = findConversation(tx, party)
  const before = known === null ? null : findGroup(tx, known)
  if (known !== null && before === null) return null
  const id = known ?? openConversation(tx, ids, party)
  const { chatGuid, name, participants, state = before?.state ?? 'active' } = group
  const after = { chatGuid, name, participants, state }
  if (!Bun.deepEquals(before, { ...after, identifier: party.handle })) save(tx, id, after)
  return id
}

const saving = `INSERT INTO groups ${inserted(groups, columnsOf(groups), { seq: CONVERSATION_SEQ })}
   ON CONFLICT (seq) DO UPDATE SET ${assigned(groups, columnsOf(groups, ['seq']))}`

function save(tx: Tx, conversationId: ConversationId, group: Group): void {
  const participants = JSON.stringify(group.participants)
  tx.execute(saving, { conversationId, ...group, participants })
  tx.changes?.push({ what: 'conversation', id: conversationId })
}

/** Called when the device no longer finds the group; the group's next message makes it active again. */
export function markUnreachable(tx: Tx, id: ConversationId): void {
  const sql = `UPDATE groups SET state = 'unreachable'
   WHERE state = 'active' AND seq = (SELECT seq FROM conversations WHERE id = $id)`
  tx.execute(sql, { id })
  tx.changes?.push({ what: 'conversation', id })
}

export type UnreachableGroup = Pick<Group, 'name' | 'chatGuid'> & { readonly lineId: LineId }

/** Groups that a send didn't reach, and from which nothing has come since. */
export function unreachableGroups(db: Db): readonly UnreachableGroup[] {
  const sql = `SELECT c.line_id AS lineId, g.name, g.chat_guid AS chatGuid
   FROM groups g CROSS JOIN conversations c ON c.seq = g.seq
   WHERE g.state = 'unreachable' ORDER BY g.seq LIMIT 1000`
  return db.rows<UnreachableGroup>(sql)
}
