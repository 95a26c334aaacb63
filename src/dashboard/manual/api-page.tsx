// Runs swagger-ui with faster loading, request snippets in three languages, and a button that creates a key.

import { render } from 'preact'

import { offerKey } from './key-panel.ts'
import { RequestSnippets } from './request-snippets.tsx'
import { credentialsFor, exampleCall, type Call, type Described } from './snippets.ts'

type Node = Readonly<Record<string, unknown>>

declare const SwaggerUIBundle: (options: object) => {
  readonly preauthorizeApiKey: (scheme: string, value: string) => void
  readonly layoutActions: { readonly parseDeepLinkHash: (hash: string) => void }
}

/** The system that swagger-ui gives its components. */
type System = {
  readonly React: {
    readonly createElement: (type: unknown, properties: object | null, ...more: object[]) => object
  }
  readonly fn: { readonly getSampleSchema: (schema: object, type: string) => string }
}
type Properties = {
  readonly path: string
  readonly method: string
  /** The request that was sent last, as an immutable map; null before the first. */
  readonly request: { readonly toJS: () => Sent } | null
}
type Sent = Omit<Call, 'headers'> & Partial<Pick<Call, 'headers'>>

/** Requested while the script of swagger-ui is still being parsed. */
const specAnswer = fetch('/swagger/whole.json').then((response) => response.json() as Promise<Node>)
window.addEventListener('DOMContentLoaded', () => void start())

/** Attributes for keyboards and screen readers that swagger-ui leaves out. */
const MISSING = [
  ['textarea.body-param__text', 'aria-label', 'Request body'],
  ['pre.microlight', 'tabindex', '0'],
] as const

async function start(): Promise<void> {
  const spec = await specAnswer
  new MutationObserver(() => {
    for (const [selector, name, value] of MISSING) {
      for (const element of document.querySelectorAll(selector)) element.setAttribute(name, value)
    }
  }).observe(document.body, { childList: true, subtree: true })
  const swagger = SwaggerUIBundle({
    spec,
    dom_id: '#swagger-ui',
    deepLinking: true,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    validatorUrl: null,
    docExpansion: 'none',
    defaultModelsExpandDepth: -1,
    syntaxHighlight: { activated: false },
    plugins: [() => changesFor(spec)],
  })
  window.addEventListener('hashchange', () => {
    swagger.layoutActions.parseDeepLinkHash(location.hash)
    markOperation()
  })
  markOperation()
  await offerKey((key, secret) => {
    swagger.preauthorizeApiKey('apiKey', key)
    swagger.preauthorizeApiKey('apiSecret', secret)
  })
}

function markOperation(): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[href^="/swagger#"]')) {
    if (link.hash === location.hash) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
}

function changesFor(spec: Node): object {
  const nothing = () => () => null
  return {
    fn: {
      // By default, swagger-ui resolves the whole document at the start, and again for each operation that is opened.
      resolveSubtree: async (whole: Node, path: readonly string[]) => {
        return { spec: resolved(whole, at(whole, path)), errors: [] }
      },
    },
    statePlugins: {
      layout: {
        wrapActions: { scrollToElement: () => (place: Element) => place.scrollIntoView() },
      },
    },
    wrapComponents: {
      ServersContainer: nothing,
      InfoContainer: nothing,
      curl: nothing,
      // By default, this is a link inside a button.
      DeepLink: (_: unknown, { React: { createElement } }: System) => {
        return ({ text }: { readonly text: object }) => createElement('span', null, text)
      },
      responses: (Responses: unknown, { React: { createElement }, fn }: System) => {
        const sample = (schema: object) => fn.getSampleSchema(schema, 'application/json')
        return (properties: Properties) => {
          const ref = (place: Element | null) => {
            if (place === null) return
            render(<RequestSnippets call={callOf(spec, properties, sample)} />, place)
          }
          return createElement(
            'div',
            null,
            createElement('div', { ref }),
            createElement(Responses, properties),
          )
        }
      },
    },
  }
}

/** The request that was sent last, or else the example. */
function callOf(
  spec: Node,
  { path, method, request }: Properties,
  sample: (schema: object) => string,
): Call {
  const operation = resolved(spec, at(spec, ['paths', path, method])) as Described // Its own document.
  const place = { method, path, relay: location.origin }
  if (request === null) return exampleCall(place, operation, sample)
  const { headers = {}, body, ...sent } = request.toJS()
  const own = Object.entries(headers).filter(
    ([name]) => !/^(accept|x-api-key|x-api-secret|authorization)$/i.test(name),
  )
  return {
    ...sent,
    headers: { ...credentialsFor(operation.security), ...Object.fromEntries(own) },
    body: typeof body === 'string' ? body : null,
  }
}

function at(whole: Node, path: readonly string[]): unknown {
  return path.reduce<unknown>((node, name) => Object(node)[name], whole)
}

/** The node with all references replaced, except if one is within itself. */
function resolved(whole: Node, node: unknown, open: readonly string[] = []): unknown {
  if (Array.isArray(node)) return node.map((one) => resolved(whole, one, open))
  if (typeof node !== 'object' || node === null) return node
  if (!('$ref' in node)) {
    const fields = Object.entries(node).map(([name, one]) => [name, resolved(whole, one, open)])
    return Object.fromEntries(fields)
  }
  const reference = String(node.$ref)
  if (open.includes(reference)) return node
  const target = at(whole, reference.slice('#/'.length).split('/'))
  return { ...Object(resolved(whole, target, [...open, reference])), $$ref: reference }
}
