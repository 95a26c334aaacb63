// The client in TypeScript: types and methods from the OpenAPI document, around a template.

import {
  type ApiDocument,
  type ClientOperation,
  type Parameter,
  type Schema,
  type TypeWords,
  PLACES,
  allOf,
  filledIn,
  operationsOf,
  typeOf,
  wordsIn,
  wrapped,
} from './description.ts'
import template from './typescript.ts.txt' with { type: 'text' }

const COMMENT_LENGTH = 100

const WORDS: TypeWords = {
  basic: {
    string: 'string',
    integer: 'number',
    number: 'number',
    boolean: 'boolean',
    null: 'null',
    object: 'Readonly<Record<string, unknown>>',
  },
  named: (name) => name,
  constants: (values) =>
    values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value))).join(' | '),
  list: (entry) => `readonly ${/\W/.test(entry) ? `(${entry})` : entry}[]`,
  // A plain `string` in a union would absorb the known words.
  union: (types) => types.map((type) => (isOpen(type, types) ? '(string & {})' : type)).join(' | '),
}

function isOpen(type: string, types: readonly string[]): boolean {
  return type === 'string' && types.some((other) => other !== 'string' && other !== 'null')
}

export function typescriptClient(document: ApiDocument): readonly string[] {
  const operations = operationsOf(document)
  return filledIn(template, {
    types: [
      ...Object.entries(document.components.schemas).flatMap(([name, one]) => namedType(name, one)),
      ...operations.flatMap(optionsType),
    ].slice(0, -1),
    methods: operations.flatMap(method).slice(0, -1),
  })
}

function namedType(name: string, schema: Schema): readonly string[] {
  const { description, properties, required = [] } = schema
  const head = comment(description)
  if (properties === undefined)
    return [...head, `export type ${name} = ${typeOf(schema, WORDS)}`, '']
  const fields = Object.entries(properties).flatMap(([field, type]) => [
    ...comment(type.description).map(indented),
    `  readonly ${field}${required.includes(field) ? '' : '?'}: ${typeOf(type, WORDS)}`,
  ])
  return [...head, `export type ${name} = {`, ...fields, '}', '']
}

function optionsType({ id, options }: ClientOperation): readonly string[] {
  if (options.length === 0) return []
  const fields = options.flatMap((option) => {
    const type = typeOf(option.schema, WORDS)
    return [
      ...comment(option.description).map(indented),
      `  readonly ${optionName(option)}${option.required ? ': ' : '?: undefined | '}${type}`,
    ]
  })
  return [`export type ${optionsName(id)} = CallOptions & {`, ...fields, '}', '']
}

function method(operation: ClientOperation): readonly string[] {
  const { id, about, ids, options, body, answer, entry } = operation
  const type = options.length === 0 ? 'CallOptions' : optionsName(id)
  const isOptional = options.every(({ required }) => !required)
  const last = `options: ${type}${isOptional ? ' = {}' : ''}`
  const named = ids.map((name) => `${name}: string`)
  const given = [...named, ...bodyParameter(body), last].join(', ')
  const result = answer === 'raw' ? 'Response' : typeOf(answer, WORDS)
  const lines = [
    ...comment(about),
    `${id}(${given}): Promise<${result}> {`,
    ...callOf(operation).map(indented),
    '}',
    '',
  ]
  if (entry === null) return lines
  const list = `this.${id}(${[...ids, '{ ...options, cursor }'].join(', ')})`
  return [
    ...lines,
    `/** Every entry of \`${id}\`, page by page. */`,
    `${camelCase(allOf(id))}(${[...named, last].join(', ')}): AsyncGenerator<${typeOf(entry, WORDS)}, undefined> {`,
    `  return entriesOf((cursor) => ${list})`,
    '}',
    '',
  ]
}

function bodyParameter(body: ClientOperation['body']): readonly string[] {
  if (body === null) return []
  if (body === 'file') return ['file: FileBody']
  return [`body: ${typeOf(body.schema, WORDS)}${body.isRequired ? '' : ' = {}'}`]
}

function callOf({ method, path, options, body, answer }: ClientOperation): readonly string[] {
  const url = path.replaceAll(/\{(\w+)\}/g, '${encodeURIComponent($1)}')
  return [
    `return this.#call('${method}', ${url === path ? `'${path}'` : `\`${url}\``}, {`,
    ...pairsOf('query', options),
    ...pairsOf('headers', options),
    ...(body === null ? [] : [body === 'file' ? '  file,' : '  body,']),
    ...(answer === 'raw' ? ['  isRaw: true,'] : []),
    '  options,',
    '})',
  ]
}

function pairsOf(name: keyof typeof PLACES, options: readonly Parameter[]): readonly string[] {
  const those = options.filter((option) => option.in === PLACES[name])
  if (those.length === 0) return []
  const pairs = those.map((option) => {
    const key = /\W/.test(option.name) ? `'${option.name}'` : option.name
    return `    ${key}: options.${optionName(option)},`
  })
  return [`  ${name}: {`, ...pairs, '  },']
}

/** Query parameters keep their names; headers get one in camel case. */
function optionName(option: Parameter): string {
  return option.in === 'query' ? option.name : camelCase(wordsIn(option.name))
}

function optionsName(id: string): string {
  return `${id.charAt(0).toUpperCase()}${id.slice(1)}Options`
}

function camelCase([first = '', ...rest]: readonly string[]): string {
  return first + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

function comment(text: string | undefined): readonly string[] {
  if (text === undefined) return []
  const lines = wrapped(text.replaceAll('*/', '* /'), COMMENT_LENGTH)
  return lines.length === 1
    ? [`/** ${text} */`]
    : ['/**', ...lines.map((line) => ` * ${line}`), ' */']
}

function indented(line: string): string {
  return line === '' ? '' : `  ${line}`
}
