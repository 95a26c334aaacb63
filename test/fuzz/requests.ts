// Requests from the relay's own OpenAPI document: most of each fits, and something of it does not.

import * as fc from 'fast-check'

import { hostileText, hostileValue, valueOf, type Schema, type Schemas } from './schema-values.ts'

type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema?: Schema
}

type Operation = {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: Schema } }
  }
  readonly responses: Readonly<Record<string, unknown>>
}

export type ApiDocument = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas?: Schemas }
}

/** A part of a path: words, or one of the ids that the relay answered with. */
export type PathPart = string | { readonly known: number; readonly prefix: string }

export type FuzzRequest = {
  readonly operationId: string
  readonly method: string
  readonly path: readonly PathPart[]
  readonly query: readonly (readonly [name: string, value: string])[]
  readonly headers: Readonly<Record<string, string>>
  /** Null if none is sent. */
  readonly body: string | Uint8Array<ArrayBuffer> | null
  /** `limited` are those of a key with one line, few scopes and rules. */
  readonly credentials: 'good' | 'limited' | 'none' | 'wrong'
}

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const JSON_TYPE = 'application/json'
const BODY_BYTES_MAX = 256 * 1_024

/** What no error may show: places in the program, SQL, and paths of the machine. */
export const LEAK =
  /\$bunfs|node_modules|\.ts:\d|\bat .+:\d+:\d+|SQLITE_|SELECT |INSERT |\/(tmp|home|root)\//

/** Any request of any operation in `document`. */
export function requestsOf(document: ApiDocument): fc.Arbitrary<FuzzRequest> {
  const schemas = document.components.schemas ?? {}
  const all = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) =>
      requestOf({ method: method.toUpperCase(), path, operation }, schemas),
    ),
  )
  return fc.oneof(...all)
}

type Route = {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

function requestOf(route: Route, schemas: Schemas): fc.Arbitrary<FuzzRequest> {
  const { operation } = route
  const inQuery = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query')
  const inHeader = (operation.parameters ?? []).filter((parameter) => parameter.in === 'header')
  const schema = operation.requestBody?.content[JSON_TYPE]?.schema
  return fc.record({
    operationId: fc.constant(operation.operationId),
    method: mostly(fc.constant(route.method), fc.constantFrom(...METHODS), 30),
    path: pathOf(route.path),
    query: queryOf(inQuery, schemas),
    headers: headersOf(inHeader, schema !== undefined),
    body:
      schema === undefined ? mostly(fc.constant(null), spoiltBody, 30) : bodyOf(schema, schemas),
    credentials: mostly(
      fc.constantFrom('good', 'good', 'good', 'limited'),
      fc.constantFrom('none', 'wrong'),
      30,
    ),
  })
}

function pathOf(path: string): fc.Arbitrary<readonly PathPart[]> {
  const parts = path.split('/').map((part) => {
    if (!part.startsWith('{')) return fc.constant<PathPart>(part)
    const known = fc.nat().map((number) => ({ known: number, prefix: prefixFor(path) }))
    return mostly<PathPart>(known, hostileText.map(encoded), 4)
  })
  return fc.tuple(...parts)
}

/** What the ids in a path begin with. */
function prefixFor(path: string): string {
  const prefixes = {
    'webhook-deliveries': 'dlv',
    webhooks: 'wh',
    keys: 'key',
    messages: 'msg',
    bridges: 'brg',
  }
  const found = Object.entries(prefixes).find(([word]) => path.includes(`/${word}/`))
  return found?.[1] ?? (path.includes('/conversations/') ? 'conv' : 'line')
}

function queryOf(parameters: readonly Parameter[], schemas: Schemas): fc.Arbitrary<Query> {
  const pairs = parameters.map(({ name, schema }) => {
    const good = valueOf(schema ?? {}, schemas).map(String)
    const pair = mostly(good, shortHostileText, 5).map((value) => [name, value] as const)
    return fc.option(pair, { freq: 3 })
  })
  const stranger = fc.tuple(fc.constantFrom('limit', 'limits', '__proto__', ''), shortHostileText)
  return fc
    .tuple(fc.tuple(...pairs), mostly(fc.constant(null), stranger, 20))
    .map(([known, extra]) => [...known, extra].filter((pair) => pair !== null))
}

type Query = FuzzRequest['query']

function headersOf(
  parameters: readonly Parameter[],
  hasBody: boolean,
): fc.Arbitrary<Readonly<Record<string, string>>> {
  const told = parameters.map(({ name }) =>
    fc.option(headerText(name), { freq: 2 }).map((value) => [name, value] as const),
  )
  const types = [JSON_TYPE, 'APPLICATION/JSON; charset=utf-8', 'text/plain', 'application/xml', '']
  const type = mostly(fc.constant(hasBody ? JSON_TYPE : ''), fc.constantFrom(...types), 15)
  return fc.tuple(type, ...told).map(([contentType, ...headers]) => {
    const all = [['Content-Type', contentType] as const, ...headers]
    return Object.fromEntries(all.filter(([, value]) => value !== null && value !== '')) as Record<
      string,
      string
    > // The nulls are filtered out.
  })
}

/** Only what HTTP allows in a header; waits are kept short, so that a run does not take hours. */
function headerText(name: string): fc.Arbitrary<string> {
  if (name === 'Prefer') {
    return fc.constantFrom('respond-async', 'wait=0', 'wait=1', 'wait=-1', 'wait=x', 'wait', ',,;=')
  }
  const printable = fc.string({
    unit: fc.integer({ min: 33, max: 126 }).map(charOf),
    maxLength: 60,
  })
  return mostly(printable, fc.constantFrom('x'.repeat(300), 'a b', 'same', 'same', '"'), 4)
}

function bodyOf(schema: Schema, schemas: Schemas): fc.Arbitrary<FuzzRequest['body']> {
  const good = valueOf(schema, schemas)
  const bent = fc
    .tuple(good, fc.constantFrom(...namesIn(schema, schemas)), hostileValue)
    .map(([value, name, hostile]) => ({ ...Object(value), [name]: hostile }))
  const text = fc.oneof({ weight: 5, arbitrary: good }, { weight: 4, arbitrary: bent }).map(asJson)
  return mostly<FuzzRequest['body']>(text, spoiltBody, 8)
}

function namesIn(schema: Schema, schemas: Schemas): readonly string[] {
  const whole =
    schema.$ref === undefined ? schema : (schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {})
  return [...Object.keys(whole.properties ?? {}), 'stranger', '__proto__', '']
}

export const spoiltBody: fc.Arbitrary<FuzzRequest['body']> = fc.oneof(
  fc.constantFrom<FuzzRequest['body']>(
    '',
    '{',
    '{"a":1,}',
    'null',
    '[]',
    '"text"',
    '42',
    '{"to":"+12025550123","to":1}',
    '{"__proto__":{"isAdmin":true}}',
    '\ufeff{}',
    '['.repeat(30_000),
    `{"text":"${'x'.repeat(BODY_BYTES_MAX)}"}`,
    new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
    new Uint8Array([0x1f, 0x8b, 0x08, 0x00]),
  ),
  hostileValue.map(asJson),
)

function asJson(value: unknown): string {
  return JSON.stringify(value) ?? 'null'
}

/** One in `oneIn` is the other. */
export function mostly<T>(
  usual: fc.Arbitrary<T>,
  other: fc.Arbitrary<T>,
  oneIn: number,
): fc.Arbitrary<T> {
  return fc.oneof({ weight: oneIn - 1, arbitrary: usual }, { weight: 1, arbitrary: other })
}

/** Heads of more than 16 KiB are refused by Bun itself, with a bare 431, before we see them. */
const shortHostileText = hostileText.map((text) => text.slice(0, 1_000))

export function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).slice(0, 400)
}

function charOf(code: number): string {
  return String.fromCharCode(code)
}
