// The parts of the OpenAPI document that the generated clients need, for every language.

export type Schema = {
  readonly $ref?: string
  readonly anyOf?: readonly Schema[]
  readonly type?: string | readonly string[]
  readonly enum?: readonly Constant[]
  readonly const?: Constant
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly description?: string
}

export type Constant = string | boolean
type Content = Readonly<Record<string, { readonly schema: Schema }>>

/** The OpenAPI places of parameters, by the clients' names for them. */
export const PLACES = { query: 'query', headers: 'header' } as const

/** A parameter in the query or in a header. */
export type Parameter = {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly description?: string
  readonly schema: Schema
}

type DocumentedOperation = {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

export type ApiDocument = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

export type ClientOperation = {
  readonly id: string
  /** In capitals. */
  readonly method: string
  /** Has its parameters in braces. */
  readonly path: string
  readonly about: string
  /** Parameters in the path. */
  readonly ids: readonly string[]
  readonly options: readonly Parameter[]
  readonly body: { readonly schema: Schema; readonly isRequired: boolean } | 'file' | null
  readonly answer: Schema | 'raw'
  /** The entry of a list that is paged by `cursor`; null for any other answer. */
  readonly entry: Schema | null
}

const JSON_TYPE = 'application/json'
const FILE_TYPE: Parameter = {
  name: 'Content-Type',
  in: 'header',
  required: false,
  schema: { type: 'string' },
}

export function operationsOf({ paths, components }: ApiDocument): readonly ClientOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { operationId: id, summary, description, parameters } = operation
      const body = bodyOf(operation)
      const answer = answerOf(operation)
      const options = parameters.filter((parameter) => parameter.in !== 'path')
      const isPaged = options.some(({ name }) => name === 'cursor') && answer !== 'raw'
      const list = isPaged ? components.schemas[nameIn(answer.$ref ?? '')] : undefined
      return {
        id,
        method: method.toUpperCase(),
        path,
        about: `${summary}. ${description}`,
        ids: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
        options: body === 'file' ? [...options, FILE_TYPE] : options,
        body,
        answer,
        entry: list?.properties?.['data']?.items ?? null,
      }
    }),
  )
}

function bodyOf({ requestBody }: DocumentedOperation): ClientOperation['body'] {
  if (requestBody === undefined) return null
  const { [JSON_TYPE]: json } = requestBody.content
  return json === undefined ? 'file' : { schema: json.schema, isRequired: requestBody.required }
}

function answerOf({ responses }: DocumentedOperation): ClientOperation['answer'] {
  const done = Object.entries(responses).find(([status]) => status.startsWith('2'))
  return done?.[1].content?.[JSON_TYPE]?.schema ?? 'raw'
}

/** The words of a language for types. */
export type TypeWords = {
  /** By JSON Schema's names. */
  readonly basic: Readonly<Record<string, string>>
  readonly named: (name: string) => string
  readonly constants: (values: readonly Constant[]) => string
  readonly list: (entry: string) => string
  readonly union: (types: readonly string[]) => string
}

/** The type of a schema that isn't an object with fields; objects with fields have names. */
export function typeOf(schema: Schema, words: TypeWords): string {
  const { $ref, anyOf, type = 'object', items = {} } = schema
  if ($ref !== undefined) return words.named(nameIn($ref))
  if (anyOf !== undefined) return words.union(anyOf.map((one) => typeOf(one, words)))
  if (schema.const !== undefined) return words.constants([schema.const])
  if (schema.enum !== undefined) return words.constants(schema.enum)
  const types = typeof type === 'string' ? [type] : type
  return words.union(
    types.map((name) =>
      name === 'array' ? words.list(typeOf(items, words)) : (words.basic[name] ?? ''),
    ),
  )
}

function nameIn(ref: string): string {
  return ref.replace(/^.*\//, '')
}

/** `Idempotency-Key` and `idempotencyKey` both give `idempotency` and `key`. */
export function wordsIn(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_-]/)
}

/** The words of the name of a list's iterator: `all`, `messages` for `listMessages`. */
export function allOf(id: string): readonly string[] {
  return ['all', ...wordsIn(id).slice(1)]
}

/** Breaks a text into lines of at most `length` characters, unless a word is longer. */
export function wrapped(text: string, length: number): readonly string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines = ['']
    for (const word of paragraph.split(' ')) {
      const line = lines.at(-1) ?? ''
      const isLonger = line !== '' && line.length + word.length >= length
      if (isLonger) lines.push(word)
      else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
    }
    return lines
  })
}

/** Replaces each mark, alone on its line in the template, by lines with the same indent. */
export function filledIn(
  template: string,
  parts: Readonly<Record<string, readonly string[]>>,
): readonly string[] {
  return template.split('\n').flatMap((line) => {
    const [, indent = '', name = ''] = /^( *)(?:\/\/|#) \{\{(\w+)\}\}$/.exec(line) ?? []
    return parts[name]?.map((part) => (part === '' ? '' : indent + part)) ?? [line]
  })
}
