// An operation: a route's hook for Elysia and its part of the OpenAPI document, in one piece.

import { type TObject, type TSchema, Type } from 'typebox'

import { errorAnswers } from '../api/errors.ts'
import { IdPath, type Shape } from '../api/schema.ts'
import type { ErrorCode } from '../domain/errors.ts'
import { requirePermission, type Scope, permissionsOf } from '../domain/permissions.ts'
import { requireNoQuery } from './query.ts'
import { bridgeOf, callerOf } from './request-context.ts'
import { answerSchema, pathSchema, type Bridged } from './typebox.ts'

type Answers = Readonly<Record<number, TSchema>>

/** The scope that a key needs for a route; `any` key will do for some. */
export type RouteScope = Scope | 'any'

type Access =
  | { readonly scope: RouteScope; readonly asksFor?: undefined }
  /** Credentials in place of a key. */
  | { readonly asksFor: 'bridge_token' | 'nothing'; readonly scope?: undefined }

/** The group of an operation in the document. */
type Tag =
  | 'Messages'
  | 'Attachments'
  | 'Conversations'
  | 'Contacts'
  | 'Phone lines'
  | 'Events'
  | 'Webhooks'
  | 'Keys'
  | 'Bridges'
  | 'Shortcuts'
  | 'Service'

export type Operation<A extends Answers> = Access & {
  /** Names the operation in generated clients, as `sendMessage`. */
  readonly id: string
  readonly summary: string
  readonly description: string
  readonly query?: TObject | undefined
  readonly headers?: TObject | undefined
  readonly answers: A
  /** Errors beyond those of every route. */
  readonly errors?: readonly ErrorCode[] | undefined
  readonly answerHeaders?: Readonly<Record<string, string>> | undefined
  /** Requests of the relay that follow from it. */
  readonly callbacks?: readonly Callback[] | undefined
}

/** A request of the relay to an address that its caller gave. */
export type Callback = {
  readonly id: string
  readonly summary: string
  readonly description: string
  /** The address, as a runtime expression of OpenAPI. */
  readonly to: string
  readonly body: TSchema
}

const EVERYWHERE: readonly ErrorCode[] = [
  'invalid_request',
  'unauthorized',
  'internal_error',
  'starting',
  'stopping',
]

/** Name of the scope in the OpenAPI document, from which the guard of the API reads it as well. */
export const REQUIRED_SCOPE = 'x-required-scope'

/** Throws `forbidden` for a key without the scope. */
export function requireScope(request: Request, scope: RouteScope): void {
  if (scope !== 'any') requirePermission(permissionsOf(callerOf(request)), scope)
}

export const BY_ID = { params: pathSchema(IdPath) }

/**
 * Guard of a route without a query. Credentials were checked at the entrance; a route that it missed stays
 * shut.
 */
export function plainCall({ request }: { readonly request: Request }): void {
  callerOf(request)
  requireNoQuery(request)
}

/** The part of a route's hook that guards it, and checks and documents its answers. */
export function operation<A extends Answers>(tag: Tag, op: Operation<A>) {
  const checked = Object.entries(op.answers).map(([status, schema]) => [
    status,
    answerSchema(schema),
  ])
  return {
    beforeHandle: guardOf(op),
    // A checked schema for each answer, under the same status.
    response: Object.fromEntries(checked) as {
      [S in keyof A]: A[S] extends TSchema ? Bridged<Shape<A[S]>> : never
    },
    detail: documentationOf(tag, op),
  }
}

/** The same on a route for the shortcuts of a bridge. */
function bridgeCall({ request }: { readonly request: Request }): void {
  bridgeOf(request)
  requireNoQuery(request)
}

function guardOf({ asksFor, query }: Operation<Answers>): typeof plainCall {
  if (asksFor === 'nothing') return () => {}
  if (asksFor === 'bridge_token') return bridgeCall
  // A handler that reads its query refuses unknown parameters.
  return query === undefined ? plainCall : ({ request }) => void callerOf(request)
}

/** The documentation alone, for routes that write their answers themselves. */
export function documentationOf<A extends Answers>(tag: Tag, op: Operation<A>) {
  const { id, summary, description, callbacks, errors = [] } = op
  const answers = Object.entries(op.answers).map(([status, schema]) => [
    status,
    {
      description: ANSWERS[Number(status)] ?? 'Done.',
      content: { 'application/json': { schema } },
      ...(op.answerHeaders === undefined ? {} : { headers: headersOf(op.answerHeaders) }),
    },
  ])
  const parameters = [...parametersOf('query', op.query), ...parametersOf('header', op.headers)]
  const isScoped = op.scope !== undefined && op.scope !== 'any'
  const common = isScoped ? [...EVERYWHERE, 'forbidden' as const] : EVERYWHERE
  const codes = op.asksFor === 'nothing' ? errors : [...common, ...errors]
  const responses = { ...Object.fromEntries(answers), ...errorAnswers(codes) }
  return {
    operationId: id,
    summary,
    description,
    tags: [tag],
    parameters,
    responses,
    ...(op.scope === undefined ? {} : { [REQUIRED_SCOPE]: op.scope }),
    ...(callbacks === undefined
      ? {}
      : { callbacks: Object.fromEntries(callbacks.map(callbackOf)) }),
    ...SECURITY[op.asksFor ?? 'key'],
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

const SECURITY = {
  // The document's default.
  key: {},
  bridge_token: { security: [{ bridgeToken: [] }] },
  nothing: { security: [] },
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
