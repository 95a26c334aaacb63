// The OpenAPI document. The plugin's raw document comes as 3.0 with what only 3.1 knows, with three
// content types for every body, and with path parameters that it did not see; here it becomes valid.

import { swagger } from '@elysiajs/swagger'
import { Elysia, type AnyElysia } from 'elysia'

import { EventPayload } from './webhook-schemas.ts'

type Json = null | boolean | number | string | readonly Json[] | JsonObject
type JsonObject = { readonly [name: string]: Json }

const RAW_PATH = '/raw'
const DESCRIPTION = `A self-hosted iMessage relay. Every route under \`/api/v1\` takes the two headers
\`X-API-Key\` and \`X-API-Secret\`. Errors are \`{"error": {"code", "message", "details"?}}\`, and
every answer carries an \`X-Request-Id\`, under which the log of the relay tells more.`

/** Of the interface: strangers read the document, and need not know which relay runs. */
const API_VERSION = '1.0.0'

const TAGS = [
  { name: 'Messages', description: 'Sending, and reading what was sent and received.' },
  { name: 'Conversations', description: 'All messages of a line with a handle.' },
  { name: 'Phone lines', description: 'The numbers that send and receive.' },
  { name: 'Webhooks', description: 'Events on their way to you, signed after Standard Webhooks.' },
  { name: 'Keys', description: 'Who may call.' },
  { name: 'Bridges', description: 'The ways in for iPhones that are lines by Shortcuts.' },
  { name: 'Shortcuts', description: 'What the shortcuts of such an iPhone call, with its token.' },
  { name: 'Service', description: 'How the relay is.' },
]

const SECURITY_SCHEMES = {
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
  apiSecret: { type: 'apiKey', in: 'header', name: 'X-API-Secret' },
  bridgeToken: { type: 'http', scheme: 'bearer' },
} as const

/** The document of `api` as JSON text; made at the first call, and kept. */
export function openApiDocument(api: AnyElysia): () => Promise<string> {
  let made: Promise<string> | null = null
  return () => {
    made ??= makeDocument(api)
    return made
  }
}

async function makeDocument(api: AnyElysia): Promise<string> {
  const documented = new Elysia().use(api).use(
    swagger({
      path: '/page',
      specPath: RAW_PATH,
      exclude: [RAW_PATH, '/page', /^\/swagger/],
      documentation: {
        info: { title: 'Hookline API', version: API_VERSION, description: DESCRIPTION },
        tags: TAGS,
        components: { securitySchemes: SECURITY_SCHEMES },
        security: [{ apiKey: [], apiSecret: [] }],
      },
    }),
  )
  const response = await documented.handle(new Request(`http://localhost${RAW_PATH}`))
  const raw = (await response.json()) as JsonObject // The plugin answers with a document.
  return JSON.stringify(validDocument(raw))
}

function validDocument(raw: JsonObject): JsonObject {
  const schemas: Record<string, Json> = {}
  const hoist = (node: Json): Json => hoistTitled(node, schemas)
  const paths = mapObject(objectIn(raw['paths']), (path) => mapObject(path, validOperation))
  const body = { content: { 'application/json': { schema: plainJson(EventPayload) } } }
  const event = {
    operationId: 'onEvent',
    summary: 'What a webhook gets',
    description:
      'Signed after Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature`. ' +
      'Answer 2xx; anything else is tried again, always with the same `webhook-id`.',
    tags: ['Webhooks'],
    security: [],
    requestBody: { required: true, ...body },
    responses: { 200: { description: 'Taken.' } },
  }
  const told = objectIn(hoist({ paths, webhooks: { event: { post: event } } }))
  return {
    ...raw,
    openapi: '3.1.0',
    servers: [{ url: '/' }],
    ...told,
    components: { ...objectIn(raw['components']), schemas },
  }
}

function validOperation(operation: JsonObject): JsonObject {
  const { requestBody, parameters, ...others } = operation
  const rest = { ...others, parameters: listIn(parameters).map(parameterOf) }
  const schema = bodySchemaIn(requestBody)
  if (schema === null || Object.keys(objectIn(schema['properties'])).length === 0) return rest
  const required = 'required' in schema || 'minProperties' in schema
  const content = { 'application/json': { schema, ...bodyExample(schema) } }
  return { ...rest, requestBody: { required, content } }
}

/** With `examples`, which the page shows; an `example` it would fill in, and send. */
function parameterOf(parameter: Json): Json {
  const { schema, ...rest } = objectIn(parameter)
  const { example, ...shape } = objectIn(schema)
  const examples = example === undefined ? {} : { examples: [example] }
  return { ...rest, schema: { ...shape, ...examples } }
}

/**
 * What a body must say and no more, where all of that has an example: whoever tries the page sends it as
 * it is, and has no line with the id of an example.
 */
function bodyExample(schema: JsonObject): { readonly example?: Json } {
  const names = listIn(schema['required']).map(String)
  const properties = objectIn(schema['properties'])
  const told = names.map((name) => [name, objectIn(properties[name])['example']] as const)
  const isWhole = names.length > 0 && told.every(([, value]) => value !== undefined)
  return isWhole ? { example: Object.fromEntries(told) as JsonObject } : {} // None is undefined.
}

function bodySchemaIn(requestBody: Json | undefined): JsonObject | null {
  const media = objectIn(objectIn(objectIn(requestBody)['content'])['application/json'])
  return 'schema' in media ? objectIn(media['schema']) : null
}

/** Moves every schema that has a title among the components, and points at it. */
function hoistTitled(node: Json, schemas: Record<string, Json>): Json {
  if (node === null || typeof node !== 'object') return node
  if (isList(node)) return node.map((item) => hoistTitled(item, schemas))
  const inner = Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name, hoistTitled(value, schemas)]),
  )
  const { title } = node
  if (typeof title !== 'string' || !('type' in node)) return inner
  schemas[title] = inner
  return { $ref: `#/components/schemas/${title}` }
}

function mapObject(node: JsonObject, map: (value: JsonObject) => Json): JsonObject {
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name, map(objectIn(value))]),
  )
}

function objectIn(node: Json | undefined): JsonObject {
  return typeof node === 'object' && node !== null && !isList(node) ? node : {}
}

function listIn(node: Json | undefined): readonly Json[] {
  return node !== undefined && isList(node) ? node : []
}

function isList(node: Json): node is readonly Json[] {
  return Array.isArray(node)
}

/** What a schema is in JSON: typebox keeps marks of its own beside it. */
function plainJson(schema: object): Json {
  return JSON.parse(JSON.stringify(schema)) as Json // JSON text is parsed.
}
