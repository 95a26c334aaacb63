// The tables of the address book, opt-outs, merged conversations and the search index's progress. The index
// itself (three FTS5 tables) and its triggers are written by hand in migrations 0000 and 0004, because drizzle
// knows neither.

import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

import type { Handle } from '../domain/handle.ts'
import type { ConversationId, LineId, MessageId } from '../domain/ids.ts'
import { OPT_OUT_SOURCES } from '../domain/opt-out.ts'
import { at, checkJson, checkName, checkWord } from './columns.ts'

export const people = sqliteTable(
  'people',
  {
    seq: integer('seq').primaryKey(),
    handle: text('handle').$type<Handle>().notNull().unique(),
    name: text('name').notNull(),
    /** The name as searches compare it: see domain/search-text. */
    nameKey: text('name_key').notNull(),
    note: text('note'),
    tags: text('tags', { mode: 'json' }).$type<readonly string[]>().notNull(),
    createdAt: at('created_at').notNull(),
    updatedAt: at('updated_at').notNull(),
  },
  (t) => [checkJson('tags'), index('people_by_name').on(t.nameKey)],
)

export const optOuts = sqliteTable(
  'opt_outs',
  {
    seq: integer('seq').primaryKey(),
    handle: text('handle').$type<Handle>().notNull(),
    /** The line that the opt-out is for; null for all lines. */
    lineId: text('line_id').$type<LineId>(),
    /** The keyword in the message; null if the owner or a program recorded it. */
    keyword: text('keyword'),
    messageId: text('message_id').$type<MessageId>(),
    source: text('source').$type<(typeof OPT_OUT_SOURCES)[number]>().notNull(),
    createdAt: at('created_at').notNull(),
  },
  (t) => [
    checkWord('source', OPT_OUT_SOURCES),
    uniqueIndex('opt_outs_by_handle').on(t.handle, t.lineId),
    uniqueIndex('opt_outs_of_all_lines')
      .on(t.handle)
      .where(sql`line_id IS NULL`),
  ],
)

/**
 * Merged conversations, whose handle was another spelling of a person's. The row of a conversation that was separated
 * again stays, so that its spelling is never merged into the person's again.
 */
export const merges = sqliteTable(
  'merges',
  {
    seq: integer('seq').primaryKey(),
    lineId: text('line_id').$type<LineId>().notNull(),
    spelling: text('spelling').$type<Handle>().notNull(),
    handle: text('handle').$type<Handle>().notNull(),
    conversationId: text('conversation_id').$type<ConversationId>().notNull(),
    /** The state before the merge, for a separation: see messages/merges. */
    before: text('before', { mode: 'json' }).notNull(),
    mergedAt: at('merged_at').notNull(),
    separatedAt: at('separated_at'),
  },
  (t) => [
    checkJson('before'),
    uniqueIndex('merges_by_spelling').on(t.spelling, t.lineId),
    index('merges_by_handle').on(t.handle, t.lineId),
    index('merges_by_conversation').on(t.conversationId),
  ],
)

/** The last row of each table that the search index has; later rows are searched one by one. */
export const searchProgress = sqliteTable(
  'search_progress',
  { name: text('name').primaryKey(), seq: integer('seq').notNull() },
  () => [checkName('name')],
)
