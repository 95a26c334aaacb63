// The frame around the guides and the API page: the bar at the top, the contents beside the text, and the files that
// both load. Pages work without scripts, except search, copying and marks.

import { Elysia } from 'elysia'

import { RelayError } from '../domain/errors.ts'
import { once } from '../system/memoize.ts'
import { pageHeaders } from './html-pages.ts'
import { manualFiles } from './manual-files.ts'
import { respondTo } from './respond.ts'
import { answerFile, served } from './static-file.ts'

export type Link = {
  readonly href: string
  readonly text: string
  readonly isCurrent?: boolean
  /** The method of an operation. */
  readonly mark?: string
}
export type LinkGroup = { readonly title: string; readonly links: readonly Link[] }

type ManualPage = {
  readonly title: string
  /** The entry of the top bar that is marked. */
  readonly place: 'Guides' | 'API'
  readonly contents: readonly LinkGroup[]
  /** HTML within `head`. */
  readonly head?: string
  /** HTML of the main part, inside a `mainTag` element, and of what stands beside it. */
  readonly main: string
  readonly mainTag?: 'main' | 'div'
  readonly aside?: string
  /** Sources of styles in the policy, beside `'self'`. */
  readonly moreStyles?: string
}

/** Browsers revalidate the files, because their names stay the same after an upgrade. */
export const ASKED_AGAIN = { 'cache-control': 'no-cache' }
export const HIDDEN = { detail: { hide: true } }

const MARK =
  '<svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8"/>' +
  '<path d="M9 8v9a6 6 0 0 0 6 6h1a6 6 0 0 0 6-6v-1M18.5 18.5 22 15l3.5 3.5"/></svg>'
const SEARCH = `<search class="manual-search"><input class="input" type="search" placeholder="Search" spellcheck="false"
autocomplete="off" role="combobox" aria-label="Search the manual" aria-expanded="false" aria-controls="found"
aria-autocomplete="list"><kbd aria-hidden="true">/</kbd><div id="found" role="listbox" aria-label="Results" hidden></div>
<p role="status"></p></search>`

export function answerPage(request: Request, page: ManualPage): Response {
  const {
    title,
    place,
    contents,
    head = '',
    main,
    mainTag = 'main',
    aside = '',
    moreStyles = '',
  } = page
  const links = linkList(contents)
  const places = [
    { href: '/guide', text: 'Guides' },
    { href: '/swagger', text: 'API' },
  ].map(({ href, text }) => linkOf({ href, text, isCurrent: text === place }))
  const body = `<!doctype html><html lang="en"><meta charset="utf-8">
<title>${Bun.escapeHTML(title)} · Hookline</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="/icon.svg">${head}
<link rel="stylesheet" href="/swagger/manual.css">
<script type="module" blocking="render" src="/swagger/manual.js"></script>
<body class="manual"><a class="skip-link" href="#main">Skip to main content</a>
<header class="manual-bar"><a class="brand" href="/guide">${MARK}Hookline</a>
<nav aria-label="Documentation">${places.join('')}</nav>${SEARCH}
<a class="manual-home" href="/">Dashboard</a></header>
<details class="manual-fold"><summary>Contents</summary><nav aria-label="All contents">${links}</nav></details>
<div class="manual-page"><nav class="manual-contents" aria-label="Contents" tabindex="-1">${links}</nav>
<${mainTag} id="main" tabindex="-1">${main}</${mainTag}>${aside}</div></body></html>`
  return respondTo(request, body, { headers: headersFor(moreStyles) })
}

function linkList(groups: readonly LinkGroup[]): string {
  return groups
    .map(({ title, links }) => {
      const items = links.map((link) => `<li>${linkOf(link)}</li>`).join('')
      return `<p>${Bun.escapeHTML(title)}</p><ul>${items}</ul>`
    })
    .join('')
}

function linkOf({ href, text, isCurrent = false, mark }: Link): string {
  const more = mark === undefined ? '' : `<span class="method">${mark}</span>`
  return `<a href="${href}"${isCurrent ? ' aria-current="page"' : ''}>${Bun.escapeHTML(text)}${more}</a>`
}

function headersFor(moreStyles: string) {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${moreStyles}`,
    "font-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  return pageHeaders(policy.join('; '))
}

export function manualFileRoutes() {
  const files = once(async () => {
    return new Map((await manualFiles()).map((file) => [file.path, served(file)]))
  })
  return new Elysia().get(
    '/swagger/:name',
    async ({ request, params }) => {
      const file = (await files()).get(`/swagger/${params.name}`)
      if (file === undefined) {
        throw new RelayError('not_found', 'There is no such file of the page.')
      }
      return answerFile(request, file, ASKED_AGAIN)
    },
    HIDDEN,
  )
}
