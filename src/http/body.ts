// The one parser of request bodies: JSON objects in UTF-8, and nothing else.

import type { TSchema } from 'typebox'

import { RelayError, invalidRequest } from '../domain/errors.ts'
import { HungUpError } from './respond.ts'
import { requestSchema } from './typebox.ts'

type JsonObject = Readonly<Record<string, unknown>>

const BODY_BYTES_MAX = 256 * 1_024

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?;?$/i
const DECODER = new TextDecoder('utf-8', { fatal: true })

/** The part of a route's hook for a required body. */
export function takes<T extends TSchema>(schema: T) {
  return { parse: [jsonBody], body: requestSchema(schema) }
}

/** The same for an optional body: an empty one is an empty object. */
export function mayTake<T extends TSchema>(schema: T) {
  return { parse: [optionalJsonBody], body: requestSchema(schema) }
}

async function jsonBody({ request }: { readonly request: Request }): Promise<JsonObject> {
  const body = await readObject(request)
  if (body !== null) return body
  throw invalidRequest({ path: '', message: 'The request needs a JSON object as its body.' })
}

async function optionalJsonBody({ request }: { readonly request: Request }): Promise<JsonObject> {
  return (await readObject(request)) ?? {}
}

async function readObject(request: Request): Promise<JsonObject | null> {
  if (Number(request.headers.get('content-length') ?? 0) > BODY_BYTES_MAX) throw tooLarge()
  const bytes = await bytesOf(request)
  if (bytes.length === 0) return null
  requireJsonType(request.headers)
  if (bytes.length > BODY_BYTES_MAX) throw tooLarge()
  const text = decoded(bytes)
  const value = parsed(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidRequest({ path: '', message: 'The body must be a JSON object.' })
  }
  // Only an escape can bring these in: the decoder and the parser refuse them as they are.
  if (text.includes('\\u')) requireStorableText(value)
  return value as JsonObject // Checked above.
}

async function bytesOf(request: Request): Promise<Uint8Array> {
  try {
    return await request.bytes()
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw new HungUpError()
    // Bun's only other error: a body without an announced length exceeds the server's own limit.
    if (error instanceof Error && error.constructor === Error) throw tooLarge()
    throw error
  }
}

function requireJsonType(headers: Headers): void {
  const type = headers.get('content-type') ?? ''
  const encoding = headers.get('content-encoding') ?? 'identity'
  if (JSON_TYPE.test(type.trim()) && encoding.toLowerCase() === 'identity') return
  const message = 'The body must be application/json in UTF-8, not compressed.'
  throw new RelayError('unsupported_media_type', message)
}

function tooLarge(): RelayError {
  return new RelayError('payload_too_large', 'The body may have 256 KiB at most.')
}

function decoded(bytes: Uint8Array): string {
  try {
    return DECODER.decode(bytes)
  } catch {
    throw invalidRequest({ path: '', message: 'The body is not valid UTF-8.' })
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidRequest({ path: '', message: 'The body is not valid JSON.' })
  }
}

/** SQLite ends text at NUL and stores U+FFFD for a lone surrogate: neither may come in. */
function requireStorableText(body: object): void {
  for (const [name, value] of Object.entries(body)) {
    if (isStorable(name) && isStorableThroughout(value)) continue
    const path = isStorable(name) ? name.slice(0, 100) : ''
    throw invalidRequest({ path, message: 'must not contain NUL or a lone surrogate' })
  }
}

/** A list in place of recursion: a body may be nested as deep as it is long. */
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
