// The guides and small pages such as "Page not found". They need no sign-in, no script and no other files.

import { Elysia } from 'elysia'

import { RelayError } from '../domain/errors.ts'
import { GUIDES, type Guide, findGuide } from '../guides/guides.ts'
import { respond, respondTo } from './respond.ts'

type SmallPage = {
  readonly title: string
  /** Paragraphs in HTML, with other text already escaped. */
  readonly paragraphs: readonly string[]
}

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:12vh auto;padding:0 1.25rem}' +
  'h1{font-size:1.5rem}'
const HEADERS = headersFor(STYLE)

/** True for a browser, false for a program. */
export function wantsPage(request: Request): boolean {
  return (request.headers.get('accept') ?? '').includes('text/html')
}

export function smallPage(
  { title, paragraphs }: SmallPage,
  answer: Parameters<typeof respond>[1],
): Response {
  const body = [
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title} · Hookline</title>`,
    '<meta name="viewport" content="width=device-width">',
    '<meta name="color-scheme" content="light dark">',
    `<style>${STYLE}</style><h1>${title}</h1>`,
    ...paragraphs.map((paragraph) => `<p>${paragraph}</p>`),
    '</html>',
  ]
  return respond(body.join('\n'), { ...answer, headers: { ...HEADERS, ...answer.headers } })
}

/** Headers of a page whose only style is `style`. */
function headersFor(style: string) {
  const hash = new Bun.CryptoHasher('sha256').update(style).digest('base64')
  return pageHeaders(`default-src 'none'; style-src 'sha256-${hash}'; frame-ancestors 'none'`)
}

/** Headers of a page in HTML; `policy` is its Content-Security-Policy. */
export function pageHeaders(policy: string) {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
  }
}

const GUIDE_STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentcolor 18%, transparent) }
body { font: 16px/1.6 system-ui, sans-serif; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; max-width: 62rem;
  display: grid; gap: 0 3rem; grid-template-columns: 12rem minmax(0, 1fr) }
nav { font-size: .9rem; line-height: 2; position: sticky; top: 1.5rem; align-self: start }
nav a { display: block; color: inherit; text-decoration: none }
nav a:hover, nav a[aria-current] { text-decoration: underline }
h1 { font-size: 1.75rem; line-height: 1.25; margin-top: 0 }
h2 { font-size: 1.25rem; margin-top: 2.5rem }
table { border-collapse: collapse; display: block; overflow-x: auto; font-size: .9rem }
th, td { border-bottom: 1px solid var(--line); padding: .4rem 1rem .4rem 0; text-align: left; vertical-align: top }
code { font: .875em ui-monospace, monospace; overflow-wrap: anywhere }
td:first-child code { white-space: nowrap }
pre { border: 1px solid var(--line); border-radius: 6px; overflow-x: auto; padding: .75rem 1rem }
pre code { overflow-wrap: normal }
@media (max-width: 48rem) { body { display: block } nav { position: static; margin-bottom: 2rem } nav a { display: inline; margin-right: 1rem } }
`
const GUIDE_HEADERS = headersFor(GUIDE_STYLE)

export function guideRoutes() {
  const hidden = { detail: { hide: true } }
  const [first] = GUIDES
  return new Elysia()
    .get('/guide', ({ request }) => answerGuide(request, first?.name ?? ''), hidden)
    .get('/guide/:name', ({ request, params }) => answerGuide(request, params.name), hidden)
}

function answerGuide(request: Request, name: string): Response {
  const guide = findGuide(name)
  if (guide === null) throw new RelayError('not_found', `There is no guide "${name}".`)
  return respondTo(request, pageOf(guide), { headers: GUIDE_HEADERS })
}

function pageOf(guide: Guide): string {
  const links = GUIDES.map(({ name, title }) => {
    const current = name === guide.name ? ' aria-current="page"' : ''
    return `<a href="/guide/${name}"${current}>${Bun.escapeHTML(title)}</a>`
  })
  return [
    '<!doctype html><html lang="en"><meta charset="utf-8">',
    `<title>${Bun.escapeHTML(guide.title)} · Hookline</title>`,
    '<meta name="viewport" content="width=device-width">',
    `<style>${GUIDE_STYLE}</style>`,
    `<nav aria-label="Guides"><a href="/">Dashboard</a>${links.join('')}</nav>`,
    `<main>${Bun.markdown.html(linked(guide.text), { headings: { ids: true } })}</main></html>`,
  ].join('\n')
}

/** Makes links to other guides absolute, so that they also work at `/guide`. */
function linked(text: string): string {
  return text.replaceAll(/\]\(([a-z0-9-]+)(#[a-z0-9-]*)?\)/g, '](/guide/$1$2)')
}
