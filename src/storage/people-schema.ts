// The owner's address book, people who want no more messages, handles that were one person's, and how far the search
// index has come. The index itself (three FTS5 tables) and the triggers that keep it are in the initial migration, written by hand: drizzle knows neither.

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
    /** The only line that it is about; null for all lines. */
    lineId: text('line_id').$type<LineId>(),
    /** Word of the message that it comes from; null if the owner or a program recorded it. */
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
 * Conversations whose handle was another spelling of a person's. The row of one that was separated again stays:
 * that spelling is never taken for the person any more.
 */
export const merges = sqliteTable(
  'merges',
  {
    seq: integer('seq').primaryKey(),
    lineId: text('line_id').$type<LineId>().notNull(),
    spelling: text('spelling').$type<Handle>().notNull(),
    handle: text('handle').$type<Handle>().notNull(),
    conversationId: text('conversation_id').$type<ConversationId>().notNull(),
    /** The state before, for a separation: see messages/merges. */
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

/** The last row of a table that the search index has; those behind it are read one by one. */
export const searchProgress = sqliteTable(
  'search_progress',
  { name: text('name').primaryKey(), seq: integer('seq').notNull() },
  () => [checkName('name')],
)
