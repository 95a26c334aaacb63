// The daily contacts of a line: whom it has written to, and how many places of its daily limit are taken. The
// rules are in domain/contact-limit. A place is taken and given back in the transaction that moves the message.
// The counters of a line and its contacts change together, only here.

import {
  NO_CONTACT,
  placeOf,
  stepContact,
  type DailyContact,
  type ContactHold,
  type ContactStep,
} from '../domain/contact-limit.ts'
import { daysIn, heldAfter, type Day, type Days, type LineZone } from '../domain/days.ts'
import type { Handle } from '../domain/handle.ts'
import type { LineId, Timestamp } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import type { Outbound } from '../domain/message.ts'
import type { Core } from './core.ts'
import type { Db, Tx } from './database.ts'

type Who = { readonly lineId: LineId; readonly handle: Handle }

/** Taken places of a day. */
export type ContactUsage = { readonly reserved: number; readonly spent: number }

/** True if the device has history with a handle; null if it couldn't be asked. */
export type History = boolean | null

/** Returns the day of a line. Called only if needed: most messages go to people whom the line knows. */
type FindDay = () => Day

/** True if the daily limit allows a message to `handle` today. */
export function hasBudget(db: Db, line: Line, handle: Handle, findDay: FindDay): boolean {
  const contact = readContact(db, line.id, handle)
  if (contact.knownAt !== null || contact.queued > 0) return true
  const day = findDay()
  return isCovered(onDay(contact, day)) || slotsLeft(db, line, day) > 0
}

/** True if, by the stored data, the line has written to `handle` or has history with it. */
export function knowsContact(db: Db, lineId: LineId, handle: Handle): boolean {
  return isCovered(readContact(db, lineId, handle))
}

/** The number of places that are taken on the line's day. */
export function newContacts(db: Db, lineId: LineId, day: Day): number {
  const { reserved, spent } = contactUsage(db, lineId, day)
  return reserved + spent
}

function slotsLeft(db: Db, line: Line, day: Day): number {
  return line.dailyContactLimit - newContacts(db, line.id, day)
}

/**
 * Takes a place for an accepted message; returns `full` if the line has none left. A message for a later day
 * spends a place of that day until it is queued.
 */
export function reserveSlot(
  tx: Tx,
  line: Line,
  handle: Handle,
  more: { readonly history: History; readonly findDay: FindDay; readonly isLater?: boolean },
): ContactHold | 'full' {
  const { history, findDay, isLater = false } = more
  const who = { lineId: line.id, handle }
  const stored = readContact(tx, line.id, handle)
  if (stored.knownAt !== null) return 'none'
  const day = findDay()
  const contact = onDay(stored, day)
  // Another message holds the contact's place for now, but may give it back.
  if (contact.spentDay !== null || history === null) return 'undecided'
  if (isLater && contact.queued > 0) return 'undecided'
  if (contact.queued === 0 && slotsLeft(tx, line, day) <= 0) return 'full'
  const reserved = stepContact(contact, 'reserve', day)
  changeContact(tx, who, stored, isLater ? stepContact(reserved, 'spend', day) : reserved)
  return isLater ? 'spent' : 'reserved'
}

/** The contact as of `day`: a place spent on a later day doesn't count yet. */
function onDay(contact: DailyContact, day: Day): DailyContact {
  const isLater = contact.spentDay !== null && contact.spentDay > day
  return isLater ? { ...contact, spentDay: null } : contact
}

/** Spends the place at the point of no return; returns null if the daily limit doesn't allow it. */
export function consumeSlot(
  tx: Tx,
  line: Line,
  message: Outbound,
  findDay: FindDay,
): ContactHold | null {
  const who = { lineId: line.id, handle: message.handle }
  // A contact that was known at acceptance stays known.
  if (message.contactHold === 'none') return 'none'
  const day = findDay()
  const isReserved = message.contactHold === 'reserved'
  const stored = readContact(tx, line.id, message.handle)
  if (stored.knownAt !== null) {
    if (isReserved) changeContact(tx, who, stored, stepContact(stored, 'release', day))
    return 'none'
  }
  const contact = onDay(stored, day)
  if (contact.spentDay === null && !isWithinLimit(tx, line, contact, day)) return null
  const reserved = isReserved ? contact : stepContact(contact, 'reserve', day)
  changeContact(tx, who, stored, stepContact(reserved, 'spend', day))
  return 'spent'
}

/** The message was sent, so its contact is known from now on. */
export function confirmContact(tx: Tx, message: Outbound, now: Timestamp): void {
  if (message.isGroup) return
  // A message that passed its point of no return without a place went to a contact that was known already.
  if (message.status === 'sending' && message.contactHold === 'none') return
  markKnown(tx, { lineId: message.lineId, handle: message.handle }, now)
}

/** Called when the person wrote: counts one answer, on the day of the line's first message, if the line wrote first. */
export function noteAnswer(tx: Tx, who: Who): void {
  const sql = `UPDATE contacts SET answered = 1 WHERE line_id = $lineId AND handle = $handle
     AND answered = 0 AND spent_day IS NOT NULL AND known_at IS NOT NULL RETURNING spent_day AS day`
  const answered = tx.row<{ day: Day }>(sql, who)
  if (answered !== null) countOutcome(tx, who.lineId, answered.day, { answered: 1, failed: 0 })
}

/** Called when a message to the person failed: counts one failure if the line wrote first and has no answer yet. */
export function noteFailure(tx: Tx, who: Who, day: Day): void {
  const sql = `INSERT INTO contacts (line_id, handle, queued, passed, failed)
     VALUES ($lineId, $handle, 0, 0, 1) ON CONFLICT DO UPDATE SET failed = 1
     WHERE failed = 0 AND answered = 0 AND (spent_day IS NOT NULL OR known_at IS NULL)`
  if (tx.execute(sql, who).changes === 0) return
  countOutcome(tx, who.lineId, day, { answered: 0, failed: 1 })
}

function countOutcome(
  tx: Tx,
  lineId: LineId,
  day: Day,
  by: { readonly answered: number; readonly failed: number },
): void {
  const sql = `INSERT INTO contact_days (line_id, day, spent, answered, failed)
     VALUES ($lineId, $day, 0, $answered, $failed)
     ON CONFLICT DO UPDATE SET answered = answered + $answered, failed = failed + $failed`
  tx.execute(sql, { lineId, day, ...by })
}

/** The numbers of people whom the line wrote to first, by what became of it, from the day after `after` on. */
export function firstContacts(db: Db, lineId: LineId, after: Day) {
  const sql = `SELECT coalesce(sum(spent), 0) AS people, coalesce(sum(answered), 0) AS answered,
     coalesce(sum(failed), 0) AS failed FROM contact_days WHERE line_id = $lineId AND day > $after`
  type Counts = { readonly people: number; readonly answered: number; readonly failed: number }
  return db.row<Counts>(sql, { lineId, after }) ?? { people: 0, answered: 0, failed: 0 }
}

/** Gives back the place of a message that was proven unsent or left its line. */
export function releaseSlot(tx: Tx, message: Outbound, day: Day): void {
  if (message.contactHold !== 'reserved' && message.contactHold !== 'spent') return
  step(tx, message, message.contactHold === 'reserved' ? 'release' : 'return', day)
}

/** Called when a message goes back to the queue: its spent place becomes a reserved one. */
export function reserveAgain(tx: Tx, message: Outbound, day: Day): ContactHold {
  if (message.contactHold !== 'spent') return message.contactHold
  step(tx, message, 'requeue', day)
  return 'reserved'
}

/** True if the limit has room. A contact with a reserved place is counted already; any other contact is one more. */
function isWithinLimit(tx: Tx, line: Line, contact: DailyContact, day: Day): boolean {
  const { reserved, spent } = contactUsage(tx, line.id, day)
  const taken = contact.queued > 0 ? spent : spent + reserved
  return taken < line.dailyContactLimit
}

function isCovered(contact: DailyContact): boolean {
  return contact.knownAt !== null || contact.spentDay !== null
}

function step(tx: Tx, { lineId, handle }: Who, name: ContactStep, day: Day): void {
  const contact = readContact(tx, lineId, handle)
  changeContact(tx, { lineId, handle }, contact, stepContact(contact, name, day))
}

export function readContact(db: Db, lineId: LineId, handle: Handle): DailyContact {
  const sql = `SELECT known_at AS knownAt, queued, passed, spent_day AS spentDay FROM contacts
     WHERE line_id = $lineId AND handle = $handle`
  return db.row<DailyContact>(sql, { lineId, handle }) ?? NO_CONTACT
}

/** The places of a line that are taken on a day of its time zone; see `daysOf`. */
export function contactUsage(db: Db, lineId: LineId, day: Day): ContactUsage {
  const sql = `SELECT contacts_reserved AS reserved, coalesce((SELECT spent FROM contact_days
       WHERE line_id = $lineId AND day = $day), 0) AS spent FROM lines WHERE id = $lineId`
  return db.row<ContactUsage>(sql, { lineId, day }) ?? { reserved: 0, spent: 0 }
}

/** Saves a changed contact, and updates the line's counters of places. */
export function changeContact(tx: Tx, who: Who, before: DailyContact, after: DailyContact): void {
  const sql = `INSERT INTO contacts (line_id, handle, known_at, queued, passed, spent_day)
     VALUES ($lineId, $handle, $knownAt, $queued, $passed, $spentDay)
     ON CONFLICT DO UPDATE SET known_at = $knownAt, queued = $queued, passed = $passed,
       spent_day = $spentDay`
  tx.execute(sql, { ...who, ...after })
  const from = placeOf(before)
  const to = placeOf(after)
  if (from === to) return
  tx.changes?.push({ what: 'line', id: who.lineId })
  addToPlace(tx, who.lineId, from, -1)
  const forget =
    'UPDATE contacts SET answered = 0 WHERE line_id = $lineId AND handle = $handle AND answered = 1'
  if (typeof from === 'number' && tx.execute(forget, who).changes > 0)
    countOutcome(tx, who.lineId, from, { answered: -1, failed: 0 })
  addToPlace(tx, who.lineId, to, 1)
}

/** Records that the line has history with the handle. */
export function markKnown(tx: Tx, who: Who, at: Timestamp): void {
  const contact = readContact(tx, who.lineId, who.handle)
  if (contact.knownAt === null) changeContact(tx, who, contact, { ...contact, knownAt: at })
}

function addToPlace(tx: Tx, lineId: LineId, place: ReturnType<typeof placeOf>, by: 1 | -1): void {
  if (place === 'none') return
  if (place === 'reserved') {
    const sql = 'UPDATE lines SET contacts_reserved = contacts_reserved + $by WHERE id = $lineId'
    tx.execute(sql, { lineId, by })
    return
  }
  const sql = `INSERT INTO contact_days (line_id, day, spent) VALUES ($lineId, $day, $by)
       ON CONFLICT DO UPDATE SET spent = spent + $by`
  tx.execute(sql, { lineId, day: place, by })
}

type ZoneRow = {
  readonly zone: string | null
  readonly heldDay: Day | null
  readonly heldUntil: number | null
}

/** The days for daily limits and figures, in the time zone of a line's site, or of the setting `time_zone`. */
export function daysOf({ db, settings }: Pick<Core, 'db' | 'settings'>): Days {
  return daysIn((lineId) => zoneOfLine(db, lineId, settings.get('time_zone')))
}

const ZONE = `SELECT s.time_zone AS zone, l.held_day AS heldDay, l.held_until AS heldUntil
   FROM lines l LEFT JOIN sites s ON s.seq = l.site_seq WHERE l.id = $lineId`

function zoneOfLine(db: Db, lineId: LineId, zoneOfRelay: string): LineZone {
  const row = db.row<ZoneRow>(ZONE, { lineId })
  const { zone = null, heldDay = null, heldUntil = null } = row ?? {}
  const held = heldDay === null || heldUntil === null ? null : { day: heldDay, until: heldUntil }
  return { zone: zone ?? zoneOfRelay, held }
}

/** Runs `change`, which changes sites of lines or their zones, and lets each line's day go on: see `heldAfter`. */
export function keepDays(
  tx: Tx,
  lineIds: readonly LineId[],
  at: { readonly now: number; readonly zoneOfRelay: string },
  change: () => void,
): void {
  const zones = lineIds.map((lineId) => [lineId, zoneOfLine(tx, lineId, at.zoneOfRelay)] as const)
  change()
  for (const [lineId, before] of zones) {
    const { zone } = zoneOfLine(tx, lineId, at.zoneOfRelay)
    if (zone === before.zone) continue
    const held = heldAfter(before, zone, at.now)
    const sql = 'UPDATE lines SET held_day = $day, held_until = $until WHERE id = $lineId'
    tx.execute(sql, { lineId, day: held?.day ?? null, until: held?.until ?? null })
  }
}
