// Serves the dashboard from the executable. Names of files change with their content, so browsers cache the
// files forever and revalidate only the HTML.

import { Elysia } from 'elysia'

import page from '../dashboard/index.html'
import { RelayError } from '../domain/errors.ts'
import { bundlePage } from './page-bundle.ts'
import { respondTo } from './respond.ts'
import { answerFile, served, type Served, type StaticFile } from './static-file.ts'

type Files = ReadonlyMap<string, Served>

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  // Images of messages are fetched with the page key, and shown from memory.
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join('; ')

const KEPT = 'public, max-age=31536000, immutable'
const ASKED_AGAIN = 'no-cache'

export function pageRoutes() {
  const files = pageFiles()
  const hidden = { detail: { hide: true } }
  return new Elysia()
    .get('/manifest.webmanifest', ({ request }) => installable(request, MANIFEST), hidden)
    .get('/icon.svg', ({ request }) => installable(request, ICON), hidden)
    .get('/', async ({ request }) => answer(request, '/', await files(true)), hidden)
    .get(
      '/assets/:name',
      async ({ request, params }) => answer(request, `/assets/${params.name}`, await files(false)),
      hidden,
    )
}

const MARK =
  '<path d="M9 8v9a6 6 0 0 0 6 6h1a6 6 0 0 0 6-6v-1M18.5 18.5 22 15l3.5 3.5" fill="none" stroke="#fff" ' +
  'stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/>'

/** The logo, with a border that a system may crop to the shape of its icons. */
const ICON = {
  type: 'image/svg+xml',
  text:
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 -8 48 48" width="512" height="512">' +
    `<path d="M-8-8h48v48H-8z" fill="#2457d6"/>${MARK}</svg>`,
}

/** Lets browsers install the dashboard as an app. */
const MANIFEST = {
  type: 'application/manifest+json',
  text: JSON.stringify({
    name: 'Hookline',
    short_name: 'Hookline',
    id: '/',
    start_url: '/',
    scope: '/',
    display: 'standalone',
    background_color: '#ffffff',
    theme_color: '#2457d6',
    icons: [
      { src: '/icon.svg', sizes: 'any', type: 'image/svg+xml', purpose: 'any' },
      { src: '/icon.svg', sizes: 'any', type: 'image/svg+xml', purpose: 'maskable' },
    ],
  }),
}

function installable(request: Request, { type, text }: typeof MANIFEST): Response {
  const headers = {
    'content-type': type,
    'cache-control': ASKED_AGAIN,
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  }
  return respondTo(request, text, { headers })
}

/**
 * The files that the build embedded. A run from source has none: it bundles the page again each time it is
 * opened, with the latest edits.
 */
function pageFiles(): (isOpened: boolean) => Promise<Files> {
  // scripts/build.ts replaces Bun's module of the HTML file with one that has `embedded`.
  const { embedded, index } = page as typeof page & { readonly embedded?: readonly StaticFile[] }
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

function filesOf(files: readonly StaticFile[]): Files {
  return new Map(files.map((file) => [file.path, served(file)]))
}

async function answer(request: Request, path: string, files: Files): Promise<Response> {
  const file = files.get(path)
  if (file === undefined) throw new RelayError('not_found', 'There is no such file of the page.')
  return answerFile(request, file, {
    'cache-control': path === '/' ? ASKED_AGAIN : KEPT,
    'content-security-policy': POLICY,
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
  })
}
