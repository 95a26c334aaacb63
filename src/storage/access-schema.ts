// The tables of the dashboard's sign-in and of the audit trail. No password, token, cookie or other
// secret can be read from them.

import { sql } from 'drizzle-orm'
import { integer, sqliteTable, text, index, uniqueIndex } from 'drizzle-orm/sqlite-core'

import {
  ACTOR_KINDS,
  type ActorKind,
  type AuditAction,
  type AuditFields,
  type ThingKind,
} from '../domain/audit.ts'
import type { AuditId, MemberId } from '../domain/ids.ts'
import { at, bytes, checkJson, checkName, checkWord } from './columns.ts'

/** The one owner of the relay, in the row 1; there is none until a password is set. */
export const dashboardOwner = sqliteTable('dashboard_owner', {
  id: integer('id').primaryKey(),
  /** argon2id, with its parameters and its salt. */
  passwordHash: text('password_hash').notNull(),
  passwordSetAt: at('password_set_at').notNull(),
  /** Next step of setup; null once it is done. */
  setupStep: text('setup_step'),
})

/** People who read and answer. The row of a removed one stays, for its name in the audit trail. */
export const dashboardMembers = sqliteTable(
  'dashboard_members',
  {
    id: text('id').$type<MemberId>().primaryKey(),
    name: text('name').notNull(),
    /** The name as it is compared with others. */
    nameKey: text('name_key').notNull(),
    /** As the owner's; null until one is chosen, and once removed. */
    passwordHash: text('password_hash'),
    /** SHA-256 of the token in the latest sign-in link; null once it was used. */
    linkSha256: bytes('link_sha256'),
    linkMadeAt: at('link_made_at').notNull(),
    createdAt: at('created_at').notNull(),
    removedAt: at('removed_at'),
  },
  (t) => [
    uniqueIndex('dashboard_members_by_name')
      .on(t.nameKey)
      .where(sql`removed_at IS NULL`),
  ],
)

export const dashboardSessions = sqliteTable('dashboard_sessions', {
  /** SHA-256 of what the cookie holds. */
  tokenSha256: bytes('token_sha256').primaryKey(),
  createdAt: at('created_at').notNull(),
  /** Right to the hour: a use is written down no more often. */
  lastSeenAt: at('last_seen_at').notNull(),
  /** Until when the password counts as just given. */
  elevatedUntil: at('elevated_until').notNull(),
  /**
   * SHA-256 of what the page itself keeps: the cookie alone opens nothing. Null for a session from before
   * there was one, which opens nothing any more.
   */
  pageKeySha256: bytes('page_key_sha256'),
  /** Null for the owner. */
  memberId: text('member_id')
    .$type<MemberId>()
    .references(() => dashboardMembers.id),
})

/** Networks from which the password was given within the last 30 days, 100 at most. */
export const dashboardNetworks = sqliteTable('dashboard_networks', {
  /** An IPv4 address, or the first 64 bits of an IPv6 one. */
  network: text('network').primaryKey(),
  signedInAt: at('signed_in_at').notNull(),
})

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
    before: text('before', { mode: 'json' }).$type<AuditFields>(),
    after: text('after', { mode: 'json' }).$type<AuditFields>(),
  },
  (t) => [
    checkWord('actor_kind', ACTOR_KINDS),
    checkName('action'),
    checkName('about_kind'),
    checkJson('before'),
    checkJson('after'),
    index('audit_by_age').on(t.at),
    index('audit_by_action').on(t.action, t.at),
  ],
)
