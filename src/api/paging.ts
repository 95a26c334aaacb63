import { invalidRequest } from '../domain/errors.ts'
import type { Page } from './schema.ts'

/** The most entries of a page, and the `next_cursor` of the page before; null for the first page. */
export type PageRequest = { readonly limit: number; readonly cursor: string | null }

const CURSOR_LENGTH_MAX = 200

/** The `length` whole numbers of a cursor that `pageOf` made; null for any other text. */
export function decodeCursor(text: string, length: number): readonly number[] | null {
  if (text.length > CURSOR_LENGTH_MAX || !/^[A-Za-z0-9_-]+$/.test(text)) return null
  const parts = Buffer.from(text, 'base64url').toString().split('.')
  if (parts.length !== length || !parts.every((part) => /^[0-9]{1,15}$/.test(part))) return null
  return parts.map(Number)
}

/** The position in a list that is sorted by one number; null for its beginning. Throws `invalid_request`. */
export function cursorSeq(cursor: string | null): number | null {
  if (cursor === null) return null
  const [seq] = decodeCursor(cursor, 1) ?? []
  if (seq !== undefined) return seq
  throw invalidRequest({ path: 'cursor', message: 'must be a next_cursor of this list' })
}

/** The rows for a page, one more than its limit if another page follows. */
export type Found<R> = {
  readonly rows: readonly R[]
  /** The position where a search stopped before it found enough rows; the next page continues there. */
  readonly upTo: readonly number[] | null
}

/** The rows of a search that went through the whole list. */
export function allFound<R>(rows: readonly R[]): Found<R> {
  return { rows, upTo: null }
}

/** The page of these rows. It may be short or empty and still have a next page, which starts at `upTo`. */
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
    next_cursor: end && Buffer.from(end.join('.')).toString('base64url'),
  }
}
