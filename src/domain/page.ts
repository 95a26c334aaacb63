/** One page of a list, as the API tells it. */
export type Page<T> = {
  readonly data: readonly T[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

export type PageRequest = { readonly limit: number; readonly cursor: string | null }

/** The page of `rows`, which were asked for with one more than `limit`: that one says `has_more`. */
export function pageOf<Row, T>(
  rows: readonly Row[],
  limit: number,
  tell: { readonly cursor: (last: Row) => string; readonly resource: (row: Row) => T },
): Page<T> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const hasMore = rows.length > limit
  return {
    data: shown.map(tell.resource),
    has_more: hasMore,
    next_cursor: hasMore && last !== undefined ? tell.cursor(last) : null,
  }
}
