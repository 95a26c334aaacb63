// A child of the relay that speaks as `imsg rpc`, in the process of the test, and what it needs.

import { expect } from 'bun:test'

import { callOperation, refusal, UnreachedError, type RelayFetch } from '../../src/api/client.ts'
import { RpcServer } from '../../src/compat/imsg/rpc.ts'
import { nextTurn, systemClock } from '../../src/system/clock.ts'
import { eventually } from './eventually.ts'
import { guidOf } from './scripted-driver.ts'
import type { ScriptedRelay } from './scripted-relay.ts'
import type { Json, TestRelay } from './test-relay.ts'

export const ANNA = '+12025550777'
export const ATTEMPT = 'b1b5f7a0-7d6b-4c4e-9c39-0c5d7c0f0f11'
const PEER = { address: '127.0.0.1', isControl: false, liftTimeout: () => {} }

/** Pauses between tries take no time. */
const PROMPT = { ...systemClock, sleep: async () => nextTurn() }

type Key = { readonly key: string; readonly secret: string }

export async function imsgKey(relay: TestRelay, more: object = {}): Promise<Key> {
  const { status, body } = await relay.post('/api/v1/keys', { for: 'imsg', ...more })
  expect(status).toBe(201)
  return body
}

/** A child of the relay, as OpenClaw has one. `relayNow` gives the relay, or null while it can't be reached. */
export function startChild(relayNow: () => TestRelay | null, { key, secret }: Key) {
  const written: Json[] = []
  const refusals: unknown[] = []
  /** Set to lose the answer of the next call whose path ends so. */
  const cut = { path: null as string | null }
  const paths: string[] = []
  const fetch: RelayFetch = async (path, init) => {
    const relay = relayNow()
    paths.push(path)
    if (relay === null) throw new UnreachedError('No relay answers.')
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${key}:${secret}`)
    const request = new Request(`http://localhost/compat/imsg${path}`, { ...init, headers })
    const response = await relay.app.http.fetch(request, PEER)
    if (cut.path === null || !path.endsWith(cut.path)) return response
    cut.path = null
    throw new Error('The connection was lost.')
  }
  const server = new RpcServer({
    relay: {
      ask: async (id, ...[call = {}]) => (await callOperation(fetch, id, call)).body,
      upload: async (name, bytes) => {
        const path = `/api/v1/attachments?filename=${name}`
        const answer = await fetch(path, { method: 'POST', body: bytes })
        const body: Json = await answer.json()
        if (!answer.ok) throw refusal(answer, body)
        return body
      },
      async *download() {},
    },
    clock: PROMPT,
    version: 'test',
    fileAt: async ({ id }) => `/files/${id}`,
    readFile: async (path) => ({ name: 'menu.pdf', bytes: new Blob([path]).stream() }),
    write: (line) => written.push(JSON.parse(line)),
    onRefused: (error) => refusals.push(error),
  })
  let last = 0
  const ask = async (method: string, params: object = {}): Promise<Json> => {
    last += 1
    const id = last
    server.take(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return eventually(method, () => written.find((each) => each.id === id) ?? null)
  }
  const messages = (): Json[] =>
    written.flatMap((each) => (each.method === 'message' ? each.params.message : []))
  return {
    server,
    written,
    refusals,
    cut,
    paths,
    ask,
    result: async (method: string, params: object = {}) => (await ask(method, params)).result,
    messages,
    texts: () => messages().map(({ text }) => text),
    /** Waits until so many messages were notified. */
    heard: async (count: number) =>
      eventually(`${count} messages`, () => (messages().length >= count ? messages() : null)),
  }
}

export async function receive(relay: ScriptedRelay, guid: number, text: string, more: object = {}) {
  await relay.clock.advance(1)
  await relay.device.receive({ guid: guidOf(guid), text, ...more })
}
