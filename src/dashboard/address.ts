// Addresses within the page: `#/conversations/conv_…?line=line_…` is a page, an item on it, and its filters.

const PAGE_NAMES = [
  'home',
  'conversations',
  'people',
  'lines',
  'boxes',
  'messages',
  'webhooks',
  'connect',
  'keys',
  'night',
  'activity',
  'settings',
  'setup',
] as const
export type PageName = (typeof PAGE_NAMES)[number]

export type Route = {
  readonly page: PageName | null
  /** The segments after the page's name: `['wh_…', 'dlv_…']`. */
  readonly path: readonly string[]
  readonly query: Readonly<Record<string, string>>
}

export function parseHash(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#?\/?/, '').split('?', 2)
  const [first = '', ...rest] = path.split('/').map(decoded)
  const page = PAGE_NAMES.find((name) => name === first) ?? null
  const query = Object.fromEntries(new URLSearchParams(search))
  if (first === '') return { page: 'home', path: [], query }
  return { page, path: rest.filter((part) => part !== ''), query }
}

/** `href('conversations', ['conv_…'], { line: 'line_…' })`; empty values are left out. */
export function href(page: PageName, path: readonly string[] = [], query: Values = {}): string {
  const steps = page === 'home' ? [] : [page, ...path.map(encodeURIComponent)]
  return withQuery(`#/${steps.join('/')}`, query)
}

type Values = Readonly<Record<string, string | number | null | undefined>>

/** `path?name=value…`; values that are null, undefined or empty are left out. */
export function withQuery(path: string, values: Values): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    if (value !== null && value !== undefined && value !== '') query.set(name, String(value))
  }
  return query.size === 0 ? path : `${path}?${query}`
}

/** Returns the part unchanged if it has a stray percent sign. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
