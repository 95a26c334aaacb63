// Serves the page from the executable: its files have names that change with their content, so that
// a browser keeps them for good and asks for nothing but the page itself again.

import { Elysia } from 'elysia'

import page from '../dashboard/index.html'
import { RelayError } from '../domain/errors.ts'
import { exchangeOf } from './exchange.ts'
import { bundlePage, type PageFile } from './page-bundle.ts'
import { respond } from './respond.ts'

type Encoding = 'br' | 'gzip' | null

/** A file in all its forms, as they go out. */
type Served = {
  readonly type: string
  readonly hash: string
  readonly body: (encoding: Encoding) => Blob
}

type Files = ReadonlyMap<string, Served>

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join('; ')

const YEAR_SECONDS = 31_536_000
const KEPT = `public, max-age=${YEAR_SECONDS}, immutable`
const ASKED_AGAIN = 'no-cache'

export function pageRoutes() {
  const files = pageFiles()
  const hidden = { detail: { hide: true } }
  return new Elysia()
    .get('/', async ({ request }) => answer(request, '/', await files(true)), hidden)
    .get(
      '/assets/:name',
      async ({ request, params }) => answer(request, `/assets/${params.name}`, await files(false)),
      hidden,
    )
}

/**
 * The files that the build embedded. A run from source has none: it bundles the page each time that it
 * is opened, so that what was edited meanwhile is seen.
 */
function pageFiles(): (isOpened: boolean) => Promise<Files> {
  // scripts/build.ts puts `embedded` in the place of what Bun makes of an HTML file.
  const { embedded, index } = page as typeof page & { readonly embedded?: readonly PageFile[] }
  let known = embedded === undefined ? null : Promise.resolve(filesOf(embedded))
  let isBundling = false
  return (isOpened) => {
    if (known === null || (isOpened && embedded === undefined && !isBundling)) {
      isBundling = true
      known = bundlePage(index)
        .then(filesOf)
        .finally(() => (isBundling = false))
    }
    return known
  }
}

function filesOf(files: readonly PageFile[]): Files {
  return new Map(files.map((file) => [file.path, served(file)]))
}

/** Decodes a file when it is first asked for: most runs of the executable never serve the page. */
function served({ type, hash, brotli, gzip }: PageFile): Served {
  const bodies = new Map<Encoding, Blob>()
  const made = (encoding: Encoding): Blob => {
    if (encoding === 'br') return new Blob([Buffer.from(brotli, 'base64')])
    const bytes = Buffer.from(gzip, 'base64')
    return new Blob([encoding === 'gzip' ? bytes : Bun.gunzipSync(bytes)])
  }
  return {
    type,
    hash,
    body(encoding) {
      const body = bodies.get(encoding) ?? made(encoding)
      bodies.set(encoding, body)
      return body
    },
  }
}

function answer(request: Request, path: string, files: Files): Response {
  const file = files.get(path)
  if (file === undefined) throw new RelayError('not_found', 'There is no such file of the page.')
  const { requestId } = exchangeOf(request)
  const encoding = encodingFor(request.headers.get('accept-encoding') ?? '')
  // One form is not another byte for byte, which a strong tag promises.
  const tag = `"${file.hash}${encoding === null ? '' : `-${encoding}`}"`
  const headers = {
    'content-type': file.type,
    'cache-control': path === '/' ? ASKED_AGAIN : KEPT,
    vary: 'accept-encoding',
    etag: tag,
    'content-security-policy': POLICY,
    'referrer-policy': 'no-referrer',
  }
  if (isKnown(tag, request.headers.get('if-none-match'))) {
    return respond(null, { status: 304, requestId, headers })
  }
  const encoded = encoding === null ? headers : { ...headers, 'content-encoding': encoding }
  return respond(file.body(encoding), { status: 200, requestId, headers: encoded })
}

/** The best form that a client takes: it names those that it takes, and `q=0` takes one back. */
function encodingFor(accepted: string): Encoding {
  const names = accepted
    .toLowerCase()
    .split(',')
    .map((part) => part.replaceAll(' ', ''))
    .filter((part) => !/;q=0(\.0*)?$/.test(part))
    .map((part) => part.replace(/;.*$/, ''))
  if (names.includes('br')) return 'br'
  return names.includes('gzip') ? 'gzip' : null
}

function isKnown(tag: string, ifNoneMatch: string | null): boolean {
  if (ifNoneMatch === null) return false
  const known = ifNoneMatch.split(',').map((one) => one.trim().replace(/^W\//, ''))
  return known.includes(tag) || known.includes('*')
}
