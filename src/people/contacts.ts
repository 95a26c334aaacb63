// Reads, changes, searches, imports and exports the owner's contacts.

import type { Contact, ImportReport } from '../api/contacts.ts'
import { cursorSeq, pageOf, type PageRequest } from '../api/paging.ts'
import type { Origin } from '../domain/audit.ts'
import {
  LIST_LENGTH_MAX,
  OTHER_FIELDS,
  contactFields,
  textsIn,
  type ContactFields,
  type FieldRow,
} from '../domain/contact-fields.ts'
import { BYTE_ORDER_MARK, csvRecord } from '../domain/csv.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import {
  commonHome,
  homeOfCountry,
  understandRecipient,
  type Handle,
  type Home,
} from '../domain/handle.ts'
import type { LineLimit } from '../domain/routing.ts'
import type { Core } from '../storage/core.ts'
import type { Db, Tx } from '../storage/database.ts'
import { handleIn, knownHandle } from '../storage/handles.ts'
import { listLines } from '../storage/lines.ts'
import {
  deletePerson,
  findPerson,
  listPeople,
  savePerson,
  type PersonFields,
  type Saved,
} from '../storage/people.ts'
import { parseQuery, searchPeople } from '../storage/search.ts'
import { nextTurn } from '../system/clock.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { Card } from './card.ts'
import { decodeContacts, readContacts } from './contact-file.ts'
import { contactResource } from './resource.ts'

export type ContactFilter = {
  readonly q?: string | undefined
  readonly tag?: string | undefined
  readonly lines: LineLimit
}

/** The lines that a caller may see now. Throws if its access has ended. */
type LinesNow = () => LineLimit

export type Contacts = ReturnType<typeof createContacts>

export function createContacts(core: Core) {
  const { db, writer, ids, audit } = core
  return {
    list: (filter: ContactFilter, page: PageRequest) => pageOfContacts(db, filter, page),
    get(written: string, lines: LineLimit = null): Contact {
      const found = findPerson(db, handleIn(db, written), lines)
      if (found === null) throw noContact()
      return contactResource(found)
    },
    async put(written: string, fields: Partial<ContactFields>): Promise<Contact> {
      const handle = knownHandle(db, written)
      const clean = cleanFields(handle, fields)
      if (clean.name === '') throw invalidRequest({ path: 'name', message: 'must not be empty' })
      await writer.write((tx) => savePerson(tx, clean, ids.now()))
      return this.get(handle)
    },
    async remove(written: string): Promise<void> {
      const isDeleted = await writer.write((tx) => deletePerson(tx, handleIn(tx, written)))
      if (!isDeleted) throw noContact()
    },
    /** A CSV file of all contacts, in chunks. */
    async export(origin: Origin, lines: LinesNow): Promise<AsyncGenerator<string, undefined>> {
      const about = { kind: 'contacts', id: null } as const
      await writer.write((tx) => audit.record(tx, origin, { action: 'contacts.exported', about }))
      return tableOfContacts(db, lines)
    },
    import: (bytes: Uint8Array, country: string | null) => importContacts(core, bytes, country),
  }
}

function pageOfContacts(db: Db, { q, tag = '', lines }: ContactFilter, page: PageRequest) {
  const bounds = { limit: page.limit + 1, before: cursorSeq(page.cursor), lines }
  const asked = tag === '' ? null : tag
  const found =
    q === undefined
      ? listPeople(db, asked, bounds)
      : searchPeople(db, parseQuery(q), { ...bounds, tag: asked })
  return pageOf(found, page.limit, contactResource, ({ seq }) => [seq])
}

const EXPORT_PAGE = 500

async function* tableOfContacts(db: Db, linesNow: LinesNow): AsyncGenerator<string, undefined> {
  yield BYTE_ORDER_MARK + csvRecord(['name', 'handle', ...OTHER_FIELDS])
  for (let before: number | null | undefined = null; before !== undefined;) {
    const lines = linesNow()
    const { rows, upTo } = listPeople(db, null, { limit: EXPORT_PAGE, before, lines })
    const records = rows.map((row) => {
      const others = OTHER_FIELDS.map((field) => textsIn(row[field]).join(','))
      return csvRecord([row.name, row.handle, ...others])
    })
    yield records.join('')
    before = rows.length < EXPORT_PAGE ? upTo?.[0] : rows.at(-1)?.seq
    await nextTurn()
  }
  return undefined
}

function noContact(): RelayError {
  return new RelayError('not_found', 'There is no contact with this handle.')
}

/** The fields in stored form; omitted ones are empty. */
function cleanFields(handle: Handle, given: Partial<ContactFields>): PersonFields {
  return { handle, ...contactFields((row, field) => cleanTexts(row, textsIn(given[field]))) }
}

function cleanTexts({ kind, lengthMax }: FieldRow, texts: readonly string[]): readonly string[] {
  if (kind === 'text') return texts.map((text) => clean(text, lengthMax))
  if (kind === 'line') return texts.map((text) => clean(text.replaceAll(/\s+/g, ' '), lengthMax))
  // Commas separate list entries in files, so no entry may contain one.
  const trimmed = texts.map((text) => text.replaceAll(',', ' ').trim().slice(0, lengthMax))
  return distinct(trimmed.filter((text) => text !== '').map((text) => text.toWellFormed()))
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].slice(0, LIST_LENGTH_MAX)
}

/** Storable text, cut to `lengthMax` code points. */
function clean(text: string, lengthMax: number): string {
  const whole = text.replaceAll('\0', '').toWellFormed().trim()
  return Array.from(whole.slice(0, lengthMax * 2))
    .slice(0, lengthMax)
    .join('')
}

/** Cards and recipients per transaction, which takes about 5 ms; others run in between. */
const BATCH_SIZE = 100
/** A card with more isn't a contact. */
const RECIPIENTS_MAX = 100
/** Most errors that a report lists; it counts all of them. */
const ERRORS_MAX = 1_000

async function importContacts(
  { db, writer, ids }: Core,
  bytes: Uint8Array,
  country: string | null,
): Promise<ImportReport> {
  const home =
    country === null
      ? commonHome(listLines(db).map(({ number }) => number))
      : homeOfCountry(country)
  if (home === null && country !== null) {
    throw invalidRequest({ path: 'country', message: 'must be a country code such as US or DE' })
  }
  const report = new Report()
  let batch: PersonFields[] = []
  let size = 0
  const save = async () => {
    const rows = batch
    batch = []
    size = 0
    report.count(await writer.write((tx) => rows.map((row) => merge(tx, row, ids))))
  }
  for (const card of readContacts(decodeContacts(bytes)).cards) {
    if (card !== null) batch.push(...peopleOf(card, home, report))
    size += card === null ? BATCH_SIZE : 1 + card.recipients.length
    if (size >= BATCH_SIZE) await save()
  }
  await save()
  return report.resource()
}

/** Imported texts replace known ones, unless they are empty; imported lists are added. */
function merge(tx: Tx, { handle, ...imported }: PersonFields, ids: LogicalClock): Saved {
  const known = findPerson(tx, handle)
  const merged = contactFields(({ kind }, field) => {
    const [before, added] = [textsIn(known?.[field]), textsIn(imported[field])]
    if (kind === 'list') return distinct([...before, ...added])
    return added.length === 0 ? before : added
  })
  return savePerson(tx, { handle, ...merged }, ids.now())
}

/** One entry for each recipient of a card; invalid ones go to the report. */
function peopleOf(card: Card, home: Home | null, report: Report): readonly PersonFields[] {
  const { row } = card
  const recipients = card.recipients.filter((recipient) => recipient.trim() !== '')
  if (recipients.length === 0) report.fail(row, 'has no phone number and no email address')
  if (recipients.length > RECIPIENTS_MAX) {
    report.fail(row, `has more than ${RECIPIENTS_MAX} phone numbers and email addresses`)
    return []
  }
  const people = recipients.flatMap((recipient) => {
    const understood = understandRecipient(recipient, home)
    if ('handle' in understood) return [cleanFields(understood.handle, card)]
    report.fail(row, `${clean(recipient, 40)} ${understood.why}`)
    return []
  })
  const named = people.filter((person) => person.name !== '')
  if (named.length < people.length) report.fail(row, 'has no name')
  return named
}

class Report {
  readonly #counts = { created: 0, changed: 0, unchanged: 0 }
  readonly #errors: { row: number; why: string }[] = []
  #failed = 0

  count(saved: readonly Saved[]): void {
    for (const one of saved) this.#counts[one] += 1
  }

  fail(row: number, why: string): void {
    this.#failed += 1
    if (this.#errors.length < ERRORS_MAX) this.#errors.push({ row, why })
  }

  resource(): ImportReport {
    const { created, changed, unchanged } = this.#counts
    return {
      imported: created,
      updated: changed,
      skipped: unchanged,
      failed: this.#failed,
      errors: this.#errors,
    }
  }
}
