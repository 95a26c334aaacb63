// The tables of the dashboard's sign-in and of the audit trail. They contain no readable password, token, cookie
// or other secret.

import { sql } from 'drizzle-orm'
import { integer, sqliteTable, text, index, uniqueIndex } from 'drizzle-orm/sqlite-core'

import {
  ACTOR_KINDS,
  type ActorKind,
  type AuditAction,
  type AuditFields,
  type ThingKind,
} from '../domain/audit.ts'
import type { AuditId, MemberId, SiteId } from '../domain/ids.ts'
import { at, bytes, checkJson, checkName, checkWord } from './columns.ts'

/** The owner of the relay, in row 1; there is no row until a password is set. */
export const dashboardOwner = sqliteTable('dashboard_owner', {
  id: integer('id').primaryKey(),
  /** argon2id, with its parameters and salt. */
  passwordHash: text('password_hash').notNull(),
  passwordSetAt: at('password_set_at').notNull(),
  /** The next step of setup; null once it is done. */
  setupStep: text('setup_step'),
  /** The secret of the second factor, sealed; null if there is none. */
  totpSealed: bytes('totp_sealed'),
  /** The 30-second step of the newest code that was used: that code and earlier ones don't work again. */
  totpStep: integer('totp_step'),
  /** The SHA-256 of each unused recovery code, concatenated. */
  recoverySha256: bytes('recovery_sha256'),
})

/** Members of the dashboard. The row of a removed member stays, because the audit trail shows the name. */
export const dashboardMembers = sqliteTable(
  'dashboard_members',
  {
    id: text('id').$type<MemberId>().primaryKey(),
    name: text('name').notNull(),
    /** The name in the form in which names are compared. */
    nameKey: text('name_key').notNull(),
    /** Null until a password is chosen, and after removal. */
    passwordHash: text('password_hash'),
    /** SHA-256 of the token in the latest sign-in link; null once it was used. */
    linkSha256: bytes('link_sha256'),
    linkMadeAt: at('link_made_at').notNull(),
    createdAt: at('created_at').notNull(),
    removedAt: at('removed_at'),
    /** The sites whose lines the member sees; null for all. */
    siteIds: text('site_ids', { mode: 'json' }).$type<readonly SiteId[]>(),
  },
  (t) => [
    checkJson('site_ids'),
    uniqueIndex('dashboard_members_by_name')
      .on(t.nameKey)
      .where(sql`removed_at IS NULL`),
  ],
)

export const dashboardSessions = sqliteTable('dashboard_sessions', {
  /** SHA-256 of the cookie's token. */
  tokenSha256: bytes('token_sha256').primaryKey(),
  createdAt: at('created_at').notNull(),
  /** Accurate to the hour: uses aren't recorded more often. */
  lastSeenAt: at('last_seen_at').notNull(),
  /** The time until which the password counts as just entered. */
  elevatedUntil: at('elevated_until').notNull(),
  /**
   * SHA-256 of a key that only the page keeps, so that the cookie alone gives no access. Null in a session of an
   * earlier version, which gives no access anymore.
   */
  pageKeySha256: bytes('page_key_sha256'),
  /** Null for the owner. */
  memberId: text('member_id')
    .$type<MemberId>()
    .references(() => dashboardMembers.id),
})

/** Networks of sign-ins within the last 30 days, at most 100. */
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
    /** The time of the latest event that the row counts. */
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
