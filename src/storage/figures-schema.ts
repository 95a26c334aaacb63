// The tables of figures: see `schema.ts` for the rules.

import { integer, primaryKey, sqliteTable } from 'drizzle-orm/sqlite-core'

/**
 * Messages of a line and UTC day by what became of them. Triggers on `messages` keep it in the very
 * statement that changes a message; the initial migration makes them. Retention leaves it alone.
 */
export const messageDays = sqliteTable(
  'message_days',
  {
    day: integer('day').notNull(),
    lineSeq: integer('line_seq').notNull(),
    sent: integer('sent').notNull(),
    received: integer('received').notNull(),
    failed: integer('failed').notNull(),
    uncertain: integer('uncertain').notNull(),
  },
  (t) => [primaryKey({ columns: [t.day, t.lineSeq] })],
)
