// Reads bodies and queries. A body is a JSON object in UTF-8; uploads are in file-body.ts.

import type * as jsonc from 'jsonc-parser'
import { type Static, type TObject, type TSchema, Type } from 'typebox'

import type { PageRequest } from '../api/paging.ts'
import { TIME_WANTED } from '../api/schema.ts'
import { RelayError, invalidRequest, type Issue } from '../domain/errors.ts'
import { parseRecipient } from '../domain/handle.ts'
import type { Timestamp } from '../domain/ids.ts'
import { parseIsoTime } from '../system/iso-time.ts'
import { HungUpError } from './respond.ts'
import { unknownName } from './schema-faults.ts'
import { wordMeant } from './suggestions.ts'

type JsonObject = Readonly<Record<string, unknown>>

export const BODY_BYTES_MAX = 256 * 1_024
/** In messages from a device, long or malformed text is cut and repaired, because a refusal would lose it. */
const DEVICE_BODY_BYTES_MAX = 4 * 1_024 * 1_024
/** A file of 25 MB, and the fields around it. */
const FORM_BYTES_MAX = 25 * 1_024 * 1_024 + BODY_BYTES_MAX

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?;?$/i
const FORM_TYPE = /^multipart\/form-data\s*;/i
const DECODER = new TextDecoder('utf-8', { fatal: true })

type Incoming = { readonly request: Request }

export async function jsonBody({ request }: Incoming): Promise<JsonObject> {
  return requireObject(await readObject(request))
}

function requireObject(body: JsonObject | null): JsonObject {
  if (body !== null) return body
  throw invalidRequest({ path: '', message: 'The request needs a JSON object as its body.' })
}

export function anyBody(request: Request): Promise<Uint8Array> {
  return bytesUpTo(request, BODY_BYTES_MAX, () => tooLarge(BODY_BYTES_MAX))
}

export async function jsonOrFormBody({ request }: Incoming): Promise<JsonObject> {
  const type = request.headers.get('content-type') ?? ''
  if (!FORM_TYPE.test(type) || request.body === null) {
    return requireObject(await readObject(request, true))
  }
  const tooLarge = () => new RelayError('payload_too_large', 'A form may have 25 MB at most.')
  const bytes = await bytesUpTo(request, FORM_BYTES_MAX, tooLarge)
  return Object.fromEntries(await formIn(bytes, type))
}

/** The form of this `Content-Type`. Throws `invalid_request` if it can't be read. */
async function formIn(bytes: Uint8Array, type: string) {
  const response = new Response(bytes, { headers: { 'content-type': type } })
  const form = await response.formData().catch(() => null)
  if (form === null) throw invalidRequest({ path: '', message: 'The form cannot be read.' })
  return form
}

/** The fields of a body in JSON, under any `Content-Type`, or of a form; several fields of one name are a list. */
export async function fieldsOf(request: Request, bytesMax: number): Promise<JsonObject> {
  const bytes = await bytesUpTo(request, bytesMax, () => tooLarge(bytesMax))
  const type = request.headers.get('content-type') ?? ''
  const isForm = /^(?:multipart\/form-data|application\/x-www-form-urlencoded)\b/i.test(type)
  if (!isForm) {
    const value: unknown = await parsed(decoded(bytes))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      requireStorableText(value)
      return value as JsonObject // Checked above.
    }
    throw invalidRequest({ path: '', message: 'The body must be a JSON object, or a form.' })
  }
  const form = await formIn(bytes, type)
  const names = [...new Set(form.keys())]
  const fields = names.map((name) => {
    const values = form.getAll(name)
    return [name, values.length === 1 ? values[0] : values] as const
  })
  const found = Object.fromEntries(fields)
  requireStorableText(found)
  return found
}

export async function optionalJsonBody({ request }: Incoming): Promise<JsonObject> {
  return (await readObject(request)) ?? {}
}

async function readObject(request: Request, isOfDevice = false): Promise<JsonObject | null> {
  const bytesMax = isOfDevice ? DEVICE_BODY_BYTES_MAX : BODY_BYTES_MAX
  const bytes = await bytesUpTo(request, bytesMax, () => tooLarge(bytesMax))
  if (bytes.length === 0) return null
  requireJsonType(request.headers)
  const text = decoded(bytes)
  const value = await parsed(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidRequest({ path: '', message: 'The body must be a JSON object.' })
  }
  // Only an escape can contain these characters: the decoder and the parser refuse them unescaped.
  if (!isOfDevice && text.includes('\\u')) requireStorableText(value)
  return value as JsonObject // Checked above.
}

export async function bytesUpTo(
  request: Request,
  most: number,
  refusal: () => RelayError,
): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > most) throw refusal()
  // A body with a Content-Length is never longer than that.
  if (request.headers.has('content-length') || request.body === null) {
    const bytes = await unlessHungUp(() => request.bytes())
    if (bytes.length > most) throw refusal()
    return bytes
  }
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of chunksOf(request.body)) {
    length += chunk.length
    if (length > most) throw refusal()
    chunks.push(chunk.slice())
  }
  return Buffer.concat(chunks)
}

/**
 * The chunks of a body. A chunk is freed when the next one is read: left to the garbage collector, the chunks of
 * 100 MB took 40 MB of memory (Bun 1.4.5). Throws a HungUpError if the client closes the connection.
 */
export async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await unlessHungUp(() => reader.read())
      if (done) return
      yield value
      const { buffer } = value
      if (buffer instanceof ArrayBuffer && buffer.byteLength === value.length) buffer.transfer(0)
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

async function unlessHungUp<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw new HungUpError()
    throw error
  }
}

function requireJsonType(headers: Headers): void {
  const type = headers.get('content-type') ?? ''
  const encoding = headers.get('content-encoding') ?? 'identity'
  if (JSON_TYPE.test(type.trim()) && encoding.toLowerCase() === 'identity') return
  const message =
    'The body must be application/json in UTF-8, not compressed. Send "Content-Type: application/json".'
  throw new RelayError('unsupported_media_type', message)
}

function tooLarge(bytesMax: number): RelayError {
  const message = `The body may have ${bytesMax / 1_024} KiB at most.`
  return new RelayError('payload_too_large', message)
}

function decoded(bytes: Uint8Array): string {
  try {
    return DECODER.decode(bytes)
  } catch {
    throw invalidRequest({ path: '', message: 'The body is not valid UTF-8.' })
  }
}

async function parsed(text: string): Promise<unknown> {
  try {
    return JSON.parse(text)
  } catch {
    throw await notJson(text)
  }
}

/** Bun's own error has no position. The parser that has one is loaded at the first use, out of the start's way. */
async function notJson(text: string): Promise<RelayError> {
  const fault = jsonFaultIn(text, await import('jsonc-parser'))
  if (fault === null) return invalidRequest({ path: '', message: 'The body is not valid JSON.' })
  const { line, column, why } = fault
  const message = `The body is not valid JSON: line ${line}, column ${column}: ${why}.`
  const details = { issues: [{ path: '', message }], line, column }
  return new RelayError('invalid_request', message, { details })
}

type JsonFault = { readonly line: number; readonly column: number; readonly why: string }

/** The first fault; null if the text is nested so deep that the parser gives up. */
function jsonFaultIn(
  text: string,
  { printParseErrorCode, visit }: Pick<typeof jsonc, 'printParseErrorCode' | 'visit'>,
): JsonFault | null {
  const faults: JsonFault[] = []
  const onError = (
    code: jsonc.ParseErrorCode,
    offset: number,
    length: number,
    ...at: readonly number[]
  ) => {
    if (faults.length > 0) return
    const [line = 0, character = 0] = at
    const why = whyNotJson(printParseErrorCode(code), text, { offset, length })
    faults.push({ line: line + 1, column: character + 1, why })
  }
  try {
    visit(text, { onError }, { disallowComments: true, allowTrailingComma: false })
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return faults[0] ?? null
}

const NOT_JSON: Readonly<Record<string, string>> = {
  PropertyNameExpected: 'a field needs a name in double quotes',
  ColonExpected: 'a colon is missing after the name of the field',
  CommaExpected: 'a comma is missing before this',
  CloseBraceExpected: 'a closing } is missing',
  CloseBracketExpected: 'a closing ] is missing',
  EndOfFileExpected: 'the object ends before this',
  InvalidCommentToken: 'JSON has no comments',
  UnexpectedEndOfComment: 'JSON has no comments',
  UnexpectedEndOfString: 'the text does not end on its line; write a line break as \\n',
  InvalidCharacter: 'the text has a control character; write a tab as \\t',
  InvalidEscapeCharacter:
    'the text has an escape that JSON does not know; write a backslash as \\\\',
  InvalidUnicode: 'the text has an incomplete \\u escape',
  InvalidNumberFormat: 'this is not a number in JSON',
  UnexpectedEndOfNumber: 'this is not a number in JSON',
}

/** The words about a fault, by the name that jsonc-parser gives it. */
function whyNotJson(
  name: string,
  text: string,
  { offset, length }: { readonly offset: number; readonly length: number },
): string {
  const found = text.slice(offset, offset + length)
  if (offset >= text.trimEnd().length) return 'it ends too early'
  if (/^[}\]]/.test(found) && /,\s*$/.test(text.slice(0, offset))) {
    return `remove the comma before ${found}`
  }
  if (/^['‘’“”„]/.test(found)) return 'names and texts need straight double quotes (")'
  if (name === 'InvalidSymbol') return `${JSON.stringify(found.slice(0, 20))} needs double quotes`
  return NOT_JSON[name] ?? 'a value is missing'
}

/** Refuses NUL, at which SQLite ends a text, and lone surrogates, which it stores as U+FFFD. */
function requireStorableText(body: object): void {
  for (const [name, value] of Object.entries(body)) {
    if (isStorable(name) && isStorableThroughout(value)) continue
    const path = isStorable(name) ? name.slice(0, 100) : ''
    throw invalidRequest({ path, message: 'must not contain NUL or a lone surrogate' })
  }
}

/** Works without recursion, because a body may be nested as deep as it is long. */
function isStorableThroughout(value: unknown): boolean {
  const left: unknown[] = [value]
  while (left.length > 0) {
    const next = left.pop()
    if (typeof next === 'string' && !isStorable(next)) return false
    for (const inner of innerOf(next)) left.push(inner)
  }
  return true
}

function innerOf(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return [...Object.keys(value), ...Object.values(value)]
}

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

// Query parameters: each at most once, no unknown ones. A schema defines and documents them; values are parsed
// here, because in a query everything is text.

const ISSUES_MAX = 20

export function pageOfQuery(query: {
  readonly limit: number
  readonly cursor?: string | undefined
}): PageRequest {
  return { limit: query.limit, cursor: query.cursor ?? null }
}

/** The time in a field of a body. Throws `invalid_request`. */
export function timeIn(path: string, text: string): Timestamp {
  const time = parseIsoTime(text)
  if (time === null) throw invalidRequest({ path, message: TIME_WANTED })
  return time
}

/** A handle from a query. An unescaped `+`, before a number or within an address, arrives as a space. */
export function readHandle(text: string | undefined): string | undefined {
  const address = text?.replaceAll(' ', '+') ?? ''
  return parseRecipient(address)?.kind === 'email' ? address : text?.replace(/^ (?=[0-9])/, '+')
}

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
    const read =
      field === undefined
        ? unknownParameter(name, Object.keys(schema.properties), given)
        : readParameter(field, given.getAll(name))
    if ('message' in read) issues.push({ path: name.slice(0, 100), ...read })
    else values[name] = read.value
  }
  if (issues.length > 0) throw invalidRequest(...issues.slice(0, ISSUES_MAX))
  for (const [name, field] of Object.entries(schema.properties)) {
    if (!(name in values) && 'default' in field) values[name] = field.default
  }
  return values as Static<T> // Every value was parsed by the schema of its name.
}

type Read = { readonly value: unknown } | Pick<Issue, 'message' | 'suggestion'>

function unknownParameter(name: string, all: readonly string[], given: URLSearchParams): Read {
  const free = all.filter((known) => !given.has(known))
  return unknownName('is not a parameter of this route', name, { all, free })
}

function readParameter(field: TSchema, texts: readonly string[]): Read {
  const [text = ''] = texts
  if (texts.length > 1) return { message: 'must come once only' }
  if ('enum' in field) return readWord(field.enum, text)
  if ('format' in field && field.format === 'date-time') return readTime(text)
  if ('type' in field && field.type === 'integer')
    return readInteger(text, 'maximum' in field ? Number(field.maximum) : Number.MAX_SAFE_INTEGER)
  if ('type' in field && field.type === 'boolean') return readBoolean(text)
  return { value: text }
}

function readWord(words: unknown, text: string): Read {
  const known = Array.isArray(words) ? words.map(String) : []
  if (known.includes(text)) return { value: text }
  const suggestion = wordMeant(text, known)
  return { message: `must be one of ${known.join(', ')}`, ...(suggestion && { suggestion }) }
}

function readBoolean(text: string): Read {
  const isKnown = text === 'true' || text === 'false'
  return isKnown ? { value: text === 'true' } : { message: 'must be true or false' }
}

function readTime(text: string): Read {
  // An unescaped "+" arrives as a space; a time never has one otherwise.
  const value = parseIsoTime(text.replace(' ', '+'))
  return value === null ? { message: TIME_WANTED } : { value }
}

function readInteger(text: string, maximum: number): Read {
  const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : 0
  const isInRange = value >= 1 && value <= maximum
  return isInRange ? { value } : { message: `must be a whole number from 1 to ${maximum}` }
}
