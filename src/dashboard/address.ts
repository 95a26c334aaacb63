// Addresses within the page: `#/conversations/conv_…?line=line_…`. The part before `?` names a page and
// a thing on it; what a page filters by stands behind.

export const PAGE_NAMES = [
  'home',
  'conversations',
  'lines',
  'webhooks',
  'keys',
  'settings',
  'setup',
] as const
export type PageName = (typeof PAGE_NAMES)[number]

export type Route = {
  readonly page: PageName
  /** The segments behind the page's name: `['wh_…', 'dlv_…']`. */
  readonly path: readonly string[]
  readonly query: Readonly<Record<string, string>>
}

export function parseHash(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#?\/?/, '').split('?', 2)
  const [first = '', ...rest] = path.split('/').map(decoded)
  const page = PAGE_NAMES.find((name) => name === first)
  const query = Object.fromEntries(new URLSearchParams(search))
  if (page === undefined) return { page: 'home', path: [], query: {} }
  return { page, path: rest.filter((part) => part !== ''), query }
}

/** `href('conversations', ['conv_…'], { line: 'line_…' })`; empty values are left out. */
export function href(
  page: PageName,
  path: readonly string[] = [],
  query: Readonly<Record<string, string | null>> = {},
): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === null || value === '' ? [] : [[name, value]],
  )
  const search = new URLSearchParams(given)
  const steps = page === 'home' ? [] : [page, ...path.map(encodeURIComponent)]
  return `#/${steps.join('/')}${given.length === 0 ? '' : `?${search}`}`
}

/** A hand-written address may hold a stray percent sign. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
