// Search over people, conversations and messages by trigrams. SQLite's FTS5 gives candidates, and each is compared
// with the query as its row is now, so an outdated index shows nothing wrong. Rows that the index doesn't have yet
// are read too. The tables are in the initial migration.

import { allFound, type Found } from '../api/paging.ts'
import { CONTACT_FIELDS, CONTACT_FIELD_NAMES, textsIn } from '../domain/contact-fields.ts'
import type { LineLimit } from '../domain/routing.ts'
import { USUAL, WORD_LENGTH_MIN, digitsIn, folded, wordsOf } from '../domain/search-text.ts'
import type { Db, Tx } from './database.ts'
import {
  HAS_TAG,
  HAS_WRITTEN,
  PERSON,
  latestPeople,
  peopleWithSeqs,
  tagValue,
  toPerson,
  type Person,
  type PersonRow,
} from './people.ts'
import { scan, type ListPage } from './scan.ts'
import { LINE_SEQS, isOfLines, limitValue, type Values } from './statement.ts'

export type Query = {
  readonly text: string
  readonly words: readonly string[]
  readonly digits: string | null
  /** FTS5 expressions; null if the query is too short for one. */
  readonly names: string | null
  readonly texts: string | null
}

/**
 * Most trigrams in one expression; the comparison does the rest. With more, FTS5 can read most of the index before it
 * returns the next row, and can't be stopped meanwhile: 100 ms in 5 million messages, with six common words.
 */
const TRIGRAMS_MAX = 3

export function parseQuery(written: string): Query {
  const words = wordsOf(written)
  const digits = digitsIn(written)
  const texts = trigramsOf(words)
  const numbers = digits === null ? null : trigramsOf([digits])
  const both = [texts, numbers].filter((part) => part !== null).map((part) => `(${part})`)
  const names = both.length === 0 ? null : both.join(' OR ')
  return {
    text: folded(written)
      .replaceAll(/[\s\0]+/g, ' ')
      .trim(),
    words,
    digits,
    names,
    texts,
  }
}

/** An expression of trigrams from the longest words, which are the rarest ones; null if no word is long enough. */
function trigramsOf(words: readonly string[]): string | null {
  const lists = words.map(trigramsIn).filter((trigrams) => trigrams.length > 0)
  if (lists.length === 0) return null
  const longest = lists.toSorted((a, b) => b.length - a.length).slice(0, TRIGRAMS_MAX)
  const each = Math.ceil(TRIGRAMS_MAX / longest.length)
  const few = [...new Set(longest.flatMap((trigrams) => spread(trigrams, each)))]
  return few
    .slice(0, TRIGRAMS_MAX)
    .map((trigram) => `"${trigram.replaceAll('"', '""')}"`)
    .join(' AND ')
}

function trigramsIn(word: string): readonly string[] {
  const points = Array.from(word)
  const starts = points.slice(WORD_LENGTH_MIN - 1).keys()
  return [...starts].map((start) => points.slice(start, start + WORD_LENGTH_MIN).join(''))
}

/** `count` items at even distances. */
function spread<T>(items: readonly T[], count: number): readonly T[] {
  if (items.length <= count) return items
  return items.filter(
    (_item, i) =>
      Math.floor(((i + 1) * count) / items.length) > Math.floor((i * count) / items.length),
  )
}

function fits({ words, digits }: Query, shown: string, handle: string): boolean {
  const text = folded(shown)
  const isNumber = digits !== null && handle.replaceAll(/\D/g, '').includes(digits)
  return isNumber || words.every((word) => text.includes(word))
}

const LAST = '\u{10FFFF}'

function prefixes({ text, digits }: Query) {
  const number = digits === null ? LAST : `+${digits}`
  return { name: text, nameEnd: text + LAST, number, numberEnd: number + LAST }
}

const BEGINS_SO = `(p.name_key >= $name AND p.name_key < $nameEnd
     OR p.handle >= $number AND p.handle < $numberEnd) AND ${HAS_TAG}`

const SEARCHED = CONTACT_FIELD_NAMES.filter((field) => CONTACT_FIELDS[field].isSearched)

/** People by name, tag or number, newest entries first; `before` is the cursor's seq. */
export function searchPeople(
  db: Db,
  query: Query,
  page: ListPage & { readonly tag: string | null; readonly lines: LineLimit },
): Found<Person> {
  const sql = `SELECT ${PERSON}, ${HAS_WRITTEN} AS hasWritten
   FROM people_search s CROSS JOIN people p ON p.seq = s.rowid
   WHERE people_search MATCH $match AND s.rowid < $before ORDER BY s.rowid DESC`
  const { limit, before, tag, lines } = page
  if (query.text === '') return allFound([])
  const match = query.names
  if (match === null) {
    return latestPeople(db, BEGINS_SO, { ...prefixes(query), tag: tagValue(tag) }, page)
  }
  const list = function* () {
    const values = { match, before: before ?? Number.MAX_SAFE_INTEGER, lineIds: limitValue(lines) }
    const found = db.each<PersonRow & { readonly hasWritten: 0 | 1 }>(sql, values)
    for (const { hasWritten, ...row } of found) {
      const person = toPerson(row)
      const { handle, tags } = person
      const words = [handle, ...SEARCHED.flatMap((field) => textsIn(person[field]))].join(' ')
      const isFound = hasWritten === 1 && fits(query, words, handle)
      yield { ...person, fits: isFound && (tag === null || tags.includes(tag)) }
    }
  }
  const { rows, last } = scan(list(), limit)
  return { rows, upTo: last && [last.seq] }
}

const PLACE = `p.seq, ${HAS_WRITTEN} AS fits`

const peopleByName = `SELECT ${PLACE} FROM people p INDEXED BY people_by_name
   WHERE p.name_key >= $name AND p.name_key < $nameEnd ORDER BY p.name_key`

const peopleByNumber = `SELECT ${PLACE} FROM people p
   WHERE p.handle >= $number AND p.handle < $numberEnd`

type Shown = { readonly limit: number; readonly lines: LineLimit }

/** People by name, tag or number: exact names first, then names that begin with the query, then the newest. */
export function bestPeople(db: Db, query: Query, shown: Shown): readonly Person[] {
  if (query.text === '') return []
  const { limit } = shown
  const { name, nameEnd } = prefixes(query)
  const named = peopleIn(db, peopleByName, { name, nameEnd }, shown)
  if (named.length === limit) return named
  const places = new Set(named.map(({ seq }) => seq))
  const others = otherPeople(db, query, shown).filter(({ seq }) => !places.has(seq))
  return [...named, ...others].slice(0, limit)
}

function otherPeople(db: Db, query: Query, shown: Shown): readonly Person[] {
  const bounds = { ...shown, before: null, tag: null }
  if (query.names !== null) return searchPeople(db, query, bounds).rows
  if (query.digits === null) return []
  const { number, numberEnd } = prefixes(query)
  return peopleIn(db, peopleByNumber, { number, numberEnd }, shown)
}

function peopleIn(db: Db, sql: string, values: Values, { limit, lines }: Shown): readonly Person[] {
  const asked = { ...values, lineIds: limitValue(lines) }
  const { rows } = scan(db.each<{ seq: number; fits: 0 | 1 }>(sql, asked), limit)
  return peopleWithSeqs(
    db,
    rows.map(({ seq }) => seq),
  )
}

/** Most conversations compared: the newest ones. */
const CONVERSATIONS_MAX = 500

type ConversationRow = {
  readonly fits: 0 | 1
  readonly seq: number
  readonly handle: string
  readonly name: string | null
  readonly lastSeq: number
}

const CONVERSATION = `c.seq, c.handle, g.name, c.last_seq AS lastSeq,
  (c.last_seq > 0 AND ${isOfLines('c.line_id')}) AS fits`

/** Conversations that the index doesn't have yet. */
const latestConversations = `SELECT ${CONVERSATION} FROM conversations c LEFT JOIN groups g ON g.seq = c.seq
   WHERE c.seq > (SELECT seq FROM search_progress WHERE name = 'conversations')
   ORDER BY c.seq DESC`

const conversationsByNumber = `SELECT ${CONVERSATION} FROM conversations c LEFT JOIN groups g ON g.seq = c.seq
   WHERE c.handle >= $number AND c.handle < $numberEnd`

const ofHandle = `SELECT ${CONVERSATION} FROM conversations c LEFT JOIN groups g ON g.seq = c.seq
   WHERE c.handle = $handle`

/** Seqs of conversations with `persons`, or by number or group name; the latest message first. */
export function searchConversations(
  db: Db,
  query: Query,
  given: {
    readonly limit: number
    readonly lines: LineLimit
    readonly persons: readonly Person[]
  },
): readonly number[] {
  const { limit, lines, persons } = given
  if (query.text === '') return []
  const rows: Rows = (sql, values = {}) => {
    const asked = { ...values, lineIds: limitValue(lines) }
    return scan(db.each<ConversationRow>(sql, asked), CONVERSATIONS_MAX).rows
  }
  const found = [
    ...persons.flatMap(({ handle }) => rows(ofHandle, { handle })),
    ...(query.names === null ? byPrefix(rows, query) : byWords(rows, query, query.names)),
  ]
  const latest = found.toSorted((a, b) => b.lastSeq - a.lastSeq).map(({ seq }) => seq)
  return [...new Set(latest)].slice(0, limit)
}

type Rows = (sql: string, values?: Values) => readonly ConversationRow[]

function byWords(rows: Rows, query: Query, match: string): readonly ConversationRow[] {
  const sql = `SELECT ${CONVERSATION} FROM conversation_search s CROSS JOIN conversations c ON c.seq = s.rowid
     LEFT JOIN groups g ON g.seq = c.seq
   WHERE conversation_search MATCH $match ORDER BY s.rowid DESC`
  const found = [...rows(latestConversations), ...rows(sql, { match })]
  return found.filter(({ handle, name }) => fits(query, `${handle} ${name ?? ''}`, handle))
}

function byPrefix(rows: Rows, query: Query): readonly ConversationRow[] {
  const sql = `SELECT ${CONVERSATION} FROM groups g CROSS JOIN conversations c ON c.seq = g.seq
   ORDER BY g.seq DESC`
  const { number, numberEnd } = prefixes(query)
  const isNamed = ({ name }: ConversationRow) => folded(name ?? '').startsWith(query.text)
  return [
    ...(query.digits === null ? [] : rows(conversationsByNumber, { number, numberEnd })),
    ...rows(sql).filter(isNamed),
  ]
}

/** `text` is null for a message of a line that isn't searched: such rows count toward the time limit too. */
type TextRow = { readonly seq: number; readonly text: string | null }

const TEXT = `m.seq, iif(+$lineIds IS NULL OR m.line_seq IN ${LINE_SEQS}, m.text, NULL) AS text`

const LATEST_TEXTS = `SELECT ${TEXT} FROM messages m WHERE m.seq > $indexed ORDER BY m.seq DESC`

const TEXTS_BY_WORDS = `SELECT ${TEXT}
  FROM message_search s CROSS JOIN messages m ON m.seq = s.rowid
  WHERE message_search MATCH $match AND s.rowid <= $indexed
  ORDER BY s.rowid DESC`

export type FoundMessages = {
  readonly seqs: readonly number[]
  /** False if time ran out before the oldest message, or the index isn't in usual letters yet. */
  readonly isComplete: boolean
}

/** Seqs of messages with every word of the query, newest first. Checks the time after each candidate. */
export function searchMessages(
  db: Db,
  { texts: match, words }: Query,
  given: { readonly limit: number; readonly lines: LineLimit; readonly isTimeUp: () => boolean },
): FoundMessages {
  const { limit, lines, isTimeUp } = given
  const seqs: number[] = []
  if (match === null) return { seqs, isComplete: true }
  for (const { seq, text } of candidates(db, match, lines)) {
    const compared = text === null ? null : folded(text)
    if (compared !== null && words.every((word) => compared.includes(word))) seqs.push(seq)
    if (seqs.length === limit) break
    if (isTimeUp()) return { seqs, isComplete: false }
  }
  return { seqs, isComplete: !hasOldWords(db) }
}

/** Each message that the index doesn't have yet, then those from the index; newest first. */
function* candidates(db: Db, match: string, lines: LineLimit): Generator<TextRow, undefined> {
  const sql = 'SELECT seq FROM search_progress WHERE name = $name'
  const indexed = db.row<{ seq: number }>(sql, { name: 'messages' })?.seq ?? 0
  const lineIds = limitValue(lines)
  yield* db.each<TextRow>(LATEST_TEXTS, { indexed, lineIds })
  yield* db.each<TextRow>(TEXTS_BY_WORDS, { match, indexed, lineIds })
  return undefined
}

const UNUSUAL = [...USUAL.keys()].join('')

/** SQL for the text of `sql` in usual letters, as the index has it; FTS5 itself ignores case and accents. */
export function inUsualLetters(sql: string): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
  let usual = sql
  for (const [letter, keys] of USUAL)
    usual = `replace(${usual}, ${quoted(letter)}, ${quoted(keys)})`
  return `iif(${hasUnusual(sql)}, ${usual}, ${sql})`
}

function hasUnusual(sql: string): string {
  return `${sql} GLOB '*[${UNUSUAL}]*'`
}

/** The statements that keep the index up to date, for each table that it follows. */
const FOLLOWED = [
  { name: 'messages', search: 'message_search', words: 'r.text' },
  {
    name: 'conversations',
    search: 'conversation_search',
    words: `r.handle || ' ' || coalesce((SELECT g.name FROM groups g WHERE g.seq = r.seq), '')`,
  },
].map(({ name, search, words }) => {
  const next = `FROM ${name} r WHERE r.seq > (SELECT seq FROM search_progress WHERE name = '${name}')
                ORDER BY r.seq LIMIT +$limit`
  const last = `(SELECT seq FROM search_progress WHERE name = '${name}_in_usual_letters')`
  const earlier = `SELECT r.seq FROM ${name} r WHERE r.seq <= ${last} ORDER BY r.seq DESC LIMIT +$limit`
  const unusual = `FROM ${name} r WHERE r.seq IN (${earlier}) AND ${hasUnusual(`(${words})`)}`
  return {
    forget: `DELETE FROM ${search} WHERE rowid IN (SELECT r.seq ${unusual})`,
    renew: `INSERT INTO ${search} (rowid, words) SELECT r.seq, ${inUsualLetters(`(${words})`)} ${unusual}`,
    goBack: `UPDATE search_progress SET seq = coalesce((SELECT min(seq) - 1 FROM (${earlier})), 0)
      WHERE name = '${name}_in_usual_letters' AND seq > 0`,
    isOld: `SELECT 1 FROM search_progress WHERE name = '${name}_in_usual_letters' AND seq > 0`,
    insert: `INSERT INTO ${search} (rowid, words) SELECT r.seq, ${inUsualLetters(`(${words})`)} ${next}`,
    advance: `UPDATE search_progress
      SET seq = coalesce((SELECT max(seq) FROM (SELECT r.seq ${next})), seq) WHERE name = '${name}'`,
    waits: `SELECT 1 ${next}`,
  }
})

/** Indexes the next `limit` rows of each table, and rewrites rows indexed by an earlier version in usual letters. */
export function indexNext(tx: Tx, limit: number): void {
  for (const { insert, advance, forget, renew, goBack } of FOLLOWED) {
    tx.execute(insert, { limit })
    tx.execute(advance, { limit })
    for (const sql of [forget, renew, goBack]) tx.execute(sql, { limit })
  }
}

/** True if rows indexed by an earlier version aren't in usual letters yet. */
function hasOldWords(db: Db): boolean {
  return FOLLOWED.some(({ isOld }) => db.row(isOld) !== null)
}

/** True if the index doesn't have every row yet. */
export function isIndexBehind(db: Db): boolean {
  return hasOldWords(db) || FOLLOWED.some(({ waits }) => db.row(waits, { limit: 1 }) !== null)
}
