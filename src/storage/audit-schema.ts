// The table of who changed what. No secret can be read from it.

import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

import {
  ACTOR_KINDS,
  AUDIT_ACTIONS,
  THING_KINDS,
  type ActorKind,
  type AuditAction,
  type ThingKind,
} from '../domain/audit.ts'
import type { AuditId } from '../domain/ids.ts'
import { at, checkJson, checkWord } from './columns.ts'

export const audit = sqliteTable(
  'audit',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').$type<AuditId>().notNull().unique(),
    at: at('at').notNull(),
    /** The latest of the acts that the row counts. */
    lastAt: at('last_at').notNull(),
    count: integer('count').notNull(),
    actorKind: text('actor_kind').$type<ActorKind>().notNull(),
    actorId: text('actor_id'),
    address: text('address'),
    requestId: text('request_id'),
    action: text('action').$type<AuditAction>().notNull(),
    aboutKind: text('about_kind').$type<ThingKind>().notNull(),
    aboutId: text('about_id'),
    /** JSON of the fields that changed. */
    before: text('before'),
    after: text('after'),
  },
  (t) => [
    checkWord('actor_kind', ACTOR_KINDS),
    checkWord('action', AUDIT_ACTIONS),
    checkWord('about_kind', THING_KINDS),
    checkJson('before'),
    checkJson('after'),
    index('audit_by_age').on(t.at),
    index('audit_by_action').on(t.action, t.at),
  ],
)
