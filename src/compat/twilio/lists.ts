// Lists of messages, with Twilio's filters and pages.

import { invalidRequest } from '../../domain/errors.ts'
import { timestamp } from '../../domain/ids.ts'
import { DAY_MS } from '../../domain/time.ts'
import { isoTime, parseIsoTime } from '../../system/iso-time.ts'
import type { CompatHandler, CompatRelay, Fields } from '../compat-api.ts'
import { textIn } from '../fields.ts'
import { accountPath, messageResource } from './resources.ts'

const PAGE_SIZE = 50
const PAGE_SIZE_MAX = 200

export const list: CompatHandler = async ({ fields, relay }) => {
  const size = Math.min(Math.max(1, numberIn(fields, 'PageSize', PAGE_SIZE)), PAGE_SIZE_MAX)
  const page = numberIn(fields, 'Page', 0)
  const filter = filterIn(fields, relay)
  const query = { ...filter, limit: String(size), cursor: textIn(fields, ['PageToken']) }
  const { data, next_cursor: cursor } =
    filter === null ? { data: [], next_cursor: null } : await relay.call('listMessages', { query })
  const uri = (more: Readonly<Record<string, string>>) =>
    `${accountPath(relay.key)}/Messages.json?${queryOf(fields, { PageSize: String(size), ...more })}`
  const next = cursor && uri({ Page: String(page + 1), PageToken: cursor })
  const messages = data.map((message) => messageResource(relay.key, message))
  const { length: count } = messages
  return { status: 200, body: { ...pageOf(uri({}), { page, size, count, next }), messages } }
}

function numberIn(fields: Fields, name: string, otherwise: number): number {
  const text = textIn(fields, [name]) ?? ''
  return /^[0-9]{1,6}$/.test(text) ? Number(text) : otherwise
}

const FILTERS = ['To', 'From', 'DateSent', 'DateSent<', 'DateSent>']

/** The query of a list, from its filters and more parameters. */
function queryOf(fields: Fields, more: Readonly<Record<string, string>>): string {
  const all = new URLSearchParams(more)
  for (const name of FILTERS) {
    const value = textIn(fields, [name])
    if (value !== undefined) all.set(name, value)
  }
  return all.toString()
}

export function pageOf(
  uri: string,
  given: Readonly<Record<'page' | 'size' | 'count', number>> & { readonly next: string | null },
) {
  const { page, size, count, next } = given
  const start = page * size
  const span = { page, page_size: size, start, end: start + Math.max(0, count - 1) }
  return { ...span, uri, first_page_uri: uri, next_page_uri: next, previous_page_uri: null }
}

type Query = Readonly<Record<string, string | undefined>>

/** The filter for the relay's own API; null if no message can match. */
function filterIn(fields: Fields, relay: CompatRelay): Query | null {
  const times = timesIn(fields)
  const [to, from] = [textIn(fields, ['To']), textIn(fields, ['From'])]
  const [toLine, fromLine] = [to, from].map((number) =>
    relay.lines.find((line) => line.number === number),
  )
  // Between two people or two lines there are no messages.
  const hasBoth = to !== undefined && from !== undefined
  if (hasBoth && (toLine === undefined) === (fromLine === undefined)) return null
  if (to === undefined && from === undefined) return times
  const isSent = toLine === undefined && (fromLine !== undefined || to !== undefined)
  return {
    ...times,
    direction: isSent ? 'outbound' : 'inbound',
    phone_line_id: (fromLine ?? toLine)?.id,
    handle: isSent ? to : from,
  }
}

/** Twilio's bounds are inclusive, and a date is a whole day in UTC. */
function timesIn(fields: Fields): Query {
  const [day, until, since] = ['DateSent', 'DateSent<', 'DateSent>'].map((name) =>
    timeIn(textIn(fields, [name])),
  )
  const dayStart = day && Math.floor(day.at / DAY_MS) * DAY_MS
  const start = dayStart ?? since?.at
  const end = dayStart === undefined ? until && until.at + until.lengthMs : dayStart + DAY_MS
  return {
    ...(start !== undefined && { created_after: isoTime(timestamp(start - 1)) }),
    ...(end !== undefined && { created_before: isoTime(timestamp(end)) }),
  }
}

function timeIn(text: string | undefined) {
  if (text === undefined) return undefined
  const isDate = /^[0-9-]{10}$/.test(text)
  const at = parseIsoTime(isDate ? `${text}T00:00:00Z` : text)
  if (at !== null) return { at, lengthMs: isDate ? DAY_MS : 1 }
  throw invalidRequest({ path: 'DateSent', message: 'must be a date such as 2026-11-27' })
}
