// What the shapes of the API are made of.

import { Type, type TStringOptions, type TObject, type TProperties, type TSchema } from 'typebox'

/** What is told of a time that does not fit. */
export const TIME_WANTED = 'must be a time like 2026-11-21T10:00:00.000Z'

/** Keywords under this name are in the OpenAPI document and nothing is checked by them. */
export const IN_DOCUMENT = 'inDocument'
const URL_EXAMPLE = 'https://shop.example.com/hooks/messages'

export const ISO_TIME = { format: 'date-time', example: '2026-11-21T10:00:00.000Z' }

/** An object that has these fields and no others; `title` names it in the OpenAPI document. */
export function shape<P extends TProperties>(title: string, properties: P, description?: string) {
  const about = description === undefined ? {} : { description }
  return Type.Object(properties, { title, additionalProperties: false, ...about })
}

/** One of a few words, which `title` names in the OpenAPI document. */
export function word<T extends string>(title: string, words: readonly T[], description?: string) {
  const about = description === undefined ? {} : { description }
  return Type.Unsafe<T>({ title, type: 'string', enum: [...words], ...about })
}

/** The same in an answer: what we have may be typed as any string. */
export function toldWord(title: string, words: readonly string[], description?: string) {
  return word<string>(title, words, description)
}

/** A web address. Its format is for the document alone: which addresses are good, no schema decides. */
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
  return shape(title, {
    data: Type.Array(resource),
    has_more: Type.Boolean({ description: 'Whether another page follows.' }),
    next_cursor: nullable(Type.String({ description: 'Goes into `cursor` for the next page.' })),
  })
}
