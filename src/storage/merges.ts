// Merges conversations of a line that turned out to be with one person, and can separate them again.

import type { Handle } from '../domain/handle.ts'
import type { LineId, Timestamp } from '../domain/ids.ts'
import type { Db, Tx } from './database.ts'
import type { ListedOptOut } from './opt-outs.ts'
import { merges, optOuts } from './people-schema.ts'
import { conversations } from './schema.ts'
import { assigned, columnsOf, inserted, selected, type RawRow } from './statement.ts'

const FACTS = [
  'messageCount',
  'lastSeq',
  'readSeq',
  'unreadCount',
  'isUnanswered',
  'isAutomationPaused',
  'service',
  'movedTo',
  'updatedAt',
] as const

/** The columns of a conversation that follow from its messages and its reader. */
export type ConversationFacts = Pick<RawRow<typeof conversations>, (typeof FACTS)[number]>

/** A conversation of a line with one person. */
export type Talk = Pick<RawRow<typeof conversations>, (typeof NAMES)[number]>

const NAMES = ['seq', 'id', 'lineId', 'phoneNumber', 'handle'] as const
const TALK = selected(conversations, NAMES, 'c.')
const IS_DIRECT = 'NOT EXISTS (SELECT 1 FROM groups g WHERE g.seq = c.seq)'

/** Conversations with one person after the seq `after`, oldest first; read only as far as the caller iterates. */
export function talksBehind(db: Db, after: number): Iterable<Talk> {
  const sql = `SELECT ${TALK} FROM conversations c
  WHERE c.seq > $after AND c.last_seq > 0 AND ${IS_DIRECT} ORDER BY c.seq`
  return db.each<Talk>(sql, { after })
}

const ofHandle = `SELECT ${TALK} FROM conversations c
  WHERE c.line_id = $lineId AND c.handle = $handle AND ${IS_DIRECT}`

export function findTalk(db: Db, lineId: LineId, handle: string): Talk | null {
  return db.row<Talk>(ofHandle, { lineId, handle })
}

/** True if a message of one of the conversations is sending; it has to settle first. */
export function isSendingIn(db: Db, seqs: readonly number[]): boolean {
  const sql = `SELECT 1 FROM messages INDEXED BY messages_by_status WHERE status = 'sending'
    AND conversation_seq IN (SELECT value FROM json_each($seqs)) LIMIT 1`
  return db.row(sql, { seqs: JSON.stringify(seqs) }) !== null
}

/** True if another line has a conversation under the same spelling that wasn't merged. */
export function isSpelledElsewhere(db: Db, { seq, handle }: Talk): boolean {
  const sql = `SELECT 1 FROM conversations WHERE handle = $handle AND seq <> $seq
    AND moved_to IS NULL LIMIT 1`
  return db.row(sql, { seq, handle }) !== null
}

const factsOf = `SELECT ${selected(conversations, FACTS)} FROM conversations WHERE seq = $seq`

export function readFacts(db: Db, seq: number): ConversationFacts | null {
  return db.row<ConversationFacts>(factsOf, { seq })
}

const COUNTED = `SELECT count(*) AS messageCount, coalesce(max(seq), 0) AS lastSeq,
    coalesce(sum(direction = 'inbound' AND seq > $readSeq), 0) AS unreadCount
  FROM messages INDEXED BY messages_by_conversation WHERE conversation_seq = $seq`

const LAST = "SELECT service, direction = 'inbound' AS isUnanswered FROM messages WHERE seq = $seq"

type LastFacts = Pick<ConversationFacts, 'service' | 'isUnanswered'>

/** Computes these facts from the conversation's messages, if they are read up to `readSeq`. */
export function countFacts(db: Db, seq: number, readSeq: number) {
  const counted = db.row<Pick<ConversationFacts, 'messageCount' | 'lastSeq' | 'unreadCount'>>(
    COUNTED,
    { seq, readSeq },
  )
  const { messageCount, lastSeq, unreadCount } = counted ?? NOTHING
  const last = db.row<LastFacts>(LAST, { seq: lastSeq })
  const facts = { messageCount, lastSeq, unreadCount, readSeq: Math.min(readSeq, lastSeq) }
  return { ...facts, service: last?.service ?? null, isUnanswered: last?.isUnanswered ?? 0 }
}

const NOTHING = { messageCount: 0, lastSeq: 0, unreadCount: 0 }

const savedFacts = `UPDATE conversations SET ${assigned(conversations, FACTS)} WHERE seq = $seq`

export function saveFacts(tx: Tx, { seq, id }: Talk, facts: ConversationFacts): void {
  tx.execute(savedFacts, { ...facts, seq })
  tx.changes?.push({ what: 'conversation', id })
}

export function renameTalk(tx: Tx, { seq }: Talk, handle: Handle): void {
  tx.execute('UPDATE conversations SET handle = $handle WHERE seq = $seq', { seq, handle })
}

/** Seqs of conversations whose ids stand for the one with this seq. */
export function aliasesOf(db: Db, seq: number): readonly number[] {
  const sql = 'SELECT seq FROM conversations WHERE moved_to = $seq'
  return db.rows<{ seq: number }>(sql, { seq }).map((row) => row.seq)
}

export function pointAliases(tx: Tx, aliases: readonly number[], to: number): void {
  const sql = `UPDATE conversations SET moved_to = $to
    WHERE seq IN (SELECT value FROM json_each($aliases)) AND moved_to IS NOT NULL`
  tx.execute(sql, { aliases: JSON.stringify(aliases), to })
}

/** Moves every message of `from` to the person's conversation, and keeps the spelling that the device used. */
export function takeOverMessages(tx: Tx, from: Talk, to: { seq: number; handle: Handle }): void {
  const sql = `UPDATE messages SET conversation_seq = $to, handle = $handle,
      extras = json_set(coalesce(extras, '{}'), '$.spelling', $spelling)
    WHERE conversation_seq = $from`
  tx.execute(sql, { from: from.seq, to: to.seq, handle: to.handle, spelling: from.handle })
}

const IS_SPELLED = "coalesce(extras ->> '$.spelling', '') = $spelling AND status <> 'sending'"

/** Moves the messages with this spelling back, as they came. */
export function giveBackMessages(
  tx: Tx,
  spelling: Handle,
  seqs: { readonly from: number; readonly to: number },
): void {
  const sql = `UPDATE messages SET conversation_seq = $to, handle = $spelling,
      extras = nullif(json_remove(extras, '$.spelling'), '{}')
    WHERE conversation_seq = $from AND ${IS_SPELLED}`
  tx.execute(sql, { spelling, ...seqs })
}

/** Moves the person's other messages out of a conversation that is separated again under its old spelling. */
export function moveOwnMessages(
  tx: Tx,
  spelling: Handle,
  seqs: { readonly from: number; readonly to: number },
): void {
  const sql = `UPDATE messages SET conversation_seq = $to
    WHERE conversation_seq = $from AND NOT (${IS_SPELLED})`
  tx.execute(sql, { spelling, ...seqs })
}

export function textsBehind(db: Db, seq: number, after: number): readonly string[] {
  const sql = `SELECT text FROM messages
    WHERE conversation_seq = $seq AND seq > $after AND direction = 'inbound'`
  return db.rows<{ text: string }>(sql, { seq, after }).map(({ text }) => text)
}

export function hasOwnMessages(db: Db, spelling: Handle, seq: number): boolean {
  const sql = `SELECT 1 FROM messages WHERE conversation_seq = $seq AND NOT (${IS_SPELLED}) LIMIT 1`
  return db.row(sql, { spelling, seq }) !== null
}

/** The number of waiting messages of a conversation that reserve a contact of their line's day. */
export function countReserved(db: Db, seq: number): number {
  const sql = `SELECT count(*) AS count FROM messages
    WHERE conversation_seq = $seq AND contact_hold = 'reserved'`
  return db.row<{ count: number }>(sql, { seq })?.count ?? 0
}

export function forgetContact(tx: Tx, lineId: LineId, handle: Handle): void {
  const sql = `DELETE FROM contacts WHERE line_id = $lineId AND handle = $handle
    AND known_at IS NULL AND spent_day IS NULL AND queued = 0 AND passed = 0`
  tx.execute(sql, { lineId, handle })
}

/** Gives an address book entry another handle; returns false if there is none, or that handle has one. */
export function renamePerson(tx: Tx, from: Handle, to: Handle): boolean {
  const sql = 'UPDATE OR IGNORE people SET handle = $to WHERE handle = $from'
  return tx.execute(sql, { from, to }).changes > 0
}

/** Opt-outs of phone numbers and names that no conversation has anymore. */
export function optOutsAlone(db: Db): readonly ListedOptOut[] {
  const sql = `SELECT ${selected(optOuts)} FROM opt_outs o WHERE instr(handle, '@') = 0
    AND NOT EXISTS (SELECT 1 FROM conversations c WHERE c.handle = o.handle)`
  return db.rows<ListedOptOut>(sql)
}

export type Merge = Omit<RawRow<typeof merges>, 'before'> & { readonly before: string }

const merging = `INSERT INTO merges ${inserted(merges, columnsOf(merges, ['seq']))}
  ON CONFLICT (spelling, line_id) DO NOTHING`

export function insertMerge(tx: Tx, merge: Omit<Merge, 'seq' | 'separatedAt'>): void {
  tx.execute(merging, { ...merge, separatedAt: null })
}

const ofConversation = `SELECT ${selected(merges)} FROM merges
  WHERE conversation_id = $id AND separated_at IS NULL`

/** The merge of this conversation into a person's, under whose handle its own became another spelling. */
export function findMerge(db: Db, id: string): Merge | null {
  return db.row<Merge>(ofConversation, { id })
}

export function markSeparated(tx: Tx, { seq }: Merge, now: Timestamp): void {
  tx.execute('UPDATE merges SET separated_at = $now WHERE seq = $seq', { seq, now })
}

/** True if the owner has separated this spelling from the person that it seems to be. */
export function isKeptApart(db: Db, lineId: LineId, spelling: string): boolean {
  const sql = `SELECT 1 FROM merges
    WHERE spelling = $spelling AND line_id = $lineId AND separated_at IS NOT NULL`
  return db.row(sql, { spelling, lineId }) !== null
}

/** The person into whose conversation the conversation with this handle was merged; null if it wasn't. */
export function mergedInto(db: Db, spelling: string): Handle | null {
  const sql = `SELECT handle FROM merges
    WHERE spelling = $spelling AND separated_at IS NULL ORDER BY seq LIMIT 1`
  return db.row<{ handle: Handle }>(sql, { spelling })?.handle ?? null
}

export type MergedFrom = Pick<Merge, 'conversationId' | 'spelling' | 'mergedAt'>

const of = `SELECT conversation_id AS conversationId, spelling, merged_at AS mergedAt FROM merges
  WHERE handle = $handle AND line_id = $lineId AND separated_at IS NULL ORDER BY seq`

/** The spellings whose conversations on the line were merged into this person's. */
export function mergesOf(db: Db, handle: Handle, lineId: LineId): readonly MergedFrom[] {
  return db.rows<MergedFrom>(of, { handle, lineId })
}
