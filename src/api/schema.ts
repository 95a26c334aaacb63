// Building blocks of the API's schemas.

import {
  Type,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  type TStringOptions,
} from 'typebox'

export type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T

export type Shape<T extends TSchema> = DeepReadonly<Static<T>>

export type ObjectShape = TObject

export const TIME_WANTED = 'must be a time like 2026-11-21T10:00:00.000Z'

/** Keywords below this one appear in the OpenAPI document only; requests aren't checked against them. */
export const IN_DOCUMENT = 'inDocument'

/** This keyword holds the schema of the body as a form, for the OpenAPI document. */
export const AS_FORM = 'asForm'

export const ISO_TIME = { format: 'date-time', example: '2026-11-21T10:00:00.000Z' }

/** An object with only these fields; `title` is its name in the OpenAPI document. */
export function objectSchema<P extends TProperties>(
  title: string,
  properties: P,
  description?: string,
) {
  const about = description === undefined ? {} : { description }
  return Type.Object(properties, { title, additionalProperties: false, ...about })
}

/** Some of these fields, at least one. */
export function changesOf<P extends TProperties>(title: string, fields: P) {
  const options = { title, additionalProperties: false, minProperties: 1 }
  return Type.Partial(Type.Object(fields), options)
}

/** One of these words; `title` is their name in the OpenAPI document. */
export function enumOf<T extends string>(title: string, words: readonly T[], description?: string) {
  const about = description === undefined ? {} : { description }
  return Type.Unsafe<T>({ title, type: 'string', enum: [...words], ...about })
}

export function text(description: string, example?: string) {
  return Type.String({ description, ...(example === undefined ? {} : { example }) })
}

export function flag(description: string) {
  return Type.Boolean({ description })
}

export function count(description: string, example?: number) {
  return Type.Integer({ description, ...(example === undefined ? {} : { example }) })
}

export function ids(description: string) {
  return Type.Array(Type.String(), { description })
}

/** A web address. Its format is only documented; webhooks check which addresses they accept. */
export function url(options: TStringOptions) {
  const example = 'https://shop.example.com/hooks/messages'
  return Type.String({ ...options, example, [IN_DOCUMENT]: { format: 'uri' } })
}

/** A time in an answer: ISO 8601, UTC, with milliseconds. */
export function time(description: string) {
  return Type.String({ ...ISO_TIME, description })
}

export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}

/** A field that may be null or left out. */
export function nullish<T extends TSchema>(schema: T) {
  return Type.Optional(nullable(schema))
}

export function id(prefix: string, description: string) {
  return Type.String({ description, example: `${prefix}_01k5c3qv7yfxn8t2w9r4d6m0ab` })
}

/** A page of a list. */
export function listOf<T extends TObject>(title: string, resource: T) {
  return objectSchema(title, {
    data: Type.Array(resource),
    has_more: Type.Boolean({
      description: 'Whether another page follows, also if this one is short or empty.',
    }),
    next_cursor: nullable(Type.String({ description: 'The `cursor` of the next page.' })),
  })
}

/** A page of a list, newest first unless the list says otherwise. */
export type Page<T> = {
  readonly data: readonly T[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

/** A list without pages. */
export type All<T> = { readonly data: readonly T[] }

export const Deleted = objectSchema('Deleted', { id: Type.String(), deleted: Type.Literal(true) })
export type Deleted = Shape<typeof Deleted>

export const NoBody = Type.Object({}, { additionalProperties: false })

/** Ids of the only things that a limit allows. */
export function limitIds(description: string) {
  return Type.Array(Type.String(), { minItems: 1, maxItems: 100, description })
}
