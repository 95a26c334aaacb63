// A fake in this process, without a port: requests go straight into it.

import { startFake as start } from '../../src/fake/bindings.ts'
import { connections, credentialsFor } from '../../src/fake/credentials.ts'
import type { WorldOptions } from '../../src/fake/world.ts'
import type { Json } from './test-relay.ts'

const URL_OF_FAKE = 'http://127.0.0.1:4666'
const PEER = { address: '127.0.0.1', isControl: false, liftTimeout: () => {} }

/** Starts a fake with a seed; `await using` stops it at the end of the test. `null` is a fake without a seed. */
export async function startFake(options: Partial<WorldOptions> = {}) {
  const world = await start({
    host: '127.0.0.1',
    port: 0,
    lines: 2,
    seed: 1,
    webhook: null,
    open: noPort,
    ...options,
  })
  const { key, secret } = credentialsFor(null)
  /** Calls it with its keys. */
  const ask = (path: string, { headers, ...init }: RequestInit = {}) => {
    const own = { host: '127.0.0.1:4666', 'x-api-key': key, 'x-api-secret': secret }
    const request = { ...init, headers: { ...own, ...(headers as object) } } // Never a list of pairs.
    return world.fetch(new Request(world.listener.localUrl + path, request), PEER)
  }
  const call = async (method: string, path: string, body?: unknown, headers: object = {}) => {
    const json = body !== undefined && {
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }
    const response = await ask(path, { method, headers: { ...headers }, ...json })
    const text = await response.text()
    const read = (): Json => (text === '' ? null : JSON.parse(text))
    return { status: response.status, headers: response.headers, text, body: read() }
  }
  const get = async (path: string): Promise<Json> => (await call('GET', path)).body
  return {
    world,
    ask,
    call,
    get,
    /** The relay's address, also for requests to its port if it has one. */
    url: world.listener.localUrl,
    connections: () => connections(world.listener.localUrl, world.lineNumbers),
    post: async (path: string, body?: unknown): Promise<Json> =>
      (await call('POST', path, body)).body,
    send: async (body: object): Promise<Json> =>
      (await call('POST', '/api/v1/messages/send', body)).body,
    advance: async (duration: string): Promise<Json> =>
      (await call('POST', '/api/v1/simulated/clock', { advance: duration })).body,
    /** Lets something happen on the first line. */
    play: async (event: object) => {
      const { data } = await get('/api/v1/phone-lines')
      return call('POST', `/api/v1/simulated/lines/${data[0].id}/events`, event)
    },
    /** What the relay received from persons, newest first. */
    inbound: async (): Promise<readonly Json[]> =>
      (await get('/api/v1/messages?direction=inbound')).data,
    [Symbol.asyncDispose]: () => world.stop(),
  }
}

export type FakeRelay = Awaited<ReturnType<typeof startFake>>

function noPort() {
  const url = URL_OF_FAKE
  return { url, localUrl: url, port: 4666, renew: () => {}, stop: async () => {} }
}
