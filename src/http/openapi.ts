// The OpenAPI document. The plugin's raw document says 3.0 but uses 3.1, with three content types for every
// body, and lacks path parameters; here it becomes valid.

import { swagger } from '@elysiajs/swagger'
import { Elysia, type AnyElysia } from 'elysia'

import { BODY_ERRORS, errorAnswers } from '../api/errors.ts'
import {
  Components,
  type Json,
  type JsonObject,
  listIn,
  mapObject,
  objectIn,
} from '../api/openapi-components.ts'
import { LINE_DRIVER } from '../api/phone-lines.ts'
import type { LineKind } from '../lines/line-kind.ts'

/** The address of the API, known once it listens. */
type Server = () => string

const RAW_PATH = '/raw'
const DESCRIPTION = `A self-hosted iMessage relay. Every route under \`/api/v1\` takes the two headers
\`X-API-Key\` and \`X-API-Secret\`. Errors are \`{"error": {"code", "message", "details"?}}\`, and
every answer carries an \`X-Request-Id\`, under which the relay's log has details.

Requests are closed: a field that is not listed here is refused. Answers are open: a later version may
add fields, and values to every schema whose name begins with \`Any\`. Ignore what you do not know.`

/** Of the interface: the document is public, and does not show the version of the relay. */
const API_VERSION = '1.0.0'

const TAGS = [
  { name: 'Messages', description: 'Sending, and reading what was sent and received.' },
  { name: 'Conversations', description: 'All messages of a line with a handle.' },
  { name: 'Phone lines', description: 'The numbers that send and receive.' },
  { name: 'Webhooks', description: 'Events on their way to you, signed after Standard Webhooks.' },
  { name: 'Keys', description: 'Credentials of API clients.' },
  { name: 'Bridges', description: 'Access for iPhones that are lines by Shortcuts.' },
  { name: 'Shortcuts', description: 'Called by the shortcuts of such an iPhone, with its token.' },
  { name: 'Service', description: 'State of the relay.' },
]

const SECURITY_SCHEMES = {
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
  apiSecret: { type: 'apiKey', in: 'header', name: 'X-API-Secret' },
  bridgeToken: { type: 'http', scheme: 'bearer' },
} as const
const BOTH_HEADERS = { apiKey: [], apiSecret: [] }

/** The document of `api` as JSON text; created at the first call. */
export function openApiDocument(
  api: AnyElysia,
  kinds: readonly LineKind[],
  server: Server,
): () => Promise<string> {
  let made: Promise<string> | null = null
  return () => {
    made ??= makeDocument(api, kinds, server)
    return made
  }
}

async function makeDocument(
  api: AnyElysia,
  kinds: readonly LineKind[],
  server: Server,
): Promise<string> {
  const documented = new Elysia().use(api).use(
    swagger({
      path: '/page',
      specPath: RAW_PATH,
      exclude: [RAW_PATH, '/page', /^\/swagger/],
    }),
  )
  const response = await documented.handle(new Request(`http://localhost${RAW_PATH}`))
  const words = kinds.map(({ name }) => name)
  const withWords = (_: string, value: Json) =>
    objectIn(value)['title'] === LINE_DRIVER ? { ...objectIn(value), enum: words } : value
  const raw = JSON.parse(await response.text(), withWords) as JsonObject // The plugin's document.
  return JSON.stringify(validDocument(objectIn(raw['paths']), server))
}

function validDocument(raw: JsonObject, server: Server): object {
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
    servers: [{ url: server() }],
    tags: TAGS.filter(({ name }) => namesIn(operations, 'tags').has(name)),
    security: [BOTH_HEADERS],
    paths,
    components: { securitySchemes: schemesOf(operations), ...components.all() },
  }
}

/** The security schemes of the operations, and the default. */
function schemesOf(operations: readonly Json[]): object {
  const named = operations.flatMap((operation) => listIn(objectIn(operation)['security']))
  const used = new Set([BOTH_HEADERS, ...named].flatMap((scheme) => Object.keys(objectIn(scheme))))
  return Object.fromEntries(Object.entries(SECURITY_SCHEMES).filter(([name]) => used.has(name)))
}

function namesIn(operations: readonly Json[], list: string): ReadonlySet<Json> {
  return new Set(operations.flatMap((operation) => listIn(objectIn(operation)[list])))
}

function validOperation(operation: JsonObject, components: Components): JsonObject {
  const { requestBody, parameters, responses, callbacks, ...rest } = operation
  const schema = bodySchemaIn(requestBody)
  const hasBody = schema !== null && Object.keys(objectIn(schema['properties'])).length > 0
  return {
    ...rest,
    parameters: listIn(parameters).map((parameter) => parameterOf(objectIn(parameter), components)),
    ...(hasBody ? { requestBody: bodyOf(schema, components) } : {}),
    responses: mapObject(responsesOf(objectIn(responses), hasBody), (response) =>
      components.response(response),
    ),
    ...(callbacks === undefined ? {} : { callbacks: callbacksOf(objectIn(callbacks), components) }),
  }
}

function parameterOf(parameter: JsonObject, components: Components): JsonObject {
  return { ...parameter, schema: components.schema(objectIn(parameter['schema']), 'request') }
}

function bodyOf(schema: JsonObject, components: Components): JsonObject {
  const media = { schema: components.schema(schema, 'request'), ...bodyExample(schema) }
  const required = 'required' in schema || 'minProperties' in schema
  return { required, content: { 'application/json': media } }
}

/** Errors of bodies, only where there is a body. */
function responsesOf(responses: JsonObject, hasBody: boolean): JsonObject {
  const ofBodies = plainJson(errorAnswers(BODY_ERRORS))
  const others = Object.entries(responses).filter(([status]) => !(status in ofBodies))
  return { ...Object.fromEntries(others), ...(hasBody ? ofBodies : {}) }
}

/** A request of the relay is to its receiver as open as an answer. */
function callbacksOf(callbacks: JsonObject, components: Components): JsonObject {
  const read = (operation: JsonObject) => {
    const { content, ...body } = objectIn(operation['requestBody'])
    const requestBody = { ...body, content: components.content(objectIn(content), 'answer') }
    return { ...operation, requestBody }
  }
  return mapObject(callbacks, (urls) => mapObject(urls, (path) => mapObject(path, read)))
}

/**
 * The required fields of a body, where all of them have an example: readers of the page send it as it is,
 * and have no line with the id of an example.
 */
function bodyExample(schema: JsonObject): { readonly example?: Json } {
  const names = listIn(schema['required']).map(String)
  const properties = objectIn(schema['properties'])
  const examples = names.map((name) => [name, objectIn(properties[name])['example']] as const)
  const isWhole = names.length > 0 && examples.every(([, value]) => value !== undefined)
  return isWhole ? { example: Object.fromEntries(examples) as JsonObject } : {} // None is undefined.
}

function bodySchemaIn(requestBody: Json | undefined): JsonObject | null {
  const media = objectIn(objectIn(objectIn(requestBody)['content'])['application/json'])
  return 'schema' in media ? objectIn(media['schema']) : null
}

/** An object as JSON: typebox keeps marks of its own in schemas. */
function plainJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject // JSON text is parsed.
}
