// Small pages such as "Page not found". They need no sign-in, no script and no other files.

import { respond } from './respond.ts'

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
