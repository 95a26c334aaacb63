import { invalidRequest } from '../domain/errors.ts'
import type { Page } from './schema.ts'

/** The size of a page, and the page before it. */
export type PageRequest = { readonly limit: number; readonly cursor: string | null }

const CURSOR_LENGTH_MAX = 200

/** The end of a page, opaque to the caller. */
function encodeCursor(parts: readonly number[]): string {
  return Buffer.from(parts.join('.')).toString('base64url')
}

/** The `length` whole numbers of a cursor made here, or null for any other text. */
export function decodeCursor(text: string, length: number): readonly number[] | null {
  if (text.length > CURSOR_LENGTH_MAX || !/^[A-Za-z0-9_-]+$/.test(text)) return null
  const parts = Buffer.from(text, 'base64url').toString().split('.')
  if (parts.length !== length || !parts.every((part) => /^[0-9]{1,15}$/.test(part))) return null
  return parts.map(Number)
}

/** The position of a list that goes by one number, or null for its beginning; throws `invalid_request`. */
export function cursorSeq(cursor: string | null): number | null {
  if (cursor === null) return null
  const [seq] = decodeCursor(cursor, 1) ?? []
  if (seq !== undefined) return seq
  throw invalidRequest({ path: 'cursor', message: 'must be a next_cursor of this list' })
}

/** The rows for a page, one more than its limit if another page follows. */
export type Found<R> = {
  readonly rows: readonly R[]
  /** Where the look for rows ended before there were enough of them: the next page goes on there. */
  readonly upTo: readonly number[] | null
}

/** Rows that were looked for in the whole list. */
export function allFound<R>(rows: readonly R[]): Found<R> {
  return { rows, upTo: null }
}

/** The page of what was found; it is short, or empty, if its next page goes on behind `upTo`. */
export function pageOf<R, T>(
  { rows, upTo }: Found<R>,
  limit: number,
  resource: (row: R) => T,
  position: (row: R) => readonly number[],
): Page<T> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const end = rows.length > limit && last !== undefined ? position(last) : upTo
  return {
    data: shown.map(resource),
    has_more: end !== null,
    next_cursor: end && encodeCursor(end),
  }
}
