// The routes of operations: each row of `api/operations.ts` with the function that answers it.

import { type AnyElysia, Elysia } from 'elysia'
import { type TObject, type TSchema, Type } from 'typebox'

import { errorAnswers } from '../api/errors.ts'
import {
  type AnswerOf,
  type BodyOf,
  type Callback,
  type Callers,
  type Operation,
  type ParamsOf,
  type QueryOf,
  routeOf,
} from '../api/operation.ts'
import { AS_FORM, type ObjectShape } from '../api/schema.ts'
import type { ErrorCode } from '../domain/errors.ts'
import { jsonBody, jsonOrFormBody, optionalJsonBody } from './body.ts'
import { readQuery, requireNoQuery } from './query.ts'
import {
  answerSchema,
  pathSchema,
  requestSchema,
  requestSchemaBy,
  requestSchemaByType,
} from './typebox.ts'

/** What a handler gets of a request: everything is checked against the row. */
export type Input<O extends Operation> = {
  readonly request: Request
  readonly params: ParamsOf<O>
  readonly query: QueryOf<O>
  readonly body: BodyOf<O>
  /** Its status is that of the row's first answer, unless the handler sets another. */
  readonly set: { status?: number | string }
}

export type Handler<O extends Operation> = (
  input: Input<O>,
) => AnswerOf<O> | Response | Promise<AnswerOf<O> | Response>

/** Checks a body in place of the row's schema. */
type BodyCheck = { readonly parse: readonly [typeof jsonBody]; readonly body: TSchema }

/** An operation with its handler, whose input fits the row. */
export type Binding = {
  readonly operation: Operation
  readonly handle: (input: never) => unknown
  readonly bodyCheck: BodyCheck | null
}

/** Called before each handler; throws if the caller may not call the operation, or not for this thing. */
export type Guard = (operation: Operation, attempt: Attempt) => void

export type Attempt = {
  readonly request: Request
  readonly params: Readonly<Record<string, string | undefined>>
  readonly body: unknown
}

export function bind<const O extends Operation>(
  operation: O,
  handle: Handler<O>,
  bodyCheck: BodyCheck | null = null,
): Binding {
  return { operation, handle, bodyCheck }
}

/** A body that is checked against a stricter schema if `isStrict` says so. */
export function checkedBy(
  schema: TSchema,
  strict: TSchema,
  isStrict: (body: object) => boolean,
): BodyCheck {
  return { parse: [jsonBody], body: requestSchemaBy(schema, strict, isStrict) }
}

/** A body of several shapes, of which its field `type` picks one. */
export function checkedByType(
  title: string,
  shapes: Readonly<Record<string, ObjectShape>>,
): BodyCheck {
  return { parse: [jsonBody], body: requestSchemaByType(title, shapes) }
}

/** What came to a device, which may also be a form with a file, and fits `form` then. */
export function checkedAsForm(schema: TSchema, form: TSchema): BodyCheck {
  const documented = { ...schema, [AS_FORM]: form }
  return { parse: [jsonOrFormBody], body: requestSchemaBy(documented, form, hasFile) }
}

function hasFile(body: object): boolean {
  return Object.values(body).some((value) => value instanceof Blob)
}

/** The routes of those operations, each behind the guard. */
export function routesOf(bindings: readonly Binding[], guard: Guard): AnyElysia {
  const app = new Elysia()
  for (const binding of bindings) addRoute(app, binding, guard)
  return app
}

function addRoute(app: Elysia, { operation, handle, bodyCheck }: Binding, guard: Guard): void {
  const { query, answers } = operation
  const { method, path } = routeOf(operation)
  const [status = 200] = Object.keys(answers).map(Number)
  const answer = async ({ request, params, body, set }: Handled) => {
    set.status = status
    const given = query === undefined ? {} : readQuery(request, query)
    // The row that checks the input is the one by which the handler's type was made.
    return handle({ request, params, body, set, query: given } as never)
  }
  const checked = Object.entries(answers).map(([code, schema]) => [code, answerSchema(schema)])
  app.route(method, path, answer, {
    beforeHandle: ({ request, params = {}, body }: Partial<Attempt> & Pick<Attempt, 'request'>) => {
      guard(operation, { request, params, body })
      // A handler that reads its query refuses unknown parameters.
      if (query === undefined && operation.callers !== 'everyone') requireNoQuery(request)
    },
    ...bodyHook(operation, bodyCheck),
    ...(path.includes(':') ? { params: pathSchema(paramsOf(path)) } : {}),
    response: Object.fromEntries(checked),
    detail: 'tag' in operation ? documentationOf(operation) : { hide: true },
  } as object)
}

type Handled = {
  readonly request: Request
  readonly params: unknown
  readonly body: unknown
  readonly set: { status?: number | string }
}

function bodyHook({ body, isBodyOptional, takesFile, route }: Operation, check: BodyCheck | null) {
  if (check !== null) return { parse: [...check.parse], body: check.body }
  if (takesFile === true) return { parse: 'none' as const }
  if (body === undefined) return route.startsWith('GET ') ? {} : { parse: 'none' as const }
  const parse = isBodyOptional === true ? optionalJsonBody : jsonBody
  return { parse: [parse], body: requestSchema(body) }
}

const PARAMETERS: Readonly<Record<string, string>> = {
  id: 'The id of the resource.',
  handle: 'E.164 with `+`, or an email address.',
}

function paramsOf(path: string): TObject {
  const names = [...path.matchAll(/:([a-z]+)/g)].map(([, name = '']) => name)
  const fields = names.map((name) => {
    const description = PARAMETERS[name]
    return [name, Type.String(description === undefined ? {} : { description })] as const
  })
  return Type.Object(Object.fromEntries(fields))
}

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
  requestBody: {
    required: true,
    content: {
      'application/octet-stream': { schema: { type: 'string' as const, format: 'binary' } },
    },
  },
}

/** The operation's part of the OpenAPI document, as @elysiajs/swagger takes it. */
function documentationOf(operation: Extract<Operation, { readonly tag: string }>) {
  const { id, tag, summary, description, callbacks, errors = [], answers, callers } = operation
  const headers = headersOf(operation.answerHeaders ?? {})
  const json = Object.entries(answers).map(([status, schema]) => [
    status,
    {
      description: ANSWERS[Number(status)] ?? 'Done.',
      content: { 'application/json': { schema } },
      ...(operation.answerHeaders === undefined ? {} : { headers }),
    },
  ])
  const scope = callers === 'keys' ? operation.scope : undefined
  const isScoped = scope !== undefined && scope !== 'any'
  const common = isScoped ? [...EVERYWHERE, 'forbidden' as const] : EVERYWHERE
  const codes = callers === 'everyone' ? errors : [...common, ...errors]
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
    ...(callbacks === undefined
      ? {}
      : { callbacks: Object.fromEntries(callbacks.map(callbackOf)) }),
    ...SECURITY[callers],
    ...(operation.takesFile === true ? FILE_BODY : {}),
  }
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
    // A named schema is also described where it is defined.
    const shape = rest.title === undefined ? rest : { ...rest, ...about }
    return { name, in: place, required, ...about, schema: shape }
  })
}

function headersOf(headers: Readonly<Record<string, string>>) {
  const entries = Object.entries(headers).map(([name, description]) => [
    name,
    { description, schema: Type.String() },
  ])
  return Object.fromEntries(entries)
}
