// The manual as pages: each guide with its outline, and the search index over all of them. It needs no sign-in.

import { Elysia } from 'elysia'

import { routeOf, type Operation } from '../api/operation.ts'
import { RelayError } from '../domain/errors.ts'
import type { Section } from '../domain/manual-search.ts'
import { GUIDES, GUIDE_GROUPS, type Guide, findGuide } from '../guides/guides.ts'
import { once } from '../system/memoize.ts'
import { ASKED_AGAIN, HIDDEN, answerPage } from './manual-page.ts'
import { answerFile, packFile, served } from './static-file.ts'
import { operationAddress } from './swagger.ts'

/** `operations` can be found, too. */
export function guideRoutes(operations: readonly Operation[]) {
  const index = once(async () => {
    const sections = [...GUIDES.flatMap(sectionsOf), ...operations.flatMap(sectionOfOperation)]
    const bytes = new TextEncoder().encode(JSON.stringify(sections))
    return served(await packFile({ path: '', type: 'application/json', bytes }, 'quick'))
  })
  const [first] = GUIDES
  return new Elysia()
    .get('/guide', ({ request }) => answerGuide(request, first?.name ?? ''), HIDDEN)
    .get('/guide/:name', ({ request, params }) => answerGuide(request, params.name), HIDDEN)
    .get(
      '/guide/search.json',
      async ({ request }) => answerFile(request, await index(), ASKED_AGAIN),
      HIDDEN,
    )
}

function answerGuide(request: Request, name: string): Response {
  const guide = findGuide(name)
  if (guide === null) throw new RelayError('not_found', `There is no guide "${name}".`)
  const html = htmlOf(guide)
  return answerPage(request, {
    title: guide.title,
    place: 'Guides',
    contents: GUIDE_GROUPS.map(({ title, guides }) => ({
      title,
      links: guides.map((each) => ({ ...linkTo(each), isCurrent: each === guide })),
    })),
    main: `<article class="prose">${html}</article>${neighbors(guide)}`,
    aside: outlineOf(html),
  })
}

const linkTo = ({ name, title }: Guide) => ({ href: `/guide/${name}`, text: title })

function htmlOf({ text }: Guide): string {
  return Bun.markdown
    .html(linked(text), { headings: true })
    .replaceAll(/<h1 id="[^"]*"><a [^>]*>(.*?)<\/a><\/h1>/g, '<h1>$1</h1>')
    .replaceAll(/<table>[^]*?<\/table>/g, foldable)
    .replaceAll(/<pre>[^]*?<\/pre>/g, (code) => {
      return `<div class="code">${code.replace('<pre>', '<pre tabindex="0">')}</div>`
    })
}

/** Makes links to other guides absolute, so that they also work at `/guide`, and leads to the pictures. */
function linked(text: string): string {
  return text
    .replaceAll(/\]\(([a-z0-9-]+)(#[a-z0-9-]*)?\)/g, '](/guide/$1$2)')
    .replaceAll(/\]\(([a-z-]+\.svg)\)/g, '](/swagger/$1)')
}

/** On a phone, each row of a table is a block whose cells carry the names of their columns. */
function foldable(table: string): string {
  const names = [...table.matchAll(/<th[^>]*>(.*?)<\/th>/g)].map(([, name = '']) => textOf(name))
  // A cell without words names no column.
  return table.replaceAll('<th></th>', '<td></td>').replaceAll(/<tr>[^]*?<\/tr>/g, (row) => {
    let column = -1
    return row.replaceAll('<td', (cell) => {
      column += 1
      const name = column === 0 ? '' : (names[column] ?? '')
      return name === '' ? cell : `${cell} data-title="${Bun.escapeHTML(name)}"`
    })
  })
}

const HEADING = /<h([23]) id="([^"]*)"><a [^>]*>(.*?)<\/a><\/h[23]>/g

function outlineOf(html: string): string {
  const links = [...html.matchAll(HEADING)].map(([, level = '', id = '', name = '']) => {
    return `<li class="level-${level}"><a href="#${id}">${Bun.escapeHTML(textOf(name))}</a></li>`
  })
  if (links.length < 2) return ''
  return `<nav class="outline" aria-labelledby="outline"><p id="outline">On this page</p><ul>${links.join('')}</ul></nav>`
}

function neighbors(guide: Guide): string {
  const place = GUIDES.indexOf(guide)
  const link = (other: Guide | undefined, words: string) => {
    if (other === undefined) return ''
    const { href, text } = linkTo(other)
    return `<a href="${href}"><span>${words}</span>${Bun.escapeHTML(text)}</a>`
  }
  const links = [link(GUIDES[place - 1], 'Previous'), link(GUIDES[place + 1], 'Next')]
  return `<nav class="neighbors" aria-label="Other guides">${links.join('')}</nav>`
}

/** The guide's text before its first heading, and below each heading. */
function sectionsOf(guide: Guide): readonly Section[] {
  const [start = '', ...rest] = htmlOf(guide).split(/(?=<h[23] id=)/)
  const { href, text: place } = linkTo(guide)
  const parts = rest.map((part) => {
    const [heading = '', , id = '', name = ''] = [...part.matchAll(HEADING)][0] ?? []
    const text = textOf(part.slice(heading.length))
    return { href: `${href}#${id}`, place, heading: textOf(name), text }
  })
  return [{ href, place, heading: '', text: textOf(start.replace(/<h1>.*?<\/h1>/, '')) }, ...parts]
}

function sectionOfOperation(operation: Operation): readonly Section[] {
  if (!('tag' in operation)) return []
  const { summary, description } = operation
  const { method, path } = routeOf(operation)
  const text = textOf(`${method} ${path} ${description.replaceAll('`', '')}`)
  return [{ href: operationAddress(operation), place: 'API', heading: summary, text }]
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
}

function textOf(html: string): string {
  return html
    .replaceAll(/<\/(td|th|li|p|pre|h\d)>/g, ' ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&[#\w]+;/g, (entity) => ENTITIES[entity] ?? entity)
    .replaceAll(/\s+/g, ' ')
    .trim()
}
