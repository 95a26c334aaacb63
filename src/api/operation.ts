// The row of an operation. Routes, the OpenAPI document, rights, and the typed clients of the command line, MCP
// and the dashboard are all derived from the rows in `operations/`.

import { type Static, type TObject, type TSchema, Type } from 'typebox'

import type { AuditAction } from '../domain/audit.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { Scope } from '../domain/permissions.ts'
import { NoBody, type Shape } from './schema.ts'

/**
 * Limits of a key that an operation checks. With `lines`, things of other lines don't exist for the key. Without
 * `conversations`, a key that is limited to conversations may not call it at all.
 */
export type KeyLimit = 'lines' | 'conversations' | 'recipients'

/** Groups of operations in the OpenAPI document. */
export const TAGS = {
  Messages: 'Sending, and reading what was sent and received.',
  Attachments: 'Files that travel with messages.',
  Conversations: 'All messages of a line with a handle.',
  Contacts: 'Your names for people, and search.',
  'Phone lines': 'The numbers that send and receive.',
  Events: 'What happened, to read in your own time.',
  Webhooks: 'Events on their way to you, signed after Standard Webhooks.',
  Keys: 'Credentials of API clients.',
  Bridges: 'Access for iPhones that are lines by Shortcuts.',
  Shortcuts: 'Called by the shortcuts of such an iPhone, with its token.',
  Service: 'State of the relay.',
  Fake: 'Only in `hookline fake`.',
} as const
type Tag = keyof typeof TAGS

/** A request that the relay makes later, to an address from the operation's body. */
export type Callback = {
  readonly id: string
  readonly summary: string
  readonly description: string
  /** The address, as a runtime expression of OpenAPI. */
  readonly to: string
  readonly body: TSchema
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

type Common = {
  /** Method and path below the root of its callers: `PUT /webhooks/:id`. */
  readonly route: `${Method} /${string}`
  readonly query?: TObject | undefined
  readonly headers?: TObject | undefined
  /** The JSON body. A request without one counts as `{}` if `isBodyOptional`, else it is refused. */
  readonly body?: TSchema | undefined
  readonly isBodyOptional?: true
  /** The body is a file, which the handler reads itself. */
  readonly takesFile?: true
  readonly answers: Readonly<Record<number, TSchema>>
  readonly answerHeaders?: Readonly<Record<string, string>> | undefined
  /** Answers that aren't JSON, as OpenAPI describes them. */
  readonly fileAnswers?: Readonly<Record<number, object>> | undefined
  /** Errors beyond those of every operation. */
  readonly errors?: readonly ErrorCode[] | undefined
  readonly callbacks?: readonly Callback[] | undefined
  /** The audit entry of a successful call. */
  readonly audit: AuditAction | null
}

type Documented = { readonly tag: Tag; readonly summary: string; readonly description: string }

/** Rights of a browser's session. They are required, so that no operation is open by accident. */
type OfSessions = {
  /** Rights of members; `own`: only for things that they created. */
  readonly member: 'yes' | 'own' | 'no'
  /** `yes` if the owner must have entered the password within the last hour. */
  readonly password: 'no' | 'yes' | 'if it leads elsewhere' | 'if it opens the line'
  /**
   * True if its answer may be compressed. A compressed size reveals repeated text, so answers with a secret or
   * with the words of several people are never compressed.
   */
  readonly compress: boolean | 'of one conversation'
}

/** A row of a table. Its key there is the operation's id in generated clients and in our own calls. */
type Row = Common &
  (
    | (Documented &
        OfSessions & {
          /** API keys, the owner's command line, and browsers that are signed in. */
          readonly callers: 'keys'
          /** The scope that a key needs; `any`: every key may call it. */
          readonly scope: Scope | 'any'
          readonly limits: readonly KeyLimit[]
        })
    /** The owner's command line and browsers, never API keys. */
    | (OfSessions & { readonly callers: 'owner' })
    /** Only browsers. An operation that `isOpen` works before the sign-in. */
    | (OfSessions & { readonly callers: 'browsers'; readonly isOpen?: true })
    /** Only the control socket. */
    | { readonly callers: 'control' }
    /** Shortcuts on an iPhone, with the token of a bridge. */
    | (Documented & { readonly callers: 'bridges' })
    | (Documented & { readonly callers: 'everyone' })
  )

export type Operation = Row & { readonly id: string }

export type Callers = Operation['callers']

const ROOTS: Readonly<Record<Callers, string>> = {
  keys: '/api/v1',
  owner: '/api/v1',
  control: '/api/v1',
  browsers: '/dashboard',
  bridges: '/bridge/v1',
  everyone: '',
}

/** Rights of a read and of a change, closed to members. A row spreads one and adds what differs. */
export const READ = { member: 'no', password: 'no', compress: false, audit: null } as const
export const CHANGE = { member: 'no', password: 'yes', compress: false } as const

/** Fields that a short row adds to its route and its one answer. */
type More = Pick<Common, 'query' | 'body' | 'isBodyOptional' | 'takesFile'> &
  Partial<OfSessions> & { readonly isOpen?: true }

type ShortRow<C extends Callers, R, A> = OfSessions & {
  readonly callers: C
  readonly route: R
  readonly answers: { readonly 200: A }
}

/** Makes short rows of reads for these callers. */
export function reading<const C extends 'owner' | 'browsers' | 'control'>(callers: C) {
  return <const R extends `GET /${string}`, A extends TSchema, const M extends More = object>(
    route: R,
    answer: A,
    more: M = {} as M, // All fields of `More` are optional.
  ): ShortRow<C, R, A> & { readonly audit: null } & NoInfer<M> => {
    return { ...READ, callers, route, answers: { 200: answer }, ...more }
  }
}

/** Makes short rows of changes for these callers. */
export function changing<const C extends 'owner' | 'browsers'>(callers: C) {
  return <
    const R extends `${Method} /${string}`,
    A extends TSchema,
    const M extends More & Pick<Common, 'audit'>,
  >(
    route: R,
    answer: A,
    more: M,
  ): ShortRow<C, R, A> & M => {
    return { ...CHANGE, callers, route, answers: { 200: answer }, ...more }
  }
}

/** For an action without parameters: its body may be left out. */
export const NO_BODY = { body: NoBody, isBodyOptional: true } as const

/** Adds the id to each row. */
export function rows<const R extends Readonly<Record<string, Row>>>(
  table: R,
): { readonly [Id in keyof R]: R[Id] & { readonly id: Id } } {
  const named = Object.entries(table).map(([id, row]) => [id, { ...row, id }])
  return Object.fromEntries(named) as { readonly [Id in keyof R]: R[Id] & { readonly id: Id } } // By their own ids.
}

/** The method, and the path from the relay's root: `/api/v1/webhooks/:id`. */
export function routeOf({ callers, route }: Pick<Operation, 'callers' | 'route'>) {
  const [method, path] = route.split(' ') as [Method, string] // By its type.
  return { method, path: `${ROOTS[callers]}${path}` }
}

/** A type for an answer that is neither checked nor documented. Not for operations that keys may call. */
export function typed<T>() {
  return Type.Unsafe<T>({})
}

type Names<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Names<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? Name
    : never

export type ParamsOf<O extends Operation> = Readonly<Record<Names<O['route']>, string>>

export type QueryOf<O extends Operation> = O extends { readonly query: infer Q extends TObject }
  ? Static<Q>
  : object

export type BodyOf<O extends Operation> = O extends { readonly body: infer B extends TSchema }
  ? Static<B>
  : undefined

/** The answers other than errors. */
export type AnswerOf<O extends Operation> = Shape<O['answers'][keyof O['answers'] & number]>
