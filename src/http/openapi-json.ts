// JSON of a document, read without trust in its shape.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [name: string]: Json }

export function mapObject(node: JsonObject, map: (value: JsonObject) => Json): JsonObject {
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name, map(objectIn(value))]),
  )
}

/** The object that `node` is; an empty one where it is none. */
export function objectIn(node: Json | undefined): JsonObject {
  return typeof node === 'object' && node !== null && !isList(node) ? node : {}
}

export function listIn(node: Json | undefined): readonly Json[] {
  return node !== undefined && isList(node) ? node : []
}

function isList(node: Json): node is readonly Json[] {
  return Array.isArray(node)
}
