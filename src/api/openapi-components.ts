// Components of the OpenAPI document: named schemas and error answers. Requests are closed, as the relay checks
// them. Answers are open: later versions add fields and words, and no client that was generated from this
// document may refuse them.

import { IN_DOCUMENT } from './schema.ts'

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [name: string]: Json }

export type Direction = 'request' | 'answer'

const JSON_TYPE = 'application/json'
const NULL = { type: 'null' }

export class Components {
  readonly #schemas = new Map<string, JsonObject>()
  readonly #responses = new Map<string, JsonObject>()

  /** The schema as the document has it: a reference where it has a title. */
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

  /** An answer; one with an error is kept, and named after the codes that it can have. */
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
    return keep(this.#responses, { kind: 'responses', name, value: written })
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
    return keep(this.#schemas, { kind: 'schemas', name, value })
  }

  /** The known words, or any other, or one of `none`: named together. */
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

  /** A nullable schema has null in its type, or where it has a name, around its reference. */
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

/** True for a named list of words. */
function isWords(schema: JsonObject): boolean {
  return 'enum' in schema && 'title' in schema
}

/**
 * Names of the words in generated code. By itself openapi-generator makes `SENT` of each `sent`, and in Go, where
 * constants belong to the whole package, two lists with one word in common do not compile.
 */
function constantsOf(title: string, words: readonly Json[]): JsonObject {
  const prefix = title.replaceAll(/\B[A-Z]/g, '_$&')
  const names = words.filter((word) => typeof word === 'string').map((word) => `${prefix}_${word}`)
  return { 'x-enum-varnames': names.map((name) => name.replaceAll('.', '_').toUpperCase()) }
}

function textIn(node: JsonObject, name: string): string {
  const { [name]: text } = node
  return typeof text === 'string' ? text : ''
}

/** A reference to the component of this name; throws where two differ. */
function keep(
  kept: Map<string, JsonObject>,
  {
    kind,
    name,
    value,
  }: { readonly kind: string; readonly name: string; readonly value: JsonObject },
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

export function mapObject(node: JsonObject, map: (value: JsonObject) => Json): JsonObject {
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name, map(objectIn(value))]),
  )
}

/** `node` where it is an object, else an empty one. */
export function objectIn(node: Json | undefined): JsonObject {
  return typeof node === 'object' && node !== null && !isList(node) ? node : {}
}

export function listIn(node: Json | undefined): readonly Json[] {
  return node !== undefined && isList(node) ? node : []
}

function isList(node: Json): node is readonly Json[] {
  return Array.isArray(node)
}
