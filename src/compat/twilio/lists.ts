// Lists of messages, with Twilio's filters and pages.

import { invalidRequest } from '../../domain/errors.ts'
import type { CompatHandler, CompatRelay, Fields } from '../compat-api.ts'
import { textIn } from '../fields.ts'
import { accountPath, messageResource } from './resources.ts'

const PAGE_SIZE = 50
const PAGE_SIZE_MAX = 200

export const list: CompatHandler = async ({ fields, relay }) => {
  const pageSize = Math.min(Math.max(1, numberIn(fields, 'PageSize', PAGE_SIZE)), PAGE_SIZE_MAX)
  const page = numberIn(fields, 'Page', 0)
  const filter = filterIn(fields, relay)
  const query = { ...filter, limit: String(pageSize), cursor: textIn(fields, ['PageToken']) }
  const { data, next_cursor: cursor } =
    filter === null ? { data: [], next_cursor: null } : await relay.call('listMessages', { query })
  const next = cursor && { Page: String(page + 1), PageToken: cursor }
  const uri = `${accountPath(relay.key)}/Messages.json`
  return {
    status: 200,
    body: {
      ...pageFields(listUri(uri, fields, pageSize, {}), {
        page,
        pageSize,
        next: next && listUri(uri, fields, pageSize, next),
      }),
      ...spanOf(page * pageSize, data.length),
      messages: data.map((message) => messageResource(relay.key, message)),
    },
  }
}

function numberIn(fields: Fields, name: string, otherwise: number): number {
  const text = textIn(fields, [name]) ?? ''
  return /^[0-9]{1,6}$/.test(text) ? Number(text) : otherwise
}

const FILTERS = ['To', 'From', 'DateSent', 'DateSent<', 'DateSent>']

function listUri(
  uri: string,
  fields: Fields,
  pageSize: number,
  more: Readonly<Record<string, string>>,
): string {
  const all = new URLSearchParams()
  for (const name of FILTERS) {
    const value = textIn(fields, [name])
    if (value !== undefined) all.set(name, value)
  }
  all.set('PageSize', String(pageSize))
  for (const [name, value] of Object.entries(more)) all.set(name, value)
  return `${uri}?${all.toString()}`
}

export function pageFields(
  uri: string,
  given: { readonly page: number; readonly pageSize: number; readonly next: string | null },
) {
  return {
    first_page_uri: uri,
    next_page_uri: given.next,
    previous_page_uri: null,
    page: given.page,
    page_size: given.pageSize,
    uri,
  }
}

export function spanOf(start: number, count: number) {
  return { start, end: start + Math.max(0, count - 1) }
}

type Query = Readonly<Record<string, string | undefined>>

/** The relay's own filter; null if it has no message. */
function filterIn(fields: Fields, relay: CompatRelay): Query | null {
  const times = timesIn(fields)
  const [to, from] = [textIn(fields, ['To']), textIn(fields, ['From'])]
  const lineAt = (number: string | undefined) => relay.lines.find((line) => line.number === number)
  const [toLine, fromLine] = [lineAt(to), lineAt(from)]
  if (to === undefined && from === undefined) return times
  const line = fromLine ?? toLine
  const isSent = fromLine !== undefined || (toLine === undefined && to !== undefined)
  const handle = isSent ? to : from
  // Nothing goes from a person to a person, or from a line to a line.
  if (isSent && fromLine === undefined && from !== undefined) return null
  if (toLine !== undefined && fromLine !== undefined) return null
  return {
    ...times,
    direction: isSent ? 'outbound' : 'inbound',
    ...(line && { phone_line_id: line.id }),
    ...(handle !== undefined && { handle }),
  }
}

const DAY_MS = 86_400_000

/** Twilio's bounds are inclusive, and a date is a whole day in UTC. */
function timesIn(fields: Fields): Query {
  const [day, until, since] = ['DateSent', 'DateSent<', 'DateSent>'].map((name) => {
    const text = textIn(fields, [name])
    return text === undefined ? null : { text, at: Date.parse(text) }
  })
  const isWrong = [day, until, since].some((one) => one && Number.isNaN(one.at))
  if (isWrong)
    throw invalidRequest({ path: 'DateSent', message: 'must be a date such as 2026-11-27' })
  const first = day ? startOfDay(day.at) : (since?.at ?? null)
  const untilDay =
    until && (until.text.length === 10 ? startOfDay(until.at) + DAY_MS : until.at + 1)
  const last = day ? startOfDay(day.at) + DAY_MS : untilDay
  return {
    created_after: first === null ? undefined : isoOf(first - 1),
    created_before: last == null ? undefined : isoOf(last),
  }
}

function startOfDay(at: number): number {
  return Math.floor(at / DAY_MS) * DAY_MS
}

function isoOf(at: number): string {
  return new Date(at).toISOString()
}
