// The routes of operations: each row of `api/operations.ts` with the function that answers it. A route guards
// its handler, and checks what comes in and what goes out.

import { type AnyElysia, Elysia } from 'elysia'
import { type Static, type TObject, type TSchema, Type } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'

import {
  type AnswerOf,
  type BodyOf,
  type Operation,
  type ParamsOf,
  type QueryOf,
  routeOf,
} from '../api/operation.ts'
import { AS_FORM, type ObjectShape, type Shape, TIME_WANTED } from '../api/schema.ts'
import type { Origin } from '../domain/audit.ts'
import { RelayError, invalidRequest, type Issue } from '../domain/errors.ts'
import { permissionsOf, requirePermission } from '../domain/permissions.ts'
import type { Core } from '../storage/core.ts'
import type { Db } from '../storage/database.ts'
import { isSeenBy } from '../storage/line-limits.ts'
import { documentationOf } from './documentation.ts'
import { jsonBody, jsonOrFormBody, optionalJsonBody, readQuery, requireNoQuery } from './input.ts'
import type { Relay } from './relay.ts'
import { bridgeOf, callerOf, contextOf, originOf, viewerOf } from './request-context.ts'
import { answerToFailure, respondTo } from './respond.ts'

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

/** An operation that removes the thing with the id in its path. */
type Removal = Operation & { readonly route: `DELETE /${string}/:id` }

export function bindRemoval(
  operation: Removal,
  things: { remove(id: string, origin: Origin): Promise<unknown> },
): Binding {
  return bind(operation, async ({ request, params }) => {
    const id = String(params['id'])
    await things.remove(id, originOf(request))
    return { id, deleted: true as const }
  })
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

/** Credentials were checked at the entrance; an operation that it missed stays shut. */
export function guardOf({ db }: Core): Guard {
  return (operation, attempt) => {
    const { request } = attempt
    contextOf(request).operation = operation
    if (operation.callers === 'everyone') return
    if (operation.callers === 'bridges') bridgeOf(request)
    else if (operation.callers !== 'browsers' || operation.isOpen !== true) callerOf(request)
    if (operation.callers !== 'keys') return
    if (operation.scope !== 'any')
      requirePermission(permissionsOf(callerOf(request)), operation.scope)
    if (operation.limits.includes('lines')) requireOnLines(db, operation, attempt)
  }
}

/** Throws if the thing is of a line that the key is not for: to the key it is unknown. */
function requireOnLines(
  db: Db,
  { errors = [] }: Operation,
  { request, params: { id } }: Attempt,
): void {
  if (id === undefined || isSeenBy(db, viewerOf(request), id)) return
  const kind = id.slice(0, id.indexOf('_'))
  const named = kind === 'att' ? 'attachment_not_found' : 'phone_line_not_found'
  const isNamed = (kind === 'att' || kind === 'line') && errors.includes(named)
  const thing = THINGS[kind] ?? 'thing'
  throw new RelayError(isNamed ? named : 'not_found', `There is no ${thing} with this id.`)
}

const THINGS: Readonly<Record<string, string>> = {
  msg: 'message',
  conv: 'conversation',
  att: 'attachment',
  line: 'phone line',
  wh: 'webhook',
  dlv: 'delivery',
}

/** The form of every answer. Elysia's own messages, and those of unknown errors, are never shown. */
export function frame({ log }: Core, { doubtSignal }: Pick<Relay, 'doubtSignal'>) {
  return new Elysia()
    .onError(({ code, error, request }) => {
      if (code === 'NOT_FOUND') return new Response(null, { status: 404 })
      return answerToFailure(error, contextOf(request).requestId, { log, doubtSignal })
    })
    .mapResponse(({ responseValue, set, request }) => {
      if (responseValue instanceof Response) return
      const status = typeof set.status === 'number' ? set.status : 200
      return respondTo(request, JSON.stringify(responseValue), { status })
    })
}

// The bridge between typebox 1.x, in which every shape of the API is written, and Elysia, whose own
// dialect strips unknown fields and takes "5" for 5. Elysia calls whatever has `~standard`; the
// property is not enumerable, so that it stays out of the OpenAPI document.

/** A schema for Elysia, by the Standard Schema specification. */
type Bridged<T> = {
  readonly '~standard': { readonly types?: { readonly input: T; readonly output: T } | undefined }
}

type Fault = ReturnType<Validator['Errors']>[number]

const ISSUES_MAX = 20
const NAME_LENGTH_MAX = 100

/** For requests: unknown fields and wrong types are 400, each named. */
export function requestSchema<T extends TSchema>(schema: T): T & Bridged<Static<T>> {
  return bridged(schema, checkOf(schema, requestRefusal))
}

/** For requests of which some are held to a stricter schema, and get its errors. */
function requestSchemaBy<T extends TSchema>(
  schema: T,
  strict: TSchema,
  isStrict: (value: object) => boolean,
): T & Bridged<Static<T>> {
  const [wide, narrow] = [schema, strict].map((each) => checkOf(each, requestRefusal))
  return bridged(schema, (value) => (isStrict(value) ? narrow : wide)?.(value))
}

function requestRefusal(faults: readonly Fault[]): RelayError {
  return invalidRequest(...issuesOf(faults))
}

/** For requests of several shapes, of which the field `type` picks one. */
function requestSchemaByType(
  title: string,
  shapes: Readonly<Record<string, TObject>>,
): TSchema & Bridged<unknown> {
  const checks = new Map(
    Object.entries(shapes).map(([type, each]) => [type, checkOf(each, requestRefusal)]),
  )
  const allowed = [...checks.keys()].join(', ')
  const validate = (value: object) => {
    const check = checks.get('type' in value ? String(value.type) : '')
    if (check !== undefined) return check(value)
    throw invalidRequest({ path: 'type', message: `must be one of ${allowed}` })
  }
  return bridged<TSchema, unknown>(Type.Union(Object.values(shapes), { title }), validate)
}

/** For path parameters: a wrong one names nothing that exists. */
export function pathSchema<T extends TSchema>(schema: T): T & Bridged<Static<T>> {
  const refusal = () => new RelayError('not_found', 'There is nothing at this path.')
  return bridged(schema, checkOf(schema, refusal))
}

/** For answers: a failure is a bug of the relay. Values stay out of the log. */
function answerSchema<T extends TSchema>(schema: T): T & Bridged<Shape<T>> {
  const refusal = (faults: readonly Fault[]) => {
    const issues = issuesOf(faults).map((issue) => `${issue.path} ${issue.message}`)
    return new Error(`An answer does not fit its schema: ${issues.join('; ')}`)
  }
  return bridged(schema, checkOf(schema, refusal))
}

/**
 * Throws the error of `refusal`: Elysia's own would contain the refused value. The schema is compiled by the
 * first value: those of all routes would take a third of a start.
 */
function checkOf(schema: TSchema, refusal: (faults: readonly Fault[]) => Error) {
  let validator: Validator | null = null
  return (value: unknown) => {
    validator ??= Compile(schema)
    if (validator.Check(value)) return { value }
    throw refusal(validator.Errors(value))
  }
}

function bridged<T extends TSchema, V>(
  schema: T,
  validate: (value: object) => unknown,
): T & Bridged<V> {
  const standard = { version: 1, vendor: 'typebox', validate }
  // The property that the type adds is defined here.
  return Object.defineProperty({ ...schema }, '~standard', { value: standard }) as T & Bridged<V>
}

function issuesOf(faults: readonly Fault[]): Issue[] {
  return faults
    .filter((fault) => isInformative(fault, faults))
    .flatMap(issuesOfOne)
    .slice(0, ISSUES_MAX)
}

/**
 * typebox reports an unknown field for itself and for its object, and a union with each of its branches. Of
 * the branches only the one with the right type helps; if there is one, the union itself is left out.
 */
function isInformative(fault: Fault, faults: readonly Fault[]): boolean {
  const isHelpfulBranch = (other: Fault) =>
    isBranch(other) && other.keyword !== 'type' && other.instancePath === fault.instancePath
  if (fault.keyword === 'additionalProperties') return false
  if (fault.keyword === 'anyOf') return !faults.some(isHelpfulBranch)
  return !isBranch(fault) || fault.keyword !== 'type'
}

function isBranch(fault: Fault): boolean {
  return /\/anyOf\/\d/.test(fault.schemaPath)
}

function issuesOfOne(fault: Fault): Issue[] {
  const path = fault.instancePath.slice(1).replaceAll('/', '.')
  if (fault.keyword !== 'required') return [{ path: shortened(path), message: messageOf(fault) }]
  return fault.params.requiredProperties.map((name) => {
    return { path: shortened(path === '' ? name : `${path}.${name}`), message: 'is required' }
  })
}

const MESSAGES: Readonly<Record<string, string>> = {
  // The schema of an unknown field is `false`.
  boolean: 'is not a field of this request',
  minProperties: 'must have at least one field',
  anyOf: 'has the wrong type',
  format: TIME_WANTED,
}

function messageOf(fault: Fault): string {
  if (fault.keyword === 'enum') return `must be one of ${fault.params.allowedValues.join(', ')}`
  return MESSAGES[fault.keyword] ?? fault.message
}

function shortened(name: string): string {
  return name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX)}…` : name
}
