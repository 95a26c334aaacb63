// Routes of operations. `bind` joins a row of `api/operations.ts` with its handler; the route calls the guard,
// and checks requests and answers against the schemas of the row.

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
import { AS_FORM, type ObjectShape, type Shape } from '../api/schema.ts'
import type { Origin } from '../domain/audit.ts'
import { RelayError, invalidRequest, type Issue } from '../domain/errors.ts'
import { beyondConversations, permissionsOf, requireCall } from '../domain/permissions.ts'
import type { Core } from '../storage/core.ts'
import type { Db } from '../storage/database.ts'
import { isInConversations, isSeenBy } from '../storage/line-limits.ts'
import type { Signal } from '../system/signal.ts'
import { jsonBody, jsonOrFormBody, optionalJsonBody, readQuery, requireNoQuery } from './input.ts'
import { bridgeOf, callerOf, contextOf, originOf, viewerOf } from './request-context.ts'
import { answerToFailure, respondTo } from './respond.ts'
import { issuesOf } from './schema-faults.ts'
import { wordMeant } from './suggestions.ts'

/** A request as its handler gets it, checked against the row. */
export type Input<O extends Operation> = {
  readonly request: Request
  readonly params: ParamsOf<O>
  readonly query: QueryOf<O>
  readonly body: BodyOf<O>
  /** Who asks, for the audit trail. */
  readonly origin: Origin
  /** The status is the first one of the row's answers, unless the handler sets another. */
  readonly set: { status?: number | string }
}

export type Handler<O extends Operation> = (
  input: Input<O>,
) => AnswerOf<O> | Response | Promise<AnswerOf<O> | Response>

/** A check of the body that replaces the row's schema. */
type BodyCheck = { readonly parse: readonly [typeof jsonBody]; readonly body: TSchema }

export type Binding = {
  readonly operation: Operation
  readonly handle: (input: never) => unknown
  readonly bodyCheck: BodyCheck | null
}

/** A check before each handler. Throws if the caller may not call the operation, or not for this resource. */
export type Guard = (operation: Operation, attempt: Attempt) => void

export type Attempt = {
  readonly request: Request
  readonly params: Readonly<Record<string, string | undefined>>
  readonly body: unknown
}

/**
 * Joins an operation with its handler. The handler runs after the guard and with a checked input; it may throw a
 * RelayError, which becomes the answer. `bodyCheck` replaces the check by the row's schema.
 */
export function bind<const O extends Operation>(
  operation: O,
  handle: Handler<O>,
  bodyCheck: BodyCheck | null = null,
): Binding {
  return { operation, handle, bodyCheck }
}

/** Binds an operation that removes the resource with the id in its path. */
export function bindRemoval(
  operation: Operation & { readonly route: `DELETE /${string}/:id` },
  things: { remove(id: string, origin: Origin): Promise<unknown> },
): Binding {
  return bind(operation, async ({ params, origin }) => {
    const id = String(params['id'])
    await things.remove(id, origin)
    return { id, deleted: true as const }
  })
}

/** Checks a body against `strict` if `isStrict`, else against `schema`. */
export function checkedBy(
  schema: TSchema,
  strict: TSchema,
  isStrict: (body: object) => boolean,
): BodyCheck {
  const [wide, narrow] = [checkOf(schema, requestRefusal), checkOf(strict, requestRefusal)]
  const body = bridged(schema, (value) => (isStrict(value) ? narrow(value) : wide(value)))
  return { parse: [jsonBody], body }
}

/** Checks a body of several shapes; its field `type` picks one. */
export function checkedByType(
  title: string,
  shapes: Readonly<Record<string, ObjectShape>>,
): BodyCheck {
  const checks = new Map(
    Object.entries(shapes).map(([type, each]) => [type, checkOf(each, requestRefusal)]),
  )
  const allowed = [...checks.keys()]
  const body = bridged(Type.Union(Object.values(shapes), { title }), (value) => {
    const type = 'type' in value ? String(value.type) : ''
    const check = checks.get(type)
    if (check !== undefined) return check(value)
    const message = `must be one of ${allowed.join(', ')}`
    throw invalidRequest({ path: 'type', message, suggestion: wordMeant(type, allowed) })
  })
  return { parse: [jsonBody], body }
}

/** Checks a body in JSON, or as a form with a file, which is checked against `form`. */
export function checkedAsForm(schema: TSchema, form: TSchema): BodyCheck {
  const hasFile = (body: object) => Object.values(body).some((value) => value instanceof Blob)
  const { body } = checkedBy({ ...schema, [AS_FORM]: form }, form, hasFile)
  return { parse: [jsonOrFormBody], body }
}

/**
 * The routes of these operations, each behind the guard. The details are those of the OpenAPI document; the
 * routes that serve requests have none.
 */
export function routesOf(
  bindings: readonly Binding[],
  guard: Guard,
  detailOf: (operation: Operation) => object = () => HIDDEN,
): AnyElysia {
  const app = new Elysia()
  for (const binding of bindings) addRoute(app, binding, guard, detailOf(binding.operation))
  return app
}

const HIDDEN = { hide: true }

function addRoute(
  app: Elysia,
  { operation, handle, bodyCheck }: Binding,
  guard: Guard,
  detail: object,
): void {
  const { query, answers } = operation
  const { method, path } = routeOf(operation)
  const [status = 200] = Object.keys(answers).map(Number)
  const answer = async ({ request, params, body, set }: Handled) => {
    set.status = status
    const given = query === undefined ? {} : readQuery(request, query)
    const origin = originOf(request)
    // The row that checks the input also gave the handler its type.
    return handle({ request, params, body, set, origin, query: given } as never)
  }
  const checked = Object.entries(answers).map(([code, schema]) => [code, answerSchema(schema)])
  app.route(method, path, answer, {
    beforeHandle: ({ request, params = {}, body }: Partial<Attempt> & Pick<Attempt, 'request'>) => {
      guard(operation, { request, params, body })
      // `readQuery` refuses unknown parameters too.
      if (query === undefined && operation.callers !== 'everyone') requireNoQuery(request)
    },
    ...bodyHook(operation, bodyCheck),
    ...(path.includes(':') ? { params: pathSchema(paramsOf(path)) } : {}),
    response: Object.fromEntries(checked),
    detail,
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

/**
 * Makes the check of rights that each route runs before its handler. It throws `forbidden`, or "not found" for a
 * thing that the caller may not know of. It reads the database and doesn't wait. Credentials were checked at the
 * entrance; if that was missed, it throws.
 */
export function guardOf({ db }: Core): Guard {
  return (operation, attempt) => {
    const { request } = attempt
    contextOf(request).operation = operation
    if (operation.callers === 'everyone') return
    if (operation.callers === 'bridges') bridgeOf(request)
    else if (operation.callers !== 'browsers' || operation.isOpen !== true) callerOf(request)
    if (operation.callers !== 'keys') {
      // The owner may have limited this call to a conversation.
      if (contextOf(request).caller !== null) requireCall(permissionsOf(callerOf(request)), CLOSED)
      return
    }
    requireCall(permissionsOf(callerOf(request)), operation)
    requireInConversations(db, attempt)
    if (operation.limits.includes('lines')) requireOnLines(db, operation, attempt)
  }
}

/** An operation that belongs to no conversation. */
const CLOSED = { scope: 'any', limits: [] } as const

/** Throws `forbidden` if the resource is in none of the conversations that the key is limited to. */
function requireInConversations(db: Db, { request, params: { id } }: Attempt): void {
  if (id === undefined || isInConversations(db, viewerOf(request), id)) return
  throw beyondConversations()
}

/** Throws "not found" if the resource belongs to a line that the key may not use. */
function requireOnLines(db: Db, { errors = [] }: Operation, { request, params: { id } }: Attempt) {
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

/** Turns results and errors into answers. Messages of Elysia and of unknown errors are never shown. */
export function frame({ log }: Core, { doubtSignal }: { readonly doubtSignal: Signal }) {
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

// The API's schemas are written in typebox 1.x. Elysia's own validation would strip unknown fields and accept
// "5" as 5, so it gets them as Standard Schemas instead: it calls the function in the property `~standard`,
// which is not enumerable so that it stays out of the OpenAPI document.

/** A schema for Elysia, by the Standard Schema specification. */
type Bridged<T> = {
  readonly '~standard': { readonly types?: { readonly input: T; readonly output: T } | undefined }
}

/** For bodies: unknown fields and wrong types are answered 400, each with its name. */
export function requestSchema<T extends TSchema>(schema: T): T & Bridged<Static<T>> {
  return bridged(schema, checkOf(schema, requestRefusal))
}

/** Makes a check that throws `invalid_request` for a body that doesn't fit. */
export function bodyCheck(schema: TSchema): (body: object) => void {
  return checkOf(schema, requestRefusal)
}

function requestRefusal(issues: readonly Issue[]): RelayError {
  return invalidRequest(...issues)
}

/** For path parameters: an invalid one is answered 404. */
export function pathSchema<T extends TSchema>(schema: T): T & Bridged<Static<T>> {
  const refusal = () => new RelayError('not_found', 'There is nothing at this path.')
  return bridged(schema, checkOf(schema, refusal))
}

/** For answers: an invalid one is a bug in the relay. Its values stay out of the log. */
function answerSchema<T extends TSchema>(schema: T): T & Bridged<Shape<T>> {
  const refusal = (issues: readonly Issue[]) => {
    const faults = issues.map((issue) => `${issue.path} ${issue.message}`)
    return new Error(`An answer does not fit its schema: ${faults.join('; ')}`)
  }
  return bridged(schema, checkOf(schema, refusal))
}

/**
 * Makes a check that throws the error of `refusal`; Elysia's own error would contain the value. The schema is
 * compiled at its first use: to compile the schemas of all routes takes a third of the start.
 */
function checkOf(schema: TSchema, refusal: (issues: readonly Issue[]) => Error) {
  let validator: Validator | null = null
  return (value: unknown) => {
    validator ??= Compile(schema)
    if (validator.Check(value)) return { value }
    throw refusal(issuesOf(validator.Errors(value), { value, schema }))
  }
}

function bridged<T extends TSchema, V>(
  schema: T,
  validate: (value: object) => unknown,
): T & Bridged<V> {
  const standard = { version: 1, vendor: 'typebox', validate }
  // This defines the property that the type adds.
  return Object.defineProperty({ ...schema }, '~standard', { value: standard }) as T & Bridged<V>
}
