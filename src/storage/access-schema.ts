// The tables of who may see the dashboard. No password, token or cookie can be read from them.

import { blob, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

import { at } from './columns.ts'

/** The one owner of the relay, in the row 1; there is none until a password is set. */
export const dashboardOwner = sqliteTable('dashboard_owner', {
  id: integer('id').primaryKey(),
  /** argon2id, with its parameters and its salt. */
  passwordHash: text('password_hash').notNull(),
  passwordSetAt: at('password_set_at').notNull(),
  /** The step of the set-up that comes next; null once it is done. */
  setupStep: text('setup_step'),
})

export const dashboardSessions = sqliteTable('dashboard_sessions', {
  /** SHA-256 of what the cookie holds. */
  tokenSha256: blob('token_sha256', { mode: 'buffer' }).primaryKey(),
  createdAt: at('created_at').notNull(),
  /** Right to the hour: a use is written down no more often. */
  lastSeenAt: at('last_seen_at').notNull(),
  /** Until when the password counts as just given. */
  elevatedUntil: at('elevated_until').notNull(),
  /**
   * SHA-256 of what the page itself keeps: the cookie alone opens nothing. Null for a session from before
   * there was one, which opens nothing any more.
   */
  pageKeySha256: blob('page_key_sha256', { mode: 'buffer' }),
})

/** Networks from which the password was given within the last 30 days, 100 at most. */
export const dashboardNetworks = sqliteTable('dashboard_networks', {
  /** An IPv4 address, or the first 64 bits of an IPv6 one. */
  network: text('network').primaryKey(),
  signedInAt: at('signed_in_at').notNull(),
})
