// The API page: swagger-ui over the OpenAPI document. All files come from this relay.

import { Elysia } from 'elysia'

import { pageHeaders } from './html-pages.ts'
import { respondTo } from './respond.ts'
import { answerFile, served, type Served } from './static-file.ts'
import { swaggerFile, type SwaggerFileName } from './swagger-files.ts'

const PAGE_HEADERS = pageHeaders(
  [
    "default-src 'none'",
    "script-src 'self'",
    // swagger-ui sets styles of single elements.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
)

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Hookline API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/swagger/swagger-ui.css">
<style>
.to-dashboard { max-width: 1460px; margin: 0 auto; padding: 16px 20px 0; font: 15px/1.5 system-ui, sans-serif }
.to-dashboard a { color: light-dark(#2457d6, #7fa8ff) }
</style>
<script src="/swagger/start.js"></script>
</head>
<body>
<nav class="to-dashboard"><a href="/">← Back to the dashboard</a></nav>
<div id="swagger-ui"></div>
<script src="/swagger/swagger-ui-bundle.js"></script>
</body>
</html>
`

/** Chooses light or dark before anything is drawn: by the system, or by the dashboard's settings. */
const START = `const dark = matchMedia('(prefers-color-scheme: dark)')
function chosenTheme() {
  try {
    return localStorage.getItem('hookline-theme')
  } catch {
    return null // A browser that blocks storage.
  }
}
function showTheme() {
  const isDark = dark.matches ? chosenTheme() !== 'light' : chosenTheme() === 'dark'
  const root = document.documentElement
  root.classList.toggle('dark-mode', isDark)
  root.style.colorScheme = isDark ? 'dark' : 'light'
}
showTheme()
dark.addEventListener('change', showTheme)
addEventListener('storage', showTheme)
addEventListener('DOMContentLoaded', () =>
  SwaggerUIBundle({
    url: '/swagger/whole.json',
    dom_id: '#swagger-ui',
    deepLinking: true,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    validatorUrl: null,
  }),
)
`

const START_HEADERS = { 'content-type': 'text/javascript; charset=utf-8' }

/** Browsers revalidate the files, because their names stay the same after an upgrade. */
const ASKED_AGAIN = { 'cache-control': 'no-cache' }

/** `api` is for generated clients; `whole` also has the routes for shortcuts. */
export function swaggerRoutes(documents: Readonly<Record<'api' | 'whole', () => Promise<string>>>) {
  const hidden = { detail: { hide: true } }
  const files = new Map<SwaggerFileName, Promise<Served>>()
  const file = (name: SwaggerFileName): Promise<Served> => {
    const found = files.get(name) ?? swaggerFile(name).then(served)
    files.set(name, found)
    return found
  }
  return new Elysia()
    .get('/swagger', ({ request }) => respondTo(request, PAGE, { headers: PAGE_HEADERS }), hidden)
    .get('/swagger/json', async ({ request }) => respondTo(request, await documents.api()), hidden)
    .get(
      '/swagger/whole.json',
      async ({ request }) => respondTo(request, await documents.whole()),
      hidden,
    )
    .get(
      '/swagger/start.js',
      ({ request }) => respondTo(request, START, { headers: START_HEADERS }),
      hidden,
    )
    .get(
      '/swagger/swagger-ui-bundle.js',
      async ({ request }) => answerFile(request, await file('script'), ASKED_AGAIN),
      hidden,
    )
    .get(
      '/swagger/swagger-ui.css',
      async ({ request }) => answerFile(request, await file('style'), ASKED_AGAIN),
      hidden,
    )
}
