// A relay of a later version, as far as its clients see: each object in its answers has one field more,
// and its open lists of words have one word more.

import type { Server } from 'bun'

/** The value that no document of today has. */
const LATER = 'later'
const NONE: ReadonlySet<string> = new Set()
/** Schemas with this name have the words of a list that a later version may add to. */
const OPEN = '#/components/schemas/Any'

type Schema = {
  readonly $ref?: string
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
}
type Document = { readonly components: { readonly schemas: Readonly<Record<string, Schema>> } }

/** Stands before the relay at `url`. */
export async function startLaterRelay(url: string): Promise<Server<undefined>> {
  const document = await fetch(`${url}/swagger/json`)
  const open = openFields((await document.json()) as Document) // The relay's own.
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const { method, headers } = request
      const body = method === 'GET' ? null : await request.bytes()
      const answer = await fetch(`${url}${pathname}${search}`, { method, headers, body })
      const type = answer.headers.get('content-type') ?? ''
      const text = await answer.text()
      const isJson = type.startsWith('application/json')
      // Programs look for the codes of errors that they know.
      const words = answer.ok ? open : NONE
      const addLater = (name: string, value: unknown) => laterValue(words, name, value)
      const later = isJson ? JSON.stringify(JSON.parse(text, addLater)) : text
      return new Response(later, { status: answer.status, headers: { 'content-type': type } })
    },
  })
}

/** The names of fields whose words a later version may add to. */
function openFields({ components }: Document): ReadonlySet<string> {
  const fields = Object.values(components.schemas).flatMap(({ properties = {} }) =>
    Object.entries(properties),
  )
  return new Set(fields.filter(([, schema]) => isOpen(schema)).map(([name]) => name))
}

function isOpen({ $ref = '', anyOf = [], items }: Schema): boolean {
  return $ref.startsWith(OPEN) || anyOf.some(isOpen) || (items !== undefined && isOpen(items))
}

function laterValue(open: ReadonlySet<string>, name: string, value: unknown): unknown {
  if (open.has(name) && typeof value === 'string') return LATER
  if (open.has(name) && Array.isArray(value)) return [...(value as unknown[]), `message.${LATER}`]
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? { ...value, later_field: { id: 'new_1' } } : value
}
