// The owner's address book.

import type { Found } from '../api/paging.ts'
import type { Handle } from '../domain/handle.ts'
import type { Timestamp } from '../domain/ids.ts'
import type { Person } from '../domain/person.ts'
import type { LineLimit } from '../domain/routing.ts'
import { folded } from '../domain/search-text.ts'
import { conversationsOf } from './conversations.ts'
import type { Db, Tx } from './database.ts'
import { people } from './people-schema.ts'
import { scanRanges, type ListPage } from './scan.ts'
import {
  assigned,
  columnsOf,
  execute,
  getRow,
  getRows,
  inserted,
  isOfLines,
  limitValue,
  selected,
  type RawRow,
  type Values,
} from './statement.ts'

export type PersonRow = RawRow<typeof people> & { readonly isOptedOut: 0 | 1 }

export type ListedPerson = Person & { readonly seq: number }

export const PERSON = `${selected(people, columnsOf(people), 'p.')},
  EXISTS (SELECT 1 FROM opt_outs o WHERE o.handle = p.handle) AS isOptedOut`

/** True of a person with whom one of the lines has written; of everyone without a limit. */
export const HAS_WRITTEN = `(+$lineIds IS NULL OR EXISTS (SELECT 1 FROM conversations c
  WHERE c.handle = p.handle AND c.last_seq > 0 AND ${isOfLines('c.line_id')}))`

const byHandle = `SELECT ${PERSON} FROM people p WHERE p.handle = $handle AND ${HAS_WRITTEN}`
export function findPerson(db: Db, handle: string, lines: LineLimit = null): Person | null {
  const row = getRow<PersonRow>(db, byHandle, { handle, lineIds: limitValue(lines) })
  return row === null ? null : toPerson(row)
}

export function nameOf(db: Db, handle: Handle): string | null {
  const sql = 'SELECT name FROM people WHERE handle = $handle'
  return getRow<{ name: string }>(db, sql, { handle })?.name ?? null
}

export function toPerson({ nameKey: _key, isOptedOut, ...row }: PersonRow): ListedPerson {
  const tags = JSON.parse(row.tags) as string[] // `savePerson` wrote it.
  return { ...row, tags, isOptedOut: isOptedOut === 1 }
}

const insertion = `INSERT INTO people ${inserted(people, columnsOf(people, ['seq']))}
   ON CONFLICT (handle) DO UPDATE
   SET ${assigned(people, columnsOf(people, ['seq', 'handle', 'createdAt']))}`

export type PersonFields = Pick<Person, 'handle' | 'name' | 'note' | 'tags'>

export type Saved = 'created' | 'changed' | 'unchanged'

/** Keeps a person under the handle, in the place of what was known. */
export function savePerson(tx: Tx, fields: PersonFields, now: Timestamp): Saved {
  const { handle, name, note, tags } = fields
  const before = findPerson(tx, handle)
  if (before !== null && isSame(before, fields)) return 'unchanged'
  const row = { handle, name, note, tags: JSON.stringify(tags), nameKey: folded(name) }
  execute(tx, insertion, { ...row, createdAt: before?.createdAt ?? now, updatedAt: now })
  touch(tx, handle)
  return before === null ? 'created' : 'changed'
}

function isSame(a: PersonFields, b: PersonFields): boolean {
  return a.name === b.name && a.note === b.note && Bun.deepEquals(a.tags, b.tags)
}

/** False where the handle has no entry. */
export function deletePerson(tx: Tx, handle: Handle): boolean {
  const sql = 'DELETE FROM people WHERE handle = $handle'
  const isDeleted = execute(tx, sql, { handle }).changes > 0
  if (isDeleted) touch(tx, handle)
  return isDeleted
}

/** Conversations show the name of their person, and an opt-out. */
export function touch(tx: Tx, handle: Handle): void {
  if (tx.changes === null) return
  tx.changes.push({ what: 'contact', id: handle })
  for (const id of conversationsOf(tx, handle)) tx.changes.push({ what: 'conversation', id })
}

/** Of the person `p`: true if no tag is asked for, or the person has it. */
export const HAS_TAG = '(+$tag IS NULL OR instr(p.tags, +$tag) > 0)'

export function tagValue(tag: string | null): string | null {
  return tag === null ? null : JSON.stringify(tag)
}

type PeoplePage = ListPage & { readonly lines: LineLimit }

/** Latest entries first. */
export function listPeople(db: Db, tag: string | null, page: PeoplePage): Found<ListedPerson> {
  return latestPeople(db, HAS_TAG, { tag: tagValue(tag) }, page)
}

/** People of whom a condition is true, latest entries first. */
export function latestPeople(
  db: Db,
  condition: string,
  values: Values,
  page: PeoplePage,
): Found<ListedPerson> {
  const range = {
    from: 'people p NOT INDEXED WHERE TRUE',
    fits: `${condition} AND ${HAS_WRITTEN}`,
    values: { ...values, lineIds: limitValue(page.lines) },
  }
  const { seqs, upTo } = scanRanges(db, [range], page)
  return { rows: peopleWithSeqs(db, seqs), upTo }
}

const bySeq = `SELECT ${PERSON} FROM people p WHERE p.seq = $seq`

export function peopleWithSeqs(db: Db, seqs: readonly number[]): readonly ListedPerson[] {
  return seqs.flatMap((seq) => getRows<PersonRow>(db, bySeq, { seq }).map(toPerson))
}
