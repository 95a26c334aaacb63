// Calls of compatible APIs on a relay in this process.

import { expect } from 'bun:test'

import type { ScriptedRelay } from './scripted-relay.ts'
import type { Json } from './test-relay.ts'

export type Made = {
  readonly id: string
  readonly key: string
  readonly secret: string
  readonly connect: Readonly<Record<string, string>>
}

export async function keyFor(relay: ScriptedRelay, name: string, more: object = {}): Promise<Made> {
  const { status, body } = await relay.post('/api/v1/keys', { for: name, ...more })
  expect(status).toBe(201)
  return body as Made
}

export function basic({ key, secret }: Pick<Made, 'key' | 'secret'>) {
  return { authorization: `Basic ${btoa(`${key}:${secret}`)}` }
}

/** Posts a body as JSON, or a text as it is, without the headers of the relay's own API. */
export async function call(
  relay: ScriptedRelay,
  path: string,
  body: object | string | undefined,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly body: Json }> {
  const response = await relay.fetch(path, {
    method: body === undefined ? 'GET' : 'POST',
    headers,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? null : JSON.parse(text) }
}
