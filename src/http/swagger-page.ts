// The page over the OpenAPI document: swagger-ui from our own files, nothing from elsewhere.

import { Elysia } from 'elysia'
import bundlePath from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }

import { exchangeOf } from './exchange.ts'
import { respond } from './respond.ts'

import stylePath from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // swagger-ui sets styles of single elements.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Hookline API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/swagger/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/swagger/swagger-ui-bundle.js"></script>
<script src="/swagger/start.js"></script>
</body>
</html>
`

const START = `SwaggerUIBundle({
  url: '/swagger/whole.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  validatorUrl: null,
})
`

/** The API, of which clients are made, and the whole, which has the routes for shortcuts too. */
type Documents = Readonly<Record<'api' | 'whole', () => Promise<string>>>

/** The documents are asked for once somebody wants to read them. */
export function swaggerRoutes(documents: Documents) {
  const hidden = { detail: { hide: true } }
  return new Elysia()
    .get(
      '/swagger',
      ({ request }) => {
        const headers = {
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': POLICY,
          'referrer-policy': 'no-referrer',
        }
        return asset(request, PAGE, headers)
      },
      hidden,
    )
    .get('/swagger/json', async ({ request }) => asset(request, await documents.api(), {}), hidden)
    .get(
      '/swagger/whole.json',
      async ({ request }) => asset(request, await documents.whole(), {}),
      hidden,
    )
    .get(
      '/swagger/start.js',
      ({ request }) => asset(request, START, { 'content-type': 'text/javascript; charset=utf-8' }),
      hidden,
    )
    .get(
      '/swagger/swagger-ui-bundle.js',
      ({ request }) => file(request, bundlePath, 'text/javascript; charset=utf-8'),
      hidden,
    )
    .get(
      '/swagger/swagger-ui.css',
      ({ request }) => file(request, stylePath, 'text/css; charset=utf-8'),
      hidden,
    )
}

function file(request: Request, path: string, type: string): Response {
  return asset(request, Bun.file(path), { 'content-type': type, 'cache-control': 'max-age=3600' })
}

function asset(
  request: Request,
  body: string | Blob,
  headers: Readonly<Record<string, string>>,
): Response {
  return respond(body, { status: 200, requestId: exchangeOf(request).requestId, headers })
}
