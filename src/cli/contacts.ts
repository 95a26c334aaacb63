import { resolve } from 'node:path'

import type { Contact, ImportReport, SearchResult } from '../api/contacts.ts'
import {
  CONTACT_FIELDS,
  OTHER_FIELDS,
  contactFields,
  textsIn,
  typedTexts,
  type ContactField,
} from '../domain/contact-fields.ts'
import { groupedNumber } from '../domain/handle.ts'
import { countWords } from '../domain/number-words.ts'
import type { Card, ContactFile } from '../people/card.ts'
import { decodeContacts, readContacts } from '../people/contact-file.ts'
import {
  EXIT,
  SITE_OPTION,
  UsageError,
  argument,
  type Call,
  type Command,
  type ExitCode,
} from './command.ts'
import type { ControlClient } from './control-client.ts'
import { askRelay, runningRelay } from './own-file.ts'
import { countryOption, recipientOf } from './recipient.ts'
import { table, timeCell, type Line } from './table.ts'

const LIMIT_MAX = 200

/** Long texts come last. */
const COLUMNS = OTHER_FIELDS.toSorted((a, b) => Number(isLong(a)) - Number(isLong(b)))

export const CONTACT_COMMANDS: readonly Command[] = [
  {
    name: 'contacts list',
    short: 'contacts',
    options: [
      { name: 'query', value: 'WORDS', sentence: 'Only names, tags or numbers with these words.' },
      { name: 'tag', value: 'TAG', sentence: 'Only contacts with this tag.' },
      { name: 'limit', value: 'N', sentence: 'Maximum number of contacts (default 50).' },
    ],
    sentence: 'List contacts. Short: contacts.',
    run: list,
  },
  {
    name: 'contacts set',
    args: [{ name: 'HANDLE' }, { name: 'NAME' }],
    options: OTHER_FIELDS.map(optionOf),
    sentence: 'Name a phone number or email address.',
    run: set,
  },
  {
    name: 'contacts remove',
    args: [{ name: 'HANDLE' }],
    sentence: 'Delete a contact. Messages stay.',
    run: remove,
  },
  {
    name: 'contacts import',
    args: [{ name: 'FILE' }],
    options: [
      {
        name: 'country',
        value: 'CODE',
        sentence: "Country of national numbers, such as DE (default: the lines' country).",
      },
    ],
    sentence: 'Import contacts from a vCard or CSV file.',
    run: importFile,
  },
]

const ONE_LINE = { name: 'line', value: 'ID', ids: 'lines', sentence: 'Only this line.' } as const

export const OPT_OUT_COMMANDS: readonly Command[] = [
  {
    name: 'opt-outs list',
    short: 'opt-outs',
    options: [{ name: 'limit', value: 'N', sentence: 'Maximum number of opt-outs (default 50).' }],
    sentence: 'List people who want no more messages. Short: opt-outs.',
    run: listOptOuts,
  },
  {
    name: 'opt-outs add',
    args: [{ name: 'HANDLE' }],
    options: [ONE_LINE],
    sentence: 'Send someone no more messages.',
    run: addOptOut,
  },
  {
    name: 'opt-outs remove',
    args: [{ name: 'HANDLE' }],
    options: [ONE_LINE],
    sentence: 'Let messages to someone be sent again.',
    run: removeOptOut,
  },
]

export const SEARCH_COMMAND: Command = {
  name: 'search',
  args: [{ name: 'WORDS', isRest: true }],
  options: [
    SITE_OPTION,
    { name: 'limit', value: 'N', sentence: 'Maximum number of each kind (default 20).' },
  ],
  sentence: 'Find people, conversations and messages.',
  run: search,
}

function optionOf(name: ContactField) {
  const { kind, label } = CONTACT_FIELDS[name]
  if (kind !== 'list')
    return { name, value: 'TEXT', sentence: `${label}; an empty one removes it.` }
  const sentence = `${label}, separated by commas, in place of the others.`
  return { name, value: name.toUpperCase(), sentence }
}

function isLong(field: ContactField): boolean {
  return CONTACT_FIELDS[field].kind === 'text'
}

async function list(call: Call): Promise<undefined> {
  const limit = call.options.number('limit', { fallback: 50, max: LIMIT_MAX })
  const [q, tag] = [call.options.get('query'), call.options.get('tag')]
  const page = await askRelay(call, 'listContacts', {
    query: { limit: String(limit), q: q || undefined, tag: tag || undefined },
  })
  call.out.data(page, [contactTable(page.data)])
  if (page.data.length === 0) call.out.note('No contacts found.')
  if (page.has_more) call.out.note('More contacts exist. Show more with --limit, or use --query.')
}

function contactTable(contacts: readonly Contact[]): Line {
  const rows = contacts.map((contact) => {
    const cells = COLUMNS.map((field) => {
      const text = textsIn(contact[field]).join(', ')
      return isLong(field) ? text.replaceAll(/\s+/g, ' ') : text
    })
    return [contact.name, groupedNumber(contact.handle), ...cells]
  })
  return table(['NAME', 'HANDLE', ...COLUMNS.map((field) => field.toUpperCase())], rows)
}

async function set(call: Call): Promise<undefined> {
  const client = await runningRelay(call)
  const params = { handle: await recipientOf(call, client, argument(call, 0)) }
  const before = await client.find('getContact', { params })
  const fields = contactFields((row, field) => {
    const typed = call.options.get(field)
    return typed === undefined ? textsIn(before?.[field]) : typedTexts(row, typed)
  })
  const body = { ...fields, name: argument(call, 1) }
  const contact = await client.ask('putContact', { params, body })
  call.out.data(contact, [`${groupedNumber(contact.handle)} is ${contact.name}.`])
}

async function remove(call: Call): Promise<undefined> {
  const client = await runningRelay(call)
  const handle = await recipientOf(call, client, argument(call, 0))
  const deleted = await client.ask('deleteContact', { params: { handle } })
  call.out.data(deleted, [`Deleted the contact ${groupedNumber(deleted.handle)}.`])
}

async function listOptOuts(call: Call): Promise<undefined> {
  const limit = call.options.number('limit', { fallback: 50, max: LIMIT_MAX })
  const page = await askRelay(call, 'listOptOuts', { query: { limit: String(limit) } })
  const rows = page.data.map(({ handle, phone_line_id, keyword, source, created_at }) => {
    return [groupedNumber(handle), keyword ?? source, phone_line_id ?? 'all', timeCell(created_at)]
  })
  call.out.data(page, [table(['HANDLE', 'BY', 'LINE', 'TIME'], rows)])
  if (page.data.length === 0) call.out.note('No opt-outs.')
  if (page.has_more) call.out.note('More opt-outs exist. Show more with --limit.')
}

async function addOptOut(call: Call): Promise<undefined> {
  const client = await runningRelay(call)
  const handle = await recipientOf(call, client, argument(call, 0))
  const body = { phone_line_id: call.options.get('line') ?? null }
  const optOut = await client.ask('putOptOut', { params: { handle }, body })
  call.out.data(optOut, [`${groupedNumber(optOut.handle)} has opted out.`])
}

async function removeOptOut(call: Call): Promise<undefined> {
  const client = await runningRelay(call)
  const handle = await recipientOf(call, client, argument(call, 0))
  const query = { phone_line_id: call.options.get('line') }
  const deleted = await client.ask('deleteOptOut', { params: { handle }, query })
  call.out.data(deleted, [`Messages to ${groupedNumber(deleted.handle)} can be sent again.`])
}

/** The most cards, and the most characters, in one request. */
const PART_CARDS = 500
const PART_LENGTH_MAX = 2_000_000
/** The most bad rows that are printed; --json has all that the relay reports. */
const SHOWN_MAX = 50

async function importFile(call: Call): Promise<ExitCode> {
  const country = countryOption(call)
  const path = resolve(call.surroundings.folder, argument(call, 0))
  const file = Bun.file(path)
  if (!(await file.exists())) throw new UsageError(`There is no file ${path}.`)
  const text = decodeContacts(await file.bytes())
  const client = await runningRelay(call)
  const parts = partsOf(text, readContacts(text))
  const report = await importParts(call, client, { parts, country })
  const { imported, updated, skipped, failed, errors } = report
  const shown = errors.slice(0, SHOWN_MAX)
  call.out.data(report, [
    `${imported} imported, ${updated} updated, ${skipped} unchanged, ${failed} failed.`,
    table(
      ['ROW', 'PROBLEM'],
      shown.map(({ row, why }) => [row, why]),
    ),
  ])
  if (failed > shown.length) call.out.note(`… and ${failed - shown.length} more. See --json.`)
  return failed === 0 ? EXIT.ok : EXIT.failed
}

/** A piece of a file, complete as a file, and the number to add to its row numbers. */
type Part = { readonly text: string; readonly rowsBefore: number; readonly cards: number }

function partsOf(text: string, { head, cards }: ContactFile): readonly Part[] {
  const parts: Part[] = []
  let start: Pick<Card, 'end' | 'row'> = { end: head.length, row: head === '' ? 0 : 1 }
  let last = start
  let count = 0
  const finish = () => {
    // In each part, the first row follows the row with the column names.
    const rowsBefore = head === '' ? start.row : start.row - 1
    if (count > 0)
      parts.push({ text: head + text.slice(start.end, last.end), rowsBefore, cards: count })
    start = last
    count = 0
  }
  for (const card of cards) {
    if (card === null) continue
    if (card.end - start.end > PART_LENGTH_MAX) finish()
    last = card
    count += 1
    if (count === PART_CARDS) finish()
  }
  finish()
  return parts
}

async function importParts(
  call: Call,
  client: ControlClient,
  { parts, country }: { readonly parts: readonly Part[]; readonly country: string | null },
): Promise<ImportReport> {
  const total = { imported: 0, updated: 0, skipped: 0, failed: 0 }
  const errors: { row: number; why: string }[] = []
  const all = parts.reduce((sum, { cards }) => sum + cards, 0)
  const bar = call.out.bar(countWords(all, 'contact'), all)
  for (const { text, rowsBefore, cards } of parts) {
    const query = { country: country ?? undefined }
    const report = await client.ask('importContacts', { text, query })
    for (const name of ['imported', 'updated', 'skipped', 'failed'] as const) {
      total[name] += report[name]
    }
    errors.push(...report.errors.map(({ row, why }) => ({ row: row + rowsBefore, why })))
    bar.add(cards)
  }
  bar.end()
  return { ...total, errors }
}

async function search(call: Call): Promise<undefined> {
  const limit = call.options.number('limit', { fallback: 20, max: 50 })
  const site_id = call.options.get('site')
  const query = { q: call.args.join(' '), limit: String(limit), site_id }
  const found = await askRelay(call, 'search', { query })
  call.out.data(found, foundLines(found))
  const { people, conversations, messages } = found
  if (people.length + conversations.length + messages.length === 0) call.out.note('Nothing found.')
  if (!found.is_complete) call.out.note('Older messages were not searched: use a longer word.')
}

function foundLines({ people, conversations, messages }: SearchResult): readonly Line[] {
  const conversationRows = conversations.map((conversation) => {
    const { id, handle, name, contact_name: person, message_count: count } = conversation
    return [id, name ?? person ?? groupedNumber(handle), count, timeCell(conversation.updated_at)]
  })
  const messageRows = messages.map(({ message, excerpt, contact_name: person }) => {
    const arrow = message.direction === 'outbound' ? '→' : '←'
    const text = excerpt.text.replaceAll(/\s+/g, ' ')
    return [
      timeCell(message.created_at),
      `${arrow} ${person ?? groupedNumber(message.handle)}`,
      text,
    ]
  })
  const parts = [
    [people, contactTable(people)],
    [conversations, table(['CONVERSATION', 'WITH', 'MESSAGES', 'LATEST'], conversationRows)],
    [messages, table(['TIME', 'WITH', 'TEXT'], messageRows)],
  ] as const
  const found = parts.flatMap(([rows, part]) => (rows.length > 0 ? ['', part] : []))
  return found.slice(1)
}
