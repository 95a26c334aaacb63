// The OpenAPI document. The raw document of @elysiajs/swagger claims 3.0 but uses 3.1, lists three content types
// for every body, and lacks path parameters; this makes it valid.

import { swagger } from '@elysiajs/swagger'
import { Elysia } from 'elysia'

import { TAGS } from '../api/operation.ts'
import { LINE_DRIVER } from '../api/phone-lines.ts'
import { AS_FORM, IN_DOCUMENT } from '../api/schema.ts'
import type { LineKind } from '../lines/line-kind.ts'
import { type Binding, routesOf } from './bind.ts'
import { documentationOf } from './documentation.ts'

const RAW_PATH = '/raw'
const DESCRIPTION = `A self-hosted iMessage relay. Every route under \`/api/v1\` takes the two headers
\`X-API-Key\` and \`X-API-Secret\`. Errors are
\`{"error": {"code", "message", "details"?, "doc_url", "request_id"}}\`, and every answer carries an
\`X-Request-Id\`, under which the relay's log has details. A key may be limited to
some scopes, lines and recipients: \`x-required-scope\` of an operation is the scope that it needs.

Requests are closed: a field that is not listed here is refused. Answers are open: a later version may
add fields, and values to every schema whose name begins with \`Any\`. Ignore what you do not know.`

/** The version of the API. The document is public, so it doesn't show the version of the relay. */
const API_VERSION = '1.0.0'

const SECURITY_SCHEMES = {
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
  apiSecret: { type: 'apiKey', in: 'header', name: 'X-API-Secret' },
  bridgeToken: { type: 'http', scheme: 'bearer' },
} as const
const BOTH_HEADERS = { apiKey: [], apiSecret: [] }

/** The document of these operations as JSON text. */
export async function openApiDocument(
  bindings: readonly Binding[],
  kinds: readonly LineKind[],
  server: string,
): Promise<string> {
  const documented = new Elysia()
    .use(routesOf(bindings, () => {}, documentationOf))
    .use(swagger({ path: '/page', specPath: RAW_PATH, exclude: [RAW_PATH, '/page', /^\/swagger/] }))
  const response = await documented.handle(new Request(`http://localhost${RAW_PATH}`))
  const words = kinds.map(({ name }) => name)
  const withWords = (_: string, value: Json) =>
    objectIn(value)['title'] === LINE_DRIVER ? { ...objectIn(value), enum: words } : value
  const raw = JSON.parse(await response.text(), withWords) as JsonObject // The plugin's document.
  return JSON.stringify(validDocument(objectIn(raw['paths']), server))
}

function validDocument(raw: JsonObject, server: string): object {
  const components = new Components()
  const operations = Object.values(raw).flatMap((path) => Object.values(objectIn(path)))
  const paths = mapObject(raw, (path) => {
    return mapObject(path, (operation) => validOperation(operation, components))
  })
  return {
    openapi: '3.1.0',
    info: {
      title: 'Hookline API',
      version: API_VERSION,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: server }],
    tags: Object.entries(TAGS)
      .filter(([name]) =>
        operations.some((operation) => listIn(objectIn(operation)['tags']).includes(name)),
      )
      .map(([name, description]) => ({ name, description })),
    security: [BOTH_HEADERS],
    paths,
    components: { securitySchemes: schemesOf(operations), ...components.all() },
  }
}

function schemesOf(operations: readonly Json[]): object {
  const named = operations.flatMap((operation) => listIn(objectIn(operation)['security']))
  const used = new Set([BOTH_HEADERS, ...named].flatMap((scheme) => Object.keys(objectIn(scheme))))
  return Object.fromEntries(Object.entries(SECURITY_SCHEMES).filter(([name]) => used.has(name)))
}

function validOperation(operation: JsonObject, components: Components): JsonObject {
  const { requestBody, parameters, responses, callbacks, ...rest } = operation
  const body = objectIn(requestBody)
  const content = objectIn(body['content'])
  const schema = objectIn(objectIn(content[JSON_TYPE])['schema'])
  const hasFields = Object.keys(objectIn(schema['properties'])).length > 0
  const isFile = 'application/octet-stream' in content
  return {
    ...rest,
    parameters: listIn(parameters).map((parameter) => parameterOf(objectIn(parameter), components)),
    ...(hasFields || 'anyOf' in schema ? { requestBody: bodyOf(schema, components) } : {}),
    ...(isFile
      ? { requestBody: { ...body, content: components.content(content, 'request') } }
      : {}),
    responses: mapObject(objectIn(responses), (response) => components.response(response)),
    ...(callbacks === undefined ? {} : { callbacks: callbacksOf(objectIn(callbacks), components) }),
  }
}

function parameterOf(parameter: JsonObject, components: Components): JsonObject {
  return { ...parameter, schema: components.schema(objectIn(parameter['schema']), 'request') }
}

function bodyOf({ [AS_FORM]: form, ...schema }: JsonObject, components: Components): JsonObject {
  const examples = 'anyOf' in schema ? bodyExamples(schema) : bodyExample(schema)
  const media = { schema: components.schema(schema, 'request'), ...examples }
  const required = ['required', 'minProperties', 'anyOf'].some((keyword) => keyword in schema)
  const asForm =
    form === undefined
      ? {}
      : { 'multipart/form-data': { schema: components.schema(objectIn(form), 'request') } }
  return { required, content: { [JSON_TYPE]: media, ...asForm } }
}

/** Bodies that the relay sends are open to later fields, like its answers. */
function callbacksOf(callbacks: JsonObject, components: Components): JsonObject {
  const read = (operation: JsonObject) => {
    const { content, ...body } = objectIn(operation['requestBody'])
    const requestBody = { ...body, content: components.content(objectIn(content), 'answer') }
    return { ...operation, requestBody }
  }
  return mapObject(callbacks, (urls) => mapObject(urls, (path) => mapObject(path, read)))
}

/**
 * The body's own example, or its required fields if all of them have an example. Optional fields stay out,
 * because readers of the page send the example as it is, and have no line with the example's id.
 */
function bodyExample(schema: JsonObject): { readonly example?: Json } {
  if (schema['example'] !== undefined) return { example: schema['example'] }
  const names = listIn(schema['required']).map(String)
  const properties = objectIn(schema['properties'])
  const examples = names.map((name) => [name, objectIn(properties[name])['example']] as const)
  const isWhole = names.length > 0 && examples.every(([, value]) => value !== undefined)
  return isWhole ? { example: Object.fromEntries(examples) as JsonObject } : {} // None is undefined.
}

/** The example of each shape of the body, under the `type` that picks the shape. */
function bodyExamples(schema: JsonObject): { readonly examples: JsonObject } {
  const values = listIn(schema['anyOf']).map((shape) => listIn(objectIn(shape)['examples'])[0])
  const examples = values.map((value) => [textIn(objectIn(value), 'type'), { value }])
  return { examples: Object.fromEntries(examples) as JsonObject } // Made of JSON.
}

// Components of the document: named schemas and error answers. Requests are closed, because the relay refuses
// unknown fields. Answers are open, because generated clients must accept what later versions add.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [name: string]: Json }

export type Direction = 'request' | 'answer'

const JSON_TYPE = 'application/json'
const NULL = { type: 'null' }

export class Components {
  readonly #schemas = new Map<string, JsonObject>()
  readonly #responses = new Map<string, JsonObject>()

  /** The schema for the document: a reference if it has a title. */
  schema(schema: JsonObject, side: Direction): JsonObject {
    const { title, ...unnamed } = schema
    if (isWords(schema) && side === 'answer') return this.#openWords(schema, [])
    const written = this.#written(unnamed, side)
    if (typeof title !== 'string') return written
    const constants = isWords(schema) ? constantsOf(title, listIn(schema['enum'])) : {}
    return this.#named(title, { ...written, ...constants })
  }

  /** Every schema of `content`, by its media type. */
  content(content: JsonObject, side: Direction): JsonObject {
    return mapObject(content, (media) => {
      return 'schema' in media
        ? { ...media, schema: this.schema(objectIn(media['schema']), side) }
        : media
    })
  }

  /** The answer for the document. An error answer becomes a reference, named after its codes. */
  response(response: JsonObject): JsonObject {
    const { content, headers, ...rest } = response
    const written = {
      ...rest,
      ...(headers === undefined ? {} : { headers: mapObject(objectIn(headers), this.#header) }),
      ...(content === undefined ? {} : { content: this.content(objectIn(content), 'answer') }),
    }
    const media = objectIn(objectIn(content)[JSON_TYPE])
    if (objectIn(media['schema'])['title'] !== 'ErrorAnswer') return written
    const codes = Object.keys(objectIn(media['examples']))
    const name = codes.map(pascalCase).join('Or')
    return keep(this.#responses, 'responses', name, written)
  }

  all(): { readonly schemas: JsonObject; readonly responses: JsonObject } {
    const sorted = (map: Map<string, JsonObject>) =>
      Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)))
    return { schemas: sorted(this.#schemas), responses: sorted(this.#responses) }
  }

  readonly #header = (header: JsonObject): JsonObject => {
    return { ...header, schema: this.schema(objectIn(header['schema']), 'answer') }
  }

  #named(name: string, value: JsonObject): JsonObject {
    return keep(this.#schemas, 'schemas', name, value)
  }

  /** A named union of the known words, any other word, and the schemas in `none`. */
  #openWords(schema: JsonObject, none: readonly JsonObject[]): JsonObject {
    const title = textIn(schema, 'title')
    const openness = `One of \`${title}\`; a later version may add others.`
    const about = textIn(schema, 'description')
    const description = about === '' ? openness : `${about} ${openness}`
    const anyOf = [this.schema(schema, 'request'), { type: 'string' }, ...none]
    return this.#named(`Any${title}${none.length > 0 ? 'OrNull' : ''}`, { description, anyOf })
  }

  #written(schema: JsonObject, side: Direction): JsonObject {
    const { example, anyOf, items, properties, [IN_DOCUMENT]: more, ...rest } = schema
    const branches = listIn(anyOf).map(objectIn)
    return {
      ...(anyOf === undefined ? {} : this.#union(branches, side)),
      ...rest,
      ...objectIn(more),
      ...(items === undefined ? {} : { items: this.schema(objectIn(items), side) }),
      ...(properties === undefined
        ? {}
        : { properties: mapObject(objectIn(properties), (field) => this.schema(field, side)) }),
      ...(rest['type'] === 'object' && side === 'answer' ? { additionalProperties: true } : {}),
      ...(example === undefined ? {} : { examples: [example] }),
    }
  }

  /** A nullable schema gets null into its type; a named one becomes a union of its reference and null. */
  #union(branches: readonly JsonObject[], side: Direction): JsonObject {
    const [value = {}, ...others] = branches.filter((branch) => branch['type'] !== 'null')
    if (others.length > 0 || branches.length !== 2) {
      return { anyOf: branches.map((branch) => this.schema(branch, side)) }
    }
    if (isWords(value) && side === 'answer') return this.#openWords(value, [NULL])
    const written = this.schema(value, side)
    const { type } = written
    if (type !== undefined) return { ...written, type: [type, 'null'] }
    const { description } = value
    return { anyOf: [written, NULL], ...(description === undefined ? {} : { description }) }
  }
}

function isWords(schema: JsonObject): boolean {
  return 'enum' in schema && 'title' in schema
}

/**
 * Names of the words in generated code. Without them openapi-generator calls each `sent` `SENT`, and in Go, where
 * constants belong to the whole package, two lists that share a word don't compile.
 */
function constantsOf(title: string, words: readonly Json[]): JsonObject {
  const prefix = title.replaceAll(/\B[A-Z]/g, '_$&')
  const names = words.filter((word) => typeof word === 'string').map((word) => `${prefix}_${word}`)
  return { 'x-enum-varnames': names.map((name) => name.replaceAll(/[.:]/g, '_').toUpperCase()) }
}

function textIn(node: JsonObject, name: string): string {
  const { [name]: text } = node
  return typeof text === 'string' ? text : ''
}

/** Adds a component and returns a reference to it. Throws if another component has this name. */
function keep(
  kept: Map<string, JsonObject>,
  kind: string,
  name: string,
  value: JsonObject,
): JsonObject {
  const known = kept.get(name) ?? value
  if (!Bun.deepEquals(known, value)) {
    throw new Error(`The OpenAPI document has two ${kind} that are called ${name}.`)
  }
  kept.set(name, known)
  return { $ref: `#/components/${kind}/${name}` }
}

function pascalCase(name: string): string {
  return name
    .split('_')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')
}

function mapObject(node: JsonObject, map: (value: JsonObject) => Json): JsonObject {
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name, map(objectIn(value))]),
  )
}

/** `node` if it is an object, else an empty one. */
function objectIn(node: Json | undefined): JsonObject {
  return typeof node === 'object' && node !== null && !isList(node) ? node : {}
}

function listIn(node: Json | undefined): readonly Json[] {
  return node !== undefined && isList(node) ? node : []
}

function isList(node: Json): node is readonly Json[] {
  return Array.isArray(node)
}
