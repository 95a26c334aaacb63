// What an OpenAPI document says once and points at: named schemas and error answers. A schema is written
// by the side that it stands on. Requests are closed, as the relay checks them. Answers are open: a later
// version adds fields and words, and no client that was generated from this document may refuse them.

import { ERROR_ANSWER } from './error-answers.ts'
import { listIn, mapObject, objectIn, type JsonObject } from './openapi-json.ts'
import { IN_DOCUMENT } from './schema-parts.ts'

export type Side = 'request' | 'answer'

const JSON_TYPE = 'application/json'

export class Components {
  readonly #schemas = new Map<string, JsonObject>()
  readonly #responses = new Map<string, JsonObject>()

  /** The schema as the document has it: a reference where it has a title. */
  schema(schema: JsonObject, side: Side): JsonObject {
    const { title, ...unnamed } = schema
    const written = this.#written(unnamed, side)
    if (typeof title !== 'string') return written
    const named = keep(this.#schemas, { kind: 'schemas', name: title, value: written })
    return 'enum' in schema && side === 'answer' ? this.#openWords(title, named) : named
  }

  /** Every schema of `content`, by its media type. */
  content(content: JsonObject, side: Side): JsonObject {
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
    if (objectIn(media['schema'])['title'] !== ERROR_ANSWER) return written
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

  /** The words that we know, or any other. */
  #openWords(title: string, known: JsonObject): JsonObject {
    const description = `One of \`${title}\`; a later version may add others.`
    const value = { description, anyOf: [known, { type: 'string' }] }
    return keep(this.#schemas, { kind: 'schemas', name: `Any${title}`, value })
  }

  #written(schema: JsonObject, side: Side): JsonObject {
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

  /** What may be null besides says so by its type, or where it has a name, around its reference. */
  #union(branches: readonly JsonObject[], side: Side): JsonObject {
    const [value = {}, ...others] = branches.filter((branch) => branch['type'] !== 'null')
    const written = this.schema(value, side)
    if (others.length > 0 || branches.length !== 2) {
      return { anyOf: branches.map((branch) => this.schema(branch, side)) }
    }
    const { type } = written
    if (type !== undefined) return { ...written, type: [type, 'null'] }
    const { description } = value
    return {
      anyOf: [written, { type: 'null' }],
      ...(description === undefined ? {} : { description }),
    }
  }
}

/** Points at what is kept under a name, which may mean one thing only. */
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
