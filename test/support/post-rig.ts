// Posts over real sockets, to receivers on loopback that end with the tests of a file.

import { afterAll } from 'bun:test'

import { systemClock } from '../../src/system/clock.ts'
import type { Lookup } from '../../src/system/network-address.ts'
import { createPost, type Network, type PostResult } from '../../src/webhooks/post.ts'

export const servers: { stop(force: boolean): unknown }[] = []
export const never = new AbortController().signal

afterAll(() => {
  for (const server of servers) void server.stop(true)
})

export function postTo(
  url: string,
  parts: Partial<Network> = {},
  signal = never,
): Promise<PostResult> {
  const post = createPost(partsWith(parts))
  return post({ url, headers: { 'webhook-id': 'evt_1' }, body: '{"a":1}' }, signal)
}

export function partsWith(parts: Partial<Network>): Network {
  return {
    clock: systemClock,
    lookup: resolving('127.0.0.1'),
    rules: { policy: () => 'any-private', isOwnListener: () => false },
    platform: 'linux',
    ...parts,
  }
}

export function resolving(...addresses: string[]): Lookup {
  return async () => ({ answer: 'addresses', addresses })
}

export function serve(
  fetch: (request: Request) => Response | Promise<Response>,
  tls?: { readonly key: string; readonly cert: string },
): number {
  const options = { hostname: '127.0.0.1', port: 0, fetch, ...(tls === undefined ? {} : { tls }) }
  const server = Bun.serve(options)
  servers.push(server)
  return server.port ?? 0
}
