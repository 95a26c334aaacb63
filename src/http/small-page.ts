// Pages that stand alone, without the dashboard's files: a heading, and paragraphs below it.

import { respond } from './respond.ts'

type SmallPage = {
  readonly title: string
  /** Paragraphs in HTML, with text from elsewhere already escaped. */
  readonly paragraphs: readonly string[]
}

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:12vh auto;padding:0 1.25rem}' +
  'h1{font-size:1.5rem}'

/** True for a browser, false for a program. */
export function wantsPage(request: Request): boolean {
  return (request.headers.get('accept') ?? '').includes('text/html')
}

export function smallPage(
  { title, paragraphs }: SmallPage,
  answer: {
    readonly status: number
    readonly requestId: string
    readonly headers?: Readonly<Record<string, string>>
  },
): Response {
  const body = [
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title} · Hookline</title>`,
    '<meta name="viewport" content="width=device-width">',
    '<meta name="color-scheme" content="light dark">',
    `<style>${STYLE}</style><h1>${title}</h1>`,
    ...paragraphs.map((paragraph) => `<p>${paragraph}</p>`),
    '</html>',
  ]
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; style-src 'sha256-${hashOf(STYLE)}'`,
    'cross-origin-opener-policy': 'same-origin',
    ...answer.headers,
  }
  return respond(body.join('\n'), { ...answer, headers })
}

function hashOf(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('base64')
}
