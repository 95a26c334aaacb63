// Fills pages of lists with filters. Such a page may have fewer entries than its limit although the list goes on,
// because the relay examines a limited number of rows for each page.

type CutPage = { readonly data: readonly unknown[]; readonly next_cursor: string }

/** The page filled up to its limit; `next` returns the page after a cursor, or null to stop. */
export async function filledPage<T>(
  first: T,
  limit: number,
  next: (cursor: string, limit: number) => Promise<T | null>,
): Promise<T> {
  let page = first
  while (isCut(page, limit)) {
    const { data, next_cursor: cursor } = page
    const more: T | null = await next(cursor, limit - data.length)
    if (more === null) break
    const { data: others = [] } = more as Partial<CutPage> // It is a page of the same list.
    page = { ...more, data: [...data, ...others] }
  }
  return page
}

function isCut<T>(answer: T, limit: number): answer is T & CutPage {
  const { data, next_cursor } = (answer ?? {}) as Partial<CutPage> // Other answers lack these fields.
  return Array.isArray(data) && data.length < limit && typeof next_cursor === 'string'
}
