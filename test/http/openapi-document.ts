// The OpenAPI document as tests read it: everything that it says, by its path.

import { startHttp } from './http-relay.ts'

export type Node = Readonly<Record<string, unknown>>
export type Place = { readonly path: string; readonly node: Node }

/** What clients are made of, and what the page shows: that and the routes for shortcuts. */
export const DOCUMENTS = ['/swagger/json', '/swagger/whole.json'] as const

const documents = new Map<string, Promise<Node>>()

/** The document of a relay without a public url, made once: that takes longer than all that is asked of it. */
export function readDocument(path: (typeof DOCUMENTS)[number]): Promise<Node> {
  const document = documents.get(path) ?? makeDocument(path)
  documents.set(path, document)
  return document
}

async function makeDocument(path: string): Promise<Node> {
  await using rig = await startHttp({ environment: { HOOKLINE_PUBLIC_URL: '' } })
  const response = await rig.call('GET', path)
  return (await response.json()) as Node
}

/** Each object within `node`, itself included. */
export function placesIn(node: unknown, path = ''): readonly Place[] {
  if (typeof node !== 'object' || node === null) return []
  const inner = Object.entries(node).flatMap(([name, value]) =>
    placesIn(value, `${path}/${name.replaceAll('/', '~1')}`),
  )
  return Array.isArray(node) ? inner : [{ path, node: node as Node }, ...inner]
}

/** Each schema within `node` and what it points at, each named schema once. */
export function schemasFrom(document: Node, node: unknown): readonly Place[] {
  const found = new Map<string, Node>()
  const visit = (value: unknown, path: string): void => {
    for (const place of placesIn(value, path)) {
      const { $ref } = place.node
      if (isSchemaPath(place.path)) found.set(place.path, place.node)
      if (typeof $ref !== 'string' || found.has($ref)) continue
      found.set($ref, at(document, $ref))
      visit(at(document, $ref), $ref)
    }
  }
  visit(node, '#')
  return [...found].map(([path, schema]) => ({ path, node: schema }))
}

/** What a reference such as `#/components/schemas/Key` points at. */
export function at(document: Node, ref: string): Node {
  const steps = ref
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/'))
  return steps.reduce<Node>((node, step) => objectAt(node, step), document)
}

export function objectAt(node: Node, name: string): Node {
  const value = node[name]
  return typeof value === 'object' && value !== null ? (value as Node) : {}
}

/** Examples hold values, which only look like schemas. */
function isSchemaPath(path: string): boolean {
  if (/\/examples?\//.test(path)) return false
  return /\/(schema|schemas\/[^/]+|properties\/[^/]+|items|anyOf\/\d+)$/.test(path)
}
