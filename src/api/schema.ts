// Building blocks of the API's schemas.

import {
  Type,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  type TStringOptions,
} from 'typebox'

/** Values are readonly all the way down. */
export type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T

/** The type of a schema's values. */
export type Shape<T extends TSchema> = DeepReadonly<Static<T>>

/** A schema of objects. */
export type ObjectShape = TObject

/** The message for a time that cannot be read. */
export const TIME_WANTED = 'must be a time like 2026-11-21T10:00:00.000Z'

/** Keywords under this name go into the OpenAPI document only; requests are not checked by them. */
export const IN_DOCUMENT = 'inDocument'

/** Under this name a body has its schema as a form, for the OpenAPI document. */
export const AS_FORM = 'asForm'

const URL_EXAMPLE = 'https://shop.example.com/hooks/messages'

export const ISO_TIME = { format: 'date-time', example: '2026-11-21T10:00:00.000Z' }

/** An object with these fields and no others; `title` names it in the OpenAPI document. */
export function objectSchema<P extends TProperties>(
  title: string,
  properties: P,
  description?: string,
) {
  const about = description === undefined ? {} : { description }
  return Type.Object(properties, { title, additionalProperties: false, ...about })
}

/** One of a few words; `title` names them in the OpenAPI document. */
export function enumOf<T extends string>(title: string, words: readonly T[], description?: string) {
  const about = description === undefined ? {} : { description }
  return Type.Unsafe<T>({ title, type: 'string', enum: [...words], ...about })
}

/** A web address. The format is documentation only: the webhooks decide which addresses they accept. */
export function url(options: TStringOptions) {
  return Type.String({ ...options, example: URL_EXAMPLE, [IN_DOCUMENT]: { format: 'uri' } })
}

/** A time: ISO 8601, UTC, milliseconds. */
export function time(description: string) {
  return Type.String({ ...ISO_TIME, description })
}

export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}

export function id(prefix: string, description: string) {
  return Type.String({ description, example: `${prefix}_01k5c3qv7yfxn8t2w9r4d6m0ab` })
}

/** The envelope of every list. */
export function listOf<T extends TObject>(title: string, resource: T) {
  return objectSchema(title, {
    data: Type.Array(resource),
    has_more: Type.Boolean({
      description: 'Whether another page follows, also if this one is short or empty.',
    }),
    next_cursor: nullable(Type.String({ description: 'The `cursor` of the next page.' })),
  })
}

/** A part of a list, newest first unless the list says otherwise. */
export type Page<T> = {
  readonly data: readonly T[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

/** A list that is never cut into pages. */
export type All<T> = { readonly data: readonly T[] }

export const Deleted = objectSchema('Deleted', { id: Type.String(), deleted: Type.Literal(true) })
export type Deleted = Shape<typeof Deleted>

/** The body of an action without parameters. */
export const NoBody = Type.Object({}, { additionalProperties: false })
