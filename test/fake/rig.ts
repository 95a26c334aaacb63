// A fake in this process, without a port: requests go straight into it.

import { startFake as start } from '../../src/fake/bindings.ts'
import { connections, credentialsFor } from '../../src/fake/credentials.ts'
import type { WorldOptions } from '../../src/fake/world.ts'
import type { Json } from '../support/test-relay.ts'

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
  const call = async (method: string, path: string, body?: unknown, headers: object = {}) => {
    const response = await world.fetch(
      new Request(world.listener.localUrl + path, {
        method,
        headers: {
          host: '127.0.0.1:4666',
          'x-api-key': key,
          'x-api-secret': secret,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
      PEER,
    )
    const text = await response.text()
    const read = (): Json => (text === '' ? null : JSON.parse(text))
    return { status: response.status, headers: response.headers, text, body: read() }
  }
  return {
    world,
    call,
    /** The relay's address, also for requests to its port if it has one. */
    url: world.listener.localUrl,
    connections: () => connections(world.listener.localUrl, world.lineNumbers),
    get: async (path: string): Promise<Json> => (await call('GET', path)).body,
    post: async (path: string, body?: unknown): Promise<Json> =>
      (await call('POST', path, body)).body,
    send: async (body: object): Promise<Json> =>
      (await call('POST', '/api/v1/messages/send', body)).body,
    advance: async (duration: string): Promise<Json> =>
      (await call('POST', '/api/v1/simulated/clock', { advance: duration })).body,
    [Symbol.asyncDispose]: () => world.stop(),
  }
}

function noPort() {
  const url = URL_OF_FAKE
  return { url, localUrl: url, port: 4666, renew: () => {}, stop: async () => {} }
}
