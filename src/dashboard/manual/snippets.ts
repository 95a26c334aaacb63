// A request in curl, TypeScript and Python: the example in the OpenAPI document, or the request last sent by the form.

/** An operation of the document, with its references resolved. */
export type Described = {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: {
    readonly required?: boolean
    readonly content?: Readonly<Record<string, Media>>
  }
  /** Absent if the operation takes key and secret. */
  readonly security?: readonly object[]
}
type Parameter = {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema?: { readonly examples?: readonly (string | number | boolean)[] }
}
type Media = {
  readonly schema?: object
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>
}

export type Call = {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** In JSON; null if there is none, undefined for a file. */
  readonly body: string | null | undefined
}

export const LANGUAGES: Readonly<Record<string, (call: Call) => string>> = {
  curl,
  TypeScript: typescript,
  Python: python,
}

type Place = {
  readonly method: string
  /** In the document: `/api/v1/webhooks/{id}`. */
  readonly path: string
  /** The relay's address. */
  readonly relay: string
}

/** The example of an operation; `sample` makes one of a schema, in JSON. */
export function exampleCall(
  { method, path, relay }: Place,
  { parameters = [], requestBody = {}, security }: Described,
  sample: (schema: object) => string,
): Call {
  const valuesIn = (place: string) => {
    const needed = parameters.filter((one) => one.in === place && one.required === true)
    return needed.map(({ name, schema }) => [
      name,
      String(schema?.examples?.[0] ?? name.toUpperCase()),
    ])
  }
  const search = new URLSearchParams(valuesIn('query')).toString()
  const filled = valuesIn('path').reduce(
    (text, [name = '', value = '']) => text.replace(`{${name}}`, encodeURIComponent(value)),
    path,
  )
  const [[type, media] = []] = Object.entries(requestBody.content ?? {})
  const more = requestBody.required === true ? sample : () => null
  const body = type === 'application/octet-stream' ? undefined : exampleBody(media, more)
  return {
    method: method.toUpperCase(),
    url: `${relay}${filled}${search === '' ? '' : `?${search}`}`,
    headers: {
      ...credentialsFor(security),
      ...Object.fromEntries(valuesIn('header')),
      ...(type !== undefined && body !== null && { 'Content-Type': type }),
    },
    body,
  }
}

/** Placeholders and never the reader's own key, because copied snippets end up in chats and tickets. */
export function credentialsFor(security: Described['security']): Call['headers'] {
  if (security === undefined) return { 'X-API-Key': 'YOUR_KEY', 'X-API-Secret': 'YOUR_SECRET' }
  return security.length === 0 ? {} : { Authorization: 'Bearer YOUR_TOKEN' }
}

function exampleBody(
  { example, examples = {}, schema }: Media = {},
  sample: (schema: object) => string | null,
): string | null {
  const value = example ?? Object.values(examples)[0]?.value
  if (value !== undefined) return JSON.stringify(value)
  return schema === undefined ? null : sample(schema)
}

/** A JSON string is also a valid string in TypeScript and Python. */
const quoted = (text: string) => JSON.stringify(text)

function pretty(json: string, spaces: number): string {
  return JSON.stringify(JSON.parse(json), null, spaces)
}

function fieldsIn(headers: Call['headers'], indent: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `${quoted(name)}: ${quoted(value)},`)
  return lines.map((line) => `${indent}${line}\n`).join('')
}

function curl({ method, url, headers, body }: Call): string {
  const inShell = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`
  const parts = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${inShell(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${inShell(`${name}: ${value}`)}`),
    ...(typeof body === 'string' ? [`-d ${inShell(pretty(body, 2))}`] : []),
    ...(body === undefined ? ['--data-binary @FILE'] : []),
  ]
  return parts.join(' \\\n  ')
}

function typescript({ method, url, headers, body }: Call): string {
  const inline = typeof body === 'string' ? pretty(body, 2).replaceAll('\n', '\n  ') : ''
  const lines = [
    `  method: ${quoted(method)},\n`,
    `  headers: {\n${fieldsIn(headers, '    ')}  },\n`,
    ...(typeof body === 'string' ? [`  body: JSON.stringify(${inline}),\n`] : []),
    ...(body === undefined ? ['  body: file,\n'] : []),
  ]
  return `const response = await fetch(${quoted(url)}, {\n${lines.join('')}})\nconsole.log(response.status, await response.json())`
}

const PYTHON_WORDS: Readonly<Record<string, string>> = {
  true: 'True',
  false: 'False',
  null: 'None',
}

function python({ method, url, headers, body }: Call): string {
  const value = (json: string) =>
    pretty(json, 4)
      .replaceAll(/"(?:\\.|[^"\\])*"|true|false|null/g, (word) => PYTHON_WORDS[word] ?? word)
      .replaceAll('\n', '\n    ')
  const lines = [
    `    ${quoted(url)},\n`,
    `    headers={\n${fieldsIn(headers, '        ')}    },\n`,
    ...(typeof body === 'string' ? [`    json=${value(body)},\n`] : []),
    ...(body === undefined ? ['    data=open("FILE", "rb"),\n'] : []),
  ]
  return `import requests\n\nresponse = requests.${method.toLowerCase()}(\n${lines.join('')})\nprint(response.status_code, response.json())`
}
