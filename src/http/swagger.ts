// The API page: swagger-ui over the OpenAPI document, with the operations beside it. All files come from this relay.

import { Elysia } from 'elysia'

import { TAGS, routeOf, type Operation } from '../api/operation.ts'
import { HIDDEN, answerPage, type LinkGroup } from './manual-page.ts'
import { respondTo } from './respond.ts'

/** The rules of swagger-ui come first, in a layer of their own, so that each rule of ours wins. */
const HEAD = `
<style>@layer stock, plain, base, shell, components, manual, api; @import '/swagger/swagger-ui.css' layer(stock);</style>
<link rel="stylesheet" href="/swagger/api-page.css">
<script defer src="/swagger/swagger-ui-bundle.js"></script>
<script type="module" src="/swagger/api-page.js"></script>`

const MAIN = `<section class="prose" aria-labelledby="api">
<h1 id="api">API</h1>
<p>Every route, with a form to try it and its request in curl, TypeScript and Python. Start with <a href="/guide/api">the
guide</a>; clients are made from <a href="/swagger/json">the OpenAPI document</a>.</p>
<noscript><p>The routes are shown by a script.</p></noscript>
</section>
<section class="key-panel" aria-labelledby="key-panel"><h2 id="key-panel">Key for the forms</h2>
<p id="key-state" role="status"></p>
<form id="own-key" hidden><label>Your dashboard password <input class="input" type="password" name="password"
autocomplete="current-password"></label><button class="button button-main">Use a key for one hour</button></form>
<form id="given-key"><label>X-API-Key <input class="input" name="key" autocomplete="off" spellcheck="false"></label>
<label>X-API-Secret <input class="input" type="password" name="secret" autocomplete="off"></label>
<button class="button">Use this key</button></form></section>
<div id="swagger-ui"></div>`

/** The place of an operation in the page, by which swagger-ui knows it. */
export function operationAddress({ id, tag }: { readonly id: string; readonly tag: string }) {
  return `/swagger#/${encodeURIComponent(tag)}/${id}`
}

/** `api` is for generated clients; `whole` also has the routes for shortcuts. */
export function swaggerRoutes(
  documents: Readonly<Record<'api' | 'whole', () => Promise<string>>>,
  operations: readonly Operation[],
) {
  const contents = Object.keys(TAGS).map((title) => ({ title, links: linksOf(operations, title) }))
  const page = {
    title: 'API',
    place: 'API',
    contents: contents.filter(({ links }) => links.length > 0),
    head: HEAD,
    main: MAIN,
    // swagger-ui has a `main` of its own.
    mainTag: 'div',
    // swagger-ui sets styles of single elements.
    moreStyles: " 'unsafe-inline'",
  } as const
  return new Elysia()
    .get('/swagger', ({ request }) => answerPage(request, page), HIDDEN)
    .get('/swagger/json', async ({ request }) => respondTo(request, await documents.api()), HIDDEN)
    .get(
      '/swagger/whole.json',
      async ({ request }) => respondTo(request, await documents.whole()),
      HIDDEN,
    )
}

function linksOf(operations: readonly Operation[], tag: string): LinkGroup['links'] {
  return operations.flatMap((operation) => {
    if (!('tag' in operation) || operation.tag !== tag) return []
    const { method } = routeOf(operation)
    return [{ href: operationAddress(operation), text: operation.summary, mark: method }]
  })
}
