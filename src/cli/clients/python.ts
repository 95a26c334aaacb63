// The client in Python: types and methods from the OpenAPI document, around a template.

import {
  type ApiDocument,
  type ClientOperation,
  type Constant,
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
import template from './python.py' with { type: 'text' }

const LINE_LENGTH = 100
/** The keywords of Python 3.9 to 3.14. */
const RESERVED = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from ' +
    'global if import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
)

/** Options of `listEvents` that `events` sets itself. */
const OF_FOLLOWING = new Set(['after', 'limit', 'Prefer'])

const WORDS: TypeWords = {
  basic: {
    string: 'str',
    integer: 'int',
    number: 'float',
    boolean: 'bool',
    null: 'None',
    object: 'Dict[str, Any]',
  },
  // In quotes, because it may be defined further down.
  named: (name) => `"${name}"`,
  constants: (values) => `Literal[${values.map(constant).join(', ')}]`,
  list: (entry) => `List[${entry}]`,
  union: (types) => (types.length === 1 ? types.join('') : `Union[${types.join(', ')}]`),
}

function constant(value: Constant): string {
  if (typeof value === 'string') return `'${value}'`
  return value ? 'True' : 'False'
}

export function pythonClient(document: ApiDocument): readonly string[] {
  const operations = operationsOf(document)
  const events = operations.find(({ id }) => id === 'listEvents')?.options ?? []
  const choice = events.filter(({ name }) => !OF_FOLLOWING.has(name))
  return filledIn(template, {
    event_parameters: choice.map((option) => `${parameter(option)},`),
    event_arguments: choice.map(optionName).map((name) => `${name}=${name},`),
    types: Object.entries(document.components.schemas).flatMap(([name, one]) =>
      namedType(name, one),
    ),
    methods: operations.flatMap(method).slice(0, -1),
  })
}

/** In Python 3.9 a whole class is optional or required, so the required fields are in a base class. */
function namedType(name: string, schema: Schema): readonly string[] {
  const { description, properties, required = [] } = schema
  const about = comment(description)
  if (properties === undefined) return [...about, `${name} = ${typeOf(schema, WORDS)}`, '']
  const fields = Object.entries(properties)
  const always = fields.filter(([field]) => required.includes(field))
  const sometimes = fields.filter(([field]) => !required.includes(field))
  if (sometimes.length === 0) return ['', ...about, ...dictionary(name, always), '']
  const below = `_${name}Required`
  const others = `_${name}Optional`
  const hasReserved = sometimes.some(([field]) => RESERVED.has(field))
  const bases = [...(always.length === 0 ? [] : [below]), ...(hasReserved ? [others] : [])]
  return [
    '',
    ...(always.length === 0 ? [] : [...dictionary(below, always), '', '']),
    ...(hasReserved ? [...dictionary(others, sometimes, ', total=False'), '', ''] : []),
    ...about,
    `class ${name}(${bases.length === 0 ? 'TypedDict' : bases.join(', ')}, total=False):`,
    ...(hasReserved ? ['pass'] : sometimes.flatMap(fieldLines)).map(indented),
    '',
  ]
}

type Fields = readonly (readonly [name: string, schema: Schema])[]

/** A class cannot have a field such as `from`. */
function dictionary(name: string, fields: Fields, total = ''): readonly string[] {
  if (!fields.some(([field]) => RESERVED.has(field))) {
    return [`class ${name}(TypedDict${total}):`, ...fields.flatMap(fieldLines).map(indented)]
  }
  const pairs = fields.flatMap(([field, schema]) => [
    ...comment(schema.description),
    `"${field}": ${typeOf(schema, WORDS)},`,
  ])
  return [`${name} = TypedDict("${name}", {`, ...pairs.map(indented), `}${total})`]
}

function fieldLines([name, schema]: Fields[number]): readonly string[] {
  return [...comment(schema.description), `${name}: ${typeOf(schema, WORDS)}`]
}

function method(operation: ClientOperation): readonly string[] {
  const { id, about, ids, options, body, answer, entry } = operation
  const name = wordsIn(id).join('_')
  const named = ids.map((one) => `${one}: str`)
  const result = answer === 'raw' ? 'http.client.HTTPResponse' : bareType(answer)
  const given = [...named, ...bodyParameter(body), '*', ...options.map(parameter), ...CALL]
  const lines = [
    ...definition(name, given, result),
    ...docstring(about).map(indented),
    '    answer = self._call(',
    ...callOf(operation).map((line) => `        ${line}`),
    '    )',
    `    return cast("${result}", answer)`,
    '',
  ]
  if (entry === null) return lines
  const others = options.filter((option) => option.name !== 'cursor')
  const passed = [...others.map(optionName), 'cursor', 'timeout', 'patience']
  return [
    ...lines,
    ...definition(
      allOf(id).join('_'),
      [...named, '*', ...others.map(parameter), ...CALL],
      `Iterator[${bareType(entry)}]`,
    ),
    `    """Every entry of \`${name}\`, page by page."""`,
    '    return _entries(',
    `        lambda cursor: self.${name}(`,
    ...[...ids, ...passed.map((one) => `${one}=${one}`)].map((one) => `            ${one},`),
    '        )',
    '    )',
    '',
  ]
}

const CALL = ['timeout: Optional[float] = None', 'patience: Optional[float] = None']

function definition(name: string, given: readonly string[], result: string): readonly string[] {
  const parameters = ['self', ...given].map((one) => `    ${one},`)
  return [`def ${name}(`, ...parameters, `) -> ${result}:`]
}

function bodyParameter(body: ClientOperation['body']): readonly string[] {
  if (body === null) return []
  if (body === 'file') return ['file: FileBody']
  const type = bareType(body.schema)
  return [body.isRequired ? `body: ${type}` : `body: Optional[${type}] = None`]
}

function callOf({ method, path, options, body, answer }: ClientOperation): readonly string[] {
  const url = path.replaceAll(/\{(\w+)\}/g, '{_quoted($1)}')
  const isOptional = body !== null && body !== 'file' && !body.isRequired
  return [
    `"${method}",`,
    `${url === path ? '' : 'f'}"${url}",`,
    ...pairsOf('query', options),
    ...pairsOf('headers', options),
    ...(body === 'file' ? ['file=file,'] : []),
    ...(body === null || body === 'file' ? [] : [`body=body${isOptional ? ' or {}' : ''},`]),
    ...(answer === 'raw' ? ['is_raw=True,'] : []),
    'timeout=timeout,',
    'patience=patience,',
  ]
}

function pairsOf(name: keyof typeof PLACES, options: readonly Parameter[]): readonly string[] {
  const those = options.filter((option) => option.in === PLACES[name])
  if (those.length === 0) return []
  const pairs = those.map((option) => `    "${option.name}": ${optionName(option)},`)
  return [`${name}={`, ...pairs, '},']
}

function parameter(option: Parameter): string {
  const type = bareType(option.schema)
  return `${optionName(option)}: ${option.required ? type : `Optional[${type}] = None`}`
}

function optionName({ name }: Parameter): string {
  const words = wordsIn(name).join('_')
  return RESERVED.has(words) ? `${words}_` : words
}

/** For annotations, which are never evaluated. */
function bareType(schema: Schema): string {
  return typeOf(schema, WORDS).replaceAll('"', '')
}

function comment(text: string | undefined): readonly string[] {
  return text === undefined ? [] : wrapped(text, LINE_LENGTH).map((line) => `# ${line}`.trimEnd())
}

function docstring(text: string): readonly string[] {
  const lines = wrapped(text, LINE_LENGTH)
  const [first = '', ...rest] = lines
  return rest.length === 0 ? [`"""${text}"""`] : [`"""${first}`, ...rest, '"""']
}

function indented(line: string): string {
  return line === '' ? '' : `    ${line}`
}
