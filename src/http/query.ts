// Query parameters: each at most once, no unknown ones. A schema defines and documents them; their values
// are parsed here, because a query has no types but text.

import { type Static, type TObject, type TSchema, Type } from 'typebox'

import type { PageRequest } from '../api/paging.ts'
import { TIME_WANTED } from '../api/schema.ts'
import { invalidRequest, type Issue } from '../domain/errors.ts'
import { parseRecipient } from '../domain/handle.ts'
import { parseIsoTime } from '../system/iso-time.ts'

const ISSUES_MAX = 20

export function pageOfQuery(query: {
  readonly limit: number
  readonly cursor?: string | undefined
}): PageRequest {
  return { limit: query.limit, cursor: query.cursor ?? null }
}

/** An unescaped `+` arrives as a space: in front of a number, or within an address. */
export function readHandle(text: string | undefined): string | undefined {
  const address = text?.replaceAll(' ', '+') ?? ''
  return parseRecipient(address)?.kind === 'email' ? address : text?.replace(/^ (?=[0-9])/, '+')
}

/** Throws for any query. */
export function requireNoQuery(request: Request): void {
  if (request.url.includes('?')) readQuery(request, Type.Object({}))
}

export function readQuery<T extends TObject>(request: Request, schema: T): Static<T> {
  const start = request.url.indexOf('?')
  const given = new URLSearchParams(start === -1 ? '' : request.url.slice(start))
  const values: Record<string, unknown> = {}
  const issues: Issue[] = []
  for (const name of new Set(given.keys())) {
    const field = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    const read = readParameter(field, given.getAll(name))
    if ('message' in read) issues.push({ path: name.slice(0, 100), message: read.message })
    else values[name] = read.value
  }
  if (issues.length > 0) throw invalidRequest(...issues.slice(0, ISSUES_MAX))
  for (const [name, field] of Object.entries(schema.properties)) {
    if (!(name in values) && 'default' in field) values[name] = field.default
  }
  return values as Static<T> // Every value was read by the schema of its name.
}

type Read = { readonly value: unknown } | { readonly message: string }

function readParameter(field: TSchema | undefined, texts: readonly string[]): Read {
  const [text = ''] = texts
  if (field === undefined) return { message: 'is not a parameter of this route' }
  if (texts.length > 1) return { message: 'must come once only' }
  if ('enum' in field) return readWord(field.enum, text)
  if ('format' in field && field.format === 'date-time') return readTime(text)
  if ('type' in field && field.type === 'integer')
    return readInteger(text, 'maximum' in field ? Number(field.maximum) : Number.MAX_SAFE_INTEGER)
  if ('type' in field && field.type === 'boolean') return readBoolean(text)
  return { value: text }
}

function readWord(words: unknown, text: string): Read {
  const known = Array.isArray(words) ? words : []
  return known.includes(text) ? { value: text } : { message: `must be one of ${known.join(', ')}` }
}

function readBoolean(text: string): Read {
  const isKnown = text === 'true' || text === 'false'
  return isKnown ? { value: text === 'true' } : { message: 'must be true or false' }
}

function readTime(text: string): Read {
  // An unescaped "+" arrives as a space; a time has no other use for one.
  const value = parseIsoTime(text.replace(' ', '+'))
  return value === null ? { message: TIME_WANTED } : { value }
}

function readInteger(text: string, maximum: number): Read {
  const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : 0
  const isInRange = value >= 1 && value <= maximum
  return isInRange ? { value } : { message: `must be a whole number from 1 to ${maximum}` }
}
