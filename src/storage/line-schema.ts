// The tables of lines, their daily contacts, and boxes; `schema.ts` has the rules.

import { sql } from 'drizzle-orm'
import { integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

import type { Day } from '../domain/days.ts'
import type { Handle } from '../domain/handle.ts'
import type { BoxId, LineId, SiteId } from '../domain/ids.ts'
import type { Place } from '../domain/line.ts'
import type { QuietHours } from '../domain/quiet-hours.ts'
import { at, checkJson, checkName, flag } from './columns.ts'

/** Other machines whose devices this relay uses. */
export const boxes = sqliteTable(
  'boxes',
  {
    id: text('id').$type<BoxId>().primaryKey(),
    name: text('name').notNull(),
    /** The public nkey with which it signs in to the broker; null until it has joined. */
    publicKey: text('public_key').unique(),
    /** The public nkey of its invitation; null once that was used or withdrawn. */
    invitationKey: text('invitation_key'),
    invitedUntil: at('invited_until'),
    createdAt: at('created_at').notNull(),
    joinedAt: at('joined_at'),
    removedAt: at('removed_at'),
    /** The version and platform that the box last reported. */
    version: text('version'),
    platform: text('platform'),
    lastHeardAt: at('last_heard_at'),
  },
  (t) => [
    uniqueIndex('boxes_by_name')
      .on(t.name)
      .where(sql`removed_at IS NULL`),
  ],
)

/** Groups of lines, each in its own time zone: the shops of a business. */
export const sites = sqliteTable('sites', {
  seq: integer('seq').primaryKey(),
  id: text('id').$type<SiteId>().notNull().unique(),
  name: text('name').notNull(),
  /** The name in the form in which names are compared. */
  nameKey: text('name_key').notNull().unique(),
  position: integer('position').notNull(),
  timeZone: text('time_zone').notNull(),
  createdAt: at('created_at').notNull(),
})

export const lines = sqliteTable(
  'lines',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').$type<LineId>().notNull().unique(),
    driver: text('driver').notNull(),
    key: text('device_key').notNull(),
    box: text('box').$type<BoxId>(),
    movesTo: text('moves_to').$type<Place>(),
    number: text('phone_number').notNull(),
    label: text('label'),
    dailyContactLimit: integer('daily_contact_limit').notNull(),
    isEnabled: flag('is_enabled').notNull(),
    quietHours: text('quiet_hours', { mode: 'json' }).$type<QuietHours>(),
    relaySms: flag('relay_sms').notNull(),
    relayGroups: flag('relay_groups').notNull().default(false),
    checkpoint: text('checkpoint'),
    /** The number of reserved places: see domain/contact-limit. */
    contactsReserved: integer('contacts_reserved').notNull().default(0),
    createdAt: at('created_at').notNull(),
    deletedAt: at('deleted_at'),
    siteSeq: integer('site_seq').references(() => sites.seq),
    /** The day that goes on until `heldUntil`, because the line's time zone has changed: see storage/daily-contacts. */
    heldDay: integer('held_day').$type<Day>(),
    heldUntil: at('held_until'),
  },
  (t) => [
    checkName('driver'),
    checkJson('quiet_hours'),
    uniqueIndex('lines_by_device')
      .on(t.driver, t.key)
      .where(sql`deleted_at IS NULL AND box IS NULL`),
    uniqueIndex('lines_by_box')
      .on(t.driver, t.box, t.key)
      .where(sql`deleted_at IS NULL`),
  ],
)

/** New contacts that a line used up on a day. */
export const contactDays = sqliteTable(
  'contact_days',
  {
    lineId: text('line_id').$type<LineId>().notNull(),
    day: integer('day').notNull(),
    spent: integer('spent').notNull(),
    /** The number of these people who have written since. */
    answered: integer('answered').notNull().default(0),
    /** The number of people to whom a message failed before they had answered, by the day of the first failure. */
    failed: integer('failed').notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.lineId, t.day] })],
)

/** People that a line has written to. Older executables know the table as `contacts`; the address book is `people`. */
export const dailyContacts = sqliteTable(
  'contacts',
  {
    lineId: text('line_id').$type<LineId>().notNull(),
    handle: text('handle').$type<Handle>().notNull(),
    knownAt: at('known_at'),
    queued: integer('queued').notNull(),
    passed: integer('passed').notNull(),
    spentDay: integer('spent_day'),
    /** True if they have written since their place was spent. */
    answered: flag('answered').notNull().default(false),
    /** True if a message to them failed before they had answered. */
    failed: flag('failed').notNull().default(false),
  },
  (t) => [primaryKey({ columns: [t.lineId, t.handle] })],
)
