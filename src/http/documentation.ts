// Describes an operation for the OpenAPI document, from its row.

import { type TObject, Type } from 'typebox'

import { BODY_ERRORS, errorAnswers } from '../api/errors.ts'
import type { Callback, Callers, Operation } from '../api/operation.ts'
import type { ErrorCode } from '../domain/errors.ts'

const EVERYWHERE: readonly ErrorCode[] = [
  'invalid_request',
  'unauthorized',
  'internal_error',
  'starting',
  'stopping',
]

const SECURITY: Readonly<Partial<Record<Callers, object>>> = {
  bridges: { security: [{ bridgeToken: [] }] },
  everyone: { security: [] },
}

const FILE_BODY = {
  required: true,
  content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
} as const

/** The operation's part of the OpenAPI document, as @elysiajs/swagger takes it. */
export function documentationOf(operation: Operation) {
  if (!('tag' in operation)) return { hide: true }
  const { id, tag, summary, description, callbacks, errors = [], answers, callers } = operation
  const json = Object.entries(answers).map(([status, schema]) => [
    status,
    {
      description: ANSWERS[Number(status)] ?? 'Done.',
      content: { 'application/json': { schema } },
      ...(operation.answerHeaders && { headers: headersOf(operation.answerHeaders) }),
    },
  ])
  const scope = callers === 'keys' ? operation.scope : undefined
  const isScoped = scope !== undefined && scope !== 'any'
  const common = isScoped ? [...EVERYWHERE, 'forbidden' as const] : EVERYWHERE
  const ofBody: readonly ErrorCode[] = hasBody(operation) ? BODY_ERRORS : []
  const codes = [...(callers === 'everyone' ? [] : common), ...errors, ...ofBody]
  return {
    operationId: id,
    summary,
    description,
    tags: [tag],
    parameters: [
      ...parametersOf('query', operation.query),
      ...parametersOf('header', operation.headers),
    ],
    responses: { ...operation.fileAnswers, ...Object.fromEntries(json), ...errorAnswers(codes) },
    ...(scope === undefined ? {} : { 'x-required-scope': scope }),
    ...(callbacks && { callbacks: Object.fromEntries(callbacks.map(callbackOf)) }),
    ...SECURITY[callers],
    ...(operation.takesFile === true ? { requestBody: FILE_BODY } : {}),
  }
}

/** False for an operation without a body, and for an action that takes only an empty object. */
function hasBody({ body = {}, takesFile }: Operation): boolean {
  const fields = 'properties' in body ? Object.keys(Object(body.properties)) : []
  return takesFile === true || fields.length > 0 || 'anyOf' in body
}

function callbackOf({ id, summary, description, to, body }: Callback) {
  const post = {
    operationId: id,
    summary,
    description,
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema: body } } },
    responses: { '2XX': { description: 'Taken.' } },
  }
  return [id, { [to]: { post } }] as const
}

const ANSWERS: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted; the work goes on.',
}

function parametersOf(place: 'query' | 'header', schema: TObject | undefined) {
  return Object.entries(schema?.properties ?? {}).map(([name, field]) => {
    const { description, ...rest }: { readonly description?: string; readonly title?: string } =
      field
    const required = schema?.required?.includes(name) === true && !('default' in field)
    const about = description === undefined ? {} : { description }
    // A named schema keeps its own description too.
    const shape = rest.title === undefined ? rest : { ...rest, ...about }
    return { name, in: place, required, ...about, schema: shape }
  })
}

function headersOf(headers: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [
      name,
      { description, schema: Type.String() },
    ]),
  )
}
