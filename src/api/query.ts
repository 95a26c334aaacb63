// Query parameters and headers that several operations have.

import { Type } from 'typebox'

import type { Timestamp } from '../domain/ids.ts'
import { text } from './schema.ts'

export function textParameter(description: string, example?: string) {
  return Type.Optional(text(description, example))
}

/** A whole number from 1 to `maximum`. */
export function countParameter(maximum: number, byDefault: number, description: string) {
  return Type.Integer({ minimum: 1, maximum, default: byDefault, description })
}

/** A time with its zone, read as milliseconds since 1970. */
export function timeParameter(description: string) {
  const example = '2026-11-21T10:00:00.000Z'
  return Type.Optional(
    Type.Unsafe<Timestamp>({ type: 'string', format: 'date-time', description, example }),
  )
}

/** The two parameters of every list. */
export const PAGE_QUERY = {
  limit: countParameter(200, 50, 'Maximum number of entries in a page.'),
  cursor: textParameter('`next_cursor` of the previous page; the first page if it is left out.'),
}

export const PageQuery = Type.Object(PAGE_QUERY)

export function idempotencyHeader(description: string, example: string) {
  const key = Type.String({ minLength: 1, maxLength: 255, description, example })
  return { 'Idempotency-Key': Type.Optional(key) }
}
