// The owner's address book.

import type { Found } from '../api/paging.ts'
import {
  CONTACT_FIELD_NAMES,
  type ContactField,
  type ContactFields,
} from '../domain/contact-fields.ts'
import type { Handle } from '../domain/handle.ts'
import type { Timestamp } from '../domain/ids.ts'
import type { LineLimit } from '../domain/routing.ts'
import { folded } from '../domain/search-text.ts'
import { conversationsOf } from './conversations.ts'
import type { Db, Tx } from './database.ts'
import { people } from './people-schema.ts'
import { scanRanges, type ListPage } from './scan.ts'
import {
  assigned,
  columnsOf,
  inserted,
  isOfLines,
  limitValue,
  selected,
  type RawRow,
  type Values,
} from './statement.ts'

/** An entry of the owner's address book. */
export type PersonFields = ContactFields & { readonly handle: Handle }

export type Person = PersonFields &
  Pick<typeof people.$inferSelect, 'seq' | 'createdAt' | 'updatedAt'> & {
    /** True if the person has opted out of messages from one line or from all. */
    readonly isOptedOut: boolean
  }

export type PersonRow = RawRow<typeof people> & { readonly isOptedOut: 0 | 1 }

export const PERSON = `${selected(people, columnsOf(people), 'p.')},
  EXISTS (SELECT 1 FROM opt_outs o WHERE o.handle = p.handle) AS isOptedOut`

/** SQL: whether the person `p` has a conversation with one of the lines, or there is no limit. */
export const HAS_WRITTEN = `(+$lineIds IS NULL OR EXISTS (SELECT 1 FROM conversations c
  WHERE c.handle = p.handle AND c.last_seq > 0 AND ${isOfLines('c.line_id')}))`

export function findPerson(db: Db, handle: string, lines: LineLimit = null): Person | null {
  const sql = `SELECT ${PERSON} FROM people p WHERE p.handle = $handle AND ${HAS_WRITTEN}`
  const row = db.row<PersonRow>(sql, { handle, lineIds: limitValue(lines) })
  return row === null ? null : toPerson(row)
}

export function nameOf(db: Db, handle: Handle): string | null {
  const sql = 'SELECT name FROM people WHERE handle = $handle'
  return db.row<{ name: string }>(sql, { handle })?.name ?? null
}

export function toPerson({ nameKey: _key, isOptedOut, ...row }: PersonRow): Person {
  const tags = JSON.parse(row.tags) as string[] // `savePerson` wrote it.
  return { ...row, tags, isOptedOut: isOptedOut === 1 }
}

const insertion = `INSERT INTO people ${inserted(people, columnsOf(people, ['seq']))}
   ON CONFLICT (handle) DO UPDATE
   SET ${assigned(people, columnsOf(people, ['seq', 'handle', 'createdAt']))}`

export type Saved = 'created' | 'changed' | 'unchanged'

/** Saves a person under the handle, replacing an earlier entry. */
export function savePerson(tx: Tx, fields: PersonFields, now: Timestamp): Saved {
  const { handle, name, tags } = fields
  const before = findPerson(tx, handle)
  const isChanged = (field: ContactField) => !Bun.deepEquals(before?.[field], fields[field])
  if (before !== null && !CONTACT_FIELD_NAMES.some(isChanged)) return 'unchanged'
  const row = { ...fields, tags: JSON.stringify(tags), nameKey: folded(name) }
  tx.execute(insertion, { ...row, createdAt: before?.createdAt ?? now, updatedAt: now })
  touch(tx, handle)
  return before === null ? 'created' : 'changed'
}

/** Deletes the person; returns false if the handle has no entry. */
export function deletePerson(tx: Tx, handle: Handle): boolean {
  const sql = 'DELETE FROM people WHERE handle = $handle'
  const isDeleted = tx.execute(sql, { handle }).changes > 0
  if (isDeleted) touch(tx, handle)
  return isDeleted
}

/** Reports a change of the person and of their conversations, which show the name and an opt-out. */
export function touch(tx: Tx, handle: Handle): void {
  if (tx.changes === null) return
  tx.changes.push({ what: 'contact', id: handle })
  for (const id of conversationsOf(tx, handle)) tx.changes.push({ what: 'conversation', id })
}

/** SQL: whether the person `p` has the tag, or no tag is wanted. */
export const HAS_TAG = '(+$tag IS NULL OR instr(p.tags, +$tag) > 0)'

export function tagValue(tag: string | null): string | null {
  return tag === null ? null : JSON.stringify(tag)
}

type PeoplePage = ListPage & { readonly lines: LineLimit }

/** People with a tag (null: all), newest entries first. */
export function listPeople(db: Db, tag: string | null, page: PeoplePage): Found<Person> {
  return latestPeople(db, HAS_TAG, { tag: tagValue(tag) }, page)
}

/** People who meet a condition, newest entries first. */
export function latestPeople(
  db: Db,
  condition: string,
  values: Values,
  page: PeoplePage,
): Found<Person> {
  const range = {
    from: 'people p NOT INDEXED WHERE TRUE',
    fits: `${condition} AND ${HAS_WRITTEN}`,
    values: { ...values, lineIds: limitValue(page.lines) },
  }
  const { seqs, upTo } = scanRanges(db, [range], page)
  return { rows: peopleWithSeqs(db, seqs), upTo }
}

export function peopleWithSeqs(db: Db, seqs: readonly number[]): readonly Person[] {
  const sql = `SELECT ${PERSON} FROM people p WHERE p.seq = $seq`
  return seqs.flatMap((seq) => db.rows<PersonRow>(sql, { seq }).map(toPerson))
}
