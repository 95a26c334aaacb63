// The owner's address book, and how far the search index has come. The index itself (three FTS5 tables)
// and the triggers that keep it are in the initial migration, written by hand: drizzle knows neither.

import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

import type { Handle } from '../domain/handle.ts'
import { at, checkJson, checkName } from './columns.ts'

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

/** The last row of a table that the search index has; those behind it are read one by one. */
export const searchProgress = sqliteTable(
  'search_progress',
  { name: text('name').primaryKey(), seq: integer('seq').notNull() },
  () => [checkName('name')],
)
