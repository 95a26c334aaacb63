// Contacts and the day's budget of a line: the rules are in domain/contact-limit. The counters of a
// line and its contacts change together here and nowhere else.

import { NO_CONTACT, placeOf, type Contact } from '../domain/contact-limit.ts'
import type { Day } from '../domain/days.ts'
import type { Handle } from '../domain/handle.ts'
import type { LineId, Timestamp } from '../domain/ids.ts'
import type { Db, Tx } from './database.ts'
import { execute, getRow } from './statement.ts'

/** Places of the day that are taken. */
export type ContactUsage = { readonly reserved: number; readonly spent: number }

export function readContact(db: Db, lineId: LineId, handle: Handle): Contact {
  const sql = `SELECT known_at AS knownAt, queued, passed, spent_day AS spentDay FROM contacts
     WHERE line_id = $lineId AND handle = $handle`
  return getRow<Contact>(db, sql, { lineId, handle }) ?? NO_CONTACT
}

export function contactUsage(db: Db, lineId: LineId, day: Day): ContactUsage {
  const sql = `SELECT contacts_reserved AS reserved, coalesce((SELECT spent FROM contact_days
       WHERE line_id = $lineId AND day = $day), 0) AS spent FROM lines WHERE id = $lineId`
  return getRow<ContactUsage>(db, sql, { lineId, day }) ?? { reserved: 0, spent: 0 }
}

/** Saves what became of a contact, and moves its place between the line's counters. */
export function changeContact(
  tx: Tx,
  who: { readonly lineId: LineId; readonly handle: Handle },
  before: Contact,
  after: Contact,
): void {
  const sql = `INSERT INTO contacts (line_id, handle, known_at, queued, passed, spent_day)
     VALUES ($lineId, $handle, $knownAt, $queued, $passed, $spentDay)
     ON CONFLICT DO UPDATE SET known_at = $knownAt, queued = $queued, passed = $passed,
       spent_day = $spentDay`
  execute(tx, sql, { ...who, ...after })
  const from = placeOf(before)
  const to = placeOf(after)
  if (from === to) return
  tx.changes?.push({ what: 'line', id: who.lineId })
  addToPlace(tx, who.lineId, from, -1)
  addToPlace(tx, who.lineId, to, 1)
}

/** The line has history with the handle from now on. */
export function markKnown(
  tx: Tx,
  who: { readonly lineId: LineId; readonly handle: Handle },
  at: Timestamp,
): void {
  const contact = readContact(tx, who.lineId, who.handle)
  if (contact.knownAt === null) changeContact(tx, who, contact, { ...contact, knownAt: at })
}

function addToPlace(tx: Tx, lineId: LineId, place: ReturnType<typeof placeOf>, by: 1 | -1): void {
  if (place === 'none') return
  if (place === 'reserved') {
    const sql = 'UPDATE lines SET contacts_reserved = contacts_reserved + $by WHERE id = $lineId'
    execute(tx, sql, { lineId, by })
    return
  }
  const sql = `INSERT INTO contact_days (line_id, day, spent) VALUES ($lineId, $day, $by)
       ON CONFLICT DO UPDATE SET spent = spent + $by`
  execute(tx, sql, { lineId, day: place, by })
}
