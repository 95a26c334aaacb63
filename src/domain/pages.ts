// A page of a list with filters may have fewer entries than its limit, or none, and the list goes on all the
// same: the relay goes through a bounded number of rows for each page. A reader of one page asks on.

type CutPage = { readonly data: readonly unknown[]; readonly next_cursor: string }

/** The page with as many entries as it may have; `next` gives the page behind a cursor, or null to leave it there. */
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
    const { data: others = [] } = more as Partial<CutPage> // Of the same list.
    page = { ...more, data: [...data, ...others] }
  }
  return page
}

function isCut<T>(answer: T, limit: number): answer is T & CutPage {
  const { data, next_cursor } = (answer ?? {}) as Partial<CutPage> // Other answers have no such fields.
  return Array.isArray(data) && data.length < limit && typeof next_cursor === 'string'
}
