// Query parameters that several operations have.

import { Type } from 'typebox'

import type { Timestamp } from '../domain/ids.ts'

const LIMIT_MAX = 200
const LIMIT_DEFAULT = 50

/** The two parameters of every list. */
export const PAGE_QUERY = {
  limit: Type.Integer({
    minimum: 1,
    maximum: LIMIT_MAX,
    default: LIMIT_DEFAULT,
    description: 'Maximum number of entries in a page.',
  }),
  cursor: Type.Optional(
    Type.String({
      description: '`next_cursor` of the previous page; the first page where it is left out.',
    }),
  ),
}

/** A time with its zone; its value is in milliseconds. */
export function timeParameter(description: string) {
  const example = '2026-11-21T10:00:00.000Z'
  return Type.Optional(
    Type.Unsafe<Timestamp>({ type: 'string', format: 'date-time', description, example }),
  )
}

export const PageQuery = Type.Object(PAGE_QUERY)
