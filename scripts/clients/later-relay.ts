// A relay of a later version, as far as its clients see: each object in its answers has one field more,
// and its open lists of words have one word more.

import type { Server } from 'bun'

/** The value that no document of today has. */
const LATER = 'later'
const OPEN_FIELDS = new Set(['status', 'driver', 'direction', 'source'])

/** Stands before the relay at `url`. */
export function startLaterRelay(url: string): Server<undefined> {
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
      const later = isJson ? JSON.stringify(JSON.parse(text, addLater)) : text
      return new Response(later, { status: answer.status, headers: { 'content-type': type } })
    },
  })
}

function addLater(name: string, value: unknown): unknown {
  if (OPEN_FIELDS.has(name) && typeof value === 'string') return LATER
  if (name === 'events' && Array.isArray(value)) return [...(value as unknown[]), 'message.later']
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? { ...value, later_field: { id: 'new_1' } } : value
}
